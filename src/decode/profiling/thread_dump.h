/* What dumps of threads of all writers have in common: each thread of a dump is one sample. */
#ifndef PYRO_DECODE_PROFILING_THREAD_DUMP_H
#define PYRO_DECODE_PROFILING_THREAD_DUMP_H

#include "decode/profiling/profile_reading.h"

/* The dump and the thread of it that is read. */
struct pyro_thread_dump {
    struct pyro_profile_reading *reading;
    int64_t time_ns;         /* of the dump; PYRO_NONE: not known */
    struct pyro_strbuf name; /* of the thread */
    int64_t tid;
    enum pyro_thread_state state;
    struct pyro_strbuf text; /* of its frames, innermost first */
    PYRO_VEC(size_t) ends;   /* of each of them in `text` */
    bool native, cut;
};

void pyro_thread_dump_init(struct pyro_thread_dump *dump, struct pyro_profile_reading *reading);
void pyro_thread_dump_done(struct pyro_thread_dump *dump);
/* "TIMED_WAITING (parking)" */
enum pyro_thread_state pyro_thread_dump_state(struct pyro_slice text);
/* Adds the next frame, "CLASS.METHOD(PLACE)". False: no memory. */
bool pyro_thread_dump_frame(struct pyro_thread_dump *dump, struct pyro_slice frame);
/* Ends the thread, and adds it as a sample if it has frames and `taken` says so. False: no memory. */
bool pyro_thread_dump_end(struct pyro_thread_dump *dump, bool taken);

#endif
