/* whatif, cost, compare, findings: what is worked out when it is asked for. */
#include "base/memory/allocator.h"
#include "serve/api/api_request.h"
#include "serve/shared.h"
#include "serve/stored.h"

enum { SCENARIOS_MAX = 256 };

static const char *parameter(struct api_request *request, struct api_job *job, const char *name)
{
    return pyro_api_job_text(job, pyro_serve_parameter(request->http, name));
}

/* Answers by the job with its question, where there was memory for it. */
static void run(struct api_request *request, struct api_job *job, void *question)
{
    job->question = question;
    if (question) {
        pyro_api_job_run(request->http, job);
        return;
    }
    pyro_api_job_free(job);
    pyro_api_error(request->http, 503, "no memory left: try again later");
}

/* Prices of the server, else the library's: *own is to be freed. */
static enum pyro_status open_prices(const struct api_job *job, const pyro_prices **ret, pyro_prices **own,
                                    struct pyro_error *error)
{
    *own = NULL;
    *ret = job->shared->prices;
    if (*ret)
        return PYRO_OK;
    enum pyro_status status = pyro_prices_new(NULL, own, error);
    *ret = *own;
    return status;
}

/* ---- What if ---- */

struct whatif_question {
    const char *set[SERVE_PARAMETERS], *sweep[SERVE_PARAMETERS], *fix[SERVE_PARAMETERS];
    size_t set_count, sweep_count, fix_count;
    bool plan;
    const char *instance, *region;
};

static enum pyro_status write_whatif(struct api_job *job, const struct pyro_options *options,
                                     const struct pyro_writer *writer, struct pyro_error *error)
{
    const struct whatif_question *question = job->question;
    const pyro_prices *prices = job->shared->prices;
    pyro_prices *own = NULL;
    pyro_whatif *whatif = NULL;
    enum pyro_status status = question->instance ? open_prices(job, &prices, &own, error) : PYRO_OK;
    struct pyro_whatif_options asked = {.size = sizeof(asked),
                                        .set = question->set,
                                        .set_count = question->set_count,
                                        .sweep = question->sweep,
                                        .sweep_count = question->sweep_count,
                                        .prices = prices,
                                        .instance = question->instance,
                                        .region = question->region,
                                        .most_scenarios = SCENARIOS_MAX,
                                        .fix = question->fix,
                                        .fix_count = question->fix_count,
                                        .plan = question->plan};
    if (status == PYRO_OK)
        status = pyro_whatif_run(job->diagnoses[0]->diagnosis, &asked, options, &whatif, error);
    if (status == PYRO_OK)
        status = pyro_whatif_write(whatif, PYRO_FORMAT_JSON, NULL, writer, error);
    pyro_whatif_free(whatif);
    pyro_prices_free(own);
    return status;
}

static bool take_settings(struct api_request *request, struct api_job *job, struct whatif_question *question)
{
    static const char *const named[] = {"executors", "cores", "memory", "hosts", "scale-input"};
    struct pyro_slice value;
    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
        value = pyro_serve_parameter(request->http, named[i]);
        if (value.ptr)
            question->set[question->set_count++] =
                pyro_arena_printf(&job->arena, "%s=%.*s", named[i], (int)value.len, value.ptr).ptr;
    }
    for (size_t i = 0; (value = pyro_serve_parameter_at(request->http, "set", i)).ptr; i++)
        question->set[question->set_count++] = pyro_api_job_text(job, value);
    for (size_t i = 0; (value = pyro_serve_parameter_at(request->http, "sweep", i)).ptr; i++)
        question->sweep[question->sweep_count++] = pyro_api_job_text(job, value);
    for (size_t i = 0; (value = pyro_serve_parameter_at(request->http, "fix", i)).ptr; i++)
        question->fix[question->fix_count++] = pyro_api_job_text(job, value);
    question->instance = parameter(request, job, "instance");
    question->region = parameter(request, job, "region");
    for (size_t i = 0; i < SERVE_PARAMETERS; i++)
        if ((i < question->set_count && !question->set[i]) || (i < question->sweep_count && !question->sweep[i]) ||
            (i < question->fix_count && !question->fix[i]))
            return false;
    return true;
}

void pyro_api_whatif(struct api_request *request)
{
    static const char *const flags[] = {"false", "true", NULL};
    size_t plan;
    if (!pyro_api_choice(request, "plan", flags, 0, &plan) || pyro_api_is_known(request))
        return;
    struct api_job *job = pyro_api_open(request, write_whatif);
    if (!job)
        return;
    struct whatif_question *question = pyro_arena_alloc(&job->arena, sizeof(*question));
    if (question)
        question->plan = plan == 1;
    run(request, job, question && take_settings(request, job, question) ? question : NULL);
}

/* ---- Cost ---- */

static enum pyro_status write_cost(struct api_job *job, const struct pyro_options *options,
                                   const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_cost_options wanted = *(const struct pyro_cost_options *)job->question;
    pyro_prices *own = NULL;
    pyro_costs *costs = NULL;
    enum pyro_status status = open_prices(job, &wanted.prices, &own, error);
    if (status == PYRO_OK)
        status = pyro_costs_new(&wanted, options, &costs, error);
    if (status == PYRO_OK)
        status = pyro_costs_add(costs, job->diagnoses[0]->app, error);
    if (status == PYRO_OK)
        status = pyro_costs_write(costs, PYRO_FORMAT_JSON, NULL, writer, error);
    pyro_costs_free(costs);
    pyro_prices_free(own);
    return status;
}

void pyro_api_cost(struct api_request *request)
{
    static const char *const flags[] = {"false", "true", NULL};
    size_t spot;
    if (!pyro_api_choice(request, "spot", flags, 0, &spot) || pyro_api_is_known(request))
        return;
    struct api_job *job = pyro_api_open(request, write_cost);
    if (!job)
        return;
    struct pyro_cost_options *wanted = pyro_arena_alloc(&job->arena, sizeof(*wanted));
    if (wanted)
        *wanted = (struct pyro_cost_options){.size = sizeof(*wanted),
                                             .by = parameter(request, job, "by"),
                                             .currency = parameter(request, job, "currency"),
                                             .instance = parameter(request, job, "instance"),
                                             .region = parameter(request, job, "region"),
                                             .spot = spot == 1};
    run(request, job, wanted);
}

/* ---- Two runs ---- */

static enum pyro_status write_comparison(struct api_job *job, const struct pyro_options *options,
                                         const struct pyro_writer *writer, struct pyro_error *error)
{
    pyro_comparison *comparison = NULL;
    if (!job->diagnoses[0]->app || !job->diagnoses[1]->app)
        return pyro_stored_write_comparison(job->diagnoses[0], job->diagnoses[1], writer, error);
    PYRO_TRY(pyro_compare(job->diagnoses[0]->diagnosis, job->diagnoses[1]->diagnosis, options, &comparison, error));
    enum pyro_status status = pyro_comparison_write(comparison, PYRO_FORMAT_JSON, NULL, writer, error);
    pyro_comparison_free(comparison);
    return status;
}

static bool has_run(struct api_request *request, const char *name)
{
    if (pyro_serve_parameter(request->http, name).len)
        return true;
    pyro_api_error(request->http, 400,
                   "the parameter '%s' is missing: give APPLICATION/ATTEMPT, with - for an attempt without an id",
                   name);
    return false;
}

/* "APP/ATTEMPT", or "APP" for the attempt without an id. */
static const struct pyro_catalog_diagnosis *open_run(struct api_request *request, const char *name)
{
    struct pyro_slice app = pyro_serve_parameter(request->http, name), attempt = PYRO_SLICE_NULL;
    const char *slash = memrchr(app.ptr, '/', app.len);
    if (slash) {
        attempt = (struct pyro_slice){slash + 1, (size_t)(app.ptr + app.len - slash - 1)};
        app.len = (size_t)(slash - app.ptr);
    }
    return pyro_api_diagnosis(request->http, app, pyro_slice_is(attempt, "-") ? PYRO_SLICE_NULL : attempt, false);
}

void pyro_api_compare(struct api_request *request)
{
    if (!has_run(request, "before") || !has_run(request, "after"))
        return;
    const struct pyro_catalog_diagnosis *before = open_run(request, "before");
    const struct pyro_catalog_diagnosis *after = before ? open_run(request, "after") : NULL;
    struct api_job *job = after ? pyro_api_job_new(request->http, write_comparison) : NULL;
    if (!job) {
        pyro_catalog_diagnosis_release(before);
        pyro_catalog_diagnosis_release(after);
        return;
    }
    job->diagnoses[0] = before;
    job->diagnoses[1] = after;
    pyro_api_job_run(request->http, job);
}

/* ---- One finding ---- */

static enum pyro_status write_finding(struct api_job *job, const struct pyro_options *options,
                                      const struct pyro_writer *writer, struct pyro_error *error)
{
    const struct pyro_catalog_diagnosis *opened = job->diagnoses[0];
    (void)options;
    return opened->app ? pyro_finding_write(opened->diagnosis, job->question, writer, error)
                       : pyro_stored_write_finding(opened, job->question, writer, error);
}

void pyro_api_finding(struct api_request *request)
{
    if (pyro_api_is_known(request))
        return;
    struct api_job *job = pyro_api_open_report(request, write_finding);
    if (!job)
        return;
    job->refused = 404;
    run(request, job, pyro_unconst(pyro_api_job_text(job, request->arguments[0])));
}
