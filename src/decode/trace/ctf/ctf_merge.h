/* Traces and streams of one reader. */
#ifndef PYRO_DECODE_TRACE_CTF_CTF_MERGE_H
#define PYRO_DECODE_TRACE_CTF_CTF_MERGE_H

#include "decode/trace/ctf/ctf_reader.h"

/* A stream that has a next event. */
struct ctf_head {
    int64_t time_ns;
    size_t stream; /* its row: of two with the same time, the smaller one comes first */
};

struct pyro_ctf {
    struct pyro_ctf_calls calls;
    const struct pyro_allocator *allocator;
    PYRO_VEC(struct pyro_ctf_source *) sources;
    PYRO_VEC(struct pyro_ctf_stream *) streams;
    PYRO_VEC(struct ctf_head) heap; /* the earliest one is the first */
    struct pyro_slice inside;       /* of the traces that are added next: see pyro_ctf_keep_inside() */
    bool started;                   /* the heap has been made */
    bool given;                     /* the first of the heap has been given to the caller */
};

/* Paths of the files of a folder. */
struct ctf_names {
    struct pyro_slice *items;
    size_t count, capacity;
};

/* ctf_folder.c. Appends the streams of the folder. */
enum pyro_status pyro_ctf_open_streams(struct pyro_ctf *ctf, struct pyro_ctf_source *source, const char *folder,
                                       struct pyro_error *error);

#endif
