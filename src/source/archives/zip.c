#include "source/archives/zip.h"

#include "base/memory/allocator.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    RECORD_BYTES = 46,
    HEADER_BYTES = 30,
    COMMENT_BYTES = 65535,
    SHORT_COMMENT = 8 << 10,
    SMALL_BUFFER = 4 << 10,
    LARGE_BUFFER = 256 << 10, /* beyond the longest record */
    STORED_BUFFER = 64 << 10,
    MOST_INFLATED = 1 << 30
};

enum { METHOD_STORED = 0, METHOD_DEFLATED = 8, FLAGS_ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13 };

static uint16_t get16(const unsigned char *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t get32(const unsigned char *at)
{
    return get16(at) | (uint32_t)get16(at + 2) << 16;
}

static uint64_t get64(const unsigned char *at)
{
    return get32(at) | (uint64_t)get32(at + 4) << 32;
}

/* How many bytes there were; short only at the file's end or for an error. */
static size_t read_at(int fd, void *buffer, size_t len, uint64_t at)
{
    size_t got = 0;
    while (got < len && at <= INT64_MAX - len) {
        ssize_t some = pread(fd, (char *)buffer + got, len - got, (off_t)(at + got));
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            break;
        got += (size_t)some;
    }
    return got;
}

/* ---- The directory ----------------------------------------------------------------------------------------------- */

/* The record that ends the archive: behind it is nothing but a comment, whose length it has. Readers differ in how far
 * they look for it and in which one they take: *ret_ambiguous where the comment is long or holds such a record. */
static bool find_end(int fd, uint64_t file_bytes, unsigned char *buffer, uint64_t *ret_at, bool *ret_ambiguous)
{
    static const size_t reaches[] = {END_BYTES, END_BYTES + COMMENT_BYTES};
    for (size_t i = 0; i < sizeof(reaches) / sizeof(*reaches); i++) {
        size_t len = reaches[i] < file_bytes ? reaches[i] : (size_t)file_bytes;
        if (len < END_BYTES || read_at(fd, buffer, len, file_bytes - len) != len)
            return false;
        for (size_t at = len - END_BYTES + 1; at-- > 0;) {
            if (memcmp(buffer + at, "PK\005\006", 4) != 0 || get16(buffer + at + 20) != len - END_BYTES - at)
                continue;
            size_t comment = at + END_BYTES;
            *ret_ambiguous = len - comment > SHORT_COMMENT || memmem(buffer + comment, len - comment, "PK\005\006", 4);
            memmove(buffer, buffer + at, END_BYTES);
            *ret_at = file_bytes - len + at;
            return true;
        }
    }
    return false;
}

struct end {
    uint64_t at, bytes, offset; /* of the end's record; of the directory, as the archive says */
};

static bool has_locator(int fd, uint64_t end)
{
    unsigned char signature[4];
    return end >= LOCATOR_BYTES &&
           read_at(fd, signature, sizeof(signature), end - LOCATOR_BYTES) == sizeof(signature) &&
           memcmp(signature, "PK\006\007", 4) == 0;
}

static bool read_end64(int fd, struct end *end)
{
    unsigned char locator[LOCATOR_BYTES], record[END64_BYTES];
    if (end->at < LOCATOR_BYTES || read_at(fd, locator, sizeof(locator), end->at - LOCATOR_BYTES) != sizeof(locator) ||
        memcmp(locator, "PK\006\007", 4) != 0)
        return false;
    uint64_t at = get64(locator + 8);
    if (at >= end->at || read_at(fd, record, sizeof(record), at) != sizeof(record) ||
        memcmp(record, "PK\006\006", 4) != 0)
        return false;
    *end = (struct end){.at = at, .bytes = get64(record + 40), .offset = get64(record + 48)};
    return true;
}

bool pyro_zip_directory_open(struct pyro_zip_directory *directory, int fd, const struct pyro_allocator *allocator)
{
    struct stat file;
    struct end end = {0};
    *directory = (struct pyro_zip_directory){.allocator = allocator, .fd = fd};
    if (fstat(fd, &file) != 0 || file.st_size < END_BYTES)
        return false;
    directory->buffer = pyro_allocate(allocator, LARGE_BUFFER);
    if (!directory->buffer ||
        !find_end(fd, (uint64_t)file.st_size, directory->buffer, &end.at, &directory->ambiguous)) {
        pyro_zip_directory_close(directory);
        return false;
    }
    end.bytes = get32(directory->buffer + 12);
    end.offset = get32(directory->buffer + 16);
    bool large = end.bytes == UINT32_MAX || end.offset == UINT32_MAX || get16(directory->buffer + 10) == UINT16_MAX;
    directory->ambiguous |= !large && has_locator(fd, end.at);
    if ((large && !read_end64(fd, &end)) || end.bytes > end.at || end.offset > end.at - end.bytes) {
        pyro_zip_directory_close(directory);
        return false;
    }
    directory->end = end.at;
    directory->at = end.at - end.bytes;
    directory->shift = directory->at - end.offset;
    directory->capacity = LARGE_BUFFER;
    return true;
}

void pyro_zip_directory_close(struct pyro_zip_directory *directory)
{
    pyro_release(directory->allocator, directory->buffer);
    directory->buffer = NULL;
}

/* `len` bytes of the directory at `at`, or NULL. */
static const unsigned char *see(struct pyro_zip_directory *directory, uint64_t at, size_t len)
{
    if (at > directory->end || len > directory->end - at || len > LARGE_BUFFER)
        return NULL;
    if (at < directory->buffer_at || at - directory->buffer_at > directory->len ||
        len > directory->len - (size_t)(at - directory->buffer_at)) {
        uint64_t rest = directory->end - at;
        size_t wanted = len > directory->capacity ? len : directory->capacity;
        directory->buffer_at = at;
        directory->len = read_at(directory->fd, directory->buffer, rest < wanted ? (size_t)rest : wanted, at);
        if (directory->len < len)
            return NULL;
    }
    return directory->buffer + (at - directory->buffer_at);
}

/* Of archives beyond 4 GiB: those of the three that did not fit their fields, in this order. */
static bool read_extra(const unsigned char *extra, size_t len, struct pyro_zip_record *record)
{
    uint64_t *fields[] = {&record->bytes, &record->stored, &record->header};
    for (size_t i = 0; i + 4 <= len; i += 4 + (size_t)get16(extra + i + 2)) {
        size_t at = i + 4, end = at + get16(extra + i + 2);
        if (get16(extra + i) != 1 || end > len)
            continue;
        for (size_t k = 0; k < sizeof(fields) / sizeof(*fields); k++) {
            if (*fields[k] != UINT32_MAX)
                continue;
            if (end - at < 8)
                return false;
            *fields[k] = get64(extra + at);
            at += 8;
        }
        return true;
    }
    return record->bytes != UINT32_MAX && record->stored != UINT32_MAX && record->header != UINT32_MAX;
}

bool pyro_zip_directory_next(struct pyro_zip_directory *directory, struct pyro_zip_record *ret)
{
    const unsigned char *at = see(directory, directory->at, RECORD_BYTES);
    if (!at || memcmp(at, "PK\001\002", 4) != 0)
        return false;
    size_t name = get16(at + 28), extra = get16(at + 30), all = RECORD_BYTES + name + extra + get16(at + 32);
    at = see(directory, directory->at, all);
    if (!at)
        return false;
    *ret = (struct pyro_zip_record){
        .at = directory->at,
        .name = {(const char *)at + RECORD_BYTES, name},
        .flags = get16(at + 8),
        .method = get16(at + 10),
        .crc = get32(at + 16),
        .stored = get32(at + 20),
        .bytes = get32(at + 24),
        .header = get32(at + 42),
    };
    directory->at += all;
    bool read = read_extra(at + RECORD_BYTES + name, extra, ret);
    return read && !__builtin_add_overflow(ret->header, directory->shift, &ret->header);
}

bool pyro_zip_find(int fd, struct pyro_slice name, uint64_t at, const struct pyro_allocator *allocator,
                   struct pyro_zip_record *ret)
{
    struct pyro_zip_directory directory;
    bool found = false;
    if (!pyro_zip_directory_open(&directory, fd, allocator))
        return false;
    uint64_t first = directory.at;
    if (at >= first && at < directory.end) {
        directory.at = at;
        directory.capacity = SMALL_BUFFER;
        found = pyro_zip_directory_next(&directory, ret) && pyro_slice_eq(ret->name, name);
        directory.at = first;
        directory.capacity = LARGE_BUFFER;
    }
    while (!found && pyro_zip_directory_next(&directory, ret))
        found = pyro_slice_eq(ret->name, name);
    pyro_zip_directory_close(&directory);
    ret->name = name;
    return found;
}

/* ---- A member ---------------------------------------------------------------------------------------------------- */

struct pyro_zip_member {
    const struct pyro_allocator *allocator;
    int fd;
    struct pyro_zip_record record;
    uint64_t at, left; /* where the next stored bytes are, and how many */
    uint64_t given;    /* decompressed bytes */
    uLong crc;
    z_stream stream;
    bool ended;
    const char *damage;
    unsigned char buffer[STORED_BUFFER];
};

static voidpf allocate(voidpf opaque, uInt count, uInt size)
{
    size_t bytes;
    return __builtin_mul_overflow((size_t)count, (size_t)size, &bytes) ? NULL : pyro_allocate(opaque, bytes);
}

static void release(voidpf opaque, voidpf memory)
{
    pyro_release(opaque, memory);
}

/* Where the member's bytes begin; its own header repeats what the directory says, and is believed in its lengths only.
 */
static bool find_bytes(int fd, const struct pyro_zip_record *record, uint64_t *ret_at)
{
    unsigned char header[HEADER_BYTES];
    if (read_at(fd, header, sizeof(header), record->header) != sizeof(header) || memcmp(header, "PK\003\004", 4) != 0 ||
        get16(header + 8) != record->method)
        return false;
    return !__builtin_add_overflow(record->header, HEADER_BYTES + get16(header + 26) + get16(header + 28), ret_at);
}

bool pyro_zip_is_simple(const struct pyro_zip_record *record)
{
    return (record->method == METHOD_STORED || record->method == METHOD_DEFLATED) && !(record->flags & FLAGS_ENCRYPTED);
}

struct pyro_zip_member *pyro_zip_member_open(int fd, const struct pyro_zip_record *record,
                                             const struct pyro_allocator *allocator)
{
    uint64_t at;
    if (!pyro_zip_is_simple(record) || !find_bytes(fd, record, &at))
        return NULL;
    struct pyro_zip_member *member = pyro_allocate(allocator, sizeof(*member));
    if (!member)
        return NULL;
    member->allocator = allocator;
    member->fd = fd;
    member->record = *record;
    member->at = at;
    member->left = record->stored;
    member->given = 0;
    member->crc = crc32(0, NULL, 0);
    member->ended = false;
    member->damage = NULL;
    member->stream = (z_stream){.zalloc = allocate, .zfree = release, .opaque = pyro_unconst(allocator)};
    if (record->method == METHOD_DEFLATED && inflateInit2(&member->stream, -MAX_WBITS) != Z_OK) {
        pyro_release(allocator, member);
        return NULL;
    }
    return member;
}

void pyro_zip_member_close(struct pyro_zip_member *member)
{
    if (!member)
        return;
    if (member->record.method == METHOD_DEFLATED)
        inflateEnd(&member->stream);
    pyro_release(member->allocator, member);
}

/* Stored bytes, at most; 0: the member's or the file's end. */
static size_t take_stored(struct pyro_zip_member *member, void *buffer, size_t capacity)
{
    size_t wanted = member->left < capacity ? (size_t)member->left : capacity;
    size_t got = read_at(member->fd, buffer, wanted, member->at);
    member->at += got;
    member->left -= got;
    return got;
}

static size_t inflate_some(struct pyro_zip_member *member, void *buffer, size_t capacity)
{
    z_stream *stream = &member->stream;
    int result = Z_OK;
    stream->next_out = buffer;
    stream->avail_out = capacity < MOST_INFLATED ? (uInt)capacity : MOST_INFLATED;
    uInt room = stream->avail_out;
    while (result == Z_OK && stream->avail_out == room) {
        if (stream->avail_in == 0) {
            stream->next_in = member->buffer;
            stream->avail_in = (uInt)take_stored(member, member->buffer, sizeof(member->buffer));
        }
        if (stream->avail_in == 0)
            result = Z_BUF_ERROR;
        else
            result = inflate(stream, Z_NO_FLUSH);
    }
    if (result != Z_OK)
        member->ended = true;
    if (result == Z_BUF_ERROR)
        member->damage = "a member ends early";
    else if (result != Z_OK && result != Z_STREAM_END)
        member->damage = stream->msg ? stream->msg : "a member cannot be decompressed";
    return room - stream->avail_out;
}

size_t pyro_zip_member_read(struct pyro_zip_member *member, void *buffer, size_t capacity, const char **ret_damage)
{
    size_t got = 0;
    if (!member->ended && member->record.method == METHOD_DEFLATED) {
        got = inflate_some(member, buffer, capacity);
    } else if (!member->ended) {
        got = take_stored(member, buffer, capacity);
        member->ended = got == 0;
        if (got == 0 && member->left > 0)
            member->damage = "a member ends early";
    }
    member->given += got;
    member->crc = crc32_z(member->crc, buffer, got);
    if (got == 0 && !member->damage) {
        if (member->given != member->record.bytes)
            member->damage = "a member does not have the length that the archive says";
        else if (member->crc != member->record.crc)
            member->damage = "a member's checksum is wrong";
    }
    if (got == 0)
        *ret_damage = member->damage;
    return got;
}
