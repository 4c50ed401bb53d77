/* What the phases of a call take, for a caller who wants to know. */
#ifndef PYRO_BASE_PHASE_TIMES_H
#define PYRO_BASE_PHASE_TIMES_H

#include <stdint.h>

#include "base/error.h"

/* The receiver of phases; zeroed: there is none, and no clock is read. */
struct pyro_phases {
    void (*take)(void *context, const struct pyro_phase *phase);
    void *context;
};

struct pyro_stopwatch {
    uint64_t wall_us, cpu_us;
};

/* A phase of the call begins: clocks of the process. */
struct pyro_stopwatch pyro_phase_begin(const struct pyro_phases *phases);
/* It ends, and the receiver gets it. `name` is static. */
void pyro_phase_end(const struct pyro_phases *phases, const struct pyro_stopwatch *begun, const char *name,
                    unsigned threads);

/* A part that runs on several threads: each adds its laps to a sum of its own or under its own lock. */
struct pyro_stopwatch pyro_lap_begin(const struct pyro_phases *phases);
/* Adds the time of the calling thread since pyro_lap_begin(). */
void pyro_lap_end(const struct pyro_phases *phases, const struct pyro_stopwatch *begun, struct pyro_stopwatch *sum);
void pyro_phase_part(const struct pyro_phases *phases, const struct pyro_stopwatch *sum, const char *name,
                     const char *part_of, unsigned threads);

#endif
