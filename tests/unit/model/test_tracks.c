#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/column.h"
#include "model/tracks/row_table.h"
#include "model/tracks/tracks.h"

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

enum { ROWS = 10000 };

static void test_every_value_comes_back(void **state)
{
    (void)state;
    static const int64_t extremes[] = {INT64_MIN + 1, INT64_MAX, PYRO_NONE, 0, -1, 1LL << 40};
    struct pyro_row_table table;
    pyro_row_table_init(&table, 3, NULL);
    for (int64_t i = 0; i < ROWS; i++) {
        /* Small values, and some that would widen a whole chunk; a column of one value; one of any. */
        int64_t rare = i % 997 == 0 ? extremes[i / 997 % 6] : i % 200;
        assert_true(pyro_row_table_append(&table, (int64_t[]){rare, 7, i * i * (i % 2 ? -1 : 1)}));
    }
    assert_true(pyro_row_table_seal(&table));
    assert_int_equal(table.count, ROWS);
    int64_t *read = malloc(ROWS * sizeof(*read));
    assert_non_null(read);
    pyro_row_table_read(&table, 0, 0, ROWS, read);
    for (int64_t i = 0; i < ROWS; i++) {
        int64_t rare = i % 997 == 0 ? extremes[i / 997 % 6] : i % 200;
        assert_int_equal(read[i], rare);
        assert_int_equal(pyro_row_table_get(&table, 0, (size_t)i), rare);
        assert_int_equal(pyro_row_table_get(&table, 1, (size_t)i), 7);
        assert_int_equal(pyro_row_table_get(&table, 2, (size_t)i), i * i * (i % 2 ? -1 : 1));
    }
    free(read);
    pyro_row_table_done(&table);
}

/* One long span among 4,095 short ones takes its own place, not 8 bytes of every row. */
static void test_exceptions_cost_little(void **state)
{
    (void)state;
    struct pyro_row_table with, without;
    pyro_row_table_init(&with, 1, NULL);
    pyro_row_table_init(&without, 1, NULL);
    for (int64_t i = 0; i < PYRO_ROW_CHUNK_ROWS; i++) {
        assert_true(pyro_row_table_append(&with, (int64_t[]){i == 77 ? INT64_MAX : i % 250}));
        assert_true(pyro_row_table_append(&without, (int64_t[]){i % 250}));
    }
    assert_true(pyro_row_table_seal(&with) && pyro_row_table_seal(&without));
    assert_true(pyro_row_table_bytes(&with) <= pyro_row_table_bytes(&without) + 32);
    assert_int_equal(pyro_row_table_get(&with, 0, 77), INT64_MAX);
    pyro_row_table_done(&with);
    pyro_row_table_done(&without);
}

static void test_sorting_is_stable_and_says_where_rows_went(void **state)
{
    (void)state;
    struct pyro_row_table table;
    uint32_t *rank = NULL;
    pyro_row_table_init(&table, 2, NULL);
    for (int64_t i = 0; i < ROWS; i++)
        assert_true(pyro_row_table_append(&table, (int64_t[]){(i * 7919) % 101, i}));
    assert_true(pyro_row_table_seal(&table) && pyro_row_table_sort(&table, 0, &rank));
    assert_non_null(rank);
    for (size_t i = 1; i < ROWS; i++) {
        int64_t before = pyro_row_table_get(&table, 0, i - 1), now = pyro_row_table_get(&table, 0, i);
        assert_true(before <= now);
        if (before == now)
            assert_true(pyro_row_table_get(&table, 1, i - 1) < pyro_row_table_get(&table, 1, i));
    }
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(pyro_row_table_get(&table, 1, rank[i]), (int64_t)i);
    assert_int_equal(pyro_row_table_get(&table, 0, pyro_row_table_find(&table, 0, 50)), 50);
    free(rank);
    assert_true(pyro_row_table_sort(&table, 0, &rank));
    assert_null(rank); /* nothing moved */
    pyro_row_table_done(&table);
}

/* ---- Tracks ------------------------------------------------------------------------------------------------------ */

static int32_t add_thread(struct pyro_tracks *tracks, const char *executor, int64_t tid)
{
    const struct pyro_thread_row row = {.parent = -1,
                                        .clock = -1,
                                        .pid = 1,
                                        .tid = tid,
                                        .executor = pyro_slice_from(executor),
                                        .role = PYRO_SLICE_LITERAL("task")};
    return pyro_tracks_add_thread(tracks, &row);
}

static void test_equal_rows_are_one(void **state)
{
    (void)state;
    struct pyro_tracks *tracks = pyro_tracks_new(NULL);
    assert_non_null(tracks);
    char executor[] = "1";
    int32_t thread = add_thread(tracks, executor, 5);
    executor[0] = '2'; /* texts are copies */
    assert_int_equal(add_thread(tracks, "1", 5), thread);
    assert_int_not_equal(add_thread(tracks, executor, 5), thread);
    const struct pyro_frame_row frame = {.function = PYRO_SLICE_LITERAL("map"), .line = PYRO_NONE};
    const struct pyro_frame_row other = {.function = PYRO_SLICE_LITERAL("map"), .line = 3};
    int32_t outer = pyro_tracks_add_frame(tracks, &frame), inner = pyro_tracks_add_frame(tracks, &other);
    assert_int_not_equal(outer, inner);
    assert_int_equal(pyro_tracks_add_frame(tracks, &frame), outer);
    int32_t caller = pyro_tracks_add_stack(tracks, -1, outer), stack = pyro_tracks_add_stack(tracks, caller, inner);
    assert_int_equal(pyro_tracks_add_stack(tracks, caller, inner), stack);
    assert_int_not_equal(pyro_tracks_add_stack(tracks, -1, inner), stack);
    assert_true(pyro_tracks_seal(tracks));
    assert_int_equal(pyro_tracks_count(tracks, PYRO_TRACK_THREADS), 2);
    assert_int_equal(pyro_tracks_stack(tracks, (size_t)stack).parent, caller);
    pyro_tracks_free(tracks);
}

static void test_spans_are_sorted_and_keep_their_parents(void **state)
{
    (void)state;
    struct pyro_tracks *tracks = pyro_tracks_new(NULL);
    assert_non_null(tracks);
    int32_t thread = add_thread(tracks, "1", 5);
    /* The parent is row 1, which sorting moves to row 0. */
    const struct pyro_span_row child = {.thread = thread,
                                        .parent = 1,
                                        .kind = PYRO_SPAN_GC_PAUSE,
                                        .name = PYRO_SLICE_LITERAL("Pause Young"),
                                        .start_ns = 2000,
                                        .duration_ns = 10,
                                        .value = PYRO_NONE};
    const struct pyro_span_row parent = {
        .thread = thread, .parent = -1, .kind = PYRO_SPAN_GC, .start_ns = 1000, .duration_ns = 5000, .value = 7};
    assert_true(pyro_tracks_add_span(tracks, &child) && pyro_tracks_add_span(tracks, &parent));
    assert_true(pyro_tracks_seal(tracks));
    struct pyro_span_row first = pyro_tracks_span(tracks, 0), second = pyro_tracks_span(tracks, 1);
    assert_int_equal(first.kind, PYRO_SPAN_GC);
    assert_int_equal(first.value, 7);
    assert_null(first.name.ptr);
    assert_int_equal(second.parent, 0);
    assert_int_equal(second.value, PYRO_NONE);
    assert_true(pyro_slice_is(second.name, "Pause Young"));
    pyro_tracks_free(tracks);
}

static void test_owner_at_a_time(void **state)
{
    (void)state;
    struct pyro_tracks *tracks = pyro_tracks_new(NULL);
    struct pyro_owner_row found;
    assert_non_null(tracks);
    int32_t one = add_thread(tracks, "1", 5), two = add_thread(tracks, "1", 6);
    for (int64_t i = 9; i >= 0; i--) { /* tasks of 10 ns with 10 ns between them, newest first */
        const struct pyro_owner_row row = {.thread = i % 2 ? one : two,
                                           .start_ns = 20 * i,
                                           .end_ns = 20 * i + 10,
                                           .task = 100 + i,
                                           .stage = 3,
                                           .stage_attempt = 0,
                                           .method = PYRO_SLICE_LITERAL("named"),
                                           .confidence = 0.5};
        assert_true(pyro_tracks_add_owner(tracks, &row));
    }
    assert_true(pyro_tracks_seal(tracks));
    assert_true(pyro_tracks_owner_at(tracks, one, 60, &found));
    assert_int_equal(found.task, 103);
    assert_true(found.confidence == 0.5);
    assert_true(pyro_tracks_owner_at(tracks, one, 69, &found));
    assert_false(pyro_tracks_owner_at(tracks, one, 70, &found));
    assert_false(pyro_tracks_owner_at(tracks, two, 60, &found)); /* the other thread's */
    assert_true(pyro_tracks_owner_at(tracks, two, 165, &found));
    assert_false(pyro_tracks_owner_at(tracks, one, -1, &found));
    pyro_tracks_free(tracks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value_comes_back),
        cmocka_unit_test(test_exceptions_cost_little),
        cmocka_unit_test(test_sorting_is_stable_and_says_where_rows_went),
        cmocka_unit_test(test_equal_rows_are_one),
        cmocka_unit_test(test_spans_are_sorted_and_keep_their_parents),
        cmocka_unit_test(test_owner_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
