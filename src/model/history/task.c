/* Tasks of a history: rows of columns as the REST API shows them. */
#include "base/strings/intern.h"
#include "base/strings/strbuf.h"
#include "model/column.h"
#include "model/history/history.h"

const enum pyro_task_column pyro_history_metric_columns[PYRO_HISTORY_METRICS] = {
#define HISTORY_METRIC(name, column, stage) PYRO_TASK_##column,
#include "model/history/metrics.def"
#undef HISTORY_METRIC
};

static struct pyro_slice text(const struct pyro_history *history, int64_t number)
{
    return number == PYRO_NONE ? PYRO_SLICE_NULL : pyro_string_pool_text(history->strings, (uint32_t)number);
}

enum pyro_history_task_status pyro_history_status_of(int64_t finish_ms, int64_t status)
{
    if (finish_ms == PYRO_HISTORY_NO_TIME)
        return PYRO_HTASK_RUNNING;
    return status == PYRO_TASK_FAILED   ? PYRO_HTASK_FAILED
           : status == PYRO_TASK_KILLED ? PYRO_HTASK_KILLED
                                        : PYRO_HTASK_SUCCESS;
}

/* `row`: of a task that ended; else it runs, and has no metrics. */
static void fill_task(const struct pyro_history *history, const int64_t *values, bool running, uint32_t row,
                      struct pyro_history_task *ret)
{
    int64_t executor = values[PYRO_TASK_executor] == PYRO_NONE ? 0 : values[PYRO_TASK_executor];
    *ret = (struct pyro_history_task){
        .id = values[PYRO_TASK_id],
        .index = values[PYRO_TASK_index],
        .attempt = values[PYRO_TASK_attempt],
        .partition = values[PYRO_TASK_partition] == PYRO_NONE ? -1 : values[PYRO_TASK_partition],
        .launch_ms = values[PYRO_TASK_launch_ms],
        .fetch_ms = values[PYRO_TASK_getting_result_ms],
        .finish_ms = values[PYRO_TASK_finish_ms],
        .executor = text(history, executor),
        .executor_text = (uint32_t)executor,
        .host = text(history, values[PYRO_TASK_host]),
        .locality = text(history, values[PYRO_TASK_locality]),
        .error = text(history, values[PYRO_TASK_error]),
        .status = pyro_history_status_of(values[PYRO_TASK_finish_ms], values[PYRO_TASK_status]),
        .speculative = values[PYRO_TASK_speculative] != 0,
        .ended = !running,
    };
    for (int i = 0; i < PYRO_HISTORY_METRICS; i++)
        ret->metrics[i] = values[pyro_history_metric_columns[i]];
    if (!running)
        ret->accumulables = pyro_task_metrics(&history->ended, row);
}

void pyro_history_task_read(const struct pyro_history *history, uint32_t number, struct pyro_history_task *ret)
{
    uint32_t place = history->places.items[number], row = place & ~PYRO_HISTORY_RUNNING;
    int64_t values[PYRO_TASK_COLUMN_COUNT] = {0};
    bool running = place & PYRO_HISTORY_RUNNING;
    values[PYRO_TASK_error] = PYRO_NONE;
    if (running)
        memcpy(values, history->running.items + (size_t)row * PYRO_TASK_START_COLUMNS,
               PYRO_TASK_START_COLUMNS * sizeof(*values));
    for (int i = 0; !running && i < PYRO_TASK_COLUMN_COUNT; i++)
        values[i] = pyro_task_get(&history->ended, (enum pyro_task_column)i, row);
    fill_task(history, values, running, row, ret);
}

/* How many of the places from the first on are rows that follow one another; 0: the first is of a task that runs. */
static size_t count_rows(const struct pyro_history *history, const uint32_t *numbers, size_t count)
{
    const uint32_t *places = history->places.items;
    size_t rows = 0;
    while (rows < count && !(places[numbers[rows]] & PYRO_HISTORY_RUNNING) &&
           places[numbers[rows]] == places[numbers[0]] + rows)
        rows++;
    return rows;
}

void pyro_history_tasks_read(const struct pyro_history *history, const uint32_t *numbers, size_t count,
                             struct pyro_history_task *ret)
{
    enum { BLOCK = 64, FEW = 4 };
    int64_t columns[PYRO_TASK_COLUMN_COUNT][BLOCK], values[PYRO_TASK_COLUMN_COUNT];
    while (count > 0) {
        size_t rows = count_rows(history, numbers, count < BLOCK ? count : BLOCK), done = rows < FEW ? 1 : rows;
        uint32_t first = history->places.items[numbers[0]];
        if (rows < FEW)
            pyro_history_task_read(history, numbers[0], ret);
        for (int c = 0; rows >= FEW && c < PYRO_TASK_COLUMN_COUNT; c++)
            pyro_task_read(&history->ended, (enum pyro_task_column)c, first, rows, columns[c]);
        for (size_t i = 0; rows >= FEW && i < rows; i++) {
            for (int c = 0; c < PYRO_TASK_COLUMN_COUNT; c++)
                values[c] = columns[c][i];
            fill_task(history, values, false, first + (uint32_t)i, &ret[i]);
        }
        numbers += done;
        ret += done;
        count -= done;
    }
}

enum pyro_history_task_status pyro_history_task_status(const struct pyro_history *history, uint32_t number)
{
    uint32_t place = history->places.items[number], row = place & ~PYRO_HISTORY_RUNNING;
    if (place & PYRO_HISTORY_RUNNING) {
        const int64_t *values = history->running.items + (size_t)row * PYRO_TASK_START_COLUMNS;
        return pyro_history_status_of(values[PYRO_TASK_finish_ms], values[PYRO_TASK_status]);
    }
    return pyro_history_status_of(pyro_task_get(&history->ended, PYRO_TASK_finish_ms, row),
                                  pyro_task_get(&history->ended, PYRO_TASK_status, row));
}

void pyro_history_task_column(const struct pyro_history *history, enum pyro_task_column column, const uint32_t *numbers,
                              size_t count, int64_t *values)
{
    const uint32_t *places = history->places.items;
    for (size_t i = 0; i < count;) {
        /* Tasks end nearly in the order of their start: whole runs of rows are read at once where they do. */
        size_t run = 1;
        uint32_t first = places[numbers[i]];
        if (first & PYRO_HISTORY_RUNNING) {
            const int64_t *row =
                history->running.items + (size_t)(first & ~PYRO_HISTORY_RUNNING) * PYRO_TASK_START_COLUMNS;
            values[i++] = (int)column < PYRO_TASK_START_COLUMNS ? row[column] : 0;
            continue;
        }
        while (i + run < count && places[numbers[i + run]] == first + run)
            run++;
        pyro_task_read(&history->ended, column, first, run, values + i);
        i += run;
    }
}

/* ---- Accumulables: id, then each text as its length + 1 (0: none) and its bytes ---- */

static void put_text(struct pyro_strbuf *to, struct pyro_slice value)
{
    int64_t zero = 0;
    pyro_varint_put(to, &zero, value.ptr ? (int64_t)value.len + 1 : 0);
    if (value.ptr)
        pyro_strbuf_add_slice(to, value);
}

static bool take_text(struct pyro_slice *from, struct pyro_slice *ret)
{
    int64_t len = 0;
    *ret = PYRO_SLICE_NULL;
    if (!pyro_varint_take(from, &len) || len < 0 || (uint64_t)len > (uint64_t)from->len + 1)
        return false;
    if (len == 0)
        return true;
    *ret = (struct pyro_slice){from->ptr, (size_t)len - 1};
    pyro_slice_drop(from, (size_t)len - 1);
    return true;
}

void pyro_history_accumulable_put(struct pyro_strbuf *to, const struct pyro_history_accumulable *one)
{
    int64_t zero = 0;
    pyro_varint_put(to, &zero, one->id);
    put_text(to, one->name);
    put_text(to, one->update);
    put_text(to, one->value);
}

bool pyro_history_accumulable_next(struct pyro_slice *from, struct pyro_history_accumulable *ret)
{
    ret->id = 0;
    return pyro_varint_take(from, &ret->id) && take_text(from, &ret->name) && take_text(from, &ret->update) &&
           take_text(from, &ret->value);
}
