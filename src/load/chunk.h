/* A chunk: some complete lines of a log's part, read and decoded together. */
#ifndef PYRO_LOAD_CHUNK_H
#define PYRO_LOAD_CHUNK_H

#include "decode/batch.h"
#include "source/codecs/codec.h"
#include "source/source.h"

enum {
    PYRO_CHUNK_BYTES = 1 << 20 /* fits the second-level cache, so that decoding finds what reading left there */
};

struct pyro_chunk {
    const struct pyro_allocator *allocator;
    char *memory;    /* what the allocator gave, */
    char *buffer;    /* and the first page that begins in it */
    size_t capacity; /* of the buffer, without the scan's padding */
    const char *text;
    size_t len;
    /* Of a stream: what is before its first and behind its last newline, which belongs to lines of other chunks. */
    struct pyro_slice head, tail;
    struct pyro_unit unit; /* not unpacked yet, if it has bytes */
    uint64_t long_record;  /* bytes of a record behind the text that was longer than the limit, and skipped; 0: none */
    size_t part;           /* of the log */
    bool stream, ends;     /* of a stream; it ends the part */
    char damage[160];      /* what was found at the part's end, or "" */
    struct pyro_batch batch;
};

void pyro_chunk_init(struct pyro_chunk *chunk, const struct pyro_allocator *allocator, const struct pyro_scan *scan,
                     uint64_t max_record, uint32_t wanted);
void pyro_chunk_done(struct pyro_chunk *chunk);
/* Takes what is in it out of it, except its batch, keeping its memory. */
void pyro_chunk_empty(struct pyro_chunk *chunk);
bool pyro_chunk_reserve(struct pyro_chunk *chunk, size_t capacity);

/* Fills a chunk with the next bytes of a stream, or with a unit of it; sets `ends` at the part's end. */
enum pyro_status pyro_chunk_read_stream(struct pyro_chunk *chunk, struct pyro_reader *reader, struct pyro_error *error);
/* Unpacks its unit, if it has one, and finds its lines: text, head and tail. Any thread. */
enum pyro_status pyro_chunk_cut_stream(struct pyro_chunk *chunk, struct pyro_error *error);
/* Fills a chunk with the lines of a plain file that begin in [from, to) of its `size` bytes. Any thread. */
enum pyro_status pyro_chunk_read_range(struct pyro_chunk *chunk, int fd, uint64_t from, uint64_t to, uint64_t size,
                                       uint64_t max_record, struct pyro_error *error);

#endif
