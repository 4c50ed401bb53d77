/* Histories kept in files, so that a log that was read before need not be read again. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/files/replace_file.h"
#include "base/secrets/secret_expressions.h"
#include "history/history.h"
#include "load/load.h"
#include "model/history/pack.h"

enum {
    FIRST_BYTES = 4096,      /* of each file, which identify it together with its size and times */
    SMALLEST_LOG = 16 << 20, /* text; what is smaller is read as fast */
    LARGEST_SHARE = 15       /* percent of the log's text */
};
static const uint64_t LARGEST_FILE = (uint64_t)4 << 30, LARGEST_PACKED = (uint64_t)16 << 30;

struct header {
    char magic[8];
    uint64_t version, identity_bytes, stored_bytes, packed_bytes;
    uint64_t checksum; /* of all, this being 0 */
};
static const char magic[8] = "PYROHST";

/* Any change of what is packed changes it. */
static uint64_t current_version(void)
{
    static const uint64_t sizes[] = {
        PYRO_HISTORY_PACK_VERSION,
        PYRO_TASK_COLUMN_COUNT,
        PYRO_HISTORY_METRICS,
        PYRO_HISTORY_PEAKS,
        sizeof(struct pyro_history),
        sizeof(struct pyro_history_job),
        sizeof(struct pyro_history_stage),
        sizeof(struct pyro_history_share),
        sizeof(struct pyro_history_executor),
        sizeof(struct pyro_history_rdd),
        sizeof(struct pyro_history_sql),
    };
    return XXH3_64bits(sizes, sizeof(sizes)) ^ XXH3_64bits(PYROMETER_VERSION, sizeof(PYROMETER_VERSION));
}

/* What tells this state of a log, and how its texts were redacted, from any other; false: it has no files to tell by.
 */
static bool identify(const struct pyro_log *log, enum pyro_redaction redaction, struct pyro_strbuf *identity)
{
    pyro_strbuf_printf(identity, "%016llx\n", (unsigned long long)pyro_secret_expressions_key(redaction));
    bool ok = log->part_count > 0 && log->layout != PYRO_LAYOUT_REMOTE && !log->in_progress;
    for (size_t i = 0; ok && i < log->part_count; i++) {
        char first[FIRST_BYTES];
        struct stat info;
        int fd = open(log->parts[i].path.ptr, O_RDONLY | O_CLOEXEC);
        ssize_t got = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? read(fd, first, sizeof(first)) : -1;
        ok = got >= 0;
        if (ok)
            pyro_strbuf_printf(identity, "%s|%s|%llu|%llu|%llu|%lld.%09ld|%016llx\n", log->parts[i].path.ptr,
                               log->parts[i].member.ptr ? log->parts[i].member.ptr : "",
                               (unsigned long long)info.st_dev, (unsigned long long)info.st_ino,
                               (unsigned long long)info.st_size, (long long)info.st_mtim.tv_sec,
                               (long)info.st_mtim.tv_nsec, (unsigned long long)XXH3_64bits(first, (size_t)got));
        if (fd >= 0)
            close(fd);
    }
    return ok && !identity->failed;
}

static void index_path(const char *folder, const struct pyro_log *log, bool with_sql, struct pyro_strbuf *path)
{
    pyro_strbuf_printf(path, "%s/%016llx%s.history", folder,
                       (unsigned long long)XXH3_64bits(log->path.ptr, log->path.len), with_sql ? "-sql" : "");
}

/* ---- Reading ---- */

/* The whole file, or a null slice. */
static struct pyro_slice read_file(const char *path)
{
    struct stat info;
    char *bytes = NULL;
    size_t len = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
        (uint64_t)info.st_size <= LARGEST_FILE)
        bytes = pyro_allocate(NULL, (size_t)info.st_size);
    while (bytes && len < (size_t)info.st_size) {
        ssize_t got = read(fd, bytes + len, (size_t)info.st_size - len);
        if (got <= 0)
            break;
        len += (size_t)got;
    }
    if (fd >= 0)
        close(fd);
    return (struct pyro_slice){bytes, len};
}

static uint64_t checksum(const struct header *header, const char *rest, size_t len)
{
    struct header zeroed = *header;
    zeroed.checksum = 0;
    return XXH3_64bits(&zeroed, sizeof(zeroed)) ^ XXH3_64bits_withSeed(rest, len, 1);
}

struct pyro_history *pyro_history_index_read(struct pyro_slice file, struct pyro_slice identity)
{
    struct header header;
    if (file.len < sizeof(header))
        return NULL;
    memcpy(&header, file.ptr, sizeof(header));
    const char *rest = file.ptr + sizeof(header);
    size_t rest_len = file.len - sizeof(header);
    if (memcmp(header.magic, magic, sizeof(magic)) != 0 || header.version != current_version() ||
        header.identity_bytes != identity.len || header.identity_bytes > rest_len ||
        header.stored_bytes != rest_len - header.identity_bytes || header.packed_bytes > LARGEST_PACKED ||
        memcmp(rest, identity.ptr, identity.len) != 0 || header.checksum != checksum(&header, rest, rest_len))
        return NULL;
    const char *stored = rest + header.identity_bytes;
    if (ZSTD_getFrameContentSize(stored, header.stored_bytes) != header.packed_bytes)
        return NULL;
    char *packed = pyro_allocate(NULL, header.packed_bytes + 1);
    size_t len = packed ? ZSTD_decompress(packed, header.packed_bytes, stored, header.stored_bytes) : 0;
    struct pyro_history *history = NULL;
    if (packed && len == header.packed_bytes)
        history = pyro_history_unpack((struct pyro_slice){packed, len});
    pyro_release(NULL, packed);
    return history;
}

struct pyro_history *pyro_history_index_load(const char *folder, const pyro_inputs *inputs, size_t index, bool with_sql)
{
    const struct pyro_log *log = pyro_inputs_log(inputs, index);
    struct pyro_history *history = NULL;
    struct pyro_strbuf identity, path;
    pyro_strbuf_init(&identity, NULL);
    pyro_strbuf_init(&path, NULL);
    if (log && identify(log, pyro_inputs_redaction(inputs), &identity)) {
        index_path(folder, log, with_sql, &path);
        struct pyro_slice file = path.failed ? PYRO_SLICE_NULL : read_file(path.data);
        if (file.ptr)
            history = pyro_history_index_read(file, pyro_strbuf_slice(&identity));
        pyro_release(NULL, file.ptr);
    }
    pyro_strbuf_done(&identity);
    pyro_strbuf_done(&path);
    return history;
}

/* ---- Writing ---- */

bool pyro_history_index_write(const struct pyro_history *history, struct pyro_slice identity, struct pyro_strbuf *file)
{
    struct pyro_strbuf packed;
    pyro_strbuf_init(&packed, NULL);
    bool ok = pyro_history_pack(history, &packed) && packed.len <= LARGEST_PACKED;
    size_t bound = ok ? ZSTD_compressBound(packed.len) : 0, start = sizeof(struct header) + identity.len, stored = 0;
    ok = ok && pyro_strbuf_reserve(file, start + bound + 1);
    if (ok) {
        stored = ZSTD_compress(file->data + start, bound, packed.data, packed.len, 1);
        ok = !ZSTD_isError(stored);
    }
    if (ok) {
        struct header header = {
            .version = current_version(),
            .identity_bytes = identity.len,
            .stored_bytes = stored,
            .packed_bytes = packed.len,
        };
        memcpy(header.magic, magic, sizeof(magic));
        memcpy(file->data + sizeof(header), identity.ptr, identity.len);
        header.checksum = checksum(&header, file->data + sizeof(header), identity.len + stored);
        memcpy(file->data, &header, sizeof(header));
        file->len = start + stored;
    }
    pyro_strbuf_done(&packed);
    return ok;
}

bool pyro_history_index_save(const char *folder, const pyro_inputs *inputs, size_t index,
                             const struct pyro_history *history, struct pyro_slice identity)
{
    const struct pyro_log *log = pyro_inputs_log(inputs, index);
    struct pyro_strbuf now, path, file;
    if (!log || history->bytes < SMALLEST_LOG)
        return false;
    pyro_strbuf_init(&now, NULL);
    pyro_strbuf_init(&path, NULL);
    pyro_strbuf_init(&file, NULL);
    index_path(folder, log, history->with_sql, &path);
    const struct pyro_replacement how = {.access = PYRO_NEW_FILE_PRIVATE};
    /* What changed while it was read is not known to be what was read. */
    bool ok = !path.failed && identify(log, pyro_inputs_redaction(inputs), &now) &&
              pyro_slice_eq(pyro_strbuf_slice(&now), identity) && pyro_history_index_write(history, identity, &file) &&
              file.len <= history->bytes / 100 * LARGEST_SHARE &&
              pyro_replace_file(path.data, pyro_strbuf_slice(&file), &how) == 0;
    pyro_strbuf_done(&now);
    pyro_strbuf_done(&path);
    pyro_strbuf_done(&file);
    return ok;
}

bool pyro_history_identify(const pyro_inputs *inputs, size_t index, struct pyro_strbuf *identity)
{
    const struct pyro_log *log = pyro_inputs_log(inputs, index);
    return log && identify(log, pyro_inputs_redaction(inputs), identity);
}
