/* Reads an application's past from a store. */
#include "fleet/suggest/store.h"

#include <math.h>
#include <stdlib.h>

#include "base/numbers/saturate.h"
#include "text/escape.h"
#include "text/humanize.h"

/* Runs that are looked at: more than count, since attempts and failed runs are among them. */
#define ROWS "400"
/* Names of applications that a name which the store lacks is compared with. */
#define NAMES "10000"

enum pyro_status pyro_suggest_ask(pyro_store *store, const struct pyro_query_viewer *viewer, const char *question,
                                  struct pyro_slice text, struct pyro_arena *arena, struct pyro_query_answer *ret,
                                  struct pyro_error *error)
{
    const char *place = strstr(question, "%s");
    struct pyro_strbuf json;
    struct pyro_query query;
    pyro_strbuf_init(&json, arena->allocator);
    pyro_strbuf_add(&json, question, place ? (size_t)(place - question) : strlen(question));
    if (place) {
        pyro_add_json(&json, text);
        pyro_strbuf_add_text(&json, place + 2);
    }
    enum pyro_status status = json.failed ? pyro_no_memory(error) : PYRO_OK;
    if (status == PYRO_OK)
        status = pyro_query_parse(pyro_strbuf_slice(&json), arena, &query, error);
    if (status == PYRO_OK)
        status = pyro_store_ask(store, &query, viewer, arena, ret, error);
    pyro_strbuf_done(&json);
    return status;
}

/* ---- Runs ----------------------------------------------------------------------------------------------------------
 */

enum column {
    APP_ID,
    ATTEMPT,
    VERSION,
    SPARK_VERSION,
    STATUS,
    PATH,
    START,
    FINAL,
    DURATION,
    CORE,
    INPUT,
    EXECUTORS,
    CORES_PEAK,
    CORES,
    LARGEST_INPUT,
    HEAP,
    NATIVE,
    DIRECT,
    PYTHON,
    SHUFFLE,
    PROPERTIES
};

static const char question[] =
    "{\"from\":\"runs\",\"where\":[{\"field\":\"application\",\"op\":\"=\",\"value\":%s}],\"fields\":["
    "\"app_id\",\"attempt\",\"version\",\"spark_version\",\"status\",\"path\",\"start_ms\",\"is_final_attempt\","
    "\"duration_ms\",\"core_ms\",\"input_bytes\",\"agg.executors.elements_count\",\"agg.cores_peak\","
    "\"agg.executors.totalCores.max\","
    "\"agg.stages.inputBytes.max\",\"agg.executors.peakMemoryMetrics.JVMHeapMemory.max\","
    "\"agg.executors.peakMemoryMetrics.JVMOffHeapMemory.max\",\"agg.executors.peakMemoryMetrics.DirectPoolMemory.max\","
    "\"agg.executors.peakMemoryMetrics.ProcessTreePythonRSSMemory.max\",\"agg.stages.shuffleWriteBytes.max\""
#define PYRO_SUGGEST_KEY(id, key) ",\"property." key "\""
#include "fleet/suggest/keys.def"
#undef PYRO_SUGGEST_KEY
    "],\"order\":{\"by\":\"start_ms\",\"descending\":true},\"limit\":" ROWS "}";

static double known_or_none(double value)
{
    return isfinite(value) ? value : 0;
}

/* Most executors at once: under dynamic allocation a run has more of them one after the other. */
static double executors_of(double all, double cores_peak, double cores)
{
    return cores_peak > 0 && cores > 0 && cores_peak < all * cores ? ceil(cores_peak / cores) : all;
}

/* Texts that are handed to the system end in NUL. */
static bool take_run(const struct pyro_query_answer *answer, size_t row, struct pyro_arena *arena,
                     struct pyro_suggest_run *ret)
{
    double native = pyro_answer_number(answer, row, NATIVE), direct = pyro_answer_number(answer, row, DIRECT),
           python = pyro_answer_number(answer, row, PYTHON);
    double outside = known_or_none(native) + known_or_none(direct) + known_or_none(python);
    struct pyro_slice path = pyro_answer_text(answer, row, PATH);
    double cores = pyro_answer_number(answer, row, CORES);
    *ret = (struct pyro_suggest_run){
        .app_id = pyro_answer_text(answer, row, APP_ID),
        .attempt = pyro_answer_text(answer, row, ATTEMPT),
        .version = pyro_answer_text(answer, row, VERSION),
        .spark_version = pyro_answer_text(answer, row, SPARK_VERSION),
        .status = pyro_answer_text(answer, row, STATUS),
        .path = pyro_arena_copy(arena, path),
        .start_ms = pyro_answer_int(answer, row, START),
        .final = pyro_answer_number(answer, row, FINAL) > 0,
        .duration_ms = pyro_answer_number(answer, row, DURATION),
        .core_ms = pyro_answer_number(answer, row, CORE),
        .input_bytes = pyro_answer_number(answer, row, INPUT),
        .executors = executors_of(pyro_answer_number(answer, row, EXECUTORS),
                                  pyro_answer_number(answer, row, CORES_PEAK), cores),
        .cores = cores,
        .largest_input_bytes = pyro_answer_number(answer, row, LARGEST_INPUT),
        /* 0: the log has no such metrics. */
        .heap_peak_bytes = pyro_answer_number(answer, row, HEAP) > 0 ? pyro_answer_number(answer, row, HEAP) : NAN,
        .outside_peak_bytes = outside > 0 ? outside : NAN,
        .largest_shuffle_bytes = pyro_answer_number(answer, row, SHUFFLE),
    };
    for (size_t i = 0; i < PYRO_SUGGEST_KEYS; i++)
        ret->settings[i] = pyro_answer_text(answer, row, PROPERTIES + i);
    return !path.ptr || ret->path.ptr;
}

enum pyro_status pyro_history_read(pyro_store *store, const struct pyro_query_viewer *viewer,
                                   struct pyro_slice application, struct pyro_arena *arena,
                                   struct pyro_suggest_run **ret, size_t *ret_count, struct pyro_error *error)
{
    struct pyro_query_answer answer;
    PYRO_TRY(pyro_suggest_ask(store, viewer, question, application, arena, &answer, error));
    struct pyro_suggest_run *rows = pyro_arena_array(arena, answer.row_count + 1, sizeof(*rows));
    size_t count = 0;
    if (!rows)
        return pyro_no_memory(error);
    for (size_t i = answer.row_count; i-- > 0;) {
        if (!take_run(&answer, i, arena, &rows[count]))
            return pyro_no_memory(error);
        count += rows[count].start_ms != PYRO_NONE;
    }
    *ret = rows;
    *ret_count = count;
    return PYRO_OK;
}

static enum pyro_status explain_name(pyro_store *store, const struct pyro_query_viewer *viewer,
                                     struct pyro_slice application, struct pyro_arena *arena, struct pyro_slice *ret,
                                     struct pyro_error *error)
{
    static const char names_of[] =
        "{\"from\":\"runs\",\"group\":[{\"field\":\"application\"}],\"measures\":[{\"as\":\"runs\",\"op\":\"count\"}],"
        "\"limit\":" NAMES "}";
    struct pyro_query_answer answer;
    PYRO_TRY(pyro_suggest_ask(store, viewer, names_of, PYRO_SLICE_NULL, arena, &answer, error));
    const char **names = pyro_arena_array(arena, answer.row_count + 1, sizeof(*names));
    struct pyro_slice word = pyro_arena_copy(arena, application);
    size_t count = 0;
    for (size_t i = 0; names && i < answer.row_count; i++) {
        struct pyro_slice name = pyro_arena_copy(arena, pyro_answer_text(&answer, i, 0));
        if (name.ptr)
            names[count++] = name.ptr;
    }
    if (!names || !word.ptr)
        return pyro_no_memory(error);
    const char *nearest = pyro_nearest(word.ptr, names, count);
    *ret = pyro_arena_printf(arena, "a run: the store has no application of this name%s%s%s",
                             nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "");
    return ret->ptr ? PYRO_OK : pyro_no_memory(error);
}

enum pyro_status pyro_history_explain(pyro_store *store, const struct pyro_query_viewer *viewer,
                                      struct pyro_slice application, const struct pyro_suggest_run *rows, size_t count,
                                      size_t counted, struct pyro_arena *arena, struct pyro_slice *ret,
                                      struct pyro_error *error)
{
    *ret = PYRO_SLICE_NULL;
    if (counted > 0)
        return PYRO_OK;
    if (count == 0)
        return explain_name(store, viewer, application, arena, ret, error);
    int64_t newest = PYRO_NONE;
    for (size_t i = 0; i < count; i++)
        if (rows[i].final && pyro_slice_is(rows[i].status, "completed") && rows[i].duration_ms > 0)
            newest = rows[i].start_ms;
    struct pyro_strbuf date;
    pyro_strbuf_init(&date, arena->allocator);
    pyro_human_time(&date, newest, 0);
    *ret = newest == PYRO_NONE
               ? pyro_arena_printf(arena, "a run that completed: none of %zu did", count)
               : pyro_arena_printf(arena, "a run of the last %d days: the newest one that completed began at %.*s",
                                   PYRO_HISTORY_DAYS, (int)date.len, date.data);
    bool failed = date.failed || !ret->ptr;
    pyro_strbuf_done(&date);
    return failed ? pyro_no_memory(error) : PYRO_OK;
}

/* ---- Earlier suggestions, deaths, plans -----------------------------------------------------------------------------
 */

/* What a finding says about the death of a run that failed. */
static const struct {
    const char *rule, *part, *death; /* part: of its cause; NULL: any */
} deaths[] = {{"large-result", "larger than the driver accepts", "result-limit"},
              {"executor-oom", NULL, "memory"},
              {"executor-lost", "gave its resources to another application", "preemption"},
              {"executor-lost", "a spot machine was taken back", "preemption"},
              {"driver-memory", NULL, "driver-memory"}};

enum pyro_status pyro_suggest_read_death(pyro_store *store, const struct pyro_query_viewer *viewer,
                                         const struct pyro_suggest_run *run, struct pyro_arena *arena,
                                         struct pyro_slice *ret, struct pyro_error *error)
{
    static const char findings[] =
        "{\"from\":\"findings\",\"where\":[{\"field\":\"app_id\",\"op\":\"=\",\"value\":%s},{\"field\":\"rule\",\"op\":"
        "\"in\",\"value\":[\"large-result\",\"executor-oom\",\"executor-lost\",\"driver-memory\"]}],"
        "\"fields\":[\"rule\",\"cause\",\"attempt\",\"severity\"]}";
    struct pyro_query_answer answer;
    PYRO_TRY(pyro_suggest_ask(store, viewer, findings, run->app_id, arena, &answer, error));
    for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]) && !ret->ptr; i++)
        for (size_t row = 0; row < answer.row_count; row++) {
            struct pyro_slice cause = pyro_answer_text(&answer, row, 1);
            bool severe = pyro_slice_is(pyro_answer_text(&answer, row, 3), "critical") ||
                          pyro_slice_is(pyro_answer_text(&answer, row, 3), "severe");
            if (severe && pyro_slice_is(pyro_answer_text(&answer, row, 0), deaths[i].rule) &&
                pyro_slice_eq(pyro_answer_text(&answer, row, 2), run->attempt) &&
                (!deaths[i].part || (cause.ptr && pyro_slice_find(cause, deaths[i].part))))
                *ret = pyro_slice_from(deaths[i].death);
        }
    return PYRO_OK;
}

static enum pyro_status read_suggestions(pyro_store *store, const struct pyro_query_viewer *viewer,
                                         struct pyro_slice application, int64_t since_ms, struct pyro_arena *arena,
                                         struct pyro_suggest_asked *asked, struct pyro_error *error)
{
    static const char suggestions[] =
        "{\"from\":\"suggestions\",\"where\":[{\"field\":\"application\",\"op\":\"=\",\"value\":%s}],"
        "\"fields\":[\"state\",\"goal\",\"time_ms\",\"note\"]}";
    enum { MOST = sizeof(asked->tried) / sizeof(asked->tried[0]) };
    struct pyro_query_answer answer;
    PYRO_TRY(pyro_suggest_ask(store, viewer, suggestions, application, arena, &answer, error));
    for (size_t i = 0; i < answer.row_count; i++) {
        int64_t time_ms = pyro_answer_int(&answer, i, 2);
        asked->kept += pyro_slice_is(pyro_answer_text(&answer, i, 0), "kept");
        if (pyro_slice_is(pyro_answer_text(&answer, i, 1), pyro_suggest_goal_name(PYRO_GOAL_SURVIVE)) &&
            time_ms > since_ms && asked->tried_count < MOST) {
            asked->tried[asked->tried_count].time_ms = time_ms;
            asked->tried[asked->tried_count++].rung = pyro_answer_text(&answer, i, 3);
        }
    }
    return PYRO_OK;
}

static enum pyro_status read_plan(pyro_store *store, const struct pyro_suggest_run *run, struct pyro_arena *arena,
                                  struct pyro_suggest_asked *asked, struct pyro_error *error)
{
    struct pyro_strbuf report;
    struct pyro_suggest_setting *plan = NULL;
    pyro_strbuf_init(&report, arena->allocator);
    enum pyro_status status = pyro_store_report(store, run->app_id, run->attempt, &report, error);
    if (status == PYRO_OK)
        status = pyro_plan_read(pyro_strbuf_slice(&report), arena, &plan, &asked->plan_count, error);
    pyro_strbuf_done(&report);
    asked->plan = plan;
    /* Retention may have removed it. */
    if (status == PYRO_ERROR_INPUT)
        pyro_error_clear(error);
    return status == PYRO_ERROR_INPUT ? PYRO_OK : status;
}

enum pyro_status pyro_suggest_read_past(pyro_store *store, const struct pyro_query_viewer *viewer,
                                        struct pyro_slice application, const struct pyro_suggest_run *rows,
                                        size_t count, struct pyro_arena *arena, struct pyro_suggest_asked *asked,
                                        struct pyro_error *error)
{
    const struct pyro_suggest_run *newest = NULL, *completed = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].final)
            continue;
        newest = &rows[i];
        if (pyro_slice_is(rows[i].status, "completed"))
            completed = &rows[i];
    }
    PYRO_TRY(
        read_suggestions(store, viewer, application, completed ? completed->start_ms : INT64_MIN, arena, asked, error));
    if (newest && pyro_slice_is(newest->status, "failed"))
        PYRO_TRY(pyro_suggest_read_death(store, viewer, newest, arena, &asked->death, error));
    return completed ? read_plan(store, completed, arena, asked, error) : PYRO_OK;
}
