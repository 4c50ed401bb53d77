#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory/arena.h"

static void test_pieces_do_not_move_or_overlap(void **state)
{
    (void)state;
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    char *pieces[2000];
    for (size_t i = 0; i < 2000; i++) {
        size_t size = 1 + i * 7 % 900;
        pieces[i] = pyro_arena_alloc(&arena, size);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        for (size_t b = 0; b < size; b++)
            assert_int_equal(pieces[i][b], 0);
        memset(pieces[i], (int)(i % 251), size);
    }
    for (size_t i = 0; i < 2000; i++)
        for (size_t b = 0; b < 1 + i * 7 % 900; b++)
            assert_int_equal((unsigned char)pieces[i][b], i % 251);
    pyro_arena_done(&arena);
}

static void test_large_pieces_and_reset(void **state)
{
    (void)state;
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    char *small = pyro_arena_alloc(&arena, 100);
    assert_non_null(pyro_arena_alloc(&arena, 5 << 20));
    char *next = pyro_arena_alloc(&arena, 100);
    assert_ptr_equal(next, small + 112); /* the large piece did not take the block's free space */
    pyro_arena_reset(&arena);
    assert_true(arena.reserved < 1 << 20);
    assert_non_null(pyro_arena_alloc(&arena, 100));
    pyro_arena_done(&arena);
}

static void test_sizes_from_outside(void **state)
{
    (void)state;
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    assert_null(pyro_arena_alloc(&arena, SIZE_MAX - 3));
    assert_null(pyro_arena_array(&arena, SIZE_MAX / 4, 8));
    assert_non_null(pyro_arena_array(&arena, 0, 8));
    pyro_arena_done(&arena);
}

static void test_texts(void **state)
{
    (void)state;
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    struct pyro_slice copy = pyro_arena_copy(&arena, PYRO_SLICE_LITERAL("stage"));
    assert_string_equal(copy.ptr, "stage");
    assert_null(pyro_arena_copy(&arena, PYRO_SLICE_NULL).ptr);
    assert_string_equal(pyro_arena_printf(&arena, "%d of %s", 7, "nine").ptr, "7 of nine");
    pyro_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_do_not_move_or_overlap),
        cmocka_unit_test(test_large_pieces_and_reset),
        cmocka_unit_test(test_sizes_from_outside),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
