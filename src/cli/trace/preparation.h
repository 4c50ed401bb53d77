/* What can be recorded on this machine, and what the rest needs. */
#ifndef PYROMETER_CLI_PREPARATION_H
#define PYROMETER_CLI_PREPARATION_H

#include "cli.h"
#include "words.h"

/* Something that was asked for and is not recorded. */
struct cli_refusal {
    const char *what; /* "kernel", "tasks", "lttng" */
    char *why;
    char *command; /* that helps; NULL: none does */
};

enum { CLI_REFUSALS_MAX = 8 };

/* All strings belong to it. */
struct cli_preparation {
    char *perf, *perf_version;   /* NULL: no perf */
    bool mount;                  /* perf needs tracefs mounted for itself */
    struct cli_words events;     /* tracepoints that exist here; none: the kernel is not recorded */
    char *lttng, *lttng_version; /* NULL: LTTng is not used */
    char *agent_classes;         /* of LTTng, for class paths */
    char *agent_libraries;       /* folder of its native library */
    char *plugin;                /* NULL: no records of tasks */
    struct cli_refusal refused[CLI_REFUSALS_MAX];
    size_t refused_count;
};

/* Looks; `plugin` is what --plugin says, or NULL. Starts nothing that stays. */
void cli_prepare_kernel(struct cli_preparation *preparation);
void cli_prepare_user(struct cli_preparation *preparation, const char *plugin);
/* Takes `why` and `command`, which may be NULL: no memory was left. */
void cli_refuse(struct cli_preparation *preparation, const char *what, char *why, char *command);
bool cli_is_refused(const struct cli_preparation *preparation, const char *what);
void cli_preparation_free(struct cli_preparation *preparation);

#endif
