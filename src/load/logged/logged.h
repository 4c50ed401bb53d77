/* Applications that left no event log: one is made of its text logs and other files.
 *
 *     artefacts -> pyro_logged_find() -> a log of PYRO_LAYOUT_LOGS for each application
 *     its text logs -> pyro_logged_read() -> pyro_logged_write() -> event lines -> builder -> application
 *
 * The lines of the logs become the event lines that the application would have written, as far as they tell, so that
 * every analysis and rule reads it as it reads an event log. Intervals are those of decode/logs/timeline/timeline.h. */
#ifndef PYRO_LOAD_LOGGED_LOGGED_H
#define PYRO_LOAD_LOGGED_LOGGED_H

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/options.h"
#include "decode/logs/timeline/timeline.h"
#include "load/artefacts.h"
#include "load/lines.h"
#include "load/load.h"

/* The list gets the logs of applications without an event log instead of what it has, and the files their owners.
 * `with_events`: hashes of the ids that have an event log: each other id that files name gets a log. NULL: there is no
 * event log. Where there is none, and no file names an application, all files are one's. Fails only for lack of memory.
 * Files are members of one archive, or of none. */
enum pyro_status pyro_logged_find(struct pyro_artefact_list *artefacts, const struct pyro_map *with_events,
                                  struct pyro_log_list *list, struct pyro_error *error);

/* The application, not analyzed yet. */
enum pyro_status pyro_logged_load(const struct pyro_log *log, const struct pyro_load_settings *options,
                                  struct pyro_app **ret, struct pyro_error *error);
/* Its event lines as batches, as pyro_load_batches() gives those of an event log. */
enum pyro_status pyro_logged_batches(const struct pyro_log *log, const struct pyro_load_settings *options,
                                     const struct pyro_load_sink *sink, struct pyro_error *error);
/* Its event lines, as pyro_lines_read() gives those of an event log. */
enum pyro_status pyro_logged_lines(const struct pyro_log *log, pyro_line_callback *callback, void *context,
                                   struct pyro_error *error);

/* ---- Between the files here -------------------------------------------------------------------------------------- */

enum { PYRO_LOGGED_REASONS = 10000, PYRO_LOGGED_REASON_BYTES = 4000 };

/* Texts are of the arena or the timeline. Times are PYRO_NONE where no line says them. */
struct pyro_logged_executor {
    struct pyro_slice id, host, reason; /* reason: why the driver lost it */
    int64_t first_ms, lost_ms;
    int64_t registered_ms; /* with the driver */
    int64_t cores;         /* the most tasks that it ran at once */
};

/* Each time that the driver submitted tasks of a stage. */
struct pyro_logged_stage {
    int64_t id, attempt, tasks, submitted_ms, ended_ms;
    struct pyro_slice reason; /* why it failed */
};

struct pyro_logged {
    const struct pyro_allocator *allocator;
    struct pyro_arena arena;
    struct pyro_line_timeline *timeline;
    struct pyro_line_result lines;
    int32_t application; /* of the result */
    struct pyro_slice id, name, version;
    int64_t start_ms, end_ms;
    int64_t slots; /* tasks that an executor runs at once, as the driver says; PYRO_NONE: it does not */
    int64_t submitting, submitting_ms; /* the stage that the driver is about to submit, and since when */
    PYRO_VEC(struct pyro_logged_executor) executors;
    PYRO_VEC(struct pyro_logged_stage) stages;
    PYRO_VEC(struct pyro_slice) reasons; /* why tasks were lost */
    struct pyro_map executor_rows;       /* hash of the id -> row + 1 */
    struct pyro_map stage_rows;          /* hash of the id -> row of the newest + 1 */
    struct pyro_map attempt_rows;        /* hash of id and attempt -> row + 1 */
    struct pyro_map reason_rows;         /* task id -> row + 1 */
    uint64_t logs, bytes, text_lines;
    bool zone_assumed;
    bool named; /* a file names the application */
    bool failed;
};

/* `ret` is released by pyro_logged_done() in any case. Files that are not text logs, or cannot be read, are skipped.
 */
enum pyro_status pyro_logged_read(const struct pyro_log *log, const struct pyro_load_settings *options,
                                  struct pyro_logged *ret, struct pyro_error *error);
void pyro_logged_done(struct pyro_logged *logged);
/* NULL: none, or no memory (then `failed`). */
struct pyro_logged_executor *pyro_logged_executor(struct pyro_logged *logged, struct pyro_slice id, bool add);
/* When the driver submitted the tasks of an attempt, or NULL. */
const struct pyro_logged_stage *pyro_logged_stage(const struct pyro_logged *logged, int64_t id, int64_t attempt);

uint64_t pyro_logged_attempt_key(int64_t id, int64_t attempt); /* of attempt_rows */
/* The most tasks that each executor ran at once; adds those without a log of their own. False: no memory. */
bool pyro_logged_count_cores(struct pyro_logged *logged);

/* Takes whole event lines. */
typedef enum pyro_status pyro_logged_put(void *context, const char *lines, size_t len, struct pyro_error *error);
enum pyro_status pyro_logged_write(struct pyro_logged *logged, pyro_logged_put *put, void *context,
                                   struct pyro_error *error);

#endif
