/* Tasks of a stage as runs of rows, for readers of whole columns. */
#include <stdlib.h>

#include "model/history/history.h"

static int compare_rows(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* By way of one bit for each row from the first to the last. False: no memory. */
static bool sort_close_rows(uint32_t *rows, size_t count, uint32_t least, uint32_t most)
{
    size_t words = ((size_t)(most - least) >> 6) + 1;
    uint64_t *bits = pyro_allocate(NULL, words * sizeof(*bits));
    if (!bits)
        return false;
    memset(bits, 0, words * sizeof(*bits));
    for (size_t i = 0; i < count; i++)
        bits[(rows[i] - least) >> 6] |= (uint64_t)1 << ((rows[i] - least) & 63);
    size_t to = 0;
    for (size_t w = 0; w < words; w++)
        for (uint64_t rest = bits[w]; rest; rest &= rest - 1)
            rows[to++] = least + (uint32_t)(w << 6) + (uint32_t)__builtin_ctzll(rest);
    pyro_release(NULL, bits);
    return true;
}

/* No row comes twice. False: no memory. */
static bool sort_rows(uint32_t *rows, size_t count)
{
    enum { BITS_A_ROW = 256 }; /* of more it takes longer to look for those that are set */
    uint32_t least = UINT32_MAX, most = 0;
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        sorted &= i == 0 || rows[i - 1] < rows[i];
        least = rows[i] < least ? rows[i] : least;
        most = rows[i] > most ? rows[i] : most;
    }
    if (sorted)
        return true;
    if ((most - least) / BITS_A_ROW <= count)
        return sort_close_rows(rows, count, least, most);
    qsort(rows, count, sizeof(*rows), compare_rows);
    return true;
}

static bool add_run(pyro_history_runs *runs, struct pyro_history_run run)
{
    if (runs->count > 0) {
        struct pyro_history_run *last = &runs->items[runs->count - 1];
        if (last->first + last->count == run.first) {
            last->count += run.count;
            return true;
        }
    }
    struct pyro_history_run *added = pyro_vec_push(runs, NULL);
    if (added)
        *added = run;
    return added != NULL;
}

/* Deals a run out. */
static bool part_run(const struct pyro_history *history, struct pyro_history_run run, pyro_history_runs *succeeded,
                     pyro_history_runs *others)
{
    enum { BLOCK = 512 };
    int64_t finish_ms[BLOCK], status[BLOCK];
    for (uint32_t at = 0; at < run.count; at += BLOCK) {
        uint32_t first = run.first + at, count = run.count - at < BLOCK ? run.count - at : BLOCK;
        pyro_task_read(&history->ended, PYRO_TASK_finish_ms, first, count, finish_ms);
        pyro_task_read(&history->ended, PYRO_TASK_status, first, count, status);
        for (uint32_t i = 0, next; i < count; i = next) {
            bool good = pyro_history_status_of(finish_ms[i], status[i]) == PYRO_HTASK_SUCCESS;
            for (next = i + 1; next < count; next++)
                if ((pyro_history_status_of(finish_ms[next], status[next]) == PYRO_HTASK_SUCCESS) != good)
                    break;
            if (!add_run(good ? succeeded : others, (struct pyro_history_run){first + i, next - i}))
                return false;
        }
    }
    return true;
}

static bool part_rows(const struct pyro_history *history, const uint32_t *rows, size_t count,
                      pyro_history_runs *succeeded, pyro_history_runs *others)
{
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && rows[next] == rows[i] + (next - i); next++)
            ;
        if (!part_run(history, (struct pyro_history_run){rows[i], (uint32_t)(next - i)}, succeeded, others))
            return false;
    }
    return true;
}

bool pyro_history_stage_runs(const struct pyro_history *history, const struct pyro_history_stage *stage,
                             pyro_history_runs *succeeded, pyro_history_runs *others)
{
    uint32_t *rows = pyro_allocate(NULL, (stage->tasks.count + 1) * sizeof(*rows));
    size_t count = 0;
    succeeded->count = others->count = 0;
    for (size_t i = 0; rows && i < stage->tasks.count; i++) {
        uint32_t place = history->places.items[stage->tasks.items[i]];
        rows[count] = place;
        count += !(place & PYRO_HISTORY_RUNNING);
    }
    bool ok = rows && sort_rows(rows, count) && part_rows(history, rows, count, succeeded, others);
    pyro_release(NULL, rows);
    return ok;
}

size_t pyro_history_runs_rows(const pyro_history_runs *runs)
{
    size_t rows = 0;
    for (size_t i = 0; i < runs->count; i++)
        rows += runs->items[i].count;
    return rows;
}

void pyro_history_runs_read(const struct pyro_history *history, const pyro_history_runs *runs,
                            enum pyro_task_column column, int64_t *values)
{
    for (size_t i = 0; i < runs->count; i++) {
        pyro_task_read(&history->ended, column, runs->items[i].first, runs->items[i].count, values);
        values += runs->items[i].count;
    }
}

bool pyro_history_runs_same(const struct pyro_history *history, const pyro_history_runs *runs,
                            enum pyro_task_column column, int64_t *ret)
{
    if (runs->count == 0)
        return false;
    const struct pyro_history_run *last = &runs->items[runs->count - 1];
    uint32_t first = runs->items[0].first;
    return pyro_task_same(&history->ended, column, first, (size_t)last->first + last->count - first, ret);
}
