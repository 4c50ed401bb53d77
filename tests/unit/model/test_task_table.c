#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/column.h"
#include "model/task_table.h"

static void append(struct pyro_task_table *table, int64_t value)
{
    int64_t row[PYRO_TASK_COLUMN_COUNT];
    for (unsigned i = 0; i < PYRO_TASK_COLUMN_COUNT; i++)
        row[i] = (int64_t)((uint64_t)value + i); /* wraps where it has to */
    row[PYRO_TASK_id] = value;
    assert_true(pyro_task_table_append(table, row));
}

static void check(const struct pyro_task_table *table, const int64_t *values, size_t count)
{
    assert_int_equal(table->count, count);
    int64_t *read = malloc((count + 1) * sizeof(*read));
    assert_non_null(read);
    pyro_task_read(table, PYRO_TASK_id, 0, count, read);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(read[i], values[i]);
        assert_int_equal(pyro_task_get(table, PYRO_TASK_id, i), values[i]);
        assert_int_equal(pyro_task_get(table, PYRO_TASK_index, i),
                         (int64_t)((uint64_t)values[i] + (uint64_t)PYRO_TASK_index));
    }
    free(read);
}

/* Every set of values comes back, whatever width it needs. */
static void test_widths(void **state)
{
    (void)state;
    static const int64_t sets[][4] = {
        {7, 7, 7, 7},
        {0, 255, 1, 2},
        {0, 256, 1, 2},
        {-1, 65534, 0, 1},
        {-1, 65535, 0, 1},
        {5, 5 + (int64_t)UINT32_MAX, 6, 7},
        {5, 6 + (int64_t)UINT32_MAX, 6, 7},
        {INT64_MAX, INT64_MIN, 0, -1},
        {INT64_MIN + 1, INT64_MAX, 0, -1},
        {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN},
        {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
        {PYRO_NONE, 0, 254, 1},
        {PYRO_NONE, 0, 255, 1},
        {PYRO_NONE, 0, 65534, 1},
        {PYRO_NONE, 0, 65535, 1},
        {PYRO_NONE, 0, (int64_t)UINT32_MAX - 1, 1},
        {PYRO_NONE, 0, (int64_t)UINT32_MAX, 1},
        {PYRO_NONE, INT64_MIN + 1, INT64_MAX, PYRO_NONE},
    };
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        struct pyro_task_table table;
        pyro_task_table_init(&table, NULL);
        for (size_t k = 0; k < 4; k++)
            append(&table, sets[i][k]);
        assert_true(pyro_task_table_seal(&table));
        check(&table, sets[i], 4);
        pyro_task_table_done(&table);
    }
}

/* Every row has the pairs that it was given, through sealing, opening again and snapshots. */
static void test_metrics(void **state)
{
    (void)state;
    enum { ROWS = PYRO_TASK_CHUNK_ROWS + 10, FIRST = 5 };
    struct pyro_task_table table, copy;
    struct pyro_strbuf pairs;
    pyro_task_table_init(&table, NULL);
    pyro_strbuf_init(&pairs, NULL);
    for (int64_t i = 0; i < ROWS; i++) {
        int64_t last = 0;
        append(&table, i);
        pyro_strbuf_clear(&pairs);
        for (int64_t k = 0; i >= FIRST && k < i % 3; k++)
            pyro_task_metric_put(&pairs, &last, k == 0 ? INT64_MAX - i : i, INT64_MIN + 1 + i + k);
        if (i % 2 == 0 || pairs.len > 0)
            assert_true(pyro_task_table_add_metrics(&table, pyro_strbuf_slice(&pairs)));
        if (i == 7 || i == PYRO_TASK_CHUNK_ROWS)
            assert_true(pyro_task_table_seal(&table)); /* to be opened again */
    }
    assert_true(pyro_task_table_snapshot(&table, &copy));
    for (size_t i = 0; i < ROWS; i++) {
        struct pyro_slice from = pyro_task_metrics(&copy, i);
        struct pyro_task_metric metric = {0};
        int64_t row = (int64_t)i;
        for (int64_t k = 0; row >= FIRST && k < row % 3; k++) {
            assert_true(pyro_task_metric_next(&from, &metric));
            assert_int_equal(metric.accumulator, k == 0 ? INT64_MAX - row : row);
            assert_int_equal(metric.value, INT64_MIN + 1 + row + k);
        }
        assert_false(pyro_task_metric_next(&from, &metric));
    }
    pyro_task_table_done(&copy);
    pyro_task_table_done(&table);
    pyro_strbuf_done(&pairs);
}

static void test_chunk_boundaries(void **state)
{
    (void)state;
    static const size_t counts[] = {
        0, 1, PYRO_TASK_CHUNK_ROWS - 1, PYRO_TASK_CHUNK_ROWS, PYRO_TASK_CHUNK_ROWS + 1, 3 * PYRO_TASK_CHUNK_ROWS};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        size_t count = counts[i];
        struct pyro_task_table table;
        int64_t *values = calloc(count + 1, sizeof(*values));
        pyro_task_table_init(&table, NULL);
        for (size_t k = 0; k < count; k++)
            append(&table, values[k] = (int64_t)(k * k));
        assert_true(pyro_task_table_seal(&table));
        check(&table, values, count);
        if (count > PYRO_TASK_CHUNK_ROWS) { /* a run over the boundary */
            int64_t run[10];
            pyro_task_read(&table, PYRO_TASK_id, PYRO_TASK_CHUNK_ROWS - 5, 6, run);
            for (size_t k = 0; k < 6; k++)
                assert_int_equal(run[k], values[PYRO_TASK_CHUNK_ROWS - 5 + k]);
        }
        free(values);
        pyro_task_table_done(&table);
    }
}

static void test_snapshot(void **state)
{
    (void)state;
    enum { BEFORE = PYRO_TASK_CHUNK_ROWS + 10, AFTER = 2 * PYRO_TASK_CHUNK_ROWS + 3 };
    struct pyro_task_table table, copy;
    static int64_t values[AFTER];
    pyro_task_table_init(&table, NULL);
    for (int64_t i = 0; i < BEFORE; i++)
        append(&table, values[i] = i);
    assert_true(pyro_task_table_snapshot(&table, &copy));
    for (int64_t i = BEFORE; i < AFTER; i++)
        append(&table, values[i] = -i);
    assert_ptr_equal(copy.chunks.items[0], table.chunks.items[0]); /* full chunks are shared */
    check(&copy, values, BEFORE);
    assert_true(pyro_task_table_seal(&table));
    check(&table, values, AFTER);
    pyro_task_table_done(&table);
    check(&copy, values, BEFORE); /* and outlive the table */
    pyro_task_table_done(&copy);
}

static void clear_odd_ids(void *context, int64_t *row)
{
    ++*(size_t *)context;
    row[PYRO_TASK_id] = row[PYRO_TASK_id] % 2 == 0 ? row[PYRO_TASK_id] : PYRO_NONE;
}

static void test_edit(void **state)
{
    (void)state;
    enum { ROWS = PYRO_TASK_CHUNK_ROWS + 10 };
    struct pyro_task_table table, copy;
    static int64_t values[ROWS];
    size_t edited = 0;
    pyro_task_table_init(&table, NULL);
    for (int64_t i = 0; i < ROWS; i++) {
        append(&table, values[i] = i);
        if (i % 3 == 0)
            assert_true(pyro_task_table_add_metrics(&table, PYRO_SLICE_LITERAL("ab")));
    }
    assert_true(pyro_task_table_seal(&table));
    assert_true(pyro_task_table_snapshot(&table, &copy));
    assert_true(pyro_task_table_edit(&table, 0, clear_odd_ids, &edited));
    assert_int_equal(edited, PYRO_TASK_CHUNK_ROWS);
    check(&copy, values, ROWS); /* as it was */
    for (size_t i = 0; i < ROWS; i++) {
        bool cleared = i < PYRO_TASK_CHUNK_ROWS && i % 2 == 1;
        assert_int_equal(pyro_task_get(&table, PYRO_TASK_id, i), cleared ? PYRO_NONE : (int64_t)i);
        assert_int_equal(pyro_task_get(&table, PYRO_TASK_index, i), (int64_t)i + PYRO_TASK_index);
        assert_int_equal(pyro_task_metrics(&table, i).len, i % 3 == 0 ? 2 : 0);
    }
    pyro_task_table_done(&table);
    pyro_task_table_done(&copy);
}

static void test_append_after_seal(void **state)
{
    (void)state;
    static const int64_t values[] = {1, 1000000, -3};
    struct pyro_task_table table;
    pyro_task_table_init(&table, NULL);
    append(&table, values[0]);
    assert_true(pyro_task_table_seal(&table));
    append(&table, values[1]);
    append(&table, values[2]);
    assert_true(pyro_task_table_seal(&table));
    check(&table, values, 3);
    pyro_task_table_done(&table);
}

static void test_taken_rows(void **state)
{
    (void)state;
    struct pyro_task_table table;
    pyro_task_table_init(&table, NULL);
    append(&table, 5);
    assert_true(pyro_task_table_seal(&table));
    int32_t *rows = malloc(sizeof(*rows));
    assert_non_null(rows);
    rows[0] = -1;
    pyro_task_table_take_rows(&table, PYRO_TASK_executor_row, rows);
    assert_int_equal(pyro_task_get(&table, PYRO_TASK_executor_row, 0), -1);
    assert_int_equal(pyro_task_get(&table, PYRO_TASK_stage_row, 0), 5 + PYRO_TASK_stage_row);
    pyro_task_table_done(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widths),   cmocka_unit_test(test_metrics),    cmocka_unit_test(test_chunk_boundaries),
        cmocka_unit_test(test_snapshot), cmocka_unit_test(test_taken_rows), cmocka_unit_test(test_append_after_seal),
        cmocka_unit_test(test_edit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
