/* Where bytes come from: paths to logs of applications, and a log's parts to readers of decompressed bytes.
 *
 *     path -> pyro_source_discover() -> pyro_log[] -> parts -> pyro_reader (codec inside) -> bytes
 *
 * A "log" is what one attempt of one application left behind: a single file, the parts of a rolling log in their
 * order, or the files of the Databricks layout. Nothing here knows what an event is. */
#ifndef PYRO_SOURCE_SOURCE_H
#define PYRO_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory/arena.h"
#include "base/strings/slice.h"

struct pyro_cpu_meter;
struct pyro_unpack;
struct pyro_unpacked;
struct pyro_remote;

/* The option of the command that lifts the limits of what is read. */
#define PYRO_LIFT_LIMITS "--no-input-limits"

enum pyro_log_layout {
    PYRO_LAYOUT_SINGLE,     /* one file, or standard input */
    PYRO_LAYOUT_ROLLING,    /* eventlog_v2_APP[_ATTEMPT]/events_N_APP[_ATTEMPT][.CODEC], appstatus_APP[.inprogress] */
    PYRO_LAYOUT_DATABRICKS, /* eventlog-YYYY-MM-DD--HH-MM[.gz] in time order, then eventlog */
    PYRO_LAYOUT_REMOTE,     /* an address: no parts until it is fetched (load/remote/remote.h) */
    PYRO_LAYOUT_LOGS        /* no event log: the other files of an application (load/logged/logged.h) */
};

/* Asked each time that a part is read on; what is no PYRO_OK ends the part, and is what reading gives. */
struct pyro_reader_check {
    enum pyro_status (*go_on)(void *context, struct pyro_error *error);
    void *context;
};

/* One file (or archive member, or standard input) of a log. Strings belong to the list's arena. */
struct pyro_log_part {
    struct pyro_slice path;   /* NUL-terminated; "-" is standard input */
    struct pyro_slice member; /* name inside the archive at `path`; null ptr if `path` is not an archive */
    bool compacted;           /* the name ends in .compact (before a codec's suffix) */
    struct pyro_slice label;  /* what a report calls it; null ptr: its member, else its path */
    uint64_t place;           /* of the member's record in a zip archive's directory, of its bytes in a tar archive that
                                 is not compressed; 0: not known */
    const struct pyro_unpacked *unpacked; /* a copy of its bytes, which lasts as long as the list; NULL: none */
    uint64_t most_bytes; /* decompressed: more was made to fill memory or time, and is an error; 0: any number */
    uint64_t
        most_line_bytes; /* of one line: more is an error; 0: as many as a record may have, longer ones are skipped */
    struct pyro_slice inside; /* the real path of a folder that the file must lie in, NUL-terminated; null: anywhere */
    const char *limit_option; /* of the command, which lifts or raises most_bytes; NULL: none */
    const struct pyro_reader_check *check; /* outlives the part's readers; NULL: none */
};

struct pyro_log {
    struct pyro_slice path; /* what a report calls this log: the file, the folder, or ARCHIVE!MEMBER */
    enum pyro_log_layout layout;
    struct pyro_log_part *parts; /* in the order they are to be read */
    size_t part_count;
    bool in_progress;       /* a name said so: .inprogress suffix, or appstatus_*.inprogress */
    bool compacted;         /* at least one part is */
    uint64_t missing_parts; /* gaps in the numbers of a rolling log's parts (events_1, events_3 -> 1); a log that starts
                               at events_N without .compact counts N - 1 */
    const struct pyro_remote *remote; /* PYRO_LAYOUT_REMOTE: where it is, once that is known */
    struct pyro_cpu_meter *meter; /* what reading it takes is charged here, and ends when that is spent; NULL: none */
};

static inline struct pyro_slice pyro_part_name(const struct pyro_log_part *part)
{
    return part->label.ptr ? part->label : part->member.ptr ? part->member : part->path;
}

struct pyro_unreadable {
    struct pyro_slice path;
    struct pyro_slice message; /* one line: what, why, what to do */
    bool passing;              /* the system refused for now: this says nothing about the file */
};

struct pyro_log_list {
    struct pyro_arena arena;
    struct pyro_log *logs; /* ordered by the caller's paths, then by name inside a directory */
    size_t count;
    struct pyro_unreadable *unreadable; /* in the same order */
    size_t unreadable_count;
    struct pyro_unpack *unpack; /* what was unpacked, or NULL */
};

/* Finds the logs at each path: a file, "-", a rolling or Databricks folder, a folder of many of these (searched one
 * level deep, hidden names, appstatus files and Spark's *.crc left out), or an archive of any of these (zip, tar, 7z;
 * recognized by content). Files are not opened beyond their first bytes. A path that is missing, not readable, or no
 * kind of log (empty file, device, socket, folder without logs) becomes a row of `unreadable`, never a failure of the
 * call. An address becomes a log of PYRO_LAYOUT_REMOTE without a look at it. Fails only with PYRO_ERROR_MEMORY. `ret`
 * is initialised here and released with pyro_log_list_done() in any case. */
enum pyro_status pyro_source_discover(const char *const *paths, size_t path_count,
                                      const struct pyro_allocator *allocator, struct pyro_log_list *ret,
                                      struct pyro_error *error);
void pyro_log_list_done(struct pyro_log_list *list);

/* What a caller that looks at the same paths again and again knows already. Files inside folders that are unchanged
 * are not opened; one that is a log by itself, not a part of one, is left out of the list: the caller has it. */
struct stat;
struct pyro_known {
    bool (*unchanged)(void *context, const char *path,
                      const struct stat *status); /* asked once for each file, or NULL */
    /* Asked about a file in a folder of a folder that is not `unchanged`: it was looked into, and is not an event log.
     * NULL: nothing is known. */
    bool (*no_event_log)(void *context, const char *path, const struct stat *status);
    void *context;
    /* Also event logs in the folders of folders, to PYRO_WALK_LEVELS (source/discovery/walk.h), without links. A file
     * that is a log by itself is found there only by how it begins, and archives are not looked into. */
    bool deep;
    /* Parts of logs get `most_bytes`, those of one archive together what pyro_most_decompressed() allows its file. */
    bool inside; /* links in folders may not lead out of them, nor may they when logs are opened */
    /* Members of archives that can only be read from their beginning (compressed tar, 7z) are copied to a file without
     * a name, which lasts as long as the list. Parts that are copied elsewhere leave out `unpacked`. */
    bool unpack;
    bool unlimited;           /* no such limit, and archives of any number of members */
    const char *untrusted;    /* a folder of files that anybody may have sent, or NULL */
    uint64_t untrusted_ratio; /* of decompressed bytes to stored ones there; 0: 1,000 */
    const char *untrusted_by; /* the command's option for that, or NULL */
};
/* pyro_source_discover() with that; `known` may be NULL. */
enum pyro_status pyro_source_discover_again(const char *const *paths, size_t path_count, const struct pyro_known *known,
                                            const struct pyro_allocator *allocator, struct pyro_log_list *ret,
                                            struct pyro_error *error);

/* How many bytes of text an event log of `stored_bytes` may have: 64 MiB, or `ratio` (0: 1,000) times its bytes if that
 * is more. Event logs of Spark have 20 to 100 times. */
uint64_t pyro_most_decompressed(uint64_t stored_bytes, uint64_t ratio);

/* Decompressed bytes of one part. One thread at a time. */
struct pyro_reader;

/* Opens a part and recognizes its codec by content. Waits for the writer of a FIFO, and for the first bytes of a pipe.
 */
enum pyro_status pyro_reader_open(const struct pyro_log_part *part, const struct pyro_allocator *allocator,
                                  struct pyro_reader **ret, struct pyro_error *error);
void pyro_reader_close(struct pyro_reader *reader);

/* Reads up to `capacity` (> 0) bytes; *ret_len 0 is the end of the part. Short reads happen.
 * Damage is an end, not a loss: bytes decoded before it are handed out first, then the end is reported and
 * pyro_reader_damage() says what was wrong. Fails only on I/O errors (PYRO_ERROR_INPUT) and memory. */
enum pyro_status pyro_reader_read(struct pyro_reader *reader, void *buffer, size_t capacity, size_t *ret_len,
                                  struct pyro_error *error);

/* Instead of pyro_reader_read(), where the part is a stream of frames or blocks that decompress alone: takes some of
 * them, to be unpacked by any thread. unit->len 0: pyro_reader_read() goes on. The limit of decompressed bytes does not
 * count what they hold. */
struct pyro_unit;
enum pyro_status pyro_reader_take(struct pyro_reader *reader, struct pyro_unit *unit, struct pyro_error *error);
/* PYRO_ERROR_INPUT with the words for more decompressed bytes than the part may have. */
enum pyro_status pyro_part_too_large(const struct pyro_log_part *part, struct pyro_error *error);

/* After the end: NULL when the part was whole, else one line ("zstd frame ends early", ...). Owned by the reader. */
const char *pyro_reader_damage(const struct pyro_reader *reader);
/* "plain", "zstd", "lz4", "snappy", "lzf", "gzip". */
const char *pyro_reader_codec(const struct pyro_reader *reader);
/* Compressed bytes taken from the file so far, and its size where known (0 otherwise); for progress. Of an archive's
 * member: bytes as they leave the archive. */
void pyro_reader_position(const struct pyro_reader *reader, uint64_t *ret_consumed, uint64_t *ret_total);
/* True when the part is an uncompressed regular file: the caller may pread() `*ret_fd` (owned by the reader) from
 * offset 0 to `*ret_size` from several threads instead of calling pyro_reader_read(). */
bool pyro_reader_is_plain_file(const struct pyro_reader *reader, int *ret_fd, uint64_t *ret_size);

#endif
