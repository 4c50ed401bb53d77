#include "base/phase_times.h"

#include <time.h>

static uint64_t microseconds(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static struct pyro_stopwatch now(const struct pyro_phases *phases, clockid_t cpu)
{
    if (!phases->take)
        return (struct pyro_stopwatch){0};
    return (struct pyro_stopwatch){microseconds(CLOCK_MONOTONIC), microseconds(cpu)};
}

static struct pyro_stopwatch since(const struct pyro_stopwatch *begun, const struct pyro_phases *phases, clockid_t cpu)
{
    struct pyro_stopwatch end = now(phases, cpu);
    return (struct pyro_stopwatch){end.wall_us - begun->wall_us, end.cpu_us - begun->cpu_us};
}

struct pyro_stopwatch pyro_phase_begin(const struct pyro_phases *phases)
{
    return now(phases, CLOCK_PROCESS_CPUTIME_ID);
}

void pyro_phase_end(const struct pyro_phases *phases, const struct pyro_stopwatch *begun, const char *name,
                    unsigned threads)
{
    if (!phases->take)
        return;
    struct pyro_stopwatch taken = since(begun, phases, CLOCK_PROCESS_CPUTIME_ID);
    pyro_phase_part(phases, &taken, name, NULL, threads);
}

struct pyro_stopwatch pyro_lap_begin(const struct pyro_phases *phases)
{
    return now(phases, CLOCK_THREAD_CPUTIME_ID);
}

void pyro_lap_end(const struct pyro_phases *phases, const struct pyro_stopwatch *begun, struct pyro_stopwatch *sum)
{
    if (!phases->take)
        return;
    struct pyro_stopwatch taken = since(begun, phases, CLOCK_THREAD_CPUTIME_ID);
    sum->wall_us += taken.wall_us;
    sum->cpu_us += taken.cpu_us;
}

void pyro_phase_part(const struct pyro_phases *phases, const struct pyro_stopwatch *sum, const char *name,
                     const char *part_of, unsigned threads)
{
    if (!phases->take)
        return;
    const struct pyro_phase phase = {
        .size = sizeof(phase),
        .name = name,
        .part_of = part_of,
        .threads = threads,
        .wall_us = sum->wall_us,
        .cpu_us = sum->cpu_us,
    };
    phases->take(phases->context, &phase);
}
