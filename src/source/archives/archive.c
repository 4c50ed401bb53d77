/* Zip archives, by libarchive: which logs they hold, and the bytes of a member. Nothing is extracted to disk. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/collections/hash.h"
#include "base/collections/map.h"
#include "libraries/libarchive.h"
#include "source/discovery/discovery.h"
#include "source/input.h"

enum {
    READ_BYTES = 128 * 1024,
    MOST_MEMBERS = 10000,
    MOST_UNTRUSTED_MEMBERS = 1000,
    MOST_UNINDEXED_MEMBERS = 100,
    MOST_NAME_BYTES = 4096
};

/* libarchive turns names into the locale's character set, and loses those that do not fit: while it reads headers, this
 * thread's locale is a UTF-8 one. The process's locale is the caller's, and stays as it is. */
struct utf8_scope {
    locale_t own, previous; /* (locale_t)0 where the system has no such locale */
};

static struct utf8_scope enter_utf8(void)
{
    struct utf8_scope scope = {newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), (locale_t)0};
    if (scope.own)
        scope.previous = uselocale(scope.own);
    return scope;
}

static void leave_utf8(struct utf8_scope scope)
{
    if (!scope.own)
        return;
    uselocale(scope.previous);
    freelocale(scope.own);
}

static const char *name_of(struct archive_entry *entry)
{
    const char *name = archive_entry_pathname_utf8(entry);
    return name ? name : archive_entry_pathname(entry);
}

static const char *reason_of(struct archive *archive)
{
    const char *reason = archive_error_string(archive);
    return reason ? reason : "damaged archive";
}

static enum pyro_status open_zip(int fd, struct archive **ret, struct pyro_error *error)
{
    PYRO_TRY(pyro_archive_load(error));
    struct archive *archive = archive_read_new();
    if (archive && archive_read_support_format_zip(archive) >= ARCHIVE_WARN &&
        archive_read_open_fd(archive, fd, READ_BYTES) >= ARCHIVE_WARN) {
        *ret = archive;
        return PYRO_OK;
    }
    if (archive)
        archive_read_free(archive);
    return pyro_error_set(error, PYRO_ERROR_INPUT, "is a zip archive that cannot be opened");
}

/* True when there is an entry; a warning (a name that this locale cannot show) does not matter. */
static bool next_entry(struct archive *archive, struct archive_entry **ret, bool *ret_ended)
{
    int result;
    do {
        result = archive_read_next_header(archive, ret);
    } while (result == ARCHIVE_RETRY);
    *ret_ended = result == ARCHIVE_EOF;
    return result == ARCHIVE_OK || result == ARCHIVE_WARN;
}

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
    size_t most, members;
    bool untrusted;
    bool directory; /* it has one */
    bool ambiguous; /* and maybe another */
    bool simple;    /* all members can be read where they lie */
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

static uint64_t place_of(const struct pyro_map *places, struct pyro_slice name)
{
    const uint64_t *place = pyro_map_get(places, pyro_hash_slice(name));
    return place ? *place : 0;
}

static enum pyro_status add_member(struct pyro_discovery *discovery, pyro_found_vec *found, struct pyro_slice path,
                                   const struct pyro_map *places, struct archive_entry *entry)
{
    struct pyro_slice name = pyro_slice_from(name_of(entry));
    if (archive_entry_filetype(entry) != AE_IFREG || is_hidden(name))
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
    struct pyro_found *file = pyro_vec_push(found, discovery->allocator);
    if (!file)
        return PYRO_ERROR_MEMORY;
    *file = (struct pyro_found){
        .path = path,
        .member = member,
        .label = label,
        .name = pyro_name_of(pyro_base_name(member)),
        .place = place_of(places, member),
        .bytes = archive_entry_size(entry) > 0 ? (uint64_t)archive_entry_size(entry) : 0,
        .empty = archive_entry_size_is_set(entry) && archive_entry_size(entry) == 0,
    };
    return PYRO_OK;
}

static enum pyro_status say_too_many(struct pyro_discovery *discovery, struct pyro_slice path,
                                     const struct listing *listing)
{
    return pyro_add_unreadable(
        discovery, path,
        pyro_arena_printf(discovery->arena,
                          "is a zip archive of more than %zu files: unpack it, or create several archives%s",
                          listing->most, listing->untrusted ? "" : ", or use " PYRO_LIFT_LIMITS));
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

static enum pyro_status list_members(struct pyro_discovery *discovery, struct pyro_slice path, struct archive *archive,
                                     const struct listing *listing, pyro_found_vec *found)
{
    struct archive_entry *entry = NULL;
    size_t rows = discovery->unreadable.count, members = 0;
    /* Without a directory each member is found by going through all before it. */
    size_t most = listing->directory || listing->most == SIZE_MAX ? listing->most : MOST_UNINDEXED_MEMBERS;
    bool ended = false;
    while (next_entry(archive, &entry, &ended)) {
        if (++members > most) {
            const struct listing said = {.most = most, .untrusted = listing->untrusted};
            found->count = 0;
            return say_too_many(discovery, path, &said);
        }
        PYRO_TRY(add_member(discovery, found, path, &listing->places, entry));
    }
    /* A cut archive lists what it still holds: reading the last member will find the damage. */
    if (found->count == 0 && rows == discovery->unreadable.count) {
        struct pyro_slice message =
            ended ? PYRO_SLICE_LITERAL("is a zip archive without event logs")
                  : pyro_arena_printf(discovery->arena, "is a zip archive that cannot be read: %s", reason_of(archive));
        return pyro_add_unreadable(discovery, path, message);
    }
    return PYRO_OK;
}

static enum pyro_status list_archive(struct pyro_discovery *discovery, struct pyro_slice path, int fd,
                                     const struct listing *listing, pyro_found_vec *found)
{
    /* An untrusted sender's archive is read by one reader, which goes to each member at once. */
    if (listing->untrusted && (!listing->directory || listing->ambiguous))
        return pyro_add_unreadable(
            discovery, path,
            PYRO_SLICE_LITERAL("is a zip archive with a truncated or inconsistent directory: create it again"));
    if (listing->untrusted && !listing->simple)
        return pyro_add_unreadable(
            discovery, path,
            PYRO_SLICE_LITERAL(
                "is a zip archive with members that are encrypted, or neither stored nor deflated: create it again"));
    struct archive *archive = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    if (open_zip(fd, &archive, &error) != PYRO_OK || !archive)
        return pyro_add_unreadable(discovery, path, pyro_arena_printf(discovery->arena, "%s", error.message));
    enum pyro_status status = list_members(discovery, path, archive, listing, found);
    archive_read_free(archive);
    return status;
}

enum pyro_status pyro_discover_archive(struct pyro_discovery *discovery, struct pyro_slice path)
{
    int fd = pyro_open_regular(path.ptr);
    if (fd < 0)
        return pyro_add_failure(discovery, path, "cannot open", errno);
    struct utf8_scope scope = enter_utf8();
    struct listing listing = {.untrusted = pyro_is_untrusted(discovery, path), .simple = true};
    pyro_found_vec found = {0};
    struct stat file;
    listing.most = most_members(discovery, listing.untrusted);
    pyro_map_init(&listing.places, discovery->allocator);
    read_directory(discovery, fd, &listing);
    enum pyro_status status = listing.members > listing.most ? say_too_many(discovery, path, &listing)
                                                             : list_archive(discovery, path, fd, &listing, &found);
    leave_utf8(scope);
    pyro_map_done(&listing.places);
    if (fstat(fd, &file) == 0) {
        const char *option;
        uint64_t stored = (uint64_t)file.st_size, most = pyro_most_of(discovery, path, stored, &option);
        if (most)
            share_most(&found, stored, most, option);
    }
    close(fd);
    if (status == PYRO_OK)
        status = pyro_group_found(discovery, found.items, found.count);
    pyro_vec_done(&found, discovery->allocator);
    return status;
}

/* ---- Reading a member -------------------------------------------------------------------------------------------- */

static enum pyro_status seek_member(struct pyro_input *input, const struct pyro_log_part *part,
                                    struct pyro_error *error)
{
    struct archive_entry *entry = NULL;
    bool ended = false;
    while (next_entry(input->archive, &entry, &ended)) {
        const char *name = name_of(entry);
        if (!name || !pyro_slice_is(part->member, name))
            continue;
        if (archive_entry_size_is_set(entry) && archive_entry_size(entry) > 0)
            input->total = (uint64_t)archive_entry_size(entry);
        return PYRO_OK;
    }
    return pyro_error_set(error, PYRO_ERROR_INPUT, "cannot find the member %s of the archive: %s", part->member.ptr,
                          ended ? "the archive has changed" : reason_of(input->archive));
}

/* False: only libarchive can read it, by going through what is before it. */
static bool open_directly(struct pyro_input *input, const struct pyro_log_part *part)
{
    struct pyro_zip_record record;
    if (!input->owns_fd || !pyro_zip_find(input->fd, part->member, part->place, input->allocator, &record))
        return false;
    input->zip = pyro_zip_member_open(input->fd, &record, input->allocator);
    input->total = input->zip ? record.bytes : 0;
    return input->zip;
}

enum pyro_status pyro_member_open(struct pyro_input *input, const struct pyro_log_part *part, struct pyro_error *error)
{
    enum pyro_status status;
    input->fd = pyro_open_regular(part->path.ptr);
    input->owns_fd = input->fd >= 0;
    if (input->owns_fd && part->inside.ptr && !pyro_lies_inside(input->fd, part->inside)) {
        pyro_error_describe(error, PYRO_ERROR_INPUT, PYRO_LEADS_OUT);
        pyro_error_at(error, part->path.ptr, UINT64_MAX);
        pyro_input_close(input);
        return PYRO_ERROR_INPUT;
    }
    if (open_directly(input, part))
        return PYRO_OK;
    struct utf8_scope scope = enter_utf8();
    if (!input->owns_fd)
        status = pyro_error_set(error, PYRO_ERROR_INPUT, "cannot open: %s", strerror(errno));
    else if ((status = open_zip(input->fd, &input->archive, error)) == PYRO_OK)
        status = seek_member(input, part, error);
    leave_utf8(scope);
    if (status == PYRO_OK)
        return PYRO_OK;
    pyro_error_at(error, part->path.ptr, UINT64_MAX);
    pyro_input_close(input);
    return status;
}

/* A damaged member is an end, as damage inside a codec is. */
static void say_damage(struct pyro_input *input, const char *reason)
{
    snprintf(input->text, sizeof(input->text), "zip archive is damaged: %s", reason);
    input->damage = input->text;
}

enum pyro_status pyro_member_read(struct pyro_input *input, void *buffer, size_t capacity, size_t *ret_len)
{
    const char *reason = NULL;
    if (input->damage)
        return PYRO_OK;
    if (input->zip) {
        *ret_len = pyro_zip_member_read(input->zip, buffer, capacity, &reason);
        if (reason)
            say_damage(input, reason);
        return PYRO_OK;
    }
    la_ssize_t got;
    do {
        got = archive_read_data(input->archive, buffer, capacity);
    } while (got == ARCHIVE_RETRY);
    if (got >= 0) {
        *ret_len = (size_t)got;
        return PYRO_OK;
    }
    say_damage(input, reason_of(input->archive));
    return PYRO_OK;
}

void pyro_member_close(struct pyro_input *input)
{
    if (input->archive)
        archive_read_free(input->archive);
    pyro_zip_member_close(input->zip);
    input->archive = NULL;
    input->zip = NULL;
}
