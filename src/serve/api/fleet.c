/* fleet: views of the stores that the server was given. */
#include "serve/api/api_request.h"
#include "serve/fleet_question.h"
#include "serve/shared.h"

enum { STORES_MAX = 1000 };

/* ---- What there is ---- */

/* The last part of where it is: neither folders nor what an address says besides. */
static void write_name(struct pyro_json_writer *json, const char *url)
{
    struct pyro_strbuf label;
    pyro_strbuf_init(&label, NULL);
    pyro_store_add_label(url, &label);
    const char *text = label.failed ? ":" : label.data, *slash = strrchr(text, '/');
    pyro_json_string(json, "name", slash ? slash + 1 : pyro_store_place(text));
    pyro_strbuf_done(&label);
}

static void write_view_info(struct pyro_json_writer *json, const struct pyro_fleet_info *info)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "name", info->name);
    pyro_json_string(json, "title", info->title);
    pyro_json_string(json, "meaning", info->meaning);
    pyro_json_begin(json, "options", '[');
    size_t len;
    for (const char *at = info->options; (len = strcspn(at, " ")) > 0; at += len + (at[len] == ' '))
        pyro_json_text(json, NULL, (struct pyro_slice){at, len});
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}

void pyro_api_fleet(struct api_request *request)
{
    struct api_document document;
    const char *name;
    pyro_api_begin(request, &document, "pyrometer.fleet/1");
    pyro_json_line(&document.json);
    pyro_json_begin(&document.json, "stores", '[');
    for (size_t i = 1; (name = pyro_serve_store_url(request->http->catalog, i)) != NULL; i++) {
        pyro_json_begin(&document.json, NULL, '{');
        pyro_json_count(&document.json, "number", i);
        write_name(&document.json, name);
        pyro_json_end(&document.json, '}');
    }
    pyro_json_end(&document.json, ']');
    pyro_json_line(&document.json);
    pyro_json_begin(&document.json, "views", '[');
    const struct pyro_fleet_info *info;
    for (size_t i = 0; (info = pyro_fleet_view_info(i)) != NULL; i++)
        write_view_info(&document.json, info);
    pyro_json_end(&document.json, ']');
    pyro_api_end(request, &document);
}

/* ---- One view ---- */

static enum pyro_status write_view(struct api_job *job, const struct pyro_options *options,
                                   const struct pyro_writer *writer, struct pyro_error *error)
{
    return pyro_serve_fleet_write(job->question, job->shared->prices, PYRO_FORMAT_JSON, NULL, options, writer, error);
}

static const char *const *take_list(struct api_request *request, struct api_job *job, const char *name,
                                    size_t *ret_count)
{
    const char **list = pyro_arena_array(&job->arena, SERVE_PARAMETERS, sizeof(*list));
    struct pyro_slice value;
    *ret_count = 0;
    for (size_t i = 0; list && (value = pyro_serve_parameter_at(request->http, name, i)).ptr; i++) {
        list[i] = pyro_api_job_text(job, value);
        *ret_count += list[i] != NULL;
    }
    return list;
}

static struct serve_fleet_question *take_question(struct api_request *request, struct api_job *job, const char *url)
{
    struct serve_fleet_question *question = pyro_arena_alloc(&job->arena, sizeof(*question));
    if (!question)
        return NULL;
    *question = (struct serve_fleet_question){.view = pyro_api_job_text(job, request->arguments[0]), .url = url};
    struct pyro_fleet_options *wanted = &question->wanted;
    wanted->size = sizeof(*wanted);
    const char *name, **place;
    for (size_t i = 0; (place = pyro_fleet_option(wanted, i, &name)) != NULL; i++) {
        struct pyro_slice value = pyro_serve_parameter(request->http, name);
        *place = value.len ? pyro_api_job_text(job, value) : NULL; /* an empty one is none, as of a form */
    }
    wanted->tags = take_list(request, job, "tag", &wanted->tag_count);
    wanted->max = take_list(request, job, "max", &wanted->max_count);
    return pyro_serve_viewer(request->http, &job->arena, question) && !job->arena.failed ? question : NULL;
}

void pyro_api_fleet_view(struct api_request *request)
{
    int64_t number;
    if (!pyro_api_number(request, "store", 1, STORES_MAX, 1, &number))
        return;
    const char *url = pyro_serve_store_url(request->http->catalog, (size_t)number);
    if (!url) {
        pyro_api_error(request->http, 404,
                       number == 1 ? "this server has no store: start it with 'pyrometer serve sqlite:FILE'"
                                   : "there is no store %lld here; /pyrometer/v1/fleet lists the stores",
                       (long long)number);
        return;
    }
    struct api_job *job = pyro_api_job_new(request->http, write_view);
    if (!job)
        return;
    job->question = take_question(request, job, url);
    if (job->question) {
        pyro_api_job_run(request->http, job);
        return;
    }
    pyro_api_job_free(job);
    pyro_api_error(request->http, 503, "no memory left: try again later");
}
