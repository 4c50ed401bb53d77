#include "rules/plans/file_scans.h"

#include <math.h>

#include "analyze/app_facts.h"
#include "rules/plans/plans.h"

static const struct {
    const char *part;
    enum pyro_file_scan_format format;
} names[] = {
    {"csv", PYRO_FILE_SCAN_CSV},         {"json", PYRO_FILE_SCAN_JSON}, {"text", PYRO_FILE_SCAN_TEXT},
    {"xml", PYRO_FILE_SCAN_XML},         {"orc", PYRO_FILE_SCAN_ORC},   {"avro", PYRO_FILE_SCAN_AVRO},
    {"parquet", PYRO_FILE_SCAN_PARQUET},
};

bool pyro_stage_lists_files(const struct pyro_app *app, const struct pyro_stage *stage)
{
    ptrdiff_t job = stage->job == PYRO_NONE ? -1 : pyro_app_find_job(app, stage->job);
    return job >= 0 && pyro_slice_starts_with(app->jobs.items[job].description, "Listing leaf files and directories");
}

const char *pyro_file_scan_format_name(enum pyro_file_scan_format format)
{
    switch (format) {
    case PYRO_FILE_SCAN_CSV:
        return "CSV";
    case PYRO_FILE_SCAN_JSON:
        return "JSON";
    case PYRO_FILE_SCAN_TEXT:
        return "text";
    case PYRO_FILE_SCAN_XML:
        return "XML";
    case PYRO_FILE_SCAN_PARQUET:
        return "Parquet";
    case PYRO_FILE_SCAN_ORC:
        return "ORC";
    case PYRO_FILE_SCAN_AVRO:
        return "Avro";
    case PYRO_FILE_SCAN_OTHER:
        break;
    }
    return "files";
}

bool pyro_file_scan_is_rows(enum pyro_file_scan_format format)
{
    return format == PYRO_FILE_SCAN_CSV || format == PYRO_FILE_SCAN_JSON || format == PYRO_FILE_SCAN_TEXT ||
           format == PYRO_FILE_SCAN_XML;
}

/* "Scan csv spark_catalog.db.table": the word behind the first blank. */
static enum pyro_file_scan_format format_of(const struct pyro_sql_node *node)
{
    struct pyro_slice rest = node->name;
    size_t skip = 0;
    while (skip < rest.len && rest.ptr[skip] != ' ')
        skip++;
    if (skip >= rest.len)
        return PYRO_FILE_SCAN_OTHER;
    struct pyro_slice word = {rest.ptr + skip + 1, 0};
    while (skip + 1 + word.len < rest.len && word.ptr[word.len] != ' ')
        word.len++;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (pyro_slice_is(word, names[i].part))
            return names[i].format;
    return PYRO_FILE_SCAN_OTHER;
}

ptrdiff_t pyro_file_scan_longest_stage(const struct pyro_app *app, const struct pyro_plan_tree *plan,
                                       const struct pyro_plan_op *op)
{
    ptrdiff_t best = -1;
    for (uint32_t i = 0; i < op->stage_count; i++) {
        size_t row = plan->stages[op->first_stage + i];
        if (best < 0 || pyro_real(app->stages.items[row].task_ms) > pyro_real(app->stages.items[best].task_ms))
            best = (ptrdiff_t)row;
    }
    return best;
}

static bool take_op(struct pyro_rule_context *context, struct pyro_file_scans *ret, const struct pyro_plan_tree *plan,
                    uint32_t i)
{
    const struct pyro_plan_op *op = &plan->ops[i];
    if (op->repeated)
        return true;
    if (op->class == PYRO_OPERATOR_PYTHON)
        for (uint32_t k = 0; k < op->stage_count; k++)
            ret->python[plan->stages[op->first_stage + k]] = true;
    if (op->class != PYRO_OPERATOR_SCAN || pyro_op_metric(plan, i, PYRO_METRIC_FILES) == PYRO_NONE)
        return true;
    struct pyro_file_scan *scan = pyro_vec_push(&ret->list, context->arena->allocator);
    if (!scan)
        return false;
    *scan = (struct pyro_file_scan){
        .plan = plan,
        .op = i,
        .stage = pyro_file_scan_longest_stage(context->app, plan, op),
        .format = format_of(op->node),
        .files = pyro_op_amount(plan, i, PYRO_METRIC_FILES),
        .bytes = pyro_op_amount(plan, i, PYRO_METRIC_FILE_BYTES),
        .rows = pyro_op_amount(plan, i, PYRO_METRIC_ROWS),
        .scan_ms = pyro_op_amount(plan, i, PYRO_METRIC_SCAN_TIME),
        .metadata_ms = pyro_op_amount(plan, i, PYRO_METRIC_METADATA_TIME),
        .partitions = pyro_op_amount(plan, i, PYRO_METRIC_SCAN_PARTITIONS),
    };
    if (scan->stage >= 0) {
        ret->scan_ms[scan->stage] += scan->scan_ms;
        ret->timed[scan->stage] = (ret->bytes[scan->stage] <= 0 || ret->timed[scan->stage]) && scan->scan_ms > 0;
        ret->bytes[scan->stage] += scan->bytes;
    }
    return true;
}

static double processor_share(const struct pyro_app *app)
{
    enum { READ_ROWS = 512 };
    int64_t ms[READ_ROWS], ns[READ_ROWS];
    double wall = 0, cpu = 0;
    for (size_t first = 0; first < app->tasks.count; first += READ_ROWS) {
        size_t count = app->tasks.count - first < READ_ROWS ? app->tasks.count - first : READ_ROWS;
        pyro_task_read(&app->tasks, PYRO_TASK_deserialize_ms, first, count, ms);
        pyro_task_read(&app->tasks, PYRO_TASK_deserialize_cpu_ns, first, count, ns);
        for (size_t i = 0; i < count; i++) {
            wall += pyro_real(ms[i]);
            cpu += pyro_real(ns[i]) / 1e6;
        }
    }
    return wall > 0 && cpu > 0 ? fmin(cpu / wall, 1) : 1;
}

bool pyro_file_scans_load(struct pyro_rule_context *context, struct pyro_file_scans *ret)
{
    const struct pyro_app *app = context->app;
    const struct pyro_plans *plans = pyro_rule_plans(context);
    size_t count = app->stages.count + 1;
    *ret = (struct pyro_file_scans){
        .scan_ms = pyro_arena_array(context->scratch, count, sizeof(double)),
        .bytes = pyro_arena_array(context->scratch, count, sizeof(double)),
        .timed = pyro_arena_array(context->scratch, count, sizeof(bool)),
        .python = pyro_arena_array(context->scratch, count, sizeof(bool)),
    };
    ret->processor_share = processor_share(app);
    bool ok = plans && ret->scan_ms && ret->bytes && ret->timed && ret->python;
    for (size_t i = 0; ok && i < app->stages.count; i++) {
        ret->scan_ms[i] = ret->bytes[i] = 0;
        ret->timed[i] = ret->python[i] = false;
    }
    for (size_t i = 0; ok && i < app->rdds.count; i++) {
        ptrdiff_t row = pyro_slice_is(app->rdds.items[i].name, "PythonRDD")
                            ? pyro_app_find_stage(app, app->rdds.items[i].stage, 0)
                            : -1;
        if (row >= 0)
            ret->python[row] = true;
    }
    for (size_t q = 0; ok && q < plans->count; q++)
        for (uint32_t i = 0; ok && i < plans->items[q].count; i++)
            ok = take_op(context, ret, &plans->items[q], i);
    if (!ok) {
        pyro_file_scans_done(context, ret);
        context->failed = true;
    }
    return ok;
}

void pyro_file_scans_done(struct pyro_rule_context *context, struct pyro_file_scans *scans)
{
    pyro_vec_done(&scans->list, context->arena->allocator);
}

void pyro_stage_wait(const struct pyro_file_scans *scans, const struct pyro_app *app, size_t row,
                     struct pyro_stage_wait *ret)
{
    const struct pyro_stage *stage = &app->stages.items[row];
    double run = pyro_real(stage->run_ms), busy = pyro_real(stage->cpu_ms) + pyro_real(stage->gc_ms);
    ret->scan_ms = fmin(scans->scan_ms[row], run);
    ret->scan_timed = scans->timed[row];
    ret->python = scans->python[row];
    ret->read_bytes = fmax(scans->bytes[row], pyro_real(stage->input_bytes)) + pyro_real(stage->shuffle_read_bytes);
    ret->wait_ms = fmax(0, run - busy - ret->scan_ms - pyro_real(stage->fetch_wait_ms) -
                               pyro_real(stage->shuffle_write_ms) - pyro_real(stage->result_serialize_ms));
}
