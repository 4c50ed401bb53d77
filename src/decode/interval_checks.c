#include "decode/interval_checks.h"

#include <stdio.h>

#include "base/memory/allocator.h"
#include "base/numbers/order.h"
#include "base/numbers/saturate.h"

/* ---- All times of events ---- */

/* Columns with times, in pairs of a beginning and an end; `to` 0: there is only one. `group`: what notes call them;
 * those of copies are not counted again. */
enum group { OF_STAGES, OF_OTHERS, OF_COPIES, GROUPS };

#define PAIR(group, table, row, from, to)                                                                              \
    {                                                                                                                  \
        group, offsetof(struct pyro_app, table), sizeof(row), offsetof(row, from), offsetof(row, to)                   \
    }
#define SINGLE(group, table, row, time)                                                                                \
    {                                                                                                                  \
        group, offsetof(struct pyro_app, table), sizeof(row), offsetof(row, time), 0                                   \
    }
static const struct times {
    enum group group;
    size_t table, row_size, from, to;
} all_times[] = {
    PAIR(OF_STAGES, jobs, struct pyro_job, submitted_ms, completed_ms),
    PAIR(OF_STAGES, stages, struct pyro_stage, submitted_ms, completed_ms),
    PAIR(OF_OTHERS, executors, struct pyro_executor, added_ms, removed_ms),
    PAIR(OF_OTHERS, sql, struct pyro_sql_execution, submitted_ms, completed_ms),
    SINGLE(OF_COPIES, sql, struct pyro_sql_execution, planned_ms),
    PAIR(OF_OTHERS, exclusions, struct pyro_exclusion, time_ms, until_ms),
    PAIR(OF_OTHERS, operations, struct pyro_operation, started_ms, ended_ms),
    SINGLE(OF_OTHERS, operations, struct pyro_operation, analyzed_ms),
    SINGLE(OF_OTHERS, operations, struct pyro_operation, ready_ms),
    SINGLE(OF_OTHERS, operations, struct pyro_operation, closed_ms),
    SINGLE(OF_OTHERS, unfinished_tasks, struct pyro_unfinished_task, launch_ms),
    SINGLE(OF_OTHERS, processes, struct pyro_process, added_ms),
    SINGLE(OF_OTHERS, streams, struct pyro_stream_batch, time_ms),
    SINGLE(OF_COPIES, failures, struct pyro_failure, time_ms),
};
#undef PAIR
#undef SINGLE

/* Every table is a vector of rows. */
struct rows {
    char *items;
    size_t count;
};

static struct rows rows_of(struct pyro_app *app, const struct times *times)
{
    PYRO_VEC(char) table;
    memcpy(&table, (char *)app + times->table, sizeof(table));
    return (struct rows){table.items, table.count};
}

static int64_t *time_at(struct rows rows, const struct times *times, size_t row, size_t offset)
{
    return (int64_t *)(void *)(rows.items + row * times->row_size + offset);
}

struct known_times {
    int64_t *items; /* NULL: they are only counted */
    size_t count;
    int64_t earliest_ms, latest_ms;
};

static void add_time(struct known_times *known, int64_t time)
{
    if (time <= 0)
        return;
    if (known->items)
        known->items[known->count] = time;
    known->count++;
    known->earliest_ms = known->earliest_ms == PYRO_NONE || time < known->earliest_ms ? time : known->earliest_ms;
    known->latest_ms = time > known->latest_ms ? time : known->latest_ms;
}

static void add_tasks(struct pyro_app *app, enum pyro_task_column column, struct known_times *known)
{
    int64_t values[512];
    const size_t most = sizeof(values) / sizeof(*values);
    for (size_t first = 0; first < app->tasks.count; first += most) {
        size_t count = app->tasks.count - first < most ? app->tasks.count - first : most;
        pyro_task_read(&app->tasks, column, first, count, values);
        for (size_t i = 0; i < count; i++)
            add_time(known, values[i]);
    }
}

/* Times of all events but the application's own. */
static void find_times(struct pyro_app *app, struct known_times *known)
{
    for (size_t i = 0; i < sizeof(all_times) / sizeof(*all_times); i++) {
        struct rows rows = rows_of(app, &all_times[i]);
        for (size_t row = 0; row < rows.count; row++) {
            add_time(known, *time_at(rows, &all_times[i], row, all_times[i].from));
            if (all_times[i].to)
                add_time(known, *time_at(rows, &all_times[i], row, all_times[i].to));
        }
    }
    add_tasks(app, PYRO_TASK_launch_ms, known);
    add_tasks(app, PYRO_TASK_finish_ms, known);
}

/* ---- The application's start and end ---- */

/* In a log of any application, something happens at least once a year. */
static const int64_t SILENCE_MS = (int64_t)365 * 24 * 3600 * 1000;

/* Narrows a range of times to those around their median without a silence of a year between them. */
static bool narrow(struct pyro_app *app, int64_t *from, int64_t *to)
{
    struct known_times known = {.earliest_ms = PYRO_NONE, .latest_ms = PYRO_NONE};
    find_times(app, &known);
    if (known.count == 0)
        return true;
    int64_t *times = pyro_allocate(app->allocator, known.count * sizeof(*times));
    if (!times)
        return false;
    known = (struct known_times){.items = times, .earliest_ms = PYRO_NONE, .latest_ms = PYRO_NONE};
    find_times(app, &known);
    pyro_sort_ints(times, known.count);
    size_t low = known.count / 2, high = low;
    while (low > 0 && times[low] - times[low - 1] <= SILENCE_MS)
        low--;
    while (high + 1 < known.count && times[high + 1] - times[high] <= SILENCE_MS)
        high++;
    *from = times[low];
    *to = times[high];
    pyro_release(app->allocator, times);
    return true;
}

static bool is_silent(int64_t from, int64_t to)
{
    return from != PYRO_NONE && to != PYRO_NONE && pyro_sub_saturating(to, from) > SILENCE_MS;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a != PYRO_NONE && (a < b || b == PYRO_NONE) ? a : b;
}

/* Takes the application's times from the events where none of its own says them, or where a year lies between. */
static bool find_application(struct pyro_app *app, const struct pyro_seen_times *seen, struct pyro_seen_times *range)
{
    struct pyro_application_row *row = &app->application;
    int64_t *start = &row->start_ms, *end = &row->end_ms;
    *range = *seen;
    range->started = seen->started && *start != PYRO_NONE;
    range->ended = seen->ended && *end != PYRO_NONE;
    int64_t first = range->started ? earlier(*start, seen->earliest_ms) : seen->earliest_ms;
    int64_t last = range->ended && *end > seen->latest_ms ? *end : seen->latest_ms;
    bool silent = is_silent(first, last);
    if (silent && !narrow(app, &range->earliest_ms, &range->latest_ms))
        return false;
    bool wrong_start =
        range->started &&
        (*start <= 0 || (silent && (is_silent(*start, range->earliest_ms) || is_silent(range->latest_ms, *start))));
    bool wrong_end =
        range->ended &&
        (*end <= 0 || (silent && (is_silent(*end, range->earliest_ms) || is_silent(range->latest_ms, *end))));
    if (!range->started || wrong_start)
        *start = range->earliest_ms;
    if (!range->ended || wrong_end)
        *end = range->latest_ms;
    app->integrity.application_contradicted |= wrong_start || wrong_end;
    return (!wrong_start || pyro_app_note(app, PYRO_SLICE_LITERAL("Clocks contradict each other: the application's "
                                                                  "start is years off the other events. The first "
                                                                  "time of an event is taken for it"))) &&
           (!wrong_end || pyro_app_note(app, PYRO_SLICE_LITERAL("Clocks contradict each other: the application's end "
                                                                "is years off the other events. The last time of an "
                                                                "event is taken for it")));
}

/* How many times of jobs and stages lie outside of the application's. */
struct outside {
    size_t known, before, after;
};

static bool is_before(const struct pyro_app *app, int64_t time)
{
    return time != PYRO_NONE && app->application.start_ms != PYRO_NONE &&
           time < pyro_sub_saturating(app->application.start_ms, PYRO_CLOCK_TOLERANCE_MS);
}

static bool is_after(const struct pyro_app *app, int64_t time)
{
    return time != PYRO_NONE && app->application.end_ms != PYRO_NONE &&
           time > pyro_add_saturating(app->application.end_ms, PYRO_CLOCK_TOLERANCE_MS);
}

static void look_at(const struct pyro_app *app, int64_t time, struct outside *outside)
{
    outside->known += time != PYRO_NONE;
    outside->before += is_before(app, time);
    outside->after += is_after(app, time);
}

static struct outside count_outside(const struct pyro_app *app)
{
    struct outside outside = {0};
    for (size_t i = 0; i < app->jobs.count; i++) {
        look_at(app, app->jobs.items[i].submitted_ms, &outside);
        look_at(app, app->jobs.items[i].completed_ms, &outside);
    }
    for (size_t i = 0; i < app->stages.count; i++) {
        look_at(app, app->stages.items[i].submitted_ms, &outside);
        look_at(app, app->stages.items[i].completed_ms, &outside);
    }
    return outside;
}

/* The application's start or end is one statement; most of the others outweigh it. */
static bool check_application(struct pyro_app *app, const struct pyro_seen_times *range)
{
    struct pyro_application_row *row = &app->application;
    struct outside outside = count_outside(app);
    bool start = outside.before * 2 > outside.known, end = outside.after * 2 > outside.known;
    if (start)
        row->start_ms = range->earliest_ms;
    if (end)
        row->end_ms = range->latest_ms;
    app->integrity.application_contradicted |= start || end;
    return (!start || pyro_app_note(app, PYRO_SLICE_LITERAL("Clocks contradict each other: the application's start is "
                                                            "later than most of its jobs and stages. The first time "
                                                            "of an event is taken for it"))) &&
           (!end || pyro_app_note(app, PYRO_SLICE_LITERAL("Clocks contradict each other: the application's end is "
                                                          "earlier than most of its jobs and stages. The last time of "
                                                          "an event is taken for it")));
}

/* ---- Rows ---- */

static bool is_impossible(const struct pyro_app *app, int64_t time)
{
    return time != PYRO_NONE && (time < 0 || is_before(app, time) || is_after(app, time));
}

/* The number of times that were set aside. */
static size_t check_row(struct pyro_app *app, int64_t *from, int64_t *to)
{
    size_t aside = 0;
    if (is_impossible(app, *from)) {
        *from = PYRO_NONE;
        aside++;
    }
    if (to && (is_impossible(app, *to) || (*from != PYRO_NONE && *to != PYRO_NONE && *to < *from))) {
        *to = PYRO_NONE;
        aside++;
    }
    return aside;
}

/* What the event of an executor repeats of other clocks; none of it where the event's own time was set aside. */
static void check_requests(struct pyro_app *app)
{
    for (size_t i = 0; i < app->executors.count; i++) {
        struct pyro_executor *executor = &app->executors.items[i];
        check_row(app, &executor->requested_ms, &executor->registered_ms);
        if (executor->added_ms == PYRO_NONE)
            executor->requested_ms = executor->registered_ms = PYRO_NONE;
    }
}

static void check_rows(struct pyro_app *app, size_t *aside)
{
    uint64_t checked = 0;
    for (size_t i = 0; i < sizeof(all_times) / sizeof(*all_times); i++) {
        const struct times *times = &all_times[i];
        struct rows rows = rows_of(app, times);
        for (size_t row = 0; row < rows.count; row++)
            aside[times->group] += check_row(app, time_at(rows, times, row, times->from),
                                             times->to ? time_at(rows, times, row, times->to) : NULL);
        checked += times->group == OF_COPIES ? 0 : (times->to ? 2 : 1) * (uint64_t)rows.count;
    }
    app->integrity.checked_times = checked;
    check_requests(app);
}

/* Time of collections, since an executor began: several collectors at once, but not for longer than the application. */
static size_t check_collections(struct pyro_app *app)
{
    enum { COLLECTORS = 64 };
    int64_t lasted = pyro_sub_saturating(app->application.end_ms, app->application.start_ms);
    size_t aside = 0;
    for (size_t i = 0; i < app->executors.count; i++) {
        struct pyro_executor *executor = &app->executors.items[i];
        if (executor->collection_ms / COLLECTORS > pyro_add_saturating(lasted, PYRO_CLOCK_TOLERANCE_MS)) {
            executor->collection_ms = PYRO_NONE;
            aside++;
        }
    }
    return aside;
}

/* Durations of a trigger's steps. */
static size_t check_triggers(struct pyro_app *app)
{
    int64_t lasted = pyro_sub_saturating(app->application.end_ms, app->application.start_ms);
    size_t aside = 0;
    for (size_t i = 0; i < app->streams.count; i++) {
        struct pyro_stream_batch *batch = &app->streams.items[i];
        int64_t *const steps[] = {&batch->duration_ms,       &batch->latest_offset_ms, &batch->get_batch_ms,
                                  &batch->query_planning_ms, &batch->wal_commit_ms,    &batch->add_batch_ms,
                                  &batch->commit_offsets_ms};
        for (size_t s = 0; s < sizeof(steps) / sizeof(*steps); s++) {
            if (*steps[s] == PYRO_NONE ||
                (*steps[s] >= 0 && *steps[s] <= pyro_add_saturating(lasted, PYRO_CLOCK_TOLERANCE_MS)))
                continue;
            *steps[s] = PYRO_NONE;
            aside++;
        }
    }
    return aside;
}

static bool note_rows(struct pyro_app *app, const size_t *aside)
{
    static const char *const names[] = {
        [OF_STAGES] = "jobs and stages",
        [OF_OTHERS] = "executors, SQL executions and other events",
    };
    char text[300];
    bool done = true;
    for (int i = 0; i < OF_COPIES && done; i++) {
        snprintf(text, sizeof(text),
                 "Clocks contradict each other: %zu times of %s lie outside of the application, or end before they "
                 "begin. They are not used",
                 aside[i], names[i]);
        done = aside[i] == 0 || pyro_app_note(app, pyro_slice_from(text));
    }
    return done;
}

bool pyro_check_intervals(struct pyro_app *app, const struct pyro_seen_times *seen,
                          const struct pyro_task_doubts *doubts)
{
    struct pyro_task_doubts all = *doubts;
    struct pyro_seen_times range;
    size_t aside[GROUPS] = {0}, outvoted;
    app->integrity.application_contradicted = false;
    if (!find_application(app, seen, &range) || !check_application(app, &range))
        return false;
    check_rows(app, aside);
    if (!pyro_check_tasks(app, &all, &outvoted))
        return false;
    aside[OF_STAGES] += outvoted;
    /* The first or last time may have been one of those. */
    if ((!range.started || !range.ended) && (aside[OF_STAGES] + aside[OF_OTHERS] > 0 || all.values > doubts->values)) {
        struct known_times known = {.earliest_ms = PYRO_NONE, .latest_ms = PYRO_NONE};
        find_times(app, &known);
        if (!range.started && known.earliest_ms != PYRO_NONE)
            app->application.start_ms = known.earliest_ms;
        if (!range.ended && known.latest_ms != PYRO_NONE)
            app->application.end_ms = known.latest_ms;
    }
    aside[OF_OTHERS] += check_collections(app) + check_triggers(app);
    /* The end of an executor that was never added is in the failures alone. */
    if (aside[OF_STAGES] + aside[OF_OTHERS] == 0 && all.values == 0)
        aside[OF_OTHERS] = aside[OF_COPIES];
    app->integrity.contradicted_times = aside[OF_STAGES] + aside[OF_OTHERS];
    return note_rows(app, aside) && pyro_note_doubts(app, &all);
}
