#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/accounts/fixed_point.h"
#include "analyze/row_index.h"

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void test_sort(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    static struct pyro_mark marks[3000], scratch[3000];
    for (unsigned shift = 0; shift < 64; shift += 7) {
        for (size_t count = 0; count <= 3000; count = count * 3 + 1) {
            for (size_t i = 0; i < count; i++)
                marks[i] = (struct pyro_mark){random_bits(&seed) >> shift, (uint32_t)i, 0};
            pyro_marks_sort(marks, scratch, count);
            for (size_t i = 1; i < count; i++)
                assert_true(marks[i - 1].at < marks[i].at ||
                            (marks[i - 1].at == marks[i].at && marks[i - 1].row < marks[i].row));
        }
    }
}

static void check_index(const struct pyro_index_key *keys, size_t count)
{
    struct pyro_index index;
    assert_true(pyro_index_init(&index, NULL, keys, count));
    for (size_t i = 0; i < count; i++) {
        size_t first, found = pyro_index_find(&index, keys[i].id, &first), same = 0;
        bool present = false;
        for (size_t k = 0; k < count; k++)
            same += keys[k].id == keys[i].id;
        assert_int_equal(found, same);
        for (size_t k = first; k < first + found; k++) {
            present = present || index.entries[k].row == i;
            assert_true(k == first || keys[index.entries[k - 1].row].second <= keys[index.entries[k].row].second);
        }
        assert_true(present);
    }
    size_t first;
    assert_int_equal(pyro_index_find(&index, 4711, &first), 0);
    assert_int_equal(pyro_index_find(&index, -4711, &first), 0);
    pyro_index_done(&index);
}

static void test_index(void **state)
{
    (void)state;
    static const struct pyro_index_key near[] = {{3, 1}, {3, 0}, {1, 5}, {2, 0}, {3, -2}, {2, 0}};
    static const struct pyro_index_key far[] = {
        {INT64_MAX, 0}, {INT64_MIN, 1}, {0, 0}, {INT64_MAX, -1}, {INT64_MIN, 0}};
    check_index(near, 6);
    check_index(far, 5);
    check_index(near, 0);
}

static void test_round_parts(void **state)
{
    (void)state;
    const pyro_fixed one = (pyro_fixed)1 << PYRO_FIXED_BITS;
    int64_t ms[3];
    pyro_round_parts((pyro_fixed[]){one / 2, one / 2, one}, 3, 2, ms); /* a tie: the earlier part */
    assert_int_equal(ms[0], 1);
    assert_int_equal(ms[1], 0);
    assert_int_equal(ms[2], 1);
    pyro_round_parts((pyro_fixed[]){one / 4, one / 4, one / 2}, 3, 1, ms);
    assert_int_equal(ms[2], 1);
}

static void test_share_out(void **state)
{
    (void)state;
    /* The path for small numbers and the one for hostile ones agree. */
    struct pyro_task_split split = {.duration_ms = 1000, .gc = 333, .shuffle_write = 1, .compute = 666};
    for (unsigned bits = 0; bits < 90; bits += 3) {
        pyro_fixed share = ((pyro_fixed)1 << bits) + 12345, sums[PYRO_SPLIT_PARTS] = {0}, sum = 0;
        pyro_share_out(&split, share, sums);
        assert_true(sums[PYRO_SPLIT_GC] == share * 333 / 1000);
        assert_true(sums[PYRO_SPLIT_SHUFFLE_WRITE] == share / 1000);
        for (unsigned i = 0; i < PYRO_SPLIT_PARTS; i++)
            sum += sums[i];
        assert_true(sum == share);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_round_parts),
        cmocka_unit_test(test_share_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
