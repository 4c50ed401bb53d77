/* Panels of the page: rows of one axis of time. */
#ifndef PYRO_REPORT_PROFILING_PANELS_H
#define PYRO_REPORT_PROFILING_PANELS_H

#include "report/profiling/profiling.h"

enum { PYRO_PANEL_PIXELS = 600, PYRO_PANEL_COLORS = 6, PYRO_PANEL_BARS = 400 };

/* A series as a line: of a counter, its change per second. */
struct pyro_panel_line {
    int32_t series, process;
    unsigned chart; /* row of charts[] in panels.c */
    size_t count;
    float *x, *y; /* x: share of the axis */
    double most;
};

/* A pause of a garbage collector, or several that are closer than a pixel. */
struct pyro_panel_pause {
    int32_t process;
    uint64_t merged;
    double from, to; /* shares of the axis */
    int64_t duration_ns;
};

struct pyro_panels {
    struct pyro_output *output;
    const struct pyro_profiling *profile;
    struct pyro_panel_line *lines; /* by process, chart and series */
    size_t line_count;
    struct pyro_panel_pause *pauses; /* by process */
    size_t pause_count;
    size_t *line_at, *pause_at; /* by process: its first one, and behind the last process the end */
    double tick_seconds;        /* between two lines of the grid */
};

/* Makes everything that is drawn; memory comes from the arena. False: none left. The profile must have times. */
bool pyro_panels_make(struct pyro_panels *panels, struct pyro_output *output, const struct pyro_profiling *profile,
                      struct pyro_arena *arena);
/* The axis that stays at the top. */
void pyro_panels_axis(const struct pyro_panels *panels);
/* Jobs, stages, and the number of running tasks. */
void pyro_panels_overview(const struct pyro_panels *panels);
/* All panels of a process. */
void pyro_panels_process(const struct pyro_panels *panels, int32_t process);
/* Whether the process has any. */
bool pyro_panels_has(const struct pyro_panels *panels, int32_t process);

/* Buffer of the page. */
static inline struct pyro_strbuf *pyro_panel_to(const struct pyro_panels *panels)
{
    return &panels->output->buffer;
}

/* Where a time is on the axis, 0 to 1. */
double pyro_panel_share(const struct pyro_profiling *profile, int64_t time_ns);
/* A row of the page: its title, then what explains its colors, then a plot of 1000 x 100 units on the axis. */
void pyro_panel_begin_row(const struct pyro_panels *panels, struct pyro_slice title);
void pyro_panel_begin_plot(const struct pyro_panels *panels, unsigned height);
void pyro_panel_end_row(const struct pyro_panels *panels);
/* Tasks of a process. */
void pyro_panel_tasks(const struct pyro_panels *panels, int32_t process);

#endif
