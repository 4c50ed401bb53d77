/* pyrometer profile PATH... */
#include "ending.h"
#include "profile_flags.h"

#include <string.h>

enum { NAMES_MOST = 64 };

/* What a call needs while it runs. */
struct profiling {
    const struct cli_call *call;
    struct cli_loading loading;
    struct cli_progress progress;
    struct pyro_profiling_options asked;
    struct pyro_report_options report;
    const char *metrics[NAMES_MOST], *ignored[NAMES_MOST];
    pyro_inputs *inputs;
    pyro_app *app;
    pyro_diagnosis *diagnosis;
};

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static bool take_names(const struct cli_call *call, const char *option, const char **names, size_t *ret_count)
{
    const char *name;
    for (*ret_count = 0; (name = cli_repeated_value(call, option, *ret_count)) != NULL; names[(*ret_count)++] = name)
        if (*ret_count == NAMES_MOST) {
            cli_usage_error(call->verb, "--%s can be given %d times", option, NAMES_MOST);
            return false;
        }
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len > end_len && strcmp(text + len - end_len, end) == 0;
}

/* --format, else what the name of the file says, else text. */
static bool take_format(const struct cli_call *call, enum pyro_format *ret)
{
    const char *path = cli_value(call, "output");
    if (cli_value(call, "format") != NULL)
        return cli_format_value(call, "format", ret);
    *ret = path != NULL && (ends_with(path, ".html") || ends_with(path, ".htm")) ? PYRO_FORMAT_HTML
           : path != NULL && ends_with(path, ".json")                            ? PYRO_FORMAT_JSON
                                                                                 : PYRO_FORMAT_TEXT;
    return true;
}

static bool take_options(struct profiling *profiling)
{
    const struct cli_call *call = profiling->call;
    struct pyro_profiling_options *asked = &profiling->asked;
    if (!cli_load_options(call, &profiling->progress, &profiling->loading) ||
        !take_names(call, "metric", profiling->metrics, &asked->metric_count) ||
        !take_names(call, "ignore", profiling->ignored, &asked->ignored_count) ||
        !cli_width_value(call, &profiling->report) ||
        (cli_value(call, "tz") != NULL && !cli_offset_value(call, "tz", &profiling->report.utc_offset_s)))
        return false;
    if (!cli_flame_number(call, "task", PYRO_FLAME_BY_TASK, &asked->filters, &asked->task) ||
        !cli_flame_number(call, "stage", PYRO_FLAME_BY_STAGE, &asked->filters, &asked->stage))
        return false;
    profiling->loading.load.artefacts = 2;
    profiling->loading.load.artefact_kind = cli_value(call, "kind");
    asked->metrics = profiling->metrics;
    asked->ignored = profiling->ignored;
    asked->process = cli_value(call, "process");
    asked->normalize = cli_value(call, "normalize") != NULL;
    asked->report = &profiling->report;
    profiling->report.details = cli_value(call, "details") != NULL;
    return true;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int read_paths(struct profiling *profiling)
{
    struct pyro_error error = {.size = sizeof(error)};
    const struct cli_call *call = profiling->call;
    int loaded = cli_load_run(call, call->arguments, call->argument_count, &profiling->loading, &profiling->progress,
                              &profiling->inputs, &profiling->app);
    if (loaded != CLI_EXIT_OK)
        return loaded;
    bool alone = profiling->app == NULL; /* then no file is left out because the event log is missing */
    for (size_t i = 0; i < pyro_inputs_unreadable_count(profiling->inputs); i++)
        if (!alone || pyro_inputs_artefact_count(profiling->inputs) == 0)
            cli_complain_unreadable(pyro_inputs_unreadable_path(profiling->inputs, i),
                                    pyro_inputs_unreadable_reason(profiling->inputs, i));
    if (profiling->app != NULL &&
        pyro_diagnose(profiling->app, NULL, &profiling->loading.work, &profiling->diagnosis, &error) != PYRO_OK)
        return cli_failure(&error);
    return CLI_EXIT_OK;
}

static int write_profile(struct profiling *profiling, enum pyro_format format)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct cli_output output;
    int status = cli_result_open(profiling->call, &output, &profiling->report);
    if (status != CLI_EXIT_OK)
        return status;
    struct pyro_writer writer = cli_output_writer(&output);
    enum pyro_status done = pyro_profiling_write(profiling->inputs, profiling->diagnosis, &profiling->asked, format,
                                                 &profiling->loading.work, &writer, &error);
    return cli_result_close_after(&output, done, &error);
}

static int run(const struct cli_call *call)
{
    struct profiling profiling = {
        .call = call, .asked.size = sizeof(profiling.asked), .report.size = sizeof(profiling.report)};
    enum pyro_format format;
    if (strcmp(call->arguments[0], "flags") == 0)
        return cli_profile_flags(call);
    if (!take_format(call, &format) || !take_options(&profiling))
        return CLI_EXIT_USAGE;
    cli_catch_signals();
    int status = read_paths(&profiling);
    if (status == CLI_EXIT_OK)
        status = write_profile(&profiling, format);
    pyro_diagnosis_free(profiling.diagnosis);
    pyro_app_release(profiling.app);
    pyro_inputs_close(profiling.inputs);
    return status;
}

static const struct cli_option options[] = {
    {"output", 'o', "FILE", NULL, NULL,
     "Write to FILE, which appears only when it is complete. A name that ends in .html gets a picture for a browser, "
     "one "
     "in .json the document pyrometer.profile/1. Default: text on standard output."},
    {"format", 'f', "FORMAT", cli_formats_profile, NULL, "Write this format, whatever FILE is called."},
    {"metric", 'm', "NAME...", NULL, NULL,
     "Show only series whose name has NAME in it, such as heap, process.rss, cpu or gc. May be given several times."},
    {"ignore", 'i', "NAME...", NULL, NULL, "Show no series whose name has NAME in it. May be given several times."},
    {"process", 'p', "NAME", NULL, NULL,
     "Show only one process: an executor (3, driver), a process id, or a name that the profile shows."},
    {"task", 0, "TID", NULL, NULL,
     "Of the samples, take only those of this task (Spark's task id), of records that name their task."},
    {"stage", 0, "ID", NULL, NULL, "Of the samples, take only those of threads that worked for this stage."},
    {"normalize", 0, NULL, NULL, NULL, "Show bytes as MiB (2^20 bytes), and times as minutes since the start."},
    {"kind", 'k', "KIND", "gc-log jfr uber pyspark folded text-log", NULL,
     "Read the named files as KIND, whatever they look like. Default: what their content says."},
    {"details", 'd', NULL, NULL, NULL, "Show every row and the maxima of all series in the text."},
    {"emr", 0, NULL, NULL, NULL, "flags: For Amazon EMR."},
    {"k8s", 0, NULL, NULL, NULL, "flags: For Kubernetes."},
    {"yarn", 0, NULL, NULL, NULL, "flags: For YARN."},
    {"local", 0, NULL, NULL, NULL, "flags: For one process on this machine."},
    {"python", 0, NULL, NULL, NULL, "flags: Also profile Python functions."},
    {"spark", 0, "VERSION", NULL, NULL,
     "flags: The version of Spark, such as 4.0.1. Spark 4 has a profiler plugin, which is then used on clusters."},
    {"java", 0, "VERSION", NULL, NULL, "flags: The version of Java: 8 has other options for collections. Default: 17."},
    {"with", 0, "PROFILER", "jfr plugin async uber", NULL,
     "flags: Record with Java Flight Recorder, Spark's profiler plugin, async-profiler, or Uber's JVM profiler."},
    {"to", 0, "DIR", NULL, NULL, "flags: Where profiles are written. plugin: a folder of HDFS or S3."},
    {"tz", 0, "ZONE", NULL, NULL, "Show times of the text in this zone: UTC, local, or an offset such as +02:00."},
    CLI_OPTION_WIDTH,
    CLI_OPTION_COLOR,
    CLI_OPTION_THREADS,
    CLI_OPTION_MAX_RECORD,
    CLI_OPTION_NO_LIMITS,
    CLI_OPTION_REDACT,
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer profile run/", "Processes, their maxima, top methods and allocations of the run in a folder."},
    {"pyrometer profile run/ -o profile.html", "The same as a picture: memory, CPU, collections and tasks over time."},
    {"pyrometer profile CpuAndMemory.json Stacktrace.json --metric heap --normalize",
     "The heap in MiB, from two files."},
    {"pyrometer profile flags --local --python", "The command line of spark-submit that records a profile."},
    {"pyrometer profile --kind gc-log console.txt -f json", "Read a file as a log of the garbage collector."},
    {0},
};

const struct cli_verb_body cli_verb_profile = {
    .run = run,
    .least = 1,
    .most = SIZE_MAX,
    .options = options,
    .choices = "flags @files",
    .description =
        "Shows what profilers, logs of garbage collectors and text logs recorded of a run: memory, CPU, collections "
        "and "
        "tasks of each process on one axis of time, and the methods that take most samples or allocate most. Reads "
        "recordings of Java Flight Recorder and async-profiler, records of Uber's JVM profiler and of Python workers, "
        "folded stacks, logs of garbage collectors and text logs, plain or compressed. A file is recognized by its "
        "content.\n\nPATH is a file or a folder (8 levels deep). If there is an event log among them, the files must "
        "belong to its application, and its jobs, stages, tasks and findings are shown too.\n\nflags prints the "
        "options of spark-submit that record a profile, with what else is to be done as comments.",
    .examples = examples,
};
