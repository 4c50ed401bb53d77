/* fleet_numbers: the statistics over runs on numbers from standard input, for comparison with an oracle.
 *
 * A line is a function and one or two groups of numbers, each as its count and its numbers. The output has one line for
 * each, with the results (tests/e2e/test_fleet_statistics.py). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void percentiles(struct pyro_arena *arena)
{
    struct group values = read_group(arena), weights = read_group(arena);
    static const double at[] = {0, 1, 50, 95, 99, 100};
    for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
        double found;
        check(pyro_weighted_percentile(values.values, weights.values, values.count, at[i], arena, &found));
        printf("%.17g ", found);
    }
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

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(struct pyro_arena *arena);
    } functions[] = {{"percentiles", percentiles}, {"z", z_scores},  {"slope", slope},
                     {"ranks", rank_test},         {"shift", shift}, {"share", share},
                     {"changes", changes}};
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
