/* Folded stacks: "outermost;...;innermost 12". */
#include <string.h>

#include "decode/profiling/profile_reading.h"

struct folding {
    struct pyro_profile_reading *reading;
    int32_t thread;
};

/* Splits " 12" off the end. */
static bool split_count(struct pyro_slice *line, int64_t *ret)
{
    const char *blank = line->len ? memrchr(line->ptr, ' ', line->len) : NULL;
    size_t digits = blank ? (size_t)(line->ptr + line->len - blank - 1) : 0;
    int64_t value = 0;
    if (digits == 0 || digits > 18)
        return false;
    for (size_t i = 1; i <= digits; i++) {
        if (blank[i] < '0' || blank[i] > '9')
            return false;
        value = value * 10 + (blank[i] - '0');
    }
    line->len = (size_t)(blank - line->ptr);
    *ret = value;
    return true;
}

/* The stack of "a;b;c", -1: no memory. */
static int32_t add_stack(struct pyro_profile_reading *reading, struct pyro_slice frames)
{
    int32_t stack = -1;
    size_t depth = 0;
    for (const char *at = frames.ptr, *end = at + frames.len; at <= end && depth < PYRO_PROFILE_DEPTH; depth++) {
        const char *semicolon = memchr(at, ';', (size_t)(end - at));
        const char *stop = semicolon ? semicolon : end;
        int32_t frame = pyro_profile_frame_row(reading, (struct pyro_slice){at, (size_t)(stop - at)}, PYRO_SLICE_NULL);
        stack = frame < 0 ? -1 : pyro_tracks_add_stack(reading->tracks, stack, frame);
        if (stack < 0)
            return -1;
        at = stop + 1;
    }
    reading->facts->stacks_cut += depth == PYRO_PROFILE_DEPTH;
    return stack;
}

static bool take_line(void *context, struct pyro_slice line)
{
    struct folding *folding = context;
    struct pyro_profile_reading *reading = folding->reading;
    int64_t count;
    if (line.len == 0)
        return true;
    if (!split_count(&line, &count)) {
        reading->facts->rejected++;
        return true;
    }
    int32_t stack = line.len ? add_stack(reading, line) : -1;
    if (line.len && stack < 0)
        return false;
    const struct pyro_sample_row row = {
        .thread = folding->thread,
        .stack = stack,
        .time_ns = PYRO_NONE,
        .event = PYRO_SAMPLE_CPU,
        .state = PYRO_STATE_UNKNOWN,
        .weight = count,
    };
    reading->facts->records++;
    return pyro_profile_sample(reading, &row);
}

enum pyro_status pyro_profile_decode_folded(struct pyro_profile_reading *reading)
{
    const struct pyro_profile_process process = {.pid = PYRO_NONE};
    struct folding folding = {reading, pyro_profile_process_row(reading, &process)};
    if (folding.thread < 0)
        return pyro_no_memory(reading->error);
    return pyro_profile_lines(reading, take_line, &folding);
}
