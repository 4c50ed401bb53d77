#include "preparation.h"

#include "processes.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { ASK_MS = 10000, CAPABILITY_PERFMON = 38, CAPABILITY_SYS_ADMIN = 21 };

/* What says where threads were and what they waited for. Without a tracepoint, its part of the answer is missing. */
static const char *const tracepoints[] = {
    "sched:sched_switch",         "sched:sched_wakeup",       "sched:sched_wakeup_new",
    "sched:sched_migrate_task",   "sched:sched_waking",       "sched:sched_process_fork",
    "sched:sched_process_exec",   "sched:sched_process_exit", "block:block_rq_issue",
    "block:block_rq_complete",    "raw_syscalls:sys_enter",   "raw_syscalls:sys_exit",
    "exceptions:page_fault_user", "net:net_dev_xmit",         "tcp:tcp_retransmit_skb",
    "power:cpu_frequency",        "oom:mark_victim",
};
enum { TRACEPOINTS = sizeof(tracepoints) / sizeof(*tracepoints) };

void cli_refuse(struct cli_preparation *preparation, const char *what, char *why, char *command)
{
    if (preparation->refused_count == CLI_REFUSALS_MAX || why == NULL) {
        free(why);
        free(command);
        return;
    }
    preparation->refused[preparation->refused_count++] = (struct cli_refusal){what, why, command};
}

bool cli_is_refused(const struct cli_preparation *preparation, const char *what)
{
    for (size_t i = 0; i < preparation->refused_count; i++)
        if (strcmp(preparation->refused[i].what, what) == 0)
            return true;
    return false;
}

void cli_preparation_free(struct cli_preparation *preparation)
{
    for (size_t i = 0; i < preparation->refused_count; i++) {
        free(preparation->refused[i].why);
        free(preparation->refused[i].command);
    }
    cli_words_free(&preparation->events);
    free(preparation->perf);
    free(preparation->perf_version);
    free(preparation->lttng);
    free(preparation->lttng_version);
    free(preparation->agent_classes);
    free(preparation->agent_libraries);
    free(preparation->plugin);
    *preparation = (struct cli_preparation){0};
}

/* ---- The distribution ------------------------------------------------------------------------------------------- */

struct packages {
    const char *like; /* a word of ID or ID_LIKE in os-release */
    const char *perf, *lttng;
};

static const struct packages distributions[] = {
    {"ubuntu", "sudo apt install linux-tools-common linux-tools-$(uname -r)",
     "sudo apt install lttng-tools liblttng-ust-agent-java liblttng-ust-agent-java-jni"},
    {"debian", "sudo apt install linux-perf",
     "sudo apt install lttng-tools liblttng-ust-agent-java liblttng-ust-agent-java-jni"},
    {"fedora", "sudo dnf install perf", "sudo dnf install lttng-tools lttng-ust-java-agent"},
    {"rhel", "sudo dnf install perf", NULL},
    {"amzn", "sudo dnf install perf", NULL},
    {"suse", "sudo zypper install perf", "sudo zypper install lttng-tools"},
    {"arch", "sudo pacman -S perf", NULL},
    {"alpine", "sudo apk add perf", NULL},
};

static const struct packages *this_distribution(void)
{
    static const struct packages unknown = {NULL, NULL, NULL};
    const struct packages *found = &unknown;
    char line[256];
    FILE *file = fopen("/etc/os-release", "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "ID=", 3) != 0 && strncmp(line, "ID_LIKE=", 8) != 0)
            continue;
        for (size_t i = 0; found == &unknown && i < sizeof(distributions) / sizeof(*distributions); i++)
            if (strstr(line, distributions[i].like) != NULL)
                found = &distributions[i];
    }
    if (file != NULL)
        fclose(file);
    return found;
}

static char *copy(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

/* The first line of what a program prints, after `label`; the caller frees it. */
static char *version_of(const char *const *words, const char *label)
{
    const struct cli_start start = {.words = words, .output = -1};
    int status = 0;
    char *text = cli_process_output(&start, ASK_MS, &status);
    if (text == NULL || cli_exit_status(status) != 0) {
        free(text);
        return NULL;
    }
    text[strcspn(text, "\r\n")] = '\0';
    const char *found = strstr(text, label);
    char *version = strdup(found != NULL ? found + strlen(label) : text);
    free(text);
    return version;
}

/* ---- The kernel ------------------------------------------------------------------------------------------------- */

static bool has_capability(unsigned number)
{
    char line[256];
    unsigned long long bits = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "CapEff: %llx", &bits) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return (bits >> number & 1) != 0;
}

static int paranoid_level(void)
{
    int level = 2;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (file == NULL || fscanf(file, "%d", &level) != 1)
        level = 2;
    if (file != NULL)
        fclose(file);
    return level;
}

static bool may_trace(const char *perf)
{
    char capability[64];
    return has_capability(CAPABILITY_PERFMON) || has_capability(CAPABILITY_SYS_ADMIN) || paranoid_level() < 0 ||
           getxattr(perf, "security.capability", capability, sizeof(capability)) > 0;
}

/* Whether perf can look up a tracepoint ("sched:sched_switch"). */
static bool is_tracepoint(const char *name)
{
    static const char *const mounts[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    char path[160];
    for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
        const char *colon = strchr(name, ':');
        snprintf(path, sizeof(path), "%s/events/%.*s/%s/id", mounts[i], (int)(colon - name), name, colon + 1);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* Which tracepoints there are once tracefs is mounted. False: errno says why it cannot be. */
static bool look_in_mount(char *found)
{
    int ends[2], error = EIO;
    if (pipe(ends) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        error = cli_mount_tracefs() ? 0 : errno;
        for (size_t i = 0; error == 0 && i < TRACEPOINTS; i++)
            found[i] = (char)is_tracepoint(tracepoints[i]);
        bool sent =
            write(ends[1], &error, sizeof(error)) == sizeof(error) && write(ends[1], found, TRACEPOINTS) == TRACEPOINTS;
        _exit(sent ? 0 : 1);
    }
    close(ends[1]);
    bool done = pid > 0 && read(ends[0], &error, sizeof(error)) == sizeof(error) && error == 0 &&
                read(ends[0], found, TRACEPOINTS) == TRACEPOINTS;
    close(ends[0]);
    int status;
    if (pid > 0)
        cli_process_wait(pid, -1, &status);
    errno = error;
    return done;
}

static bool look_for_tracepoints(struct cli_preparation *preparation)
{
    char found[TRACEPOINTS] = {0};
    bool seen = is_tracepoint(tracepoints[0]);
    if (!seen && access("/sys/kernel/tracing", X_OK) != 0) {
        cli_refuse(preparation, "kernel", copy("/sys/kernel/tracing may not be read"),
                   copy("sudo mount -o remount,mode=755 /sys/kernel/tracing"));
        return false;
    }
    if (!seen && !has_capability(CAPABILITY_SYS_ADMIN)) {
        cli_refuse(preparation, "kernel", copy("the kernel's tracing files are not mounted, or may not be read"),
                   copy("sudo mount -t tracefs -o mode=755 tracefs /sys/kernel/tracing"));
        return false;
    }
    if (!seen && !look_in_mount(found)) {
        cli_refuse(preparation, "kernel",
                   cli_format("the kernel's tracing files cannot be mounted: %s", strerror(errno)),
                   copy("mount -t tracefs tracefs /sys/kernel/tracing"));
        return false;
    }
    preparation->mount = !seen;
    for (size_t i = 0; i < TRACEPOINTS; i++)
        if (seen ? is_tracepoint(tracepoints[i]) : found[i] != 0)
            cli_words_add(&preparation->events, tracepoints[i]);
    if (preparation->events.count == 0)
        cli_refuse(preparation, "kernel", copy("this kernel has no tracepoints of its scheduler"), NULL);
    return preparation->events.count > 0;
}

/* A perf that was built without babeltrace cannot convert what it records. */
static bool can_convert(const char *perf)
{
    const char *const words[] = {perf, "data", "convert", "--force", "--to-ctf=/dev/null/x", "-i", "/dev/null", NULL};
    const struct cli_start start = {.words = words, .output = -1};
    char *said = cli_process_output(&start, ASK_MS, NULL);
    bool can = said != NULL && strstr(said, "compiled in") == NULL && strstr(said, "unknown option") == NULL;
    free(said);
    return can;
}

void cli_prepare_kernel(struct cli_preparation *preparation)
{
    preparation->perf = cli_find_program("perf");
    if (preparation->perf == NULL) {
        cli_refuse(preparation, "kernel", copy("perf is not on PATH"), copy(this_distribution()->perf));
        return;
    }
    const char *const version[] = {preparation->perf, "version", NULL};
    preparation->perf_version = version_of(version, "perf version ");
    if (preparation->perf_version == NULL)
        cli_refuse(preparation, "kernel", cli_format("%s does not run with this kernel", preparation->perf),
                   copy(this_distribution()->perf));
    else if (!can_convert(preparation->perf))
        cli_refuse(preparation, "kernel", copy("this perf was built without libbabeltrace: it cannot write CTF"), NULL);
    else if (!may_trace(preparation->perf))
        cli_refuse(preparation, "kernel", copy("this user may not record the whole machine"),
                   copy("sudo sysctl kernel.perf_event_paranoid=-1"));
    else
        look_for_tracepoints(preparation);
}

/* ---- User space ------------------------------------------------------------------------------------------------- */

static char *find_plugin(const char *given)
{
    char folder[4096];
    if (given == NULL)
        given = getenv("PYROMETER_PLUGIN");
    if (given != NULL)
        return realpath(given, NULL);
    ssize_t len = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    if (len <= 0)
        return NULL;
    folder[len] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    char *path = cli_format("%s/../share/pyrometer/pyrometer-spark-plugin.jar", folder);
    char *resolved = path != NULL ? realpath(path, NULL) : NULL;
    free(path);
    return resolved;
}

/* The first file of a pattern; the caller frees it. */
static char *first_file(const char *pattern)
{
    glob_t found;
    char *path = NULL;
    if (glob(pattern, 0, NULL, &found) == 0) {
        path = strdup(found.gl_pathv[0]);
        globfree(&found);
    }
    return path;
}

static char *first_of(const char *const *patterns)
{
    char *path = NULL;
    for (; path == NULL && *patterns != NULL; patterns++)
        path = first_file(*patterns);
    return path;
}

static char *find_agent_libraries(void)
{
    static const char name[] = "/liblttng-ust-jul-jni.so";
    static const char *const patterns[] = {
        "/usr/lib/*/jni/liblttng-ust-jul-jni.so", "/usr/lib/jni/liblttng-ust-jul-jni.so",
        "/usr/lib64/liblttng-ust-jul-jni.so",     "/usr/lib/liblttng-ust-jul-jni.so",
        "/usr/local/lib/liblttng-ust-jul-jni.so", NULL};
    char *path = first_of(patterns);
    if (path != NULL)
        path[strlen(path) - strlen(name)] = '\0';
    return path;
}

static char *find_agent_classes(void)
{
    static const char *const common[] = {"/usr/share/java/lttng-ust-agent-common.jar",
                                         "/usr/share/java/lttng-ust-agent-common-*.jar",
                                         "/usr/local/share/java/lttng-ust-agent-common.jar", NULL};
    static const char *const jul[] = {"/usr/share/java/lttng-ust-agent-jul.jar",
                                      "/usr/share/java/lttng-ust-agent-jul-*.jar",
                                      "/usr/local/share/java/lttng-ust-agent-jul.jar", NULL};
    char *first = first_of(common), *second = first_of(jul);
    char *both = first != NULL && second != NULL ? cli_format("%s:%s", first, second) : NULL;
    free(first);
    free(second);
    return both;
}

static void prepare_lttng(struct cli_preparation *preparation)
{
    char *lttng = cli_find_program("lttng"), *daemon = cli_find_program("lttng-sessiond");
    preparation->agent_classes = find_agent_classes();
    preparation->agent_libraries = find_agent_libraries();
    const char *missing = lttng == NULL || daemon == NULL        ? "its tools are not on PATH"
                          : preparation->agent_classes == NULL   ? "its agent for Java is not in /usr/share/java"
                          : preparation->agent_libraries == NULL ? "the native library of its agent for Java is missing"
                                                                 : NULL;
    if (missing != NULL) {
        cli_refuse(preparation, "lttng", cli_format("no trace of LTTng: %s", missing),
                   copy(this_distribution()->lttng));
        free(lttng);
    } else {
        const char *const version[] = {lttng, "--version", NULL};
        preparation->lttng = lttng;
        preparation->lttng_version = version_of(version, "(LTTng Trace Control) ");
    }
    free(daemon);
}

void cli_prepare_user(struct cli_preparation *preparation, const char *plugin)
{
    preparation->plugin = find_plugin(plugin);
    if (preparation->plugin == NULL || access(preparation->plugin, R_OK) != 0) {
        const char *named = plugin != NULL ? plugin : getenv("PYROMETER_PLUGIN");
        free(preparation->plugin);
        preparation->plugin = NULL;
        cli_refuse(preparation, "tasks",
                   named != NULL ? cli_format("the plugin %s cannot be read", named)
                                 : copy("the plugin was not found: no records of which thread did which task"),
                   copy("pyrometer trace record --plugin pyrometer-spark-plugin.jar -- COMMAND"));
        return;
    }
    prepare_lttng(preparation);
}
