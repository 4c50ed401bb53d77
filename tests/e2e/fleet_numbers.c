/* fleet_numbers: the statistics and models over runs on numbers from standard input, for comparison with an oracle.
 *
 * A line is a function and one or two groups of numbers, each as its count and its numbers. The output has one line for
 * each, with the results (test_fleet_*.py). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/adoption/adoption.h"
#include "fleet/models/models.h"
#include "fleet/statistics/statistics.h"

struct group {
    double *values;
    size_t count;
};

static void check(bool done)
{
    if (!done) {
        fprintf(stderr, "fleet_numbers: no memory, or no numbers\n");
        exit(2);
    }
}

static struct group read_group(struct pyro_arena *arena)
{
    struct group group = {0};
    check(scanf("%zu", &group.count) == 1);
    group.values = pyro_arena_array(arena, group.count + 1, sizeof(double));
    check(group.values != NULL);
    for (size_t i = 0; i < group.count; i++)
        check(scanf("%lf", &group.values[i]) == 1);
    return group;
}

static void z_scores(struct pyro_arena *arena)
{
    struct group values = read_group(arena);
    struct pyro_spread spread;
    check(pyro_spread_of(values.values, values.count, arena, &spread));
    for (size_t i = 0; i < values.count; i++)
        printf("%.17g ", pyro_modified_z(&spread, values.values[i]));
}

static void slope(struct pyro_arena *arena)
{
    struct group input = read_group(arena), duration = read_group(arena);
    for (size_t i = 0; i < input.count; i++) {
        input.values[i] = pyro_log_input(input.values[i]);
        duration.values[i] = pyro_log_duration(duration.values[i]);
    }
    double found;
    check(pyro_input_slope(input.values, duration.values, input.count, arena, &found));
    printf("%.17g", found);
}

static void rank_test(struct pyro_arena *arena)
{
    struct group a = read_group(arena), b = read_group(arena);
    struct pyro_rank_test found;
    check(pyro_rank_test(a.values, a.count, b.values, b.count, arena, &found));
    printf("%.17g %.17g %d", found.u, found.p, found.exact);
}

static void shift(struct pyro_arena *arena)
{
    struct group a = read_group(arena), b = read_group(arena);
    struct pyro_shift found;
    check(pyro_shift_of(a.values, a.count, b.values, b.count, arena, &found));
    printf("%.17g %.17g %.17g %.17g", found.shift, found.low, found.high, found.level);
}

static void share(struct pyro_arena *arena)
{
    struct group both = read_group(arena);
    double low, high;
    check(both.count == 2);
    pyro_share_interval(both.values[0], both.values[1], &low, &high);
    printf("%.17g %.17g", low, high);
}

static void changes(struct pyro_arena *arena)
{
    struct group values = read_group(arena);
    struct pyro_change_point found[PYRO_CHANGES_MAX];
    size_t count;
    check(pyro_change_points(values.values, values.count, arena, found, &count));
    for (size_t i = 0; i < count; i++)
        printf("%zu %.17g %.17g %.17g ", found[i].index, found[i].before, found[i].after, found[i].p);
}

static void nnls(struct pyro_arena *arena)
{
    struct group y = read_group(arena), rows = read_group(arena);
    struct pyro_least_squares sums = {.columns = rows.count / y.count};
    double found[PYRO_FLEET_COLUMNS];
    check(sums.columns >= 1 && sums.columns <= PYRO_FLEET_COLUMNS);
    for (size_t i = 0; i < y.count; i++)
        pyro_least_squares_add(&sums, rows.values + i * sums.columns, y.values[i]);
    pyro_least_squares_solve(&sums, found);
    for (size_t i = 0; i < sums.columns; i++)
        printf("%.17g ", found[i]);
}

/* Six numbers a run: duration, executors, cores, input, largest input, 1 for a log. A replay is 100 s of driver and 1
 * ms for each KiB and core. */
static enum pyro_status replay(void *context, size_t run, const struct pyro_fleet_question *asked, double *ret_ms,
                               struct pyro_error *error)
{
    (void)error;
    const struct pyro_fleet_run *runs = context;
    *ret_ms = 100000 + runs[run].input_bytes / 1024 / asked->executors / asked->cores;
    return PYRO_OK;
}

static void models(struct pyro_arena *arena)
{
    struct group numbers = read_group(arena), asked = read_group(arena);
    size_t count = numbers.count / 6;
    struct pyro_fleet_run *runs = pyro_arena_array(arena, count + 1, sizeof(*runs));
    check(runs && asked.count == 4);
    for (size_t i = 0; i < count; i++) {
        const double *n = numbers.values + 6 * i;
        runs[i] = (struct pyro_fleet_run){(int64_t)i, n[0], n[1], n[2], n[3], n[4], n[5] > 0};
    }
    const struct pyro_fleet_simulator simulator = {replay, runs};
    const struct pyro_fleet_question question = {asked.values[0], asked.values[1], asked.values[2], asked.values[3]};
    struct pyro_fleet_models found;
    check(pyro_fleet_models_fit(runs, count, &simulator, arena, &found, NULL) == PYRO_OK);
    printf("%d %d ", found.best, found.best_unseen);
    for (int i = 0; i < PYRO_FLEET_MODELS; i++) {
        const struct pyro_fleet_fit *fit = &found.fits[i];
        struct pyro_fleet_prediction prediction, unseen;
        check(pyro_fleet_predict(&found, (enum pyro_fleet_model)i, false, &question, &prediction, NULL) == PYRO_OK);
        check(pyro_fleet_predict(&found, (enum pyro_fleet_model)i, true, &question, &unseen, NULL) == PYRO_OK);
        printf("%d %zu %.17g %.17g %.17g %.17g ", fit->usable, fit->predictions, fit->error, fit->low, fit->high,
               prediction.known ? prediction.expected_ms : -1);
        printf("%d %zu %.17g %.17g %.17g %.17g ", fit->unseen.usable, fit->unseen.predictions, fit->unseen.error,
               fit->unseen.low, fit->unseen.high, unseen.known ? unseen.expected_ms : -1);
    }
}

/* Four numbers a run: duration, core time, input, 1 where it completed; then the first run that follows, and the end.
 */
static void realised(struct pyro_arena *arena)
{
    struct group numbers = read_group(arena), span = read_group(arena);
    struct pyro_adoption_run *runs = pyro_arena_array(arena, numbers.count / 4 + 1, sizeof(*runs));
    struct pyro_realised found;
    check(runs && span.count == 2);
    for (size_t i = 0; i < numbers.count / 4; i++) {
        const double *n = numbers.values + 4 * i;
        runs[i] = (struct pyro_adoption_run){n[0], n[1], n[2], n[3] > 0};
    }
    check(pyro_realised_saving(runs, (size_t)span.values[0], (size_t)span.values[1], arena, &found));
    printf("%d %zu %zu %zu %.17g %.17g %.17g %.17g %.17g %.17g %.17g ", found.verdict, found.before, found.after,
           found.later, found.slope, found.shift.shift, found.shift.low, found.shift.high, found.saved_ms,
           found.saved_low_ms, found.saved_core_ms);
    printf("%.17g %.17g %.17g %.17g %.17g", found.failed_before.share, found.failed_after.share, found.slow_ms,
           found.slow_before.share, found.slow_after.share);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(struct pyro_arena *arena);
    } functions[] = {{"z", z_scores},  {"slope", slope},   {"ranks", rank_test},
                     {"shift", shift}, {"share", share},   {"changes", changes},
                     {"nnls", nnls},   {"models", models}, {"realised", realised}};
    char name[32];
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    while (scanf("%31s", name) == 1) {
        for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
            if (strcmp(functions[i].name, name) == 0)
                functions[i].run(&arena);
        puts("");
        pyro_arena_reset(&arena);
    }
    pyro_arena_done(&arena);
    return 0;
}
