#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/tracks/pauses.h"
#include "analyze/tracks/track.h"
#include "model/column.h"

enum { PAUSES = 1000, MS = 1000000 };

/* A pause of 1 ms every 10 ms of each of two executors, and one of a second of executor 2. */
static struct pyro_tracks *make_tracks(void)
{
    static const char *const names[] = {"1", "2"};
    struct pyro_tracks *tracks = pyro_tracks_new(NULL);
    assert_non_null(tracks);
    for (int e = 0; e < 2; e++) {
        const struct pyro_thread_row thread = {
            .parent = -1, .clock = -1, .pid = PYRO_NONE, .tid = PYRO_NONE, .executor = pyro_slice_from(names[e])};
        int32_t row = pyro_tracks_add_thread(tracks, &thread);
        const struct pyro_series_row heap = {.thread = row, .name = PYRO_SLICE_LITERAL("heap.used")};
        int32_t series = pyro_tracks_add_series(tracks, &heap);
        assert_true(row >= 0 && series >= 0);
        for (int64_t i = 0; i < PAUSES; i++) {
            const struct pyro_span_row span = {.thread = row,
                                               .parent = -1,
                                               .kind = e == 1 && i == PAUSES - 1 ? PYRO_SPAN_GC : PYRO_SPAN_GC_PAUSE,
                                               .start_ns = i * 10 * MS,
                                               .duration_ns = e == 1 && i == PAUSES - 1 ? 1000LL * MS : MS,
                                               .value = i};
            assert_true(pyro_tracks_add_span(tracks, &span));
            assert_true(pyro_tracks_add_point(tracks, &(struct pyro_point_row){series, i * 10 * MS, (double)(i % 7)}));
        }
    }
    assert_true(pyro_tracks_seal(tracks));
    return tracks;
}

static void test_marks_are_few_and_count_all(void **state)
{
    (void)state;
    struct pyro_tracks *tracks = make_tracks();
    struct pyro_arena arena;
    struct pyro_track_iterator iterator;
    struct pyro_track track;
    pyro_arena_init(&arena, NULL);
    const struct pyro_track_window window = {0, PAUSES * 10LL * MS, 50, 0};
    assert_true(pyro_track_begin(&iterator, tracks, &window, &arena));
    int seen = 0;
    for (; pyro_track_next(&iterator, &track); seen++) {
        uint64_t merged = 0;
        assert_true(track.count > 0 && track.count <= 2 * window.pixels);
        for (size_t i = 0; i < track.count; i++) {
            merged += track.marks[i].merged;
            if (i > 0)
                assert_true(track.marks[i - 1].start_ns <= track.marks[i].start_ns);
            if (track.kind == PYRO_TRACK_OF_POINTS)
                assert_true(track.marks[i].value == 6); /* 20 points a pixel: the largest is shown */
        }
        assert_int_equal(merged, PAUSES);
        assert_int_equal(track.kind, seen < 2 ? PYRO_TRACK_OF_SPANS : PYRO_TRACK_OF_POINTS);
        if (seen == 1)
            assert_int_equal(track.marks[track.count - 1].code, PYRO_SPAN_GC); /* longer than a pixel: its own mark */
    }
    assert_int_equal(seen, 4);
    pyro_arena_done(&arena);
    pyro_tracks_free(tracks);
}

static void test_a_window_leaves_the_rest_out(void **state)
{
    (void)state;
    struct pyro_tracks *tracks = make_tracks();
    struct pyro_arena arena;
    struct pyro_track_iterator iterator;
    struct pyro_track track;
    pyro_arena_init(&arena, NULL);
    const struct pyro_track_window window = {95 * MS, 125 * MS, 1000, 0};
    assert_true(pyro_track_begin(&iterator, tracks, &window, &arena));
    assert_true(pyro_track_next(&iterator, &track));
    assert_int_equal(track.count, 3); /* at 100, 110 and 120 ms */
    assert_int_equal(track.marks[0].start_ns, 100 * MS);
    assert_int_equal(track.marks[0].merged, 1);
    pyro_arena_done(&arena);
    pyro_tracks_free(tracks);
}

/* A thread that computes 3 us and waits 1 us, again and again. */
static void test_states_are_tracks_if_they_are_wanted(void **state)
{
    (void)state;
    enum { STATES = 4000, US = 1000 };
    struct pyro_tracks *tracks = pyro_tracks_new(NULL);
    struct pyro_arena arena;
    struct pyro_track_iterator iterator;
    struct pyro_track track;
    const struct pyro_thread_row thread = {.parent = -1, .clock = -1, .pid = 7, .tid = 8};
    assert_non_null(tracks);
    int32_t row = pyro_tracks_add_thread(tracks, &thread);
    int64_t at = 0;
    for (int i = 0; i < STATES; i++) {
        const struct pyro_task_state_row one = {.thread = row,
                                                .state = i % 2 ? PYRO_KERNEL_DISK : PYRO_KERNEL_USER,
                                                .start_ns = at,
                                                .duration_ns = i % 2 ? US : 3 * US,
                                                .task = 5};
        at += one.duration_ns;
        assert_true(pyro_tracks_add_task_state(tracks, &one));
    }
    assert_true(pyro_tracks_seal(tracks));
    pyro_arena_init(&arena, NULL);
    const struct pyro_track_window windows[] = {{0, at, 100, 0}, {0, at, 100, 50}, {8 * US, 12 * US - 1, 100, 100}};
    assert_true(pyro_track_begin(&iterator, tracks, &windows[0], &arena));
    assert_false(pyro_track_next(&iterator, &track));
    assert_true(pyro_track_begin(&iterator, tracks, &windows[1], &arena));
    assert_true(pyro_track_next(&iterator, &track));
    assert_int_equal(track.kind, PYRO_TRACK_OF_STATES);
    assert_int_equal(track.thread, row);
    assert_true(track.count > 0 && track.count <= 2 * windows[1].state_pixels);
    uint64_t merged = 0;
    for (size_t i = 0; i < track.count; i++) {
        merged += track.marks[i].merged;
        assert_true(track.marks[i].merged == 1 || track.marks[i].code == PYRO_KERNEL_USER); /* the longest */
        assert_true(track.marks[i].value == 5);
    }
    assert_int_equal(merged, STATES);
    assert_false(pyro_track_next(&iterator, &track));
    assert_true(pyro_track_begin(&iterator, tracks, &windows[2], &arena));
    assert_true(pyro_track_next(&iterator, &track));
    assert_int_equal(track.count, 3); /* what ends where the window begins, and the two in it */
    assert_int_equal(track.marks[1].code, PYRO_KERNEL_USER);
    assert_int_equal(track.marks[2].code, PYRO_KERNEL_DISK);
    pyro_arena_done(&arena);
    pyro_tracks_free(tracks);
}

static void test_pauses(void **state)
{
    (void)state;
    struct pyro_tracks *tracks = make_tracks();
    struct pyro_arena arena;
    size_t count;
    pyro_arena_init(&arena, NULL);
    const struct pyro_pauses *pauses = pyro_pauses_of(tracks, &arena, &count);
    assert_non_null(pauses);
    assert_int_equal(count, 2);
    assert_int_equal(pauses[0].count, PAUSES);
    assert_int_equal(pauses[0].total_ns, PAUSES * (int64_t)MS);
    assert_int_equal(pauses[1].count, PAUSES - 1); /* a concurrent phase is not a pause */
    assert_int_equal(pauses[1].longest_ns, MS);
    assert_non_null(pyro_pauses_of(NULL, &arena, &count));
    assert_int_equal(count, 0);
    pyro_arena_done(&arena);
    pyro_tracks_free(tracks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks_are_few_and_count_all),
        cmocka_unit_test(test_a_window_leaves_the_rest_out),
        cmocka_unit_test(test_states_are_tracks_if_they_are_wanted),
        cmocka_unit_test(test_pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
