/* inspect: tables of one run, each a few columns that tell something. */
#include <inttypes.h>

#include "model/app.h"
#include "serve/mcp/mcp.h"

struct table {
    const char *name, *title, *statement;
};

/* Columns that end in _ms, _bytes or _at are written as durations, sizes and times. */
static const struct table tables[] = {
    {"jobs", "Jobs, the longest first",
     "SELECT id AS job, status, completed_ms - submitted_ms AS took_ms, submitted_ms AS start_at, stages, tasks, "
     "failed_tasks, sql, coalesce(description, name) AS name, failure FROM jobs ORDER BY 3 DESC"},
    {"stages", "Stages, the longest first (stage has quantiles and outliers)",
     "SELECT id AS stage, attempt, status, completed_ms - submitted_ms AS took_ms, tasks, failed_tasks AS failed, "
     "duration_median AS median_ms, duration_max AS max_ms, gc_ms, input_bytes AS in_bytes, shuffle_read_bytes AS "
     "read_bytes, shuffle_write_bytes AS written_bytes, disk_spill_bytes AS spilled_bytes, job, sql, name, failure "
     "FROM "
     "stages ORDER BY 4 DESC"},
    {"executors", "Executors",
     "SELECT id AS executor, host, cores, added_ms AS added_at, removed_ms AS removed_at, remove_reason, tasks, "
     "failed_tasks AS failed, busy_ms, gc_ms, heap_peak_bytes AS heap_bytes, storage_peak_bytes AS cached_bytes, "
     "input_bytes AS in_bytes, shuffle_read_bytes AS read_bytes, disk_spill_bytes AS spilled_bytes FROM executors "
     "ORDER BY busy_ms DESC"},
    {"sql", "SQL executions, the longest first (sql_plan has the plan)",
     "SELECT id AS sql, status, completed_ms - submitted_ms AS took_ms, submitted_ms AS start_at, jobs, stages, tasks, "
     "task_ms, plan_updates, description, failure FROM sql ORDER BY 3 DESC"},
    {"failures", "Failed and killed tasks by stage and reason",
     "SELECT stage, stage_attempt AS attempt, status, count(*) AS tasks, count(DISTINCT executor) AS executors, "
     "min(host) AS host, min(launch_ms) AS first_at, sum(finish_ms - launch_ms) AS lost_ms, reason FROM tasks WHERE "
     "status IN ('failed', 'killed') GROUP BY 1, 2, 3, reason ORDER BY 4 DESC"},
    {"slow_tasks", "The slowest tasks",
     "SELECT stage, stage_attempt AS attempt, \"index\", executor, host, locality, finish_ms - launch_ms AS took_ms, "
     "run_ms, "
     "gc_ms, fetch_wait_ms, input_bytes AS in_bytes, shuffle_remote_bytes + shuffle_local_bytes AS read_bytes, "
     "disk_spill_bytes AS spilled_bytes, status FROM tasks ORDER BY 7 DESC LIMIT 50"},
};

enum { TABLES = sizeof(tables) / sizeof(*tables) };

static bool ends(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static void write_value(struct pyro_strbuf *line, const char *key, const json_t *value)
{
    struct mcp_words words = {0};
    if (json_is_integer(value) && ends(key, "_ms"))
        pyro_strbuf_add_text(line, pyro_mcp_ms(&words, json_integer_value(value)));
    else if (json_is_integer(value) && ends(key, "_bytes"))
        pyro_strbuf_add_text(line, pyro_mcp_bytes(&words, json_integer_value(value)));
    else if (json_is_integer(value) && ends(key, "_at"))
        pyro_strbuf_add_text(line, pyro_mcp_time(&words, json_integer_value(value)));
    else if (json_is_integer(value))
        pyro_strbuf_add_int(line, json_integer_value(value));
    else if (json_is_real(value))
        pyro_strbuf_printf(line, "%.3g", json_real_value(value));
    else if (json_is_string(value))
        pyro_strbuf_add(line, json_string_value(value), strcspn(json_string_value(value), "\n"));
    else
        pyro_strbuf_add_char(line, '-');
}

void pyro_mcp_table(struct mcp_call *call, const json_t *rows)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const char *key;
        json_t *value;
        const char *between = "";
        json_object_foreach(row, key, value)
        {
            if (i == 0)
                pyro_strbuf_printf(&call->out, "%s%.*s", between,
                                   (int)(strlen(key) - (ends(key, "_ms") || ends(key, "_at") ? 3
                                                        : ends(key, "_bytes")                ? 6
                                                                                             : 0)),
                                   key);
            between = " | ";
        }
        if (i == 0)
            pyro_strbuf_add_char(&call->out, '\n');
        between = "";
        json_object_foreach(row, key, value)
        {
            pyro_strbuf_add_text(&call->out, between);
            write_value(&call->out, key, value);
            between = " | ";
        }
        pyro_strbuf_add_char(&call->out, '\n');
    }
}

static void write(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened, const struct table *table)
{
    json_t *rows = pyro_mcp_rows(call, opened, "%s", table->statement);
    if (rows && json_array_size(rows) == 0)
        pyro_mcp_line(call, "%s: none", table->title);
    else if (rows)
        pyro_mcp_line(call, "%s (%zu):", table->title, json_array_size(rows));
    pyro_mcp_table(call, rows);
    json_decref(rows);
}

/* What the report says of settings: those that it would change, and why. */
static void write_configuration(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened)
{
    json_t *report = pyro_mcp_report(call, opened);
    size_t i;
    json_t *row;
    if (report)
        pyro_mcp_line(call, "Recommended settings: key | now | recommended | why");
    json_array_foreach(json_object_get(report, "configuration"), i, row)
        pyro_mcp_line(call, "%s | %s | %s | %s", pyro_mcp_text_of(row, "key"),
                      pyro_mcp_has(row, "current") ? pyro_mcp_text_of(row, "current") : "not set",
                      pyro_mcp_has(row, "recommended") ? pyro_mcp_text_of(row, "recommended") : "as it is",
                      pyro_mcp_text_of(row, "reason"));
    json_decref(report);
}

/* Properties whose name or value has `search` in it. */
static void write_environment(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened)
{
    static const char *const kinds[] = {"spark", "jvm", "hadoop", "system"};
    const char *search = pyro_mcp_text(call, "search");
    json_t *document = pyro_mcp_view(call, opened, "environment");
    for (size_t i = 0; document && i < (search ? 4 : 1); i++) {
        const char *key;
        json_t *value;
        pyro_mcp_line(call, "Properties, %s:", kinds[i]);
        json_object_foreach(json_object_get(document, kinds[i]), key, value)
        {
            const char *text = json_string_value(value) ? json_string_value(value) : "";
            if (!search || strcasestr(key, search) || strcasestr(text, search))
                pyro_mcp_line(call, "%s=%s", key, text);
        }
    }
    if (document && !search)
        pyro_mcp_line(call, "(search=TEXT also searches properties of the JVM, Hadoop and the system)");
    json_decref(document);
}

enum { PERIODS = 24 };

/* Mean of a series over one of the periods. */
static double mean(const json_t *series, size_t period)
{
    size_t count = json_array_size(series), from = count * period / PERIODS, to = count * (period + 1) / PERIODS;
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += json_number_value(json_array_get(series, i));
    return to > from ? sum / (double)(to - from) : 0;
}

static void write_timeline(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened)
{
    json_t *document = pyro_mcp_view(call, opened, "executors");
    const json_t *total = json_object_get(document, "total"), *running = json_object_get(total, "running_tasks"),
                 *slots = json_object_get(total, "slots");
    int64_t step = pyro_mcp_int_of(document, "step_ms");
    size_t count = json_array_size(running), last = SIZE_MAX;
    if (document)
        pyro_mcp_line(call, "After | tasks running | slots (means)");
    for (size_t i = 0; document && i < PERIODS; i++) {
        struct mcp_words words = {0};
        size_t from = count * i / PERIODS;
        if (from == last || from == count)
            continue;
        last = from;
        pyro_mcp_line(call, "%s | %.1f | %.1f", pyro_mcp_ms(&words, (int64_t)from * step), mean(running, i),
                      mean(slots, i));
    }
    json_decref(document);
}

static struct pyro_slice known(struct pyro_slice text)
{
    return text.ptr ? text : PYRO_SLICE_LITERAL("");
}

static bool same_message(const struct pyro_failure *a, const struct pyro_failure *b)
{
    return pyro_slice_eq(known(a->kind), known(b->kind)) && pyro_slice_eq(known(a->message), known(b->message)) &&
           pyro_slice_eq(known(a->class_name), known(b->class_name));
}

static void write_failure(struct mcp_call *call, const struct pyro_failure *failure)
{
    enum { LONGEST = 400 };
    struct pyro_slice kind = known(failure->kind), id = known(failure->id), reason = known(failure->reason),
                      class_name = known(failure->class_name), message = known(failure->message);
    size_t len = message.len < LONGEST ? message.len : LONGEST;
    while (len < message.len && len > 0 && ((unsigned char)message.ptr[len] & 0xC0) == 0x80)
        len--;
    pyro_mcp_line(call, "%.*s %.*s: %.*s%s%.*s%s%.*s", (int)kind.len, kind.ptr, (int)id.len, id.ptr, (int)reason.len,
                  reason.ptr, reason.len ? " " : "", (int)class_name.len, class_name.ptr, class_name.len ? ": " : "",
                  (int)len, message.ptr);
}

/* Messages of failures, equal ones once. */
static void write_failures(struct mcp_call *call, const struct pyro_app *app)
{
    enum { MOST = 20 };
    const struct pyro_failure *shown[MOST];
    size_t count = 0;
    for (size_t i = 0; i < app->failures.count && count < MOST; i++) {
        const struct pyro_failure *one = &app->failures.items[i];
        bool repeated = false;
        for (size_t j = 0; j < count; j++)
            repeated |= same_message(shown[j], one);
        if (!repeated) {
            shown[count++] = one;
            write_failure(call, one);
        }
    }
}

static void run(struct mcp_call *call)
{
    const struct pyro_catalog_diagnosis *opened = pyro_mcp_open(call, "app");
    const char *what = pyro_mcp_text(call, "what");
    for (size_t i = 0; opened && i < TABLES; i++)
        if (strcmp(tables[i].name, what) == 0)
            write(call, opened, &tables[i]);
    if (opened && strcmp(what, "failures") == 0)
        write_failures(call, opened->app);
    else if (opened && strcmp(what, "configuration") == 0)
        write_configuration(call, opened);
    else if (opened && strcmp(what, "environment") == 0)
        write_environment(call, opened);
    else if (opened && strcmp(what, "timeline") == 0)
        write_timeline(call, opened);
    pyro_catalog_diagnosis_release(opened);
}

static const struct mcp_parameter parameters[] = {
    MCP_PARAMETER_APP,
    {"what", MCP_TEXT, true, "The table",
     "jobs stages executors sql failures slow_tasks timeline configuration environment"},
    {"search", MCP_TEXT, false, "For environment: only properties with this text", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_inspect = {
    "inspect", "List the parts of a run",
    "One table of a run, most important rows first: jobs, stages, executors, SQL executions, failed tasks by reason "
    "with their messages, the slowest tasks, slots used over time, recommended settings, or properties.",
    parameters, run};
