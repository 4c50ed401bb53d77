/* report, timeline, stages, sql, executors, environment, configuration, trace, rules, openapi.json: what the library
 * writes. */
#include "serve/api/api_request.h"
#include "serve/failure_answer.h"
#include "serve/stored.h"

enum { TASKS_MAX = 2000000 };
/* Whole numbers that every JSON reader has. */
static const int64_t time_max_ns = 9007199254740991;

/* ---- One application ---- */

static enum pyro_status write_report(struct api_job *job, const struct pyro_options *options,
                                     const struct pyro_writer *writer, struct pyro_error *error)
{
    (void)options;
    return pyro_stored_write_report(job->diagnoses[0], writer, error);
}

void pyro_api_report(struct api_request *request)
{
    if (pyro_api_is_known(request))
        return;
    struct api_job *job = pyro_api_open_report(request, write_report);
    if (job)
        pyro_api_job_run(request->http, job);
}

struct view_question {
    const char *name;
    struct pyro_view_options options;
};

static enum pyro_status write_view(struct api_job *job, const struct pyro_options *options,
                                   const struct pyro_writer *writer, struct pyro_error *error)
{
    const struct view_question *question = job->question;
    (void)options;
    return pyro_view_write(job->diagnoses[0]->diagnosis, question->name, &question->options, writer, error);
}

/* "stages/3/0" of the segments behind the application; numbers without leading zeros. */
static const char *name_view(const struct api_request *request, struct api_job *job)
{
    struct pyro_slice name = PYRO_SLICE_LITERAL("");
    for (size_t i = 0; i < request->below_count && name.ptr; i++) {
        struct pyro_slice segment = request->below[i];
        while (segment.len > 1 && *segment.ptr == '0')
            segment = (struct pyro_slice){segment.ptr + 1, segment.len - 1};
        name = pyro_arena_printf(&job->arena, "%.*s%s%.*s", (int)name.len, name.ptr, i ? "/" : "", (int)segment.len,
                                 segment.ptr);
    }
    return name.ptr;
}

void pyro_api_view(struct api_request *request)
{
    struct pyro_view_options options = {.size = sizeof(options)};
    int64_t most;
    if (!pyro_api_number(request, "max", 1, TASKS_MAX, 0, &most) ||
        !pyro_api_number(request, "from_ns", 0, time_max_ns, 0, &options.tracks_from_ns) ||
        !pyro_api_number(request, "to_ns", 1, time_max_ns, 0, &options.tracks_to_ns) || pyro_api_is_known(request))
        return;
    options.most_tasks = (size_t)most;
    struct api_job *job = pyro_api_open(request, write_view);
    if (!job)
        return;
    struct view_question *question = pyro_arena_alloc(&job->arena, sizeof(*question));
    if (question)
        *question = (struct view_question){name_view(request, job), options};
    if (!question || !question->name) {
        pyro_api_job_free(job);
        pyro_api_error(request->http, 503, "no memory left: try again later");
        return;
    }
    job->question = question;
    job->refused = 404;
    pyro_api_job_run(request->http, job);
}

/* ---- Rules ---- */

static void answer_rules(struct api_request *request, const char *id)
{
    struct pyro_writer writer = pyro_strbuf_writer(request->http->out);
    struct pyro_error error = {.size = sizeof(error)};
    enum pyro_status status = pyro_rules_write(id, &writer, &error);
    if (status != PYRO_OK)
        status == PYRO_ERROR_ARGUMENT ? pyro_api_error(request->http, 404, "%s", error.message)
                                      : pyro_serve_failure(request->http, &error);
}

void pyro_api_rules(struct api_request *request)
{
    answer_rules(request, NULL);
}

void pyro_api_rule(struct api_request *request)
{
    char id[128];
    struct pyro_slice given = request->arguments[0];
    size_t len = given.len < sizeof(id) ? given.len : sizeof(id) - 1;
    memcpy(id, given.ptr, len);
    id[len] = '\0';
    answer_rules(request, id);
}

/* ---- The description of all this ---- */

extern const char pyro_api_description[];
extern const size_t pyro_api_description_len;

void pyro_api_openapi(struct api_request *request)
{
    pyro_strbuf_add(request->http->out, pyro_api_description, pyro_api_description_len);
    pyro_serve_header(request->http, "Cache-Control", PYRO_SLICE_LITERAL("public, max-age=3600"));
}
