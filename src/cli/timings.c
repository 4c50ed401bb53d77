#include "timings.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST_PHASES = 32 };

/* One for the process, as are its clocks. */
static struct {
    bool wanted;
    struct pyro_phase begun, phases[MOST_PHASES]; /* in the order in which they ended first; sums over all logs */
    size_t count;
    uint64_t start_us, command_us, command_cpu_us;
} timings;

static uint64_t microseconds(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void take(void *context, const struct pyro_phase *phase)
{
    (void)context;
    size_t i = 0;
    while (i < timings.count && strcmp(timings.phases[i].name, phase->name) != 0)
        i++;
    if (i == MOST_PHASES)
        return;
    struct pyro_phase *row = &timings.phases[i];
    if (i == timings.count) {
        *row = *phase;
        timings.count++;
        return;
    }
    row->wall_us += phase->wall_us;
    row->cpu_us += phase->cpu_us;
    if (phase->threads > row->threads)
        row->threads = phase->threads;
}

void cli_timings_start(const struct cli_call *call, struct pyro_options *work)
{
    if (cli_value_if_known(call, "timings") == NULL)
        return;
    timings.wanted = true;
    timings.start_us = microseconds(CLOCK_MONOTONIC);
    work->phase = take;
}

void cli_timings_begin(void)
{
    timings.command_us = microseconds(CLOCK_MONOTONIC);
    timings.command_cpu_us = microseconds(CLOCK_PROCESS_CPUTIME_ID);
}

void cli_timings_end(const char *name)
{
    const struct pyro_phase phase = {
        .size = sizeof(phase),
        .name = name,
        .threads = 1,
        .wall_us = microseconds(CLOCK_MONOTONIC) - timings.command_us,
        .cpu_us = microseconds(CLOCK_PROCESS_CPUTIME_ID) - timings.command_cpu_us,
    };
    if (timings.wanted)
        take(NULL, &phase);
}

static double milliseconds(uint64_t us)
{
    return (double)us / 1000.0;
}

void cli_timings_print(void)
{
    uint64_t alone_us = 0;
    bool loaded = false;
    if (!timings.wanted)
        return;
    fprintf(stderr, "%-14s %10s %10s %8s\n", "phase", "wall ms", "CPU ms", "threads");
    for (size_t i = 0; i < timings.count; i++) {
        const struct pyro_phase *phase = &timings.phases[i];
        fprintf(stderr, "%s%-*s %10.1f %10.1f %8u\n", phase->part_of ? "  " : "", phase->part_of ? 12 : 14, phase->name,
                milliseconds(phase->wall_us), milliseconds(phase->cpu_us), phase->threads);
        if (loaded && !phase->part_of && phase->threads == 1)
            alone_us += phase->wall_us;
        loaded |= strcmp(phase->name, "load") == 0;
    }
    fprintf(stderr, "%-14s %10.1f %10.1f\n", "total", milliseconds(microseconds(CLOCK_MONOTONIC) - timings.start_us),
            milliseconds(microseconds(CLOCK_PROCESS_CPUTIME_ID)));
    fprintf(stderr, "on one thread after the last byte: %.1f ms\n", milliseconds(alone_us));
}
