/* suggest: the configuration of the next run of an application, from what a store has. No log is opened, so that a job
 * that starts can wait for the answer. */
#include "serve/api/api_request.h"
#include "serve/fleet_question.h"

enum { STORES = 1000 };

struct question {
    struct serve_fleet_question whose; /* url, and who asks */
    const char *application;
    struct pyro_suggest_options wanted;
};

static enum pyro_status write_suggestion(struct api_job *job, const struct pyro_options *options,
                                         const struct pyro_writer *writer, struct pyro_error *error)
{
    const struct question *question = job->question;
    return pyro_serve_suggestion_write(&question->whose, question->application, &question->wanted, PYRO_SUGGESTION_JSON,
                                       options, writer, error);
}

static struct question *take_question(struct api_request *request, struct api_job *job, const char *url,
                                      int64_t input_bytes, int64_t deadline_ms)
{
    struct question *question = pyro_arena_alloc(&job->arena, sizeof(*question));
    if (!question)
        return NULL;
    *question = (struct question){
        .whose.url = url,
        .application = pyro_api_job_text(job, pyro_serve_parameter(request->http, "app")),
        .wanted = {.size = sizeof(question->wanted),
                   .input_bytes = input_bytes,
                   .deadline_ms = deadline_ms,
                   .without_logs = 1},
    };
    bool known = pyro_serve_viewer(request->http, &job->arena, &question->whose);
    return known && !job->arena.failed ? question : NULL;
}

void pyro_api_suggest(struct api_request *request)
{
    int64_t number, input_bytes, deadline_ms;
    if (!pyro_api_number(request, "store", 1, STORES, 1, &number) ||
        !pyro_api_number(request, "input_bytes", 0, INT64_MAX, 0, &input_bytes) ||
        !pyro_api_number(request, "deadline_ms", 0, INT64_MAX, 0, &deadline_ms))
        return;
    if (!pyro_serve_parameter(request->http, "app").len) {
        pyro_api_error(request->http, 400, "the parameter app is missing: the name of an application");
        return;
    }
    const char *url = pyro_serve_store_url(request->http->catalog, (size_t)number);
    if (!url) {
        pyro_api_error(request->http, 404, "there is no store %lld here; /pyrometer/v1/fleet lists the stores",
                       (long long)number);
        return;
    }
    struct api_job *job = pyro_api_job_new(request->http, write_suggestion);
    if (!job)
        return;
    job->question = take_question(request, job, url, input_bytes, deadline_ms);
    if (job->question) {
        pyro_api_job_run(request->http, job);
        return;
    }
    pyro_api_job_free(job);
    pyro_api_error(request->http, 503, "no memory left: try again later");
}
