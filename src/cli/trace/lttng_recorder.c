/* A session of LTTng that takes what Java programs log: beginnings and ends of tasks, and Spark's own log. */
#include "recorders.h"

#include "processes.h"
#include "result_output.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ASK_MS = 10000,
    READY_MS = 5000,
    END_MS = 10000,
    LOOK_MS = 100,
    HOME_MAX = 70 /* paths of sockets may have 107 bytes, and LTTng adds to this one */
};

/* Asks lttng something; the caller frees what it printed. NULL: it failed. */
static char *ask(const struct cli_lttng *lttng, const char *const *words)
{
    const char *const environment[] = {lttng->home, NULL};
    const struct cli_start start = {.words = words, .environment = environment, .output = -1};
    int status = 0;
    char *said = cli_process_output(&start, ASK_MS, &status);
    if (said != NULL && cli_exit_status(status) == 0)
        return said;
    free(said);
    return NULL;
}

static bool tell(const struct cli_lttng *lttng, const char *const *words)
{
    char *said = ask(lttng, words);
    free(said);
    return said != NULL;
}

/* Asking for the list would start a daemon. */
static bool daemon_answers(const struct cli_lttng *lttng)
{
    const char *const list[] = {lttng->lttng, "--no-sessiond", "list", NULL};
    return tell(lttng, list);
}

static bool start_daemon(struct cli_lttng *lttng)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    const char *const words[] = {"lttng-sessiond", "--no-kernel", NULL};
    const char *const environment[] = {lttng->home, NULL};
    const struct cli_start start = {.words = words, .environment = environment, .output = nowhere, .apart = true};
    pid_t pid = cli_process_start(&start);
    lttng->daemon = pid > 0 ? pid : 0;
    if (nowhere >= 0)
        close(nowhere);
    int64_t until = cli_monotonic_ns() + (int64_t)READY_MS * 1000000;
    while (lttng->daemon > 0 && cli_monotonic_ns() < until) {
        int status;
        if (daemon_answers(lttng))
            return true;
        if (cli_process_wait(lttng->daemon, LOOK_MS, &status))
            lttng->daemon = 0;
    }
    return false;
}

static bool start_session(const struct cli_lttng *lttng, const char *folder)
{
    char *output = cli_format("--output=%s/ust", folder);
    const char *const create[] = {lttng->lttng, "create", lttng->session, output, NULL};
    const char *const tasks[] = {lttng->lttng, "enable-event", "-s", lttng->session, "-j", "io.pyrometer.task", NULL};
    const char *const log[] = {lttng->lttng, "enable-event", "-s", lttng->session, "-j", "org.apache.spark*", NULL};
    const char *const who[] = {lttng->lttng, "add-context", "-s",   lttng->session, "-j",       "-t",
                               "vtid",       "-t",          "vpid", "-t",           "procname", NULL};
    const char *const start[] = {lttng->lttng, "start", lttng->session, NULL};
    bool started = output != NULL && tell(lttng, create) && tell(lttng, tasks) && tell(lttng, log) &&
                   tell(lttng, who) && tell(lttng, start);
    free(output);
    return started;
}

bool cli_lttng_start(struct cli_lttng *lttng, const struct cli_preparation *preparation, const char *folder,
                     char **ret_why)
{
    *lttng =
        (struct cli_lttng){.lttng = strdup(preparation->lttng), .session = cli_format("pyrometer-%d", (int)getpid())};
    /* That of root has its sockets in /var/run, wherever this variable points. */
    if (geteuid() != 0)
        lttng->home = cli_format("LTTNG_HOME=%s/.lttng", folder);
    if (lttng->lttng == NULL || lttng->session == NULL || (lttng->home == NULL && geteuid() != 0)) {
        *ret_why = strdup("no memory left");
        return false;
    }
    if (lttng->home != NULL && strlen(lttng->home) > HOME_MAX) {
        *ret_why = strdup("no trace of LTTng: the name of the folder is too long for its sockets; choose a shorter -o");
        return false;
    }
    if (lttng->home != NULL)
        cli_folder_make(lttng->home + strlen("LTTNG_HOME="));
    if (!daemon_answers(lttng) && !start_daemon(lttng)) {
        *ret_why = strdup("no trace of LTTng: its session daemon does not start");
        return false;
    }
    lttng->recording = start_session(lttng, folder);
    if (!lttng->recording) {
        *ret_why = strdup("no trace of LTTng: its session does not start");
        cli_lttng_stop(lttng);
    }
    return lttng->recording;
}

/* The sum of "Discarded events: N" in the description of a session. */
static int64_t discarded(const char *description)
{
    static const char label[] = "Discarded events: ";
    int64_t sum = 0;
    for (const char *at = description; (at = strstr(at, label)) != NULL; at++)
        sum += strtoll(at + sizeof(label) - 1, NULL, 10);
    return sum;
}

int64_t cli_lttng_stop(struct cli_lttng *lttng)
{
    const char *const stop[] = {lttng->lttng, "stop", lttng->session, NULL};
    const char *const list[] = {lttng->lttng, "list", lttng->session, NULL};
    const char *const destroy[] = {lttng->lttng, "destroy", lttng->session, NULL};
    int64_t dropped = -1;
    if (lttng->recording && tell(lttng, stop)) {
        char *said = ask(lttng, list);
        dropped = said != NULL ? discarded(said) : -1;
        free(said);
    }
    if (lttng->session != NULL && !tell(lttng, destroy) && lttng->recording)
        cli_complain("lttng destroy %s failed: the trace may be incomplete", lttng->session);
    lttng->recording = false;
    if (lttng->daemon > 0) {
        int status;
        kill(lttng->daemon, SIGTERM);
        if (!cli_process_wait(lttng->daemon, END_MS, &status)) {
            kill(lttng->daemon, SIGKILL);
            cli_process_wait(lttng->daemon, -1, &status);
        }
        lttng->daemon = 0;
    }
    return dropped;
}

void cli_lttng_free(struct cli_lttng *lttng)
{
    free(lttng->lttng);
    free(lttng->session);
    free(lttng->home);
    *lttng = (struct cli_lttng){0};
}
