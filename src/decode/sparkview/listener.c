#include "decode/sparkview/listener.h"

#include "base/json/unescape.h"
#include "base/strings/intern.h"
#include "model/column.h"
#include "model/history/pack.h"

uint32_t pyro_listener_wanted(bool with_sql)
{
    return PYRO_BATCH_HISTORY | PYRO_BATCH_NO_COLUMNS | (with_sql ? PYRO_BATCH_SQL | PYRO_WANT_TASK_METRICS : 0);
}

bool pyro_listener_init(struct pyro_listener *listener, bool with_sql, const struct pyro_retained_limits *limits,
                        enum pyro_redaction redaction)
{
    *listener = (struct pyro_listener){.history = pyro_history_new(), .with_sql = with_sql};
    if (listener->history) {
        listener->history->with_sql = with_sql;
        pyro_intake_init(&listener->intake, listener->history->strings, redaction, NULL);
    }
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
    pyro_intake_done(&listener->intake);
}

struct pyro_history *pyro_listener_take(struct pyro_listener *listener)
{
    struct pyro_history *history = listener->history;
    if (listener->with_sql)
        pyro_sql_follower_flush(&listener->sql);
    if (history->failed || pyro_intake_failed(&listener->intake) ||
        !pyro_retained_apply(&listener->retained, history) || !pyro_history_seal(history))
        return NULL;
    pyro_intake_leave(&listener->intake);
    listener->history = NULL;
    return history;
}

struct pyro_history *pyro_listener_snapshot(struct pyro_listener *listener)
{
    if (listener->with_sql)
        pyro_sql_follower_show(&listener->sql);
    bool failed = listener->history->failed || pyro_intake_failed(&listener->intake);
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
            row[PYRO_TASK_run_ms] =
                row[PYRO_TASK_run_ms] == PYRO_NONE ? 0 : row[PYRO_TASK_run_ms]; /* has no "unknown" */
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

/* Decoded into the scratch buffer; null where the text is null, or without memory. */
static struct pyro_slice decode(struct pyro_listener *listener, struct pyro_slice raw)
{
    if (!raw.ptr)
        return raw;
    pyro_strbuf_clear(&listener->scratch);
    pyro_text_decode(&listener->scratch, raw, NULL);
    listener->history->failed |= listener->scratch.failed;
    return listener->scratch.failed ? PYRO_SLICE_NULL : pyro_strbuf_slice(&listener->scratch);
}

struct pyro_slice pyro_listener_keep(struct pyro_listener *listener, struct pyro_slice raw)
{
    struct pyro_slice text = decode(listener, raw);
    struct pyro_slice kept = text.ptr ? pyro_intern_slice(listener->history->strings, text) : text;
    listener->history->failed |= text.ptr && !kept.ptr;
    return kept;
}

struct pyro_slice pyro_listener_plan(struct pyro_listener *listener, struct pyro_slice raw)
{
    struct pyro_slice text = decode(listener, raw);
    struct pyro_slice kept = text.ptr ? pyro_intake_prefix(&listener->intake, text, 0, true) : text;
    listener->history->failed |= text.ptr && !kept.ptr;
    return kept;
}

struct pyro_slice pyro_listener_text(struct pyro_listener *listener, const struct pyro_tree *node)
{
    return node ? pyro_listener_keep(listener, node->text) : PYRO_SLICE_NULL;
}

static struct pyro_slice keep_value(struct pyro_listener *listener, struct pyro_slice key, struct pyro_slice raw,
                                    enum pyro_pairs kind)
{
    if (kind == PYRO_PAIRS_PLAIN)
        return pyro_listener_keep(listener, raw);
    struct pyro_slice text = decode(listener, raw);
    struct pyro_slice kept =
        text.ptr ? pyro_intake_value(&listener->intake, key, text, kind == PYRO_PAIRS_SETTINGS) : text;
    listener->history->failed |= text.ptr && !kept.ptr;
    return kept;
}

void pyro_listener_pairs(struct pyro_listener *listener, const struct pyro_tree *object, enum pyro_pairs kind,
                         pyro_history_pairs *pairs)
{
    pairs->count = 0;
    for (const struct pyro_tree *member = object ? object->first : NULL; member; member = member->next) {
        struct pyro_history_pair *pair = pyro_vec_push(pairs, NULL);
        listener->history->failed |= !pair;
        if (!pair)
            return;
        pair->key = pyro_listener_keep(listener, member->key);
        pair->value = keep_value(listener, pair->key, member->text, kind);
    }
}

static void renew(void *renewal, struct pyro_slice *text)
{
    *text = pyro_renewed(renewal, *text);
}

static void forbid(struct pyro_listener *listener, pyro_history_pairs *pairs, bool settings)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (pyro_intake_forbids(&listener->intake, pairs->items[i].key, pairs->items[i].value, settings))
            pairs->items[i].value = pyro_intern_slice(listener->history->strings, PYRO_SLICE_LITERAL(PYRO_REDACTED));
}

void pyro_listener_look_again(struct pyro_listener *listener)
{
    struct pyro_history *history = listener->history;
    struct pyro_renewal *renewal = NULL;
    history->failed |= !pyro_intake_look_again(&listener->intake, &renewal);
    if (renewal)
        pyro_history_each_text(history, renew, renewal);
    for (size_t i = 0; renewal && i < listener->sql.live.count; i++)
        for (size_t k = 0; k < listener->sql.live.items[i].known.count; k++)
            renew(renewal, &listener->sql.live.items[i].known.items[k].type);
    pyro_renewal_done(renewal);
    for (int i = 0; i < PYRO_SECTIONS; i++)
        if (i != PYRO_SECTION_JVM && i != PYRO_SECTION_CLASSPATH)
            forbid(listener, &history->sections[i], true);
    for (size_t i = 0; i < history->executors.count; i++) {
        forbid(listener, &history->executors.items[i].logs, false);
        forbid(listener, &history->executors.items[i].attributes, false);
    }
    for (size_t i = 0; i < history->processes.count; i++)
        forbid(listener, &history->processes.items[i].logs, false);
}

static enum pyro_pairs kind_of(const struct pyro_tree *value)
{
    return value && !pyro_is_count(value->text) ? PYRO_PAIRS_NAMED : PYRO_PAIRS_PLAIN;
}

struct pyro_slice pyro_listener_task_accumulables(struct pyro_listener *listener, struct pyro_slice all,
                                                  struct pyro_strbuf *to)
{
    struct pyro_slice rest = all;
    struct pyro_history_accumulable one;
    pyro_strbuf_clear(to);
    if (!pyro_intake_suspects(&listener->intake, all))
        return all;
    while (pyro_history_accumulable_next(&rest, &one)) {
        struct pyro_slice *const texts[] = {&one.name, &one.update, &one.value};
        for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
            bool hidden = i > 0 && !pyro_is_count(*texts[i]) &&
                          pyro_intake_forbids(&listener->intake, one.name, *texts[i], false);
            if (texts[i]->ptr)
                *texts[i] = pyro_intern_slice(listener->history->strings,
                                              hidden ? PYRO_SLICE_LITERAL(PYRO_REDACTED) : *texts[i]);
        }
        pyro_history_accumulable_put(to, &one);
    }
    listener->history->failed |= to->failed;
    return pyro_strbuf_slice(to);
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
        const struct pyro_tree *update = pyro_tree_get(node, "Update"), *value = pyro_tree_get(node, "Value");
        added->name = pyro_listener_text(listener, pyro_tree_get(node, "Name"));
        added->update = keep_value(listener, added->name, update ? update->text : PYRO_SLICE_NULL, kind_of(update));
        added->value = keep_value(listener, added->name, value ? value->text : PYRO_SLICE_NULL, kind_of(value));
    }
}

void pyro_listener_memory(const struct pyro_tree *metrics, int64_t *values)
{
    static const char *const names[] = {
#define HISTORY_PEAK(name) #name,
#include "model/history/peaks.def"
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
    peaks->set |= values[0] >= 0; /* -1 stands for an executor that reported nothing */
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
