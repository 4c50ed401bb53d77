#include "decode/history/listener.h"

#include "base/intern.h"
#include "base/text.h"
#include "model/column.h"

uint32_t pyro_listener_wanted(bool with_sql)
{
    return PYRO_BATCH_HISTORY | PYRO_BATCH_NO_COLUMNS | (with_sql ? PYRO_BATCH_SQL | PYRO_WANT_TASK_METRICS : 0);
}

bool pyro_listener_init(struct pyro_listener *listener, bool with_sql, const struct pyro_retained_limits *limits)
{
    *listener = (struct pyro_listener){.history = pyro_history_new(), .with_sql = with_sql};
    if (listener->history)
        listener->history->with_sql = with_sql;
    pyro_strbuf_init(&listener->scratch, NULL);
    pyro_sql_follower_init(&listener->sql, listener->history);
    listener->sql.retained = limits ? limits->executions : 0;
    pyro_retained_init(&listener->retained, listener->history, limits);
    pyro_map_init(&listener->shares, NULL);
    pyro_value_map_init(&listener->numbers, NULL);
    return listener->history != NULL;
}

void pyro_listener_done(struct pyro_listener *listener)
{
    pyro_sql_follower_done(&listener->sql);
    pyro_retained_done(&listener->retained);
    pyro_history_release(listener->history);
    pyro_strbuf_done(&listener->scratch);
    for (size_t i = 0; i < listener->jobs.count; i++) {
        pyro_id_set_done(&listener->jobs.items[i].indices);
        pyro_id_set_done(&listener->jobs.items[i].completed_stages);
        pyro_id_set_done(&listener->jobs.items[i].skipped_stages);
    }
    for (size_t i = 0; i < listener->stages.count; i++)
        pyro_id_set_done(&listener->stages.items[i].indices);
    pyro_vec_done(&listener->jobs, NULL);
    pyro_vec_done(&listener->running_jobs, NULL);
    pyro_vec_done(&listener->stages, NULL);
    pyro_vec_done(&listener->free_places, NULL);
    pyro_map_done(&listener->shares);
    pyro_value_map_done(&listener->numbers);
    pyro_secrets_done(&listener->secrets);
}

struct pyro_history *pyro_listener_take(struct pyro_listener *listener)
{
    struct pyro_history *history = listener->history;
    if (listener->with_sql)
        pyro_sql_follower_flush(&listener->sql);
    if (history->failed || listener->secrets.failed || !pyro_retained_apply(&listener->retained, history) ||
        !pyro_history_seal(history))
        return NULL;
    listener->history = NULL;
    return history;
}

struct pyro_history *pyro_listener_snapshot(struct pyro_listener *listener)
{
    if (listener->with_sql)
        pyro_sql_follower_show(&listener->sql);
    bool failed = listener->history->failed || listener->secrets.failed;
    struct pyro_history *copy = failed ? NULL : pyro_history_snapshot(listener->history);
    if (copy && !pyro_retained_apply(&listener->retained, copy)) {
        pyro_history_release(copy);
        copy = NULL;
    }
    return copy;
}

/* ---- Batches ---- */

/* For each text of the batch its number in the history; NULL: no memory. */
static uint32_t *number_texts(struct pyro_listener *listener, const struct pyro_batch *batch)
{
    uint32_t *numbers = pyro_allocate(NULL, (batch->texts.count + 1) * sizeof(*numbers));
    for (size_t i = 0; numbers && i < batch->texts.count; i++)
        numbers[i] = pyro_listener_number(listener, pyro_listener_keep(listener, batch->texts.items[i].raw));
    return numbers;
}

static void number_row(int64_t *row, const uint32_t *numbers, bool end)
{
    static const enum pyro_task_column texts[] = {PYRO_TASK_executor, PYRO_TASK_host, PYRO_TASK_locality,
                                                  PYRO_TASK_reason};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) - !end; i++)
        row[texts[i]] = row[texts[i]] == PYRO_NONE ? PYRO_NONE : (int64_t)numbers[row[texts[i]]];
}

static void apply_steps(struct pyro_listener *listener, const struct pyro_batch *batch, const uint32_t *numbers)
{
    const struct pyro_history_batch *gathered = &batch->history;
    const int64_t *start = batch->starts.items, *end = batch->rows.items;
    const struct pyro_gathered_event *event = gathered->events.items;
    const struct pyro_gathered_end *beside = gathered->ends.items;
    size_t accumulables = 0, updates = 0, ended = 0;
    int64_t row[PYRO_TASK_COLUMN_COUNT];
    for (size_t i = 0; i < gathered->steps.count && !listener->history->failed; i++) {
        if (gathered->steps.items[i] == PYRO_STEP_START) {
            memcpy(row, start, PYRO_TASK_START_COLUMNS * sizeof(*row));
            start += PYRO_TASK_START_COLUMNS;
            number_row(row, numbers, false);
            pyro_listener_task_start(listener, row);
        } else if (gathered->steps.items[i] == PYRO_STEP_END) {
            memcpy(row, end, sizeof(row));
            end += PYRO_TASK_COLUMN_COUNT;
            number_row(row, numbers, true);
            struct pyro_slice values = {"", beside->accumulables_end - accumulables};
            if (values.len)
                values.ptr = gathered->accumulables.data + accumulables;
            accumulables = beside->accumulables_end;
            struct pyro_slice pairs = {"", 0};
            if (ended < batch->metric_ends.count && batch->metric_ends.items[ended] > updates)
                pairs = (struct pyro_slice){batch->metrics.data + updates, batch->metric_ends.items[ended] - updates};
            updates += pairs.len;
            ended++;
            pyro_listener_task_end(listener, row, beside++, values, pairs);
        } else if (!event->follow) {
            pyro_sql_event(listener, event->name, event->line);
            event++;
        } else {
            event->follow(listener, event->root);
            event++;
        }
    }
}

bool pyro_listener_apply(struct pyro_listener *listener, const struct pyro_batch *batch)
{
    uint32_t *numbers = number_texts(listener, batch);
    listener->history->failed |= !numbers;
    if (!listener->history->failed)
        apply_steps(listener, batch, numbers);
    pyro_release(NULL, numbers);
    listener->history->bytes += batch->bytes;
    listener->history->bad_lines += batch->history.bad_lines;
    for (size_t i = 0; i < batch->records.count; i++)
        listener->history->bad_lines += batch->records.items[i].kind == PYRO_RECORD_REJECT;
    return !listener->history->failed;
}

/* ---- For the files that follow events ---- */

uint32_t pyro_listener_number(struct pyro_listener *listener, struct pyro_slice text)
{
    uint32_t number = text.ptr ? pyro_intern(listener->history->strings, text) : UINT32_MAX;
    listener->history->failed |= text.ptr && number == UINT32_MAX;
    return number;
}

struct pyro_history_executor *pyro_listener_find_executor(struct pyro_listener *listener, struct pyro_slice id)
{
    return id.ptr ? pyro_history_executor(listener->history, pyro_listener_number(listener, id)) : NULL;
}

struct pyro_history_executor *pyro_listener_live_executor(struct pyro_listener *listener, struct pyro_slice id)
{
    struct pyro_history_executor *executor = pyro_listener_find_executor(listener, id);
    return executor && executor->active ? executor : NULL;
}

void pyro_listener_add(struct pyro_listener *listener, struct pyro_id_set *set, int64_t id, int64_t *count)
{
    listener->history->failed |= pyro_id_set_add(set, id) < 0;
    *count = (int64_t)set->count;
}

struct pyro_slice pyro_listener_keep(struct pyro_listener *listener, struct pyro_slice raw)
{
    if (!raw.ptr)
        return raw;
    pyro_strbuf_clear(&listener->scratch);
    pyro_text_decode(&listener->scratch, raw, NULL);
    struct pyro_slice kept = PYRO_SLICE_NULL;
    if (!listener->scratch.failed)
        kept = pyro_intern_slice(listener->history->strings, pyro_strbuf_slice(&listener->scratch));
    listener->history->failed |= !kept.ptr;
    return kept;
}

static struct pyro_slice keep_prose(struct pyro_listener *listener, struct pyro_slice raw, bool plan)
{
    struct pyro_slice text = pyro_listener_keep(listener, raw);
    if (!text.ptr)
        return text;
    struct pyro_slice shown = plan ? pyro_secrets_plan(&listener->secrets, text, &listener->scratch)
                                   : pyro_secrets_text(&listener->secrets, text, &listener->scratch);
    if (shown.ptr != text.ptr)
        text = pyro_intern_slice(listener->history->strings, shown);
    listener->history->failed |= !text.ptr || listener->scratch.failed;
    return text;
}

struct pyro_slice pyro_listener_prose(struct pyro_listener *listener, struct pyro_slice raw)
{
    return keep_prose(listener, raw, false);
}

struct pyro_slice pyro_listener_plan(struct pyro_listener *listener, struct pyro_slice raw)
{
    return keep_prose(listener, raw, true);
}

struct pyro_slice pyro_listener_text(struct pyro_listener *listener, const struct pyro_tree *node)
{
    return node ? pyro_listener_keep(listener, node->text) : PYRO_SLICE_NULL;
}

void pyro_listener_pairs(struct pyro_listener *listener, const struct pyro_tree *object, pyro_history_pairs *pairs)
{
    pairs->count = 0;
    for (const struct pyro_tree *member = object ? object->first : NULL; member; member = member->next) {
        struct pyro_history_pair *pair = pyro_vec_push(pairs, NULL);
        listener->history->failed |= !pair;
        if (!pair)
            return;
        pair->key = pyro_listener_keep(listener, member->key);
        pair->value = pyro_listener_keep(listener, member->text);
    }
}

void pyro_listener_accumulables(struct pyro_listener *listener, const struct pyro_tree *array,
                                pyro_history_accumulables *ret)
{
    for (const struct pyro_tree *node = array ? array->first : NULL; node; node = node->next) {
        if (!pyro_tree_is_user_accumulable(node))
            continue;
        struct pyro_history_accumulable *added = pyro_vec_push(ret, NULL);
        listener->history->failed |= !added;
        if (!added)
            return;
        added->id = pyro_tree_int(pyro_tree_get(node, "ID"), 0);
        added->name = pyro_listener_text(listener, pyro_tree_get(node, "Name"));
        added->update = pyro_listener_text(listener, pyro_tree_get(node, "Update"));
        added->value = pyro_listener_text(listener, pyro_tree_get(node, "Value"));
    }
}

void pyro_listener_memory(const struct pyro_tree *metrics, int64_t *values)
{
    static const char *const names[] = {
#define HISTORY_PEAK(name) #name,
#include "model/history_peaks.def"
#undef HISTORY_PEAK
    };
    for (int i = 0; i < PYRO_HISTORY_PEAKS; i++)
        values[i] = pyro_tree_int(pyro_tree_get(metrics, names[i]), 0);
}

void pyro_listener_peaks(struct pyro_history_peaks *peaks, const int64_t *values)
{
    for (int i = 0; i < PYRO_HISTORY_PEAKS; i++)
        if (values[i] > peaks->values[i])
            peaks->values[i] = values[i];
    peaks->set |= values[0] >= 0; /* -1 stands for an executor that told nothing */
}

void pyro_listener_count(struct pyro_listener *listener, pyro_history_counts *counts, struct pyro_slice reason)
{
    for (size_t i = 0; i < counts->count; i++) {
        if (pyro_slice_eq(counts->items[i].reason, reason)) {
            counts->items[i].count++;
            return;
        }
    }
    struct pyro_history_count *added = pyro_vec_push(counts, NULL);
    listener->history->failed |= !added;
    if (added)
        *added = (struct pyro_history_count){reason, 1};
}

struct pyro_history_share *pyro_listener_share(struct pyro_listener *listener, struct pyro_history_stage *stage,
                                               uint32_t executor)
{
    struct pyro_history *history = listener->history;
    size_t stage_row = (size_t)(stage - history->stages.items);
    uint64_t *row = pyro_map_put(&listener->shares, (uint64_t)stage_row << 32 | executor, NULL);
    if (row && *row)
        return &stage->shares.items[*row - 1];
    struct pyro_history_share *share = row ? pyro_vec_push(&stage->shares, NULL) : NULL;
    history->failed |= !share;
    if (share) {
        share->executor = pyro_string_pool_text(history->strings, executor);
        *row = stage->shares.count;
    }
    return share;
}
