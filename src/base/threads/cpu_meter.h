/* How much processor time reading something takes, over all threads that work on it, and how much it may. */
#ifndef PYRO_BASE_THREADS_CPU_METER_H
#define PYRO_BASE_THREADS_CPU_METER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct pyro_cpu_meter {
    uint64_t most_us; /* 0: any */
    atomic_uint_fast64_t used_us;
};

/* Processor time of the calling thread so far, in microseconds. */
uint64_t pyro_cpu_now(void);
/* Charges what the calling thread took since *stamp, which becomes now; the stamp is that thread's. NULL counts
 * nothing. False: more than may be was taken. */
bool pyro_cpu_charge(struct pyro_cpu_meter *meter, uint64_t *stamp);
bool pyro_cpu_is_spent(const struct pyro_cpu_meter *meter);
/* PYRO_ERROR_INPUT with the words for it. */
enum pyro_status pyro_cpu_exceeded(const struct pyro_cpu_meter *meter, struct pyro_error *error);

#endif
