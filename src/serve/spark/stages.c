/* stages, stages/ID, stages/ID/ATTEMPT */
#include <stdio.h>

#include "base/numbers/saturate.h"
#include "serve/spark/pieces.h"
#include "serve/spark/sort.h"
#include "serve/spark/spark_request.h"
#include "serve/spark/stage.h"

static bool read_wish(struct spark_request *request, struct spark_stage_wish *wish, bool details)
{
    *wish = (struct spark_stage_wish){0};
    wish->details = pyro_spark_flag_or(request, "details", details);
    wish->summaries = pyro_spark_flag(request, "withSummaries");
    if (!pyro_spark_choices(request, "taskStatus", pyro_spark_task_statuses, SPARK_TASK_STATUSES, &wish->tasks) ||
        !pyro_spark_quantiles(request, "0.0,0.25,0.5,0.75,1.0", wish->quantiles, &wish->quantile_count))
        return false;
    if (!wish->details || wish->tasks == UINT32_MAX || !(wish->tasks & SPARK_NULL_CHOICE))
        return true;
    pyro_spark_fault(request, 500);
    return false;
}

/* Whether the stage has tasks of the statuses that were asked for; lists with details show no others. */
static bool has_tasks(const struct pyro_history_stage *stage, const struct spark_stage_wish *wish)
{
    const int64_t counts[SPARK_TASK_STATUSES] = {
        stage->active, stage->killed, stage->failed, stage->completed,
        pyro_sub_wrapping(stage->partitions, stage->failed + stage->killed + stage->active + stage->completed)};
    if (!wish->details || wish->tasks == UINT32_MAX)
        return true;
    for (int i = 0; i < SPARK_TASK_STATUSES; i++)
        if (wish->tasks >> i & 1 && counts[i] > 0)
            return true;
    return false;
}

/* By id and attempt, both of which have 31 bits. */
static bool stage_key(const void *context, size_t row, int64_t *ret)
{
    const struct pyro_history_stage *stage = &((const struct pyro_history *)context)->stages.items[row];
    *ret = (int64_t)((uint64_t)stage->id << 32 | (uint64_t)stage->attempt);
    return true;
}

struct attempts {
    const struct pyro_history *history;
    int64_t stage;
};

static bool attempt_key(const void *context, size_t row, int64_t *ret)
{
    const struct attempts *attempts = context;
    return attempts->history->stages.items[row].id == attempts->stage && stage_key(attempts->history, row, ret);
}

/* ---- Lists of them, or one alone ---- */

struct stages {
    const struct pyro_history *history;
    struct spark_stage_wish wish;
    uint32_t *rows; /* of those that are shown, in order */
    size_t count, at;
    bool list; /* in an array */
    bool inside;
    struct spark_stage_text text; /* of the one at hand, where `inside` */
};

static void close_stages(void *context)
{
    struct stages *stages = context;
    pyro_spark_summaries_done(&stages->wish.numbers);
    pyro_release(NULL, stages->rows);
    pyro_release(NULL, stages);
}

static bool next_piece(void *context, struct spark_json *json)
{
    struct stages *stages = context;
    if (!stages->inside && stages->at < stages->count) {
        if (stages->list)
            pyro_spark_element(json);
        pyro_spark_stage_begin(&stages->text, stages->history,
                               &stages->history->stages.items[stages->rows[stages->at++]], &stages->wish);
        stages->inside = true;
    }
    if (stages->inside)
        stages->inside = pyro_spark_stage_next(&stages->text, json);
    if (stages->inside || stages->at < stages->count)
        return true;
    if (stages->list)
        pyro_spark_close_array(json);
    return false;
}

/* Takes over `rows`. */
static void answer(struct spark_request *request, uint32_t *rows, size_t count, bool list,
                   const struct spark_stage_wish *wish)
{
    for (size_t i = 0; rows && i < count; i++) {
        if (pyro_spark_stage_refused(&request->history->stages.items[rows[i]], wish)) {
            pyro_release(NULL, rows);
            pyro_spark_fault(request, 500);
            return;
        }
    }
    struct stages *stages = pyro_allocate(NULL, sizeof(*stages));
    if (!stages || !rows) {
        pyro_release(NULL, stages);
        pyro_release(NULL, rows);
        pyro_spark_error(request, 503, "no memory left");
        return;
    }
    *stages = (struct stages){.history = request->history, .wish = *wish, .rows = rows, .count = count, .list = list};
    pyro_spark_summaries_init(&stages->wish.numbers, request->history, stages->wish.quantiles, wish->quantile_count);
    if (list)
        pyro_spark_open_array(&request->json);
    pyro_spark_answer_pieces(request, &(const struct spark_pieces){next_piece, close_stages, stages});
}

/* All stages that are wanted, the newest first. */
void pyro_spark_stages(struct spark_request *request)
{
    struct spark_stage_wish wish;
    uint32_t wanted;
    size_t count = 0, shown = 0;
    if (!pyro_spark_choices(request, "status", pyro_spark_stage_statuses, SPARK_STAGE_STATUSES, &wanted) ||
        !read_wish(request, &wish, false))
        return;
    uint32_t *rows = pyro_spark_sort_rows(request->history->stages.count, stage_key, request->history, &count);
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t row = rows[i];
        rows[i] = rows[count - 1 - i];
        rows[count - 1 - i] = row;
    }
    for (size_t i = 0; i < count; i++) {
        const struct pyro_history_stage *stage = &request->history->stages.items[rows[i]];
        if (wanted >> stage->status & 1 && has_tasks(stage, &wish))
            rows[shown++] = rows[i];
    }
    answer(request, rows, shown, true, &wish);
}

/* All attempts, the oldest first. */
void pyro_spark_stage(struct spark_request *request)
{
    struct spark_stage_wish wish;
    size_t count = 0;
    int64_t id = pyro_serve_id(request->arguments[0]);
    if (!read_wish(request, &wish, true))
        return;
    const struct attempts attempts = {request->history, id};
    uint32_t *rows = pyro_spark_sort_rows(request->history->stages.count, attempt_key, &attempts, &count);
    if (rows && count == 0) {
        pyro_release(NULL, rows);
        pyro_spark_error(request, 404, "unknown stage: %lld", (long long)id);
        return;
    }
    answer(request, rows, count, true, &wish);
}

/* As Spark words it: which attempts there are, or that there is no such stage. */
const struct pyro_history_stage *pyro_spark_find_stage(struct spark_request *request)
{
    const struct pyro_history *history = request->history;
    int64_t id = pyro_serve_id(request->arguments[0]), attempt = pyro_serve_id(request->arguments[1]);
    const struct pyro_history_stage *found = pyro_history_stage(history, id, attempt);
    if (found)
        return found;
    char ids[400] = "";
    size_t len = 0;
    for (size_t i = 0; i < history->stages.count && len + 32 < sizeof(ids); i++)
        if (history->stages.items[i].id == id)
            len += (size_t)snprintf(ids + len, sizeof(ids) - len, "%s%lld", len ? "," : "",
                                    (long long)history->stages.items[i].attempt);
    if (len)
        pyro_spark_error(request, 404, "unknown attempt for stage %lld.  Found attempts: [%s]", (long long)id, ids);
    else
        pyro_spark_error(request, 404, "unknown stage: %lld", (long long)id);
    return NULL;
}

void pyro_spark_stage_attempt(struct spark_request *request)
{
    struct spark_stage_wish wish;
    const struct pyro_history_stage *stage = pyro_spark_find_stage(request);
    if (!stage || !read_wish(request, &wish, true))
        return;
    uint32_t *row = pyro_allocate(NULL, sizeof(*row));
    if (row)
        *row = (uint32_t)(stage - request->history->stages.items);
    answer(request, row, 1, false, &wish);
}
