#include "analyze/accounts/marks.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, FEW = 32 };

static void insertion_sort(struct pyro_mark *marks, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct pyro_mark mark = marks[i];
        size_t place = i;
        for (; place > 0 && marks[place - 1].at > mark.at; place--)
            marks[place] = marks[place - 1];
        marks[place] = mark;
    }
}

/* One pass over one byte; false when all marks share it and nothing was moved. */
static bool radix_pass(const struct pyro_mark *from, struct pyro_mark *to, size_t count, uint64_t least, unsigned shift)
{
    size_t places[DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        places[(from[i].at - least) >> shift & (DIGITS - 1)]++;
    if (places[(from[0].at - least) >> shift & (DIGITS - 1)] == count)
        return false;
    size_t next = 0;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        size_t here = places[digit];
        places[digit] = next;
        next += here;
    }
    for (size_t i = 0; i < count; i++)
        to[places[(from[i].at - least) >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

void pyro_marks_sort(struct pyro_mark *marks, struct pyro_mark *scratch, size_t count)
{
    if (count <= FEW) {
        insertion_sort(marks, count);
        return;
    }
    uint64_t least = marks[0].at, most = marks[0].at;
    bool sorted = true;
    for (size_t i = 1; i < count; i++) {
        sorted = sorted && marks[i - 1].at <= marks[i].at;
        least = marks[i].at < least ? marks[i].at : least;
        most = marks[i].at > most ? marks[i].at : most;
    }
    if (sorted)
        return;
    struct pyro_mark *from = marks, *to = scratch;
    for (unsigned shift = 0; shift < 64 && (most - least) >> shift > 0; shift += DIGIT_BITS) {
        if (!radix_pass(from, to, count, least, shift))
            continue;
        struct pyro_mark *swap = from;
        from = to;
        to = swap;
    }
    if (from != marks)
        memcpy(marks, from, count * sizeof(*marks));
}

struct pyro_window pyro_app_window(const struct pyro_app *app)
{
    struct pyro_window window = {app->application.start_ms, app->application.end_ms, 0};
    if (window.start == PYRO_NONE || window.end == PYRO_NONE || window.end < window.start)
        window.end = window.start;
    window.length = (uint64_t)window.end - (uint64_t)window.start;
    if (window.length > INT64_MAX) { /* its length has to be a number of milliseconds, too */
        window.length = INT64_MAX;
        window.end = (int64_t)((uint64_t)window.start + window.length);
    }
    return window;
}

void pyro_marks_init(struct pyro_marks *marks, const struct pyro_allocator *allocator, size_t expected)
{
    *marks = (struct pyro_marks){.allocator = allocator};
    marks->failed = expected > 0 && !pyro_vec_reserve(&marks->list, expected, allocator);
}

void pyro_marks_done(struct pyro_marks *marks)
{
    pyro_vec_done(&marks->list, marks->allocator);
}

bool pyro_marks_finish(struct pyro_marks *marks)
{
    if (marks->failed)
        return false;
    size_t count = marks->list.count;
    if (count <= 1)
        return true;
    struct pyro_mark *scratch = pyro_allocate(marks->allocator, count * sizeof(*scratch));
    if (!scratch)
        return false;
    pyro_marks_sort(marks->list.items, scratch, count);
    pyro_release(marks->allocator, scratch);
    return true;
}

bool pyro_stage_interval(const struct pyro_window *window, const struct pyro_stage *stage, uint64_t *from, uint64_t *to)
{
    if (stage->submitted_ms == PYRO_NONE)
        return false;
    *from = pyro_window_at(window, stage->submitted_ms);
    *to = stage->completed_ms == PYRO_NONE ? window->length : pyro_window_at(window, stage->completed_ms);
    if (*to < *from)
        *to = *from;
    return true;
}

void pyro_executor_interval(const struct pyro_window *window, const struct pyro_executor *executor, uint64_t *from,
                            uint64_t *to)
{
    *from = pyro_window_at(window, executor->added_ms);
    *to = executor->removed_ms == PYRO_NONE ? window->length : pyro_window_at(window, executor->removed_ms);
    if (*to < *from)
        *to = *from;
}
