/* Points in time, sorted: what every sweep over an application's history walks along. */
#ifndef PYRO_ANALYZE_ACCOUNTS_MARKS_H
#define PYRO_ANALYZE_ACCOUNTS_MARKS_H

#include "base/collections/vec.h"
#include "model/app.h"

struct pyro_mark {
    uint64_t at; /* ms since the start of the window, or any other key to sort by */
    uint32_t row;
    uint32_t kind;
};

/* Ascending by `at`; equal ones keep their order. `scratch` holds as many. Linear in `count`: a radix sort over those
 * bytes in which the keys differ, and one look where all are in order already. */
void pyro_marks_sort(struct pyro_mark *marks, struct pyro_mark *scratch, size_t count);

/* The application's interval, as what all times are clamped to. */
struct pyro_window {
    int64_t start, end;
    uint64_t length;
};
struct pyro_window pyro_app_window(const struct pyro_app *app);

static inline uint64_t pyro_window_at(const struct pyro_window *window, int64_t time)
{
    int64_t clamped = time < window->start ? window->start : time > window->end ? window->end : time;
    return (uint64_t)clamped - (uint64_t)window->start;
}

/* A list of marks that grows; `failed` once there was no memory. */
struct pyro_marks {
    PYRO_VEC(struct pyro_mark) list;
    const struct pyro_allocator *allocator;
    bool failed;
};
void pyro_marks_init(struct pyro_marks *marks, const struct pyro_allocator *allocator, size_t expected);
void pyro_marks_done(struct pyro_marks *marks);
static inline void pyro_marks_add(struct pyro_marks *marks, uint64_t at, uint32_t kind, size_t row)
{
    if (!pyro_vec_reserve(&marks->list, 1, marks->allocator)) {
        marks->failed = true;
        return;
    }
    marks->list.items[marks->list.count++] = (struct pyro_mark){at, (uint32_t)row, kind};
}
/* Puts them in order; false when there was no memory for this or an earlier step. */
bool pyro_marks_finish(struct pyro_marks *marks);

/* Interval in which a stage attempt is active: from its submission to its completion or the end of the window. False
 * for one that was never submitted. */
bool pyro_stage_interval(const struct pyro_window *window, const struct pyro_stage *stage, uint64_t *from,
                         uint64_t *to);
/* Interval in which an executor is alive; empty (from == to) rather than inverted. */
void pyro_executor_interval(const struct pyro_window *window, const struct pyro_executor *executor, uint64_t *from,
                            uint64_t *to);

#endif
