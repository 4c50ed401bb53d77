/* Archives, by libarchive: which logs they hold. No file gets a name that an archive says. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/collections/hash.h"
#include "base/collections/map.h"
#include "source/archives/archive_formats.h"
#include "source/archives/tar.h"
#include "source/archives/unpack.h"
#include "source/archives/zip.h"
#include "source/discovery/discovery.h"
#include "source/input.h"

enum {
    MOST_MEMBERS = 10000,
    MOST_UNTRUSTED_MEMBERS = 1000,
    MOST_UNINDEXED_MEMBERS = 100,  /* each is found by going through all before it */
    MOST_SEQUENTIAL_MEMBERS = 500, /* the same, where that is the form of the archive */
    MOST_NAME_BYTES = 4096
};

/* ---- Listing ----------------------------------------------------------------------------------------------------- */

/* Whether a component of the name is hidden ("__MACOSX/x", ".git/x"). */
static bool is_hidden(struct pyro_slice member)
{
    for (size_t start = 0; start < member.len;) {
        const char *slash = memchr(member.ptr + start, '/', member.len - start);
        size_t end = slash ? (size_t)(slash - member.ptr) : member.len;
        struct pyro_slice component = {member.ptr + start, end - start};
        bool relative = pyro_slice_is(component, ".") || pyro_slice_is(component, "..");
        if (component.len > 0 && !relative && pyro_name_of(component).kind == PYRO_NAME_IGNORED)
            return true;
        start = end + 1;
    }
    return false;
}

/* What is known of an archive before libarchive reads its directory, all of it at once. */
struct listing {
    struct pyro_map places; /* of members' records, by the hashes of their names; of equal ones the first */
    enum pyro_archive_format format;
    uint64_t stored, most_bytes; /* of the file; of what it may decompress to, 0: any */
    const char *option;          /* which raises that */
    size_t most, members;
    bool untrusted;
    bool sequential; /* members are found by going through all before them */
    bool unpack;     /* they are copied into the list's file */
    bool directory;  /* it has one */
    bool ambiguous;  /* and maybe another */
    bool simple;     /* all members can be read where they lie */
};

static size_t most_members(const struct pyro_discovery *discovery, bool untrusted)
{
    const struct pyro_known *known = discovery->known;
    if (untrusted)
        return MOST_UNTRUSTED_MEMBERS;
    return known && known->unlimited ? SIZE_MAX : MOST_MEMBERS;
}

static void read_directory(const struct pyro_discovery *discovery, int fd, struct listing *listing)
{
    struct pyro_zip_directory directory;
    struct pyro_zip_record record;
    bool is_new;
    listing->directory = pyro_zip_directory_open(&directory, fd, discovery->allocator);
    if (!listing->directory)
        return;
    listing->ambiguous = directory.ambiguous;
    while (listing->members <= listing->most && pyro_zip_directory_next(&directory, &record)) {
        uint64_t *place = pyro_map_put(&listing->places, pyro_hash_slice(record.name), &is_new);
        if (place && is_new)
            *place = record.at;
        listing->members++;
        listing->simple &= pyro_zip_is_simple(&record);
    }
    /* What libarchive goes through ends where our own reading ended. */
    listing->ambiguous |= listing->members <= listing->most && directory.at < directory.end;
    pyro_zip_directory_close(&directory);
}

/* Where a member is: its record in the directory of a zip archive, or its bytes in a tar archive. */
static uint64_t place_of(const struct listing *listing, struct archive *archive, struct archive_entry *entry,
                         struct pyro_slice name)
{
    if (listing->format == PYRO_ARCHIVE_TAR) {
        la_int64_t at = archive_filter_bytes(archive, 0);
        return !listing->sequential && at > 0 && archive_entry_sparse_count(entry) == 0 ? (uint64_t)at : 0;
    }
    const uint64_t *place = pyro_map_get(&listing->places, pyro_hash_slice(name));
    return place ? *place : 0;
}

/* Of members with one name the last one counts in a tar archive: it was added later. True: *ret is the earlier one. */
static bool is_repeated(struct listing *listing, struct pyro_slice name, pyro_found_vec *found, struct pyro_found **ret)
{
    bool is_new;
    uint64_t *number =
        listing->format == PYRO_ARCHIVE_TAR ? pyro_map_put(&listing->places, pyro_hash_slice(name), &is_new) : NULL;
    if (!number)
        return false;
    if (!is_new && *number < found->count && pyro_slice_eq(found->items[*number].member, name)) {
        *ret = &found->items[*number];
        return true;
    }
    *number = found->count;
    return false;
}

static enum pyro_status add_member(struct pyro_discovery *discovery, pyro_found_vec *found, struct pyro_slice path,
                                   struct listing *listing, struct archive *archive, struct archive_entry *entry)
{
    struct pyro_slice name = pyro_archive_entry_name(entry, listing->format);
    struct pyro_found *file = NULL;
    /* A hard link stands for a member before it. */
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) || is_hidden(name))
        return PYRO_OK;
    if (!name.ptr)
        return pyro_add_unreadable(discovery, path,
                                   PYRO_SLICE_LITERAL("has a member with an invalid name: unpack the archive"));
    if (name.len > MOST_NAME_BYTES)
        return pyro_add_unreadable(
            discovery, path,
            pyro_arena_printf(discovery->arena, "has a member with a name longer than %d bytes", MOST_NAME_BYTES));
    struct pyro_slice member = pyro_arena_copy(discovery->arena, name);
    struct pyro_slice label = pyro_arena_printf(discovery->arena, "%s!%s", path.ptr, name.ptr);
    if (!member.ptr || !label.ptr)
        return PYRO_ERROR_MEMORY;
    if (archive_entry_is_encrypted(entry))
        return pyro_add_unreadable(discovery, label, PYRO_SLICE_LITERAL("is encrypted: unpack the archive first"));
    if (!is_repeated(listing, name, found, &file))
        file = pyro_vec_push(found, discovery->allocator);
    if (!file)
        return PYRO_ERROR_MEMORY;
    *file = (struct pyro_found){
        .path = path,
        .member = member,
        .label = label,
        .name = pyro_name_of(pyro_base_name(member)),
        .place = place_of(listing, archive, entry, member),
        .bytes = archive_entry_size(entry) > 0 ? (uint64_t)archive_entry_size(entry) : 0,
        .empty = archive_entry_size_is_set(entry) && archive_entry_size(entry) == 0,
    };
    return listing->unpack && !file->empty
               ? pyro_unpack_entry(&discovery->unpack, discovery->arena, archive,
                                   listing->most_bytes ? listing->most_bytes : UINT64_MAX, &file->unpacked)
               : PYRO_OK;
}

static enum pyro_status say_too_many(struct pyro_discovery *discovery, struct pyro_slice path,
                                     const struct listing *listing)
{
    return pyro_add_unreadable(
        discovery, path,
        pyro_arena_printf(
            discovery->arena, "is a %s archive of more than %zu files: unpack it, or create several archives%s",
            pyro_archive_name(listing->format), listing->most, listing->untrusted ? "" : ", or use " PYRO_LIFT_LIMITS));
}

/* Divides what the archive may decompress to: half in equal parts, half by what it says its members have. In total,
 * many small files get no more than one large one could. */
static void share_most(pyro_found_vec *found, uint64_t stored_bytes, uint64_t all, const char *option)
{
    double total = 1, most = (double)all, equal = most / 2 / (double)found->count;
    for (size_t i = 0; i < found->count; i++) {
        if (found->items[i].bytes == 0 && !found->items[i].empty)
            found->items[i].bytes = stored_bytes;
        total += (double)found->items[i].bytes;
    }
    for (size_t i = 0; i < found->count; i++) {
        double share = equal + most / 2 * ((double)found->items[i].bytes / total);
        found->items[i].most_bytes = share < 0x1p63 ? (uint64_t)share : UINT64_MAX;
        found->items[i].limit_option = option;
    }
}

static enum pyro_status say_too_large(struct pyro_discovery *discovery, struct pyro_slice path,
                                      const struct listing *listing)
{
    return pyro_add_unreadable(
        discovery, path,
        pyro_arena_printf(discovery->arena,
                          "is a %s archive that decompresses to more than %llu bytes, which is not plausible for its "
                          "size%s%s",
                          pyro_archive_name(listing->format), (unsigned long long)listing->most_bytes,
                          listing->option ? "; if it is not made to fill memory, use " : "",
                          listing->option ? listing->option : ""));
}

/* A damaged archive lists what it still holds: reading the last member will find the damage. */
static enum pyro_status say_nothing_found(struct pyro_discovery *discovery, struct pyro_slice path,
                                          struct archive *archive, const struct listing *listing, bool ended)
{
    const char *name = pyro_archive_name(listing->format);
    return pyro_add_unreadable(discovery, path,
                               ended ? pyro_arena_printf(discovery->arena, "is a %s archive without event logs", name)
                                     : pyro_arena_printf(discovery->arena, "is a %s archive that cannot be read: %s",
                                                         name, pyro_archive_reason(archive)));
}

/* Without a directory each member is found by going through all before it. */
static size_t most_listed(const struct listing *listing)
{
    size_t most = listing->untrusted ? MOST_UNINDEXED_MEMBERS : MOST_SEQUENTIAL_MEMBERS;
    if (listing->most == SIZE_MAX || listing->unpack)
        return listing->most;
    if (listing->format == PYRO_ARCHIVE_ZIP)
        return listing->directory ? listing->most : MOST_UNINDEXED_MEMBERS;
    return listing->sequential ? most : listing->most;
}

static enum pyro_status list_members(struct pyro_discovery *discovery, struct pyro_slice path, struct archive *archive,
                                     struct listing *listing, pyro_found_vec *found)
{
    struct archive_entry *entry = NULL;
    size_t rows = discovery->unreadable.count, members = 0;
    uint64_t bytes = 0;
    bool ended = false;
    listing->most = most_listed(listing);
    while (pyro_archive_next(archive, &entry, &ended)) {
        la_int64_t size = archive_entry_size(entry);
        if (++members > listing->most) {
            found->count = 0;
            return say_too_many(discovery, path, listing);
        }
        /* Going to the next one goes through this one, whatever it is. */
        if (listing->sequential && listing->most_bytes &&
            (__builtin_add_overflow(bytes, size > 0 ? (uint64_t)size : 0, &bytes) || bytes > listing->most_bytes)) {
            found->count = 0;
            return say_too_large(discovery, path, listing);
        }
        PYRO_TRY(add_member(discovery, found, path, listing, archive, entry));
    }
    if (found->count == 0 && rows == discovery->unreadable.count)
        return say_nothing_found(discovery, path, archive, listing, ended);
    return PYRO_OK;
}

/* An untrusted sender's zip archive is read by one reader, which goes to each member at once. */
static const char *refuse_zip(const struct listing *listing)
{
    if (!listing->untrusted || listing->format != PYRO_ARCHIVE_ZIP)
        return NULL;
    if (!listing->directory || listing->ambiguous)
        return "is a zip archive with a truncated or inconsistent directory: create it again";
    return listing->simple ? NULL
                           : "is a zip archive with members that are encrypted, or neither stored nor deflated: create "
                             "it again";
}

static enum pyro_status list_archive(struct pyro_discovery *discovery, struct pyro_slice path, int fd,
                                     struct listing *listing, pyro_found_vec *found)
{
    const char *refused = refuse_zip(listing);
    if (refused)
        return pyro_add_unreadable(discovery, path, pyro_slice_from(refused));
    struct archive *archive = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    if (pyro_archive_open(fd, listing->format, &archive, &error) != PYRO_OK || !archive)
        return pyro_add_unreadable(discovery, path, pyro_arena_printf(discovery->arena, "%s", error.message));
    enum { FILE_ALONE = 1 };
    listing->sequential = listing->format == PYRO_ARCHIVE_SEVEN_ZIP || archive_filter_count(archive) > FILE_ALONE;
    listing->unpack = listing->sequential && !listing->untrusted && discovery->known && discovery->known->unpack;
    enum pyro_status status = list_members(discovery, path, archive, listing, found);
    archive_read_free(archive);
    return status;
}

enum pyro_status pyro_discover_archive(struct pyro_discovery *discovery, struct pyro_slice path,
                                       enum pyro_archive_format format)
{
    int fd = pyro_open_regular(path.ptr);
    if (fd < 0)
        return pyro_add_failure(discovery, path, "cannot open", errno);
    struct pyro_utf8_scope scope = pyro_utf8_enter();
    struct listing listing = {.format = format, .untrusted = pyro_is_untrusted(discovery, path), .simple = true};
    pyro_found_vec found = {0};
    struct stat file;
    if (fstat(fd, &file) == 0 && file.st_size > 0)
        listing.stored = (uint64_t)file.st_size;
    listing.most_bytes = pyro_most_of(discovery, path, listing.stored, &listing.option);
    listing.most = most_members(discovery, listing.untrusted);
    pyro_map_init(&listing.places, discovery->allocator);
    if (format == PYRO_ARCHIVE_ZIP)
        read_directory(discovery, fd, &listing);
    enum pyro_status status = listing.members > listing.most ? say_too_many(discovery, path, &listing)
                                                             : list_archive(discovery, path, fd, &listing, &found);
    pyro_utf8_leave(scope);
    pyro_map_done(&listing.places);
    close(fd);
    if (listing.most_bytes && found.count > 0)
        share_most(&found, listing.stored, listing.most_bytes, listing.option);
    if (status == PYRO_OK)
        status = pyro_group_found(discovery, found.items, found.count);
    pyro_vec_done(&found, discovery->allocator);
    return status;
}
