/* pyrometer flame PATH... -o FILE */
#include "ending.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* "Z", "+02:00" or nothing, which is UTC, at the end of a time. */
static bool zone(const char *text, int64_t *ret_seconds)
{
    unsigned hours, minutes;
    int used = 0;
    *ret_seconds = 0;
    if (*text == '\0' || strcmp(text, "Z") == 0)
        return true;
    if (sscanf(text, "%*1[+-]%2u:%2u%n", &hours, &minutes, &used) != 2 || used != 6 || text[used] != '\0' ||
        hours > 14 || minutes > 59)
        return false;
    *ret_seconds = (int64_t)(hours * 3600 + minutes * 60) * (*text == '-' ? -1 : 1);
    return true;
}

/* 2024-03-01T10:15:02.5Z in milliseconds. */
static bool calendar_time(const char *text, int64_t *ret_ms)
{
    struct tm parts = {0};
    int64_t offset, ms = 0;
    int used = 0;
    if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &parts.tm_hour,
               &parts.tm_min, &parts.tm_sec, &used) != 6 ||
        used != 19 || parts.tm_year < 1970 || parts.tm_mon < 1 || parts.tm_mon > 12 || parts.tm_mday < 1 ||
        parts.tm_mday > 31 || parts.tm_hour > 23 || parts.tm_min > 59 || parts.tm_sec > 60)
        return false;
    text += used;
    if (*text == '.') {
        size_t digits = strspn(text + 1, "0123456789");
        for (size_t i = 0; i < 3; i++)
            ms = ms * 10 + (i < digits ? text[1 + i] - '0' : 0);
        text += 1 + digits;
    }
    if (!zone(text, &offset))
        return false;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    *ret_ms = ((int64_t)timegm(&parts) - offset) * 1000 + ms;
    return true;
}

static bool moment(const struct cli_call *call, const char *name, int64_t *ret_ms)
{
    const char *text = cli_value(call, name);
    size_t digits = text != NULL ? strspn(text, "0123456789") : 0;
    if (text == NULL)
        return true;
    if (digits >= 10 && digits <= 15 && text[digits] == '\0') {
        *ret_ms = strtoll(text, NULL, 10);
        return true;
    }
    if (calendar_time(text, ret_ms))
        return true;
    cli_usage_error(call->verb,
                    "--%s cannot be '%s'; it is a time such as 2024-03-01T10:15:02.5Z, or milliseconds since 1970",
                    name, text);
    return false;
}

static enum pyro_flame_event event_of(const struct cli_call *call)
{
    const char *text = cli_value(call, "event");
    for (unsigned i = 1; text != NULL && pyro_flame_event_name((enum pyro_flame_event)i) != NULL; i++)
        if (strcmp(pyro_flame_event_name((enum pyro_flame_event)i), text) == 0)
            return (enum pyro_flame_event)i;
    return PYRO_FLAME_ANY;
}

/* By the end of the file's name. */
static bool format_of(const struct cli_call *call, const char *path, enum pyro_flame_format *ret)
{
    char known[128] = "";
    size_t len = strlen(path), used = 0;
    for (unsigned i = 0; pyro_flame_suffix((enum pyro_flame_format)i) != NULL; i++) {
        const char *suffix = pyro_flame_suffix((enum pyro_flame_format)i);
        size_t suffix_len = strlen(suffix);
        if (len > suffix_len && strcmp(path + len - suffix_len, suffix) == 0) {
            *ret = (enum pyro_flame_format)i;
            return true;
        }
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i > 0 ? ", " : "", suffix);
    }
    cli_usage_error(call->verb, "cannot write '%s': its name ends in none of %s", path, known);
    return false;
}

static bool read_options(const struct cli_call *call, struct pyro_flame_options *wanted)
{
    wanted->event = event_of(call);
    wanted->merge_lines = cli_value(call, "merge-lines") != NULL;
    wanted->combined = cli_value(call, "combined") != NULL;
    wanted->differs = cli_value(call, "diff") != NULL;
    return cli_flame_number(call, "task", PYRO_FLAME_BY_TASK, &wanted->filters, &wanted->task) &&
           cli_flame_number(call, "stage", PYRO_FLAME_BY_STAGE, &wanted->filters, &wanted->stage) &&
           cli_flame_number(call, "process", PYRO_FLAME_BY_PROCESS, &wanted->filters, &wanted->process) &&
           moment(call, "from", &wanted->from_ms) && moment(call, "to", &wanted->to_ms);
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

static void report_problem(void *context, const char *path, const char *reason)
{
    cli_progress_erase(context);
    cli_complain("%s: %s", path, reason);
}

/* Of a choice of a task or stage: how much is not known to belong to it or not. */
static void report_share(const struct cli_call *call, const struct pyro_flame_counts *counts)
{
    if (counts->left_out > 0)
        cli_complain("%.1f %% of the samples name no %s for certain and are left out",
                     100 * (double)counts->left_out / (double)counts->asked,
                     cli_value(call, "task") != NULL ? "task" : "stage");
}

/* ---- The event log ----------------------------------------------------------------------------------------------- */

/* Of one run, or of the two that are compared. */
struct runs {
    const pyro_app **applications; /* by path */
    pyro_inputs *inputs[2];
    pyro_app *apps[2];
};

static void release_runs(struct runs *runs)
{
    for (size_t i = 0; i < 2; i++) {
        pyro_app_release(runs->apps[i]);
        pyro_inputs_close(runs->inputs[i]);
    }
    free(runs->applications);
}

/* What the event log says of the owners of samples, where a task or stage is asked for. */
static int load_runs(const struct cli_call *call, const struct pyro_flame_options *wanted, struct runs *runs)
{
    struct cli_progress progress = {0};
    struct cli_loading loading = {
        .load = {.size = sizeof(loading.load), .artefacts = 2},
        .work = {.size = sizeof(loading.work), .progress = cli_progress_callback, .progress_context = &progress}};
    size_t count = wanted->differs ? 1 : call->argument_count;
    if ((wanted->filters & (PYRO_FLAME_BY_TASK | PYRO_FLAME_BY_STAGE)) == 0)
        return CLI_EXIT_OK;
    runs->applications = calloc(call->argument_count, sizeof(*runs->applications));
    if (runs->applications == NULL) {
        const struct pyro_error error = {
            .size = sizeof(error), .code = PYRO_ERROR_MEMORY, .message = "not enough memory"};
        return cli_failure(&error);
    }
    for (size_t i = 0; i * count < call->argument_count; i++) {
        int status = cli_load_run(call, call->arguments + i * count, count, &loading, &progress, &runs->inputs[i],
                                  &runs->apps[i]);
        if (status != CLI_EXIT_OK)
            return status;
        for (size_t k = 0; k < count; k++)
            runs->applications[i * count + k] = runs->apps[i];
        for (size_t k = 0; runs->apps[i] != NULL && k < pyro_inputs_unreadable_count(runs->inputs[i]); k++)
            cli_complain_unreadable(pyro_inputs_unreadable_path(runs->inputs[i], k),
                                    pyro_inputs_unreadable_reason(runs->inputs[i], k));
    }
    return CLI_EXIT_OK;
}

/* ---- The graph --------------------------------------------------------------------------------------------------- */

static int draw(const struct cli_call *call, struct pyro_flame_options *wanted, enum pyro_flame_format format,
                struct cli_output *output)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_flame_counts counts = {.size = sizeof(counts)};
    struct cli_progress progress = {0};
    const struct pyro_options work = {
        .size = sizeof(work), .progress = cli_progress_callback, .progress_context = &progress};
    struct pyro_writer writer = cli_output_writer(output);
    wanted->problem = report_problem;
    wanted->problem_context = &progress;
    cli_progress_start(&progress, 0, 1);
    enum pyro_status status =
        pyro_flame_write(call->arguments, call->argument_count, wanted, &work, format, &writer, &counts, &error);
    cli_progress_erase(&progress);
    if (status == PYRO_ERROR_ARGUMENT)
        return cli_usage_error(call->verb, "%s", error.message);
    if (status == PYRO_ERROR_INPUT) {
        cli_complain("%s", error.message);
        return CLI_EXIT_INPUT;
    }
    if (status != PYRO_OK)
        return cli_failure(&error);
    report_share(call, &counts);
    return CLI_EXIT_OK;
}

static int run(const struct cli_call *call)
{
    struct pyro_flame_options wanted = {.size = sizeof(wanted)};
    struct cli_output output;
    struct runs runs = {0};
    enum pyro_flame_format format;
    const char *path = cli_value(call, "output");
    if (path == NULL)
        return cli_usage_error(call->verb, "say where to write the graph: --output FILE");
    if (cli_value(call, "diff") != NULL && call->argument_count != 2)
        return cli_usage_error(call->verb, "--diff takes two paths: BEFORE AFTER");
    if (!format_of(call, path, &format) || !read_options(call, &wanted))
        return CLI_EXIT_USAGE;
    int status = cli_result_open(call, &output, NULL);
    if (status != CLI_EXIT_OK)
        return status;
    status = load_runs(call, &wanted, &runs);
    wanted.applications = runs.applications;
    if (status == CLI_EXIT_OK)
        status = draw(call, &wanted, format, &output);
    release_runs(&runs);
    return cli_result_close(&output, status);
}

static const struct cli_option options[] = {
    {"output", 'o', "FILE", NULL, NULL,
     "Write to FILE, which appears only when it is complete. The end of its name chooses the format: .svg (a picture "
     "with search and zoom), .folded (folded stacks), .speedscope.json or .pb.gz (pprof)."},
    {"event", 'e', "EVENT", "cpu wall alloc lock wait live malloc", NULL,
     "Take samples of EVENT only. cpu: threads that ran, without those that waited. wall: all threads. alloc: "
     "allocated bytes. lock: nanoseconds of waiting for locks. wait: nanoseconds of other waiting. live: bytes of "
     "objects in use. malloc: bytes of native allocations."},
    {"task", 0, "TID", NULL, NULL,
     "Take samples of this task only (Spark's task id), of records that name their task. Says how many that are."},
    {"stage", 0, "ID", NULL, NULL,
     "Take samples of threads that worked for this stage only. With an event log among the paths, also those of "
     "threads that ran tasks of it by what the event log says."},
    {"process", 0, "PID", NULL, NULL, "Take samples of this process only."},
    {"from", 0, "TIME", NULL, NULL,
     "Take samples at or after TIME only: 2024-03-01T10:15:02Z, the same with an offset such as +01:00, or "
     "milliseconds "
     "since 1970."},
    {"to", 0, "TIME", NULL, NULL, "Take samples before TIME only."},
    {"merge-lines", 0, NULL, NULL, NULL, "Merge the lines of a function to one call."},
    {"combined", 0, NULL, NULL, NULL, "Put the JVM and the Python workers of each executor below one root."},
    {"diff", 0, NULL, NULL, NULL,
     "Compare two paths, BEFORE and AFTER. The picture shows AFTER: red calls take a larger share than before, blue "
     "ones a smaller share. Folded stacks get both weights."},
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer flame Stacktrace.json -o run.svg", "A picture of the records of Uber's JVM profiler."},
    {"pyrometer flame --event alloc profile-exec-1.jfr -o alloc.svg", "Who allocates memory on an executor."},
    {"pyrometer flame --stage 4 profiles/ -o stage-4.speedscope.json", "One stage, for speedscope."},
    {"pyrometer flame --diff --merge-lines before.jfr after.jfr -o diff.svg", "What changed between two runs."},
    {0},
};

const struct cli_verb_body cli_verb_flame = {
    .run = run,
    .least = 1,
    .most = SIZE_MAX,
    .options = options,
    .choices = "@files",
    .description =
        "Merges the stacks that profilers recorded to one flame graph. Reads recordings of Java Flight Recorder and "
        "async-profiler, records of Uber's JVM profiler and of Python workers, and folded stacks, plain or compressed. "
        "A file is recognized by its content. A folder is searched for profiles.\n\nWithout --event, all samples of "
        "profilers that record all threads count. Of Java Flight Recorder and async-profiler, those of running threads "
        "count, or the wall-clock samples if there are no others. Records without times are left out of a choice of "
        "time, and records that name no task or stage out of a choice of these. The command says which.",
    .examples = examples,
};
