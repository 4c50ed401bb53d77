#include "source/archives/archive_formats.h"

#include <string.h>
#include <unistd.h>

#include "source/archives/tar.h"
#include "source/codecs/codec.h"
#include "source/discovery/names.h"
#include "source/discovery/walk.h"
#include "source/input.h"

enum { READ_BYTES = 128 * 1024 };

const char *pyro_archive_name(enum pyro_archive_format format)
{
    static const char *const names[] = {
        [PYRO_ARCHIVE_NONE] = "unknown",
#define PYRO_ARCHIVE(id, text, support) [PYRO_ARCHIVE_##id] = text,
#include "source/archives/archives.def"
#undef PYRO_ARCHIVE
    };
    return names[format];
}

/* ---- Recognizing ------------------------------------------------------------------------------------------------- */

static bool begins(const unsigned char *head, size_t len, const char *magic, size_t magic_len)
{
    return len >= magic_len && memcmp(head, magic, magic_len) == 0;
}

enum pyro_archive_format pyro_archive_of_bytes(const unsigned char *head, size_t len, const char **ret_compressor)
{
    *ret_compressor = NULL;
    /* The second is an archive without members. */
    if (begins(head, len, "PK\003\004", 4) || begins(head, len, "PK\005\006", 4))
        return PYRO_ARCHIVE_ZIP;
    if (begins(head, len, "7z\274\257\047\034", 6))
        return PYRO_ARCHIVE_SEVEN_ZIP;
    if (begins(head, len, "BZh", 3) && begins(head + 4, len > 4 ? len - 4 : 0, "1AY&SY", 6))
        *ret_compressor = "bzip2";
    else if (begins(head, len, "\3757zXZ", 6))
        *ret_compressor = "xz";
    return *ret_compressor || pyro_is_tar_header(head, len) ? PYRO_ARCHIVE_TAR : PYRO_ARCHIVE_NONE;
}

static bool is_named_tar(struct pyro_slice path)
{
    static const char *const ends[] = {".tgz", ".tzst", ".tlz4"};
    struct pyro_slice name = pyro_base_name(path);
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (pyro_slice_ends_with(name, ends[i]))
            return true;
    return pyro_slice_find(name, ".tar") != NULL;
}

/* Whether what the codec gives is a tar archive. */
static bool has_tar_inside(const char *path)
{
    const struct pyro_log_part part = {.path = pyro_slice_from(path)};
    struct pyro_error error = {.size = sizeof(error)};
    unsigned char head[PYRO_ARCHIVE_HEAD];
    size_t len = 0;
    return pyro_part_head(&part, NULL, (char *)head, sizeof(head), &len, &error) == PYRO_OK &&
           pyro_is_tar_header(head, len);
}

enum pyro_archive_format pyro_archive_of_head(const char *path, const unsigned char *head, size_t len, bool look)
{
    const char *compressor;
    enum pyro_archive_format format = pyro_archive_of_bytes(head, len, &compressor);
    if (format == PYRO_ARCHIVE_NONE && (look || is_named_tar(pyro_slice_from(path))) &&
        pyro_codec_recognise(head, len < PYRO_SNIFF_BYTES ? len : PYRO_SNIFF_BYTES) && has_tar_inside(path))
        return PYRO_ARCHIVE_TAR;
    return format;
}

enum pyro_archive_format pyro_archive_of_file(const char *path, bool look)
{
    unsigned char head[PYRO_ARCHIVE_HEAD];
    int fd = pyro_open_regular(path);
    if (fd < 0)
        return PYRO_ARCHIVE_NONE;
    ssize_t got = pread(fd, head, sizeof(head), 0);
    close(fd);
    return pyro_archive_of_head(path, head, got > 0 ? (size_t)got : 0, look);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

struct pyro_utf8_scope pyro_utf8_enter(void)
{
    struct pyro_utf8_scope scope = {newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), (locale_t)0};
    if (scope.own)
        scope.previous = uselocale(scope.own);
    return scope;
}

void pyro_utf8_leave(struct pyro_utf8_scope scope)
{
    if (!scope.own)
        return;
    uselocale(scope.previous);
    freelocale(scope.own);
}

/* Only the one that the file begins with: libarchive would otherwise try all of them, again on what comes out of one.
 * One that this libarchive does not have itself gives a warning: it would start another program. */
static bool support_compressor(struct archive *archive, int fd)
{
    unsigned char head[8] = {0};
    const struct {
        const char *magic;
        size_t len;
        int (*support)(struct archive *);
    } compressors[] = {
        {"\037\213", 2, archive_read_support_filter_gzip},
        {"BZh", 3, archive_read_support_filter_bzip2},
        {"\3757zXZ", 5, archive_read_support_filter_xz},
        {"\x28\xb5\x2f\xfd", 4, archive_read_support_filter_zstd},
        {"\x04\x22\x4d\x18", 4, archive_read_support_filter_lz4},
    };
    if (pread(fd, head, sizeof(head), 0) <= 0)
        return false;
    for (size_t i = 0; i < sizeof(compressors) / sizeof(*compressors); i++)
        if (memcmp(head, compressors[i].magic, compressors[i].len) == 0)
            return compressors[i].support(archive) == ARCHIVE_OK;
    return true;
}

static bool support(struct archive *archive, int fd, enum pyro_archive_format format)
{
    switch (format) {
#define PYRO_ARCHIVE(id, name, function)                                                                               \
    case PYRO_ARCHIVE_##id:                                                                                            \
        if (function(archive) < ARCHIVE_WARN)                                                                          \
            return false;                                                                                              \
        break;
#include "source/archives/archives.def"
#undef PYRO_ARCHIVE
    case PYRO_ARCHIVE_NONE:
        return false;
    }
    return format != PYRO_ARCHIVE_TAR || support_compressor(archive, fd);
}

enum pyro_status pyro_archive_open(int fd, enum pyro_archive_format format, struct archive **ret,
                                   struct pyro_error *error)
{
    enum { FILTERS = 2 }; /* one compressor, and the file */
    PYRO_TRY(pyro_archive_load(error));
    struct archive *archive = archive_read_new();
    if (archive && support(archive, fd, format) && lseek(fd, 0, SEEK_SET) == 0 &&
        archive_read_open_fd(archive, fd, READ_BYTES) >= ARCHIVE_WARN && archive_filter_count(archive) <= FILTERS) {
        *ret = archive;
        return PYRO_OK;
    }
    if (archive)
        archive_read_free(archive);
    return pyro_error_set(error, PYRO_ERROR_INPUT, "is a %s archive that cannot be opened", pyro_archive_name(format));
}

bool pyro_archive_next(struct archive *archive, struct archive_entry **ret, bool *ret_ended)
{
    int result;
    do {
        result = archive_read_next_header(archive, ret);
    } while (result == ARCHIVE_RETRY);
    *ret_ended = result == ARCHIVE_EOF;
    return result == ARCHIVE_OK || result == ARCHIVE_WARN;
}

struct pyro_slice pyro_archive_entry_name(struct archive_entry *entry, enum pyro_archive_format format)
{
    const char *text = archive_entry_pathname_utf8(entry);
    struct pyro_slice name = pyro_slice_from(text ? text : archive_entry_pathname(entry));
    while (format == PYRO_ARCHIVE_TAR && name.len > 2 && pyro_slice_starts_with(name, "./")) {
        name.ptr += 2;
        name.len -= 2;
    }
    return name;
}

/* The next bytes; len 0: the end. */
static bool next_block(struct archive *archive, struct pyro_archive_block *block)
{
    const void *bytes = NULL;
    la_int64_t at = 0;
    int result;
    do {
        result = archive_read_data_block(archive, &bytes, &block->len, &at);
    } while (result == ARCHIVE_RETRY || (result == ARCHIVE_OK && block->len == 0));
    block->bytes = bytes;
    block->at = (uint64_t)at;
    if (result == ARCHIVE_EOF)
        block->len = 0;
    return result == ARCHIVE_EOF || ((result == ARCHIVE_OK || result == ARCHIVE_WARN) && block->at >= block->given);
}

bool pyro_archive_read(struct archive *archive, struct pyro_archive_block *block, void *buffer, size_t capacity,
                       size_t *ret_len)
{
    *ret_len = 0;
    if (block->len == 0 && !next_block(archive, block))
        return false;
    if (block->len == 0)
        return true;
    uint64_t hole = block->at - block->given; /* of a sparse file */
    size_t len = hole > 0 ? (hole < capacity ? (size_t)hole : capacity) : block->len < capacity ? block->len : capacity;
    if (hole > 0) {
        memset(buffer, 0, len);
    } else {
        memcpy(buffer, block->bytes, len);
        block->bytes += len;
        block->len -= len;
        block->at += len;
    }
    block->given += len;
    *ret_len = len;
    return true;
}

const char *pyro_archive_reason(struct archive *archive)
{
    const char *reason = archive_error_string(archive);
    if (reason && strcmp(reason, "ZIP decompression failed (-5)") == 0) /* Z_BUF_ERROR of zlib */
        return "a member ends early";
    return reason ? reason : "damaged archive";
}
