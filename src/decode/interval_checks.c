#include "decode/interval_checks.h"

#include <stdio.h>

#include "base/numbers/saturate.h"

/* Clocks are set while applications run: what is off by less is not looked at. */
enum { TOLERANCE_MS = 60000 };

/* How many times of jobs and stages lie outside of the application's. */
struct outside {
    size_t known, before, after;
};

static bool is_before(const struct pyro_app *app, int64_t time)
{
    return time != PYRO_NONE && app->application.start_ms != PYRO_NONE &&
           time < pyro_sub_saturating(app->application.start_ms, TOLERANCE_MS);
}

static bool is_after(const struct pyro_app *app, int64_t time)
{
    return time != PYRO_NONE && app->application.end_ms != PYRO_NONE &&
           time > pyro_add_saturating(app->application.end_ms, TOLERANCE_MS);
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
static bool check_application(struct pyro_app *app, int64_t earliest_ms, int64_t latest_ms)
{
    struct pyro_application_row *row = &app->application;
    struct outside outside = count_outside(app);
    bool start = outside.before * 2 > outside.known, end = outside.after * 2 > outside.known;
    if (start)
        row->start_ms = earliest_ms;
    if (end)
        row->end_ms = latest_ms;
    app->integrity.application_contradicted = start || end;
    return (!start || pyro_app_note(app, PYRO_SLICE_LITERAL("Clocks contradict each other: the application's start is "
                                                            "later than most of its jobs and stages. The first time "
                                                            "of an event is taken for it"))) &&
           (!end || pyro_app_note(app, PYRO_SLICE_LITERAL("Clocks contradict each other: the application's end is "
                                                          "earlier than most of its jobs and stages. The last time of "
                                                          "an event is taken for it")));
}

/* The number of times that were set aside. */
static size_t check_row(const struct pyro_app *app, int64_t *from, int64_t *to)
{
    size_t aside = 0;
    if (is_before(app, *from) || is_after(app, *from)) {
        *from = PYRO_NONE;
        aside++;
    }
    if (is_before(app, *to) || is_after(app, *to) || (*from != PYRO_NONE && *to != PYRO_NONE && *to < *from)) {
        *to = PYRO_NONE;
        aside++;
    }
    return aside;
}

bool pyro_check_intervals(struct pyro_app *app, int64_t earliest_ms, int64_t latest_ms)
{
    char text[200];
    size_t aside = 0;
    if (!check_application(app, earliest_ms, latest_ms))
        return false;
    for (size_t i = 0; i < app->jobs.count; i++)
        aside += check_row(app, &app->jobs.items[i].submitted_ms, &app->jobs.items[i].completed_ms);
    for (size_t i = 0; i < app->stages.count; i++)
        aside += check_row(app, &app->stages.items[i].submitted_ms, &app->stages.items[i].completed_ms);
    app->integrity.contradicted_times = aside;
    if (aside == 0)
        return true;
    snprintf(text, sizeof(text),
             "Clocks contradict each other: %zu times of jobs and stages lie outside of the application, or end before "
             "they begin. They are not used",
             aside);
    return pyro_app_note(app, pyro_slice_from(text));
}
