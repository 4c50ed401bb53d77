/* pyrometer trace record|analyze */
#include "ending.h"
#include "trace.h"

#include <string.h>

static const struct sub_verb {
    const char *name;
    int (*run)(const struct cli_call *call);
} sub_verbs[] = {{"record", cli_trace_record}, {"analyze", cli_trace_analyze}};

static int run(const struct cli_call *call)
{
    const char *names[sizeof(sub_verbs) / sizeof(*sub_verbs)], *given = call->arguments[0];
    size_t count = sizeof(sub_verbs) / sizeof(*sub_verbs);
    for (size_t i = 0; i < count; i++) {
        names[i] = sub_verbs[i].name;
        if (strcmp(given, names[i]) == 0)
            return sub_verbs[i].run(call);
    }
    const char *nearest = pyro_nearest(given, names, count);
    return cli_usage_error(call->verb, "'%s' is none of record, analyze%s%s%s", given,
                           nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static const struct cli_option options[] = {
    {"output", 'o', "DIR", NULL, NULL,
     "record: Write into this folder, which gets the name pyrometer-trace-YYYYmmdd-HHMMSS otherwise. analyze: write to "
     "this file."},
    {"mode", 0, "MODE", "user kernel both", NULL,
     "record: What to record. user: which thread did which task. kernel: the scheduler, system calls and disks of the "
     "whole machine. If the kernel cannot be recorded, the job does not start. Default: both, as far as possible."},
    {"slow", 0, "MS", NULL, NULL,
     "record: Keep the kernel's newest events in memory, and write them only when a task takes more than MS "
     "milliseconds."},
    {"duty", 0, "ON/EVERY", NULL, NULL, "record: Record the kernel for a part of the time only, such as 1s/10s."},
    {"max-size", 0, "SIZE", NULL, "2G",
     "record: End the kernel's trace at this size. SIZE is a number of bytes, or a number with K, M or G."},
    {"plugin", 0, "JAR", NULL, NULL,
     "record: The JAR of the Spark plugin. Default: PYROMETER_PLUGIN, or the one that is installed with the command."},
    {"attach", 0, "PID", NULL, NULL,
     "record: Start no job: record the kernel until this process ends, or until Ctrl-C."},
    {"log", 0, "EVENTLOG", NULL, NULL,
     "analyze: The event log of the application, if it is not in the folder of a trace."},
    {"format", 'f', "FORMAT", cli_formats_trace, "text", "analyze: Write this format."},
    {"details", 'd', NULL, NULL, NULL, "analyze: Show every stage, process and system call."},
    {"tz", 0, "ZONE", NULL, NULL, "analyze: Show times in this zone: UTC, local, or an offset such as +02:00."},
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
    {"pyrometer trace record -- spark-submit etl.py", "Run a job and record all that this machine allows."},
    {"pyrometer trace record -o run --mode user -- python3 etl.py",
     "Which thread did which task when: no rights are needed."},
    {"pyrometer trace record --slow 5000 -- spark-submit etl.py",
     "What the kernel did just before a task had taken more than 5 seconds."},
    {"pyrometer trace record --duty 1s/10s --attach 4711", "A tenth of the time of a driver that runs already."},
    {"pyrometer trace analyze run/", "What the threads of tasks did and waited for, and who made them wait."},
    {"pyrometer trace analyze kernel/ --log eventlog/app-1 -f json", "The same of a trace elsewhere, as a document."},
    {0},
};

const struct cli_verb_body cli_verb_trace = {
    .run = run,
    .least = 1,
    .most = 10000,
    .options = options,
    .choices = "record analyze @files",
    .description =
        "record: runs a Spark job and records it: its event log, which thread did which task, and what the kernel did "
        "meanwhile on this machine. Nothing of the job or of Spark's installation has to be changed. Its terminal, "
        "signals and exit status are its own. The kernel is recorded by perf, user space by the Spark plugin and, "
        "where it is installed, LTTng. What cannot be recorded is said before the job starts, with the command that "
        "helps.\n\nanalyze: reads traces in the Common Trace Format, 1.8 and 2, of LTTng and perf, with the records of "
        "the "
        "Spark plugin next to them: what each thread did as the kernel saw it, what the tasks of each stage waited for "
        "through all threads that they waited for, processes, system calls, and where events are missing. diagnose "
        "reads "
        "the same traces from the folder of a log, and judges by them.",
    .examples = examples,
};
