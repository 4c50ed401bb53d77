/* trace record: runs a job, and records it meanwhile. */
#include "conversion.h"
#include "processes.h"
#include "result_output.h"
#include "spark_command.h"
#include "trace.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_MS = 250,
    LOOK_CLOSELY_MS = 25,        /* with --slow and --duty */
    SNAPSHOT_PAUSE_MS = 2000,    /* perf takes time to write one, and the buffer to fill again */
    SNAPSHOT_LEAST_BYTES = 1024, /* of a limit */
};

static const char plugin_class[] = "io.pyrometer.spark.PyrometerPlugin";

/* What runs while the job does. */
struct run {
    struct cli_recording recording;
    struct cli_preparation preparation;
    struct cli_perf perf;
    struct cli_lttng lttng;
    struct cli_slow_tasks slow;
    char *folder, *tasks;
    struct cli_words command, environment;
    int64_t next_switch_ns, next_snapshot_ns;
    bool stops; /* a recording of a process that it did not start */
};

/* ---- The command line ---------------------------------------------------------------------------------------------
 */

/* "1s/10s" */
static bool take_duty(const struct cli_call *call, struct cli_recording *recording)
{
    const char *text = cli_value(call, "duty");
    long long on = 0, every = 0;
    char unit_on[3] = "", unit_every[3] = "", rest;
    if (text == NULL)
        return true;
    int count = sscanf(text, "%lld%2[ms]/%lld%2[ms]%c", &on, unit_on, &every, unit_every, &rest);
    bool good = count == 4 && on > 0 && on < 86400000 && every > 0 && every < 86400000;
    const char *units[] = {unit_on, unit_every};
    int64_t *values[] = {&recording->duty_on_ms, &recording->duty_every_ms};
    const long long numbers[] = {on, every};
    for (size_t i = 0; good && i < 2; i++) {
        int64_t unit = strcmp(units[i], "ms") == 0  ? 1
                       : strcmp(units[i], "s") == 0 ? 1000
                       : strcmp(units[i], "m") == 0 ? 60000
                                                    : 0;
        *values[i] = numbers[i] * unit;
        good = *values[i] >= 100;
    }
    if (!good || recording->duty_on_ms >= recording->duty_every_ms) {
        cli_usage_error(call->verb, "--duty cannot be '%s'; it is two times of at least 100ms, such as 1s/10s", text);
        return false;
    }
    return true;
}

static bool take_options(const struct cli_call *call, struct cli_recording *recording)
{
    unsigned slow = 0, attached = 0;
    recording->mode_asked = cli_value(call, "mode");
    bool kernel = recording->mode_asked == NULL || strcmp(recording->mode_asked, "user") != 0;
    if (cli_value(call, "slow") != NULL && !cli_unsigned_value(call, "slow", 1, 86400000, &slow))
        return false;
    if (cli_value(call, "attach") != NULL && !cli_unsigned_value(call, "attach", 1, INT_MAX, &attached))
        return false;
    if (cli_value(call, "max-size") != NULL && !cli_size_value(call, "max-size", &recording->max_bytes))
        return false;
    recording->slow_ms = slow;
    recording->attached = (pid_t)attached;
    if (!take_duty(call, recording))
        return false;
    if (!kernel && (slow > 0 || recording->duty_every_ms > 0)) {
        cli_usage_error(call->verb,
                        "--slow and --duty are about the trace of the kernel, which --mode user leaves out");
        return false;
    }
    if (slow > 0 && recording->duty_every_ms > 0) {
        cli_usage_error(call->verb, "--slow and --duty cannot be combined");
        return false;
    }
    if ((attached > 0) == (call->argument_count > 1)) {
        cli_usage_error(call->verb,
                        attached > 0 ? "--attach takes no command" : "give a command after '--', or --attach PID");
        return false;
    }
    return true;
}

/* ---- The folder ---------------------------------------------------------------------------------------------------
 */

static char *default_folder(void)
{
    char name[64];
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local) == NULL || strftime(name, sizeof(name), "pyrometer-trace-%Y%m%d-%H%M%S", &local) == 0)
        return NULL;
    return strdup(name);
}

static bool make_part(const struct run *run, const char *name)
{
    char *path = cli_format("%s/%s", run->folder, name);
    bool made = path != NULL && cli_folder_make(path);
    free(path);
    return made;
}

/* The absolute path of the new folder, which must be empty: an older recording would be mixed with this one. */
static int make_folder(const struct cli_call *call, struct run *run)
{
    const char *given = cli_value(call, "output");
    char *name = given != NULL ? strdup(given) : default_folder();
    bool made = name != NULL && cli_folder_make(name);
    int error = errno;
    run->folder = made ? realpath(name, NULL) : NULL;
    char *earlier = run->folder != NULL ? cli_format("%s/recording.json", run->folder) : NULL;
    int status = CLI_EXIT_OK;
    if (earlier == NULL) {
        cli_complain("cannot make %s: %s", name != NULL ? name : "a folder", strerror(error));
        status = CLI_EXIT_OUTPUT;
    } else if (access(earlier, F_OK) == 0) {
        cli_complain("%s has a recording; choose another folder with -o", name);
        status = CLI_EXIT_OUTPUT;
    } else if (!make_part(run, "eventlog") || !make_part(run, "tasks")) {
        cli_complain("cannot write %s: %s", name, strerror(errno));
        status = CLI_EXIT_OUTPUT;
    }
    run->tasks = run->folder != NULL ? cli_format("%s/tasks", run->folder) : NULL;
    run->recording.folder = run->folder;
    free(earlier);
    free(name);
    return status;
}

/* "file:///..." of a part of the folder; "" is the path itself. */
static char *uri_of(const char *folder, const char *part)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    char *path = cli_format("%s%s%s", folder, part[0] != '\0' ? "/" : "", part);
    char *uri = path != NULL ? malloc(3 * strlen(path) + sizeof("file://")) : NULL;
    char *to = uri != NULL ? stpcpy(uri, "file://") : NULL;
    for (const char *at = path; to != NULL && *at != '\0'; at++) {
        if (strchr(plain, *at) != NULL)
            *to++ = *at;
        else
            to += sprintf(to, "%%%02X", (unsigned)(unsigned char)*at);
    }
    if (to != NULL)
        *to = '\0';
    free(path);
    return uri;
}

/* ---- What the job gets --------------------------------------------------------------------------------------------
 */

static bool prepare_command(const struct cli_call *call, struct run *run)
{
    const struct cli_preparation *can = &run->preparation;
    const bool records = can->plugin != NULL && run->recording.user, lttng = run->lttng.recording;
    char *log = uri_of(run->folder, "eventlog"), *jar = records ? uri_of(can->plugin, "") : NULL, *variable = NULL;
    const struct cli_spark_setting settings[] = {
        {"spark.eventLog.enabled", "true", 0, NULL},
        {"spark.eventLog.dir", log, 0, NULL},
        {"spark.jars", jar, ',', "--jars"},
        {"spark.plugins", records ? (char *)(uintptr_t)plugin_class : NULL, ',', NULL},
        {"spark.pyrometer.trace.dir", records ? run->tasks : NULL, 0, NULL},
        {"spark.pyrometer.trace.lttng", lttng ? "true" : NULL, 0, NULL},
        {"spark.driver.extraClassPath", lttng ? can->agent_classes : NULL, ':', "--driver-class-path"},
        {"spark.executor.extraClassPath", lttng ? can->agent_classes : NULL, ':', NULL},
        {"spark.driver.extraLibraryPath", lttng ? can->agent_libraries : NULL, ':', "--driver-library-path"},
        {"spark.executor.extraLibraryPath", lttng ? can->agent_libraries : NULL, ':', NULL},
    };
    bool done = log != NULL && (!records || (jar != NULL && run->tasks != NULL)) &&
                cli_spark_command(call->arguments + 1, call->argument_count - 1, settings,
                                  sizeof(settings) / sizeof(*settings), &run->command, &variable);
    if (variable != NULL)
        cli_words_add(&run->environment, variable);
    if (run->lttng.home != NULL)
        cli_words_add(&run->environment, run->lttng.home);
    free(variable);
    free(jar);
    free(log);
    return done && !run->environment.failed;
}

/* ---- Before the job -----------------------------------------------------------------------------------------------
 */

static void say_refusals(const struct cli_preparation *preparation, size_t from)
{
    for (size_t i = from; i < preparation->refused_count; i++) {
        const struct cli_refusal *refusal = &preparation->refused[i];
        if (refusal->command != NULL)
            cli_complain("%s: %s; run: %s", refusal->what, refusal->why, refusal->command);
        else
            cli_complain("%s: %s", refusal->what, refusal->why);
    }
}

static void start_recorders(struct run *run)
{
    struct cli_recording *recording = &run->recording;
    struct cli_preparation *can = &run->preparation;
    char *why = NULL, *data = cli_format("%s/perf.data", run->folder);
    const struct cli_perf_options options = {
        .data = data, .max_bytes = recording->max_bytes, .snapshots = recording->slow_ms > 0};
    if (recording->user && can->lttng != NULL && recording->attached == 0 &&
        !cli_lttng_start(&run->lttng, can, run->folder, &why))
        cli_refuse(can, "lttng", why, NULL);
    why = NULL;
    if (recording->kernel && data != NULL && !cli_perf_start(&run->perf, can, &options, &why)) {
        cli_refuse(can, "kernel", why, NULL);
        recording->kernel = false;
    }
    free(data);
}

/* Looks at what can be recorded, starts it, and says what is not. */
static int prepare(const struct cli_call *call, struct run *run)
{
    struct cli_recording *recording = &run->recording;
    const char *mode = recording->mode_asked;
    const char *plugin = cli_value(call, "plugin");
    recording->user = mode == NULL || strcmp(mode, "kernel") != 0;
    recording->kernel = mode == NULL || strcmp(mode, "user") != 0;
    if (recording->user && recording->attached == 0)
        cli_prepare_user(&run->preparation, plugin);
    if (recording->kernel)
        cli_prepare_kernel(&run->preparation);
    recording->kernel = recording->kernel && !cli_is_refused(&run->preparation, "kernel");
    start_recorders(run);
    if (!recording->kernel)
        cli_words_free(&run->preparation.events);
    say_refusals(&run->preparation, 0);
    bool kernel_asked = recording->slow_ms > 0 || recording->duty_every_ms > 0 || recording->attached > 0 ||
                        (mode != NULL && strcmp(mode, "user") != 0);
    if ((kernel_asked && !recording->kernel) || (plugin != NULL && cli_is_refused(&run->preparation, "tasks"))) {
        cli_complain("the job was not started");
        return CLI_EXIT_INPUT;
    }
    return CLI_EXIT_OK;
}

/* ---- While the job runs -------------------------------------------------------------------------------------------
 */

static void block_signals(sigset_t *ret)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    sigemptyset(ret);
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        sigaddset(ret, signals[i]);
    sigprocmask(SIG_BLOCK, ret, NULL);
}

/* The terminal sends its signals to the job, too. */
static void take_signal(struct run *run, pid_t job, int number, const siginfo_t *info)
{
    if (number == SIGCHLD)
        return;
    if (job == 0)
        run->stops = true;
    else if (info->si_code != SI_KERNEL)
        kill(job, number);
}

static void follow_duty(struct run *run)
{
    const struct cli_recording *recording = &run->recording;
    int64_t now_ns = cli_monotonic_ns();
    if (recording->duty_every_ms == 0 || run->perf.pid == 0)
        return;
    if (run->next_switch_ns == 0)
        run->next_switch_ns = now_ns + recording->duty_on_ms * 1000000;
    if (now_ns < run->next_switch_ns)
        return;
    bool on = !run->perf.on;
    cli_perf_switch(&run->perf, on);
    int64_t pause_ms = on ? recording->duty_on_ms : recording->duty_every_ms - recording->duty_on_ms;
    run->next_switch_ns = cli_monotonic_ns() + pause_ms * 1000000;
}

/* What perf keeps is written because of a slow task, unless that was just done, or the recording has its size. */
static void follow_tasks(struct run *run)
{
    struct cli_recording *recording = &run->recording;
    struct cli_slow_task slow;
    int64_t now_ns = cli_monotonic_ns();
    if (recording->slow_ms == 0 || run->perf.pid == 0 || !cli_slow_tasks_look(&run->slow, &slow) ||
        now_ns < run->next_snapshot_ns || recording->snapshot_count == CLI_SNAPSHOTS_MAX)
        return;
    if (recording->max_bytes > 0 && cli_recording_bytes(recording, "") > recording->max_bytes) {
        run->perf.limit_reached = true;
        return;
    }
    cli_perf_snapshot(&run->perf);
    recording->snapshots[recording->snapshot_count++] = (struct cli_snapshot){now_ns, slow};
    run->next_snapshot_ns = now_ns + (int64_t)SNAPSHOT_PAUSE_MS * 1000000;
}

static bool has_ended(const struct run *run, pid_t job, int *ret_status)
{
    if (job > 0)
        return cli_process_wait(job, 0, ret_status);
    return run->stops || (kill(run->recording.attached, 0) != 0 && errno == ESRCH);
}

/* Until the job ends. */
static void follow(struct run *run, pid_t job, const sigset_t *signals)
{
    bool closely = run->recording.slow_ms > 0 || run->recording.duty_every_ms > 0;
    const struct timespec wait = {.tv_nsec = (closely ? LOOK_CLOSELY_MS : LOOK_MS) * 1000000L};
    int status = -1;
    bool was_on = run->perf.pid > 0;
    while (!has_ended(run, job, &status)) {
        siginfo_t info;
        int number = sigtimedwait(signals, &info, &wait);
        if (number > 0)
            take_signal(run, job, number, &info);
        if (was_on && !cli_perf_look(&run->perf)) {
            was_on = false;
            cli_complain(run->perf.limit_reached ? "the kernel's trace has reached --max-size: it ends here"
                                                 : "perf has ended: the kernel's trace ends here");
        }
        follow_duty(run);
        follow_tasks(run);
    }
    run->recording.status = job > 0 ? status : -1;
}

/* ---- After the job ------------------------------------------------------------------------------------------------
 */

static void finish(struct run *run)
{
    struct cli_recording *recording = &run->recording;
    recording->ended = cli_read_clocks();
    cli_perf_stop(&run->perf);
    if (run->lttng.recording)
        recording->lttng_dropped = cli_lttng_stop(&run->lttng);
    int64_t dropped = cli_tasks_dropped(run->tasks, &recording->task_files);
    recording->tasks_dropped = recording->task_files > 0 ? dropped : -1;
    if (recording->kernel)
        cli_convert(recording);
    recording->has_ended = true;
    if (recording->status < 0)
        return;
    if (cli_recording_bytes(recording, "eventlog") == 0)
        cli_complain(
            "the job wrote no event log: settings reach spark-submit, pyspark, spark-shell and spark-sql after "
            "'--', and Python programs that start Spark themselves");
    else if (recording->user && run->preparation.plugin != NULL && recording->task_files == 0)
        cli_complain("the plugin wrote no records of tasks: see the job's log");
}

static void say_result(const struct run *run)
{
    const struct cli_recording *recording = &run->recording;
    cli_complain("%s: event log %.1f MiB, records of tasks %.1f MiB, trace of the kernel %.1f MiB", recording->folder,
                 (double)cli_recording_bytes(recording, "eventlog") / 1048576,
                 (double)cli_recording_bytes(recording, "tasks") / 1048576,
                 (double)cli_recording_bytes(recording, "kernel") / 1048576);
}

static int run_job(struct run *run, const sigset_t *signals)
{
    struct cli_recording *recording = &run->recording;
    const struct cli_start start = {.words = (const char *const *)run->command.items,
                                    .environment = (const char *const *)run->environment.items,
                                    .output = -1};
    pid_t job = 0;
    int error = 0;
    if (recording->attached == 0) {
        job = cli_process_start(&start);
        error = errno;
    }
    if (job >= 0)
        follow(run, job, signals);
    else
        cli_complain("cannot start %s: %s", run->command.items[0], strerror(error));
    finish(run);
    int written = cli_recording_write(recording);
    if (job < 0)
        return CLI_EXIT_INPUT;
    say_result(run);
    if (written != CLI_EXIT_OK)
        return written;
    return recording->status >= 0 ? cli_exit_status(recording->status) : CLI_EXIT_OK;
}

static void release(struct run *run)
{
    cli_perf_stop(&run->perf);
    if (run->lttng.recording)
        cli_lttng_stop(&run->lttng);
    cli_perf_free(&run->perf);
    cli_lttng_free(&run->lttng);
    cli_slow_tasks_free(&run->slow);
    cli_preparation_free(&run->preparation);
    cli_words_free(&run->recording.traces);
    cli_words_free(&run->recording.unconverted);
    cli_words_free(&run->command);
    cli_words_free(&run->environment);
    free(run->tasks);
    free(run->folder);
    free(run);
}

/* With a folder: all else. */
static int record(const struct cli_call *call, struct run *run)
{
    sigset_t signals;
    block_signals(&signals);
    int status = prepare(call, run);
    if (status == CLI_EXIT_OK && run->recording.attached == 0 && !prepare_command(call, run)) {
        cli_complain("no memory left");
        status = CLI_EXIT_OUTPUT;
    }
    if (status != CLI_EXIT_OK)
        return status;
    run->slow = (struct cli_slow_tasks){.folder = run->tasks, .limit_ns = run->recording.slow_ms * 1000000};
    run->recording.started = cli_read_clocks();
    status = cli_recording_write(&run->recording);
    return status == CLI_EXIT_OK ? run_job(run, &signals) : status;
}

int cli_trace_record(const struct cli_call *call)
{
    struct run *run = calloc(1, sizeof(*run));
    if (run == NULL) {
        cli_complain("no memory left");
        return CLI_EXIT_OUTPUT;
    }
    run->recording = (struct cli_recording){.command = call->arguments + 1,
                                            .command_count = call->argument_count - 1,
                                            .preparation = &run->preparation,
                                            .perf = &run->perf,
                                            .status = -1,
                                            .kernel_dropped = -1,
                                            .tasks_dropped = -1,
                                            .lttng_dropped = -1};
    int status = CLI_EXIT_USAGE;
    if (take_options(call, &run->recording)) {
        status = make_folder(call, run);
        if (status == CLI_EXIT_OK)
            status = record(call, run);
    }
    release(run);
    return status;
}
