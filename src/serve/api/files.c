/* logs/errors, logs/top, logs/timeline, profile, flame: what the files next to the event log of a run say. */
#include "report/flame/flame.h"
#include "serve/api/api_request.h"
#include "serve/run_files.h"

enum { ERRORS = 100, ERRORS_MAX = 10000, CHUNKS = 20, CHUNKS_MAX = 10000 };
static const int64_t time_most = 999999999999999; /* milliseconds since 1970 */

static const char *parameter(struct api_request *request, struct api_job *job, const char *name)
{
    return pyro_api_job_text(job, pyro_serve_parameter(request->http, name));
}

static void refuse_memory(struct api_request *request, struct api_job *job)
{
    pyro_api_job_free(job);
    pyro_api_error(request->http, 503, "no memory left: try again later");
}

/* What is wrong is in the files: trying again later does not help. */
static enum pyro_status answered(enum pyro_status status, struct pyro_error *error)
{
    return status == PYRO_ERROR_INPUT ? pyro_error_lasts(error, status) : status;
}

/* The job, which reads these files; NULL: there are none, and the request is answered. */
static struct api_job *find_files(struct api_request *request, struct api_job *job, enum serve_files which,
                                  struct serve_run_files *ret)
{
    job->says_late = true;
    if (!pyro_serve_run_files(request->http->catalog, pyro_serve_list(request->http), request->attempt, which,
                              &job->arena, ret)) {
        refuse_memory(request, job);
        return NULL;
    }
    if (ret->parts.count > 0)
        return job;
    pyro_api_job_free(job);
    pyro_api_error(request->http, 404, "%s", pyro_serve_no_files(which));
    return NULL;
}

/* ---- Text logs ---- */

struct logs_question {
    pyro_logs_of_parts *function;
    struct serve_run_files files;
    struct pyro_logs_options asked;
};

static enum pyro_status write_logs(struct api_job *job, const struct pyro_options *options,
                                   const struct pyro_writer *writer, struct pyro_error *error)
{
    const struct logs_question *question = job->question;
    return answered(
        question->function(&question->files.parts, &question->asked, PYRO_FORMAT_JSON, options, writer, error), error);
}

/* `fallback`: rows of the answer, 0: the document has no such limit. */
static void answer_logs(struct api_request *request, pyro_logs_of_parts *function, int64_t fallback, int64_t most)
{
    struct serve_run_files files;
    int64_t limit = 0;
    if ((fallback && !pyro_api_number(request, "limit", 1, most, fallback, &limit)) || pyro_api_is_known(request))
        return;
    struct api_job *job = pyro_api_job_new(request->http, write_logs);
    if (job)
        job = find_files(request, job, SERVE_TEXT_LOGS, &files);
    struct logs_question *question = job ? pyro_arena_alloc(&job->arena, sizeof(*question)) : NULL;
    if (!job)
        return;
    if (!question) {
        refuse_memory(request, job);
        return;
    }
    *question = (struct logs_question){.function = function, .files = files};
    question->asked = (struct pyro_logs_options){.size = sizeof(question->asked),
                                                 .level = parameter(request, job, "level"),
                                                 .since = parameter(request, job, "since"),
                                                 .until = parameter(request, job, "until"),
                                                 .executor = parameter(request, job, "executor"),
                                                 .stage = parameter(request, job, "stage"),
                                                 .grep = parameter(request, job, "grep"),
                                                 .by = parameter(request, job, "by"),
                                                 .limit = (size_t)limit,
                                                 .redaction = files.redaction};
    job->question = question;
    pyro_api_job_run(request->http, job);
}

void pyro_api_log_errors(struct api_request *request)
{
    answer_logs(request, pyro_logs_errors_of, ERRORS, ERRORS_MAX);
}

void pyro_api_log_top(struct api_request *request)
{
    answer_logs(request, pyro_logs_top_of, CHUNKS, CHUNKS_MAX);
}

void pyro_api_log_timeline(struct api_request *request)
{
    answer_logs(request, pyro_logs_timeline_of, 0, 0);
}

/* ---- Profiles ---- */

struct profile_question {
    const char *metrics[SERVE_PARAMETERS], *ignored[SERVE_PARAMETERS];
    struct pyro_profiling_options asked;
};

static enum pyro_status write_profile(struct api_job *job, const struct pyro_options *options,
                                      const struct pyro_writer *writer, struct pyro_error *error)
{
    const struct profile_question *question = job->question;
    return answered(pyro_profiling_write(NULL, job->diagnoses[0]->diagnosis, &question->asked, PYRO_FORMAT_JSON,
                                         options, writer, error),
                    error);
}

/* The values of a parameter that may be given several times. False: no memory. */
static bool take_names(struct api_request *request, struct api_job *job, const char *name, const char **names,
                       size_t *ret_count)
{
    struct pyro_slice value;
    for (size_t i = 0; (value = pyro_serve_parameter_at(request->http, name, i)).ptr; i++) {
        names[i] = pyro_api_job_text(job, value);
        if (!names[i])
            return false;
        *ret_count = i + 1;
    }
    return true;
}

void pyro_api_profile(struct api_request *request)
{
    size_t at = 0;
    if (!pyro_catalog_list_file(pyro_serve_list(request->http), request->attempt, &at)) {
        pyro_api_error(request->http, 404,
                       "this run has no records of profilers, no text logs and no logs of garbage collectors next to "
                       "its event log; docs/bundles.md says where they belong");
        return;
    }
    if (pyro_api_is_known(request))
        return;
    struct api_job *job = pyro_api_open(request, write_profile);
    struct profile_question *question = job ? pyro_arena_alloc(&job->arena, sizeof(*question)) : NULL;
    if (!job)
        return;
    if (question) {
        *question = (struct profile_question){.asked.size = sizeof(question->asked)};
        question->asked.metrics = question->metrics;
        question->asked.ignored = question->ignored;
        question->asked.process = parameter(request, job, "process");
    }
    if (!question || !take_names(request, job, "metric", question->metrics, &question->asked.metric_count) ||
        !take_names(request, job, "ignore", question->ignored, &question->asked.ignored_count)) {
        refuse_memory(request, job);
        return;
    }
    job->question = question;
    pyro_api_job_run(request->http, job);
}

/* ---- Flame graphs ---- */

struct flame_question {
    struct serve_run_files files;
    enum pyro_flame_format format;
    struct pyro_flame_options asked;
    const pyro_app **applications; /* by file; NULL: not needed */
};

static enum pyro_status write_flame(struct api_job *job, const struct pyro_options *options,
                                    const struct pyro_writer *writer, struct pyro_error *error)
{
    struct flame_question *question = job->question;
    for (size_t i = 0; question->applications && i < question->files.parts.count; i++)
        question->applications[i] = job->diagnoses[0]->app;
    question->asked.applications = question->applications;
    return answered(pyro_flame_write_parts(question->files.parts.items, question->files.parts.count, &question->asked,
                                           options, question->format, writer, error),
                    error);
}

/* Who worked for a task or stage also follows from the event log, so that it is read too. */
static bool needs_owners(const struct pyro_flame_options *asked)
{
    return (asked->filters & (PYRO_FLAME_BY_TASK | PYRO_FLAME_BY_STAGE)) != 0;
}

static bool take_filter(struct api_request *request, const char *name, unsigned bit, struct pyro_flame_options *asked,
                        int64_t *ret)
{
    if (pyro_serve_parameter(request->http, name).ptr)
        asked->filters |= bit;
    return pyro_api_number(request, name, 0, INT32_MAX, 0, ret);
}

/* False: a parameter is wrong, and the request is answered. */
static bool take_flame(struct api_request *request, struct pyro_flame_options *asked, size_t *ret_format)
{
    static const char *const formats[] = {"svg", "folded", "speedscope", NULL}, *const events[] = {"cpu",   "wall",
                                                                                                   "alloc", "lock",
                                                                                                   "wait",  NULL},
                             *const flags[] = {"false", "true", NULL};
    size_t event, merge, combined;
    *asked = (struct pyro_flame_options){.size = sizeof(*asked)};
    if (!pyro_api_choice(request, "format", formats, 0, ret_format) ||
        !pyro_api_choice(request, "event", events, SIZE_MAX, &event) ||
        !pyro_api_choice(request, "merge-lines", flags, 0, &merge) ||
        !pyro_api_choice(request, "combined", flags, 0, &combined) ||
        !take_filter(request, "task", PYRO_FLAME_BY_TASK, asked, &asked->task) ||
        !take_filter(request, "stage", PYRO_FLAME_BY_STAGE, asked, &asked->stage) ||
        !take_filter(request, "process", PYRO_FLAME_BY_PROCESS, asked, &asked->process) ||
        !pyro_api_number(request, "from", 0, time_most, 0, &asked->from_ms) ||
        !pyro_api_number(request, "to", 0, time_most, 0, &asked->to_ms))
        return false;
    asked->event = event == SIZE_MAX ? PYRO_FLAME_ANY : (enum pyro_flame_event)(event + 1);
    asked->merge_lines = merge == 1;
    asked->combined = combined == 1;
    return true;
}

void pyro_api_flame(struct api_request *request)
{
    static const struct {
        enum pyro_flame_format format;
        const char *type;
    } formats[] = {{PYRO_FLAME_SVG, "image/svg+xml"},
                   {PYRO_FLAME_FOLDED, "text/plain;charset=utf-8"},
                   {PYRO_FLAME_SPEEDSCOPE, "application/json"}};
    struct serve_run_files files;
    struct pyro_flame_options asked;
    size_t format;
    if (!take_flame(request, &asked, &format) || pyro_api_is_known(request))
        return;
    struct api_job *job =
        needs_owners(&asked) ? pyro_api_open(request, write_flame) : pyro_api_job_new(request->http, write_flame);
    if (job)
        job = find_files(request, job, SERVE_PROFILES, &files);
    struct flame_question *question = job ? pyro_arena_alloc(&job->arena, sizeof(*question)) : NULL;
    if (!job)
        return;
    const pyro_app **applications =
        needs_owners(&asked) ? pyro_arena_array(&job->arena, files.parts.count, sizeof(*applications)) : NULL;
    if (!question || (needs_owners(&asked) && !applications)) {
        refuse_memory(request, job);
        return;
    }
    *question = (struct flame_question){files, formats[format].format, asked, applications};
    job->question = question;
    pyro_api_job_run(request->http, job);
    if (request->http->status != 200)
        return;
    request->http->type = formats[format].type;
    /* The picture's own script runs apart from this server: it can neither ask it nor read what the page shows. */
    pyro_serve_header(request->http, "Content-Security-Policy",
                      PYRO_SLICE_LITERAL("sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
                                         "style-src 'unsafe-inline'; frame-ancestors 'self'"));
}
