/* Clocks of hosts by the segments between them. */
#include "decode/trace/host_clocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { US = 1000, MS = 1000000, SEGMENTS = 200 };

/* What host 1 is ahead of host 0 at a time of host 0. */
struct truth {
    int64_t offset_ns, drift_ppb;
};

static int64_t at_host(const struct truth *truth, int32_t host, int64_t time_ns)
{
    return host == 0 ? time_ns : time_ns + truth->offset_ns + time_ns / MS * truth->drift_ppb / US;
}

static void note(struct pyro_host_clocks *clocks, uint64_t key, int32_t host, bool sent, int64_t time_ns)
{
    const struct pyro_segment segment = {key, time_ns, host, sent};
    assert_true(pyro_host_clocks_note(clocks, &segment));
}

/* A segment each 10 ms, in turns, that takes 100 to 300 us. */
static void exchange(struct pyro_host_clocks *clocks, const struct truth *truth, bool both_ways)
{
    for (int i = 0; i < SEGMENTS; i++) {
        int32_t from = both_ways ? i % 2 : 0;
        int64_t sent = (int64_t)i * 10 * MS, got = sent + (100 + 37 * i % 200) * US;
        note(clocks, (uint64_t)i + 1, from, true, at_host(truth, from, sent));
        note(clocks, (uint64_t)i + 1, 1 - from, false, at_host(truth, 1 - from, got));
    }
}

static void offsets_are_found(void **state)
{
    static const struct truth truths[] = {{0, 0}, {5 * MS, 0}, {-80 * MS, 20000}, {1700000000, -150000}};
    (void)state;
    for (size_t i = 0; i < sizeof(truths) / sizeof(*truths); i++) {
        struct pyro_host_clocks clocks = {.allocator = NULL};
        exchange(&clocks, &truths[i], true);
        const struct pyro_host_offset fit = pyro_host_clocks_fit(&clocks, 0, 1);
        int64_t middle = -(at_host(&truths[i], 1, (int64_t)SEGMENTS * 5 * MS) - (int64_t)SEGMENTS * 5 * MS);
        assert_int_equal(fit.matches, SEGMENTS);
        assert_true(llabs(fit.offset_ns - middle) <= fit.error_ns + 20 * US);
        assert_true(llabs(fit.offset_ns - middle) <= 150 * US);
        assert_true(fit.error_ns <= 400 * US);
        pyro_host_clocks_done(&clocks);
    }
}

static void one_direction_says_nothing(void **state)
{
    const struct truth truth = {5 * MS, 0};
    struct pyro_host_clocks clocks = {.allocator = NULL};
    (void)state;
    exchange(&clocks, &truth, false);
    assert_int_equal(pyro_host_clocks_fit(&clocks, 0, 1).matches, 0);
    pyro_host_clocks_done(&clocks);
}

static void segments_that_were_sent_twice_say_nothing(void **state)
{
    struct pyro_host_clocks clocks = {.allocator = NULL};
    (void)state;
    for (int i = 0; i < 2; i++) {
        note(&clocks, 1, 0, true, i * MS);
        note(&clocks, 2, 1, true, i * MS);
    }
    note(&clocks, 1, 1, false, 2 * MS);
    note(&clocks, 2, 0, false, 2 * MS);
    assert_int_equal(pyro_host_clocks_fit(&clocks, 0, 1).matches, 0);
    pyro_host_clocks_done(&clocks);
}

static void bounds_that_contradict_say_nothing(void **state)
{
    struct pyro_host_clocks clocks = {.allocator = NULL};
    (void)state;
    for (int i = 0; i < 20; i++) { /* each arrives before it was sent, whatever the offset */
        uint64_t key = (uint64_t)i + 1;
        note(&clocks, key, i % 2, true, (int64_t)i * 10 * MS);
        note(&clocks, key, 1 - i % 2, false, (int64_t)i * 10 * MS - MS);
    }
    assert_int_equal(pyro_host_clocks_fit(&clocks, 0, 1).matches, 0);
    pyro_host_clocks_done(&clocks);
}

static void extreme_times_do_no_harm(void **state)
{
    struct pyro_host_clocks clocks = {.allocator = NULL};
    (void)state;
    note(&clocks, 1, 0, true, INT64_MIN);
    note(&clocks, 1, 1, false, INT64_MAX);
    note(&clocks, 2, 1, true, INT64_MIN);
    note(&clocks, 2, 0, false, INT64_MAX);
    assert_true(pyro_host_clocks_fit(&clocks, 0, 1).matches >= 0);
    pyro_host_clocks_done(&clocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_found),
        cmocka_unit_test(one_direction_says_nothing),
        cmocka_unit_test(segments_that_were_sent_twice_say_nothing),
        cmocka_unit_test(bounds_that_contradict_say_nothing),
        cmocka_unit_test(extreme_times_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
