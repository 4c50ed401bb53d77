#include "report/views/views.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/options.h"

static const struct {
    const char *path;
    pyro_view *write;
} views[] = {
#define PYRO_VIEW(path, function, schema) {path, pyro_view_##function},
#include "report/views/views.def"
#undef PYRO_VIEW
};

enum pyro_status pyro_view_no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to write the document");
}

int64_t pyro_view_span(int64_t from, int64_t to)
{
    int64_t span;
    if (from == PYRO_NONE || to == PYRO_NONE || __builtin_sub_overflow(to, from, &span))
        return PYRO_NONE;
    return span;
}

int64_t pyro_view_start(const struct pyro_app *app)
{
    return app->application.start_ms == PYRO_NONE ? 0 : app->application.start_ms;
}

/* A number without sign or leading zeros, up to the next '/' or the end. */
static bool take_number(const char **text, int64_t *ret)
{
    const char *at = *text;
    int64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *at - '0', &value))
            return false;
    bool ended = *at == '\0' || *at == '/';
    if (at == *text || !ended || (**text == '0' && at - *text > 1))
        return false;
    *text = at;
    *ret = value;
    return true;
}

static bool matches(const char *path, const char *name, int64_t *ids)
{
    size_t count = 0;
    while (*path) {
        if (strncmp(path, "{#}", 3) == 0) {
            if (count == PYRO_VIEW_IDS || !take_number(&name, &ids[count++]))
                return false;
            path += 3;
        } else if (*path++ != *name++) {
            return false;
        }
    }
    return *name == '\0';
}

enum pyro_status pyro_view_write(const pyro_diagnosis *diagnosis, const char *name,
                                 const struct pyro_view_options *options, const struct pyro_writer *writer,
                                 struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!diagnosis || !name || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "the diagnosis, the name of the document or the writer is missing");
    struct pyro_view_options own = {.size = sizeof(own)};
    PYRO_TRY(PYRO_TAKE(&own, options, error));
    struct pyro_view_request request = {.diagnosis = diagnosis,
                                        .app = diagnosis->app,
                                        .most_tasks = own.most_tasks ? own.most_tasks : PYRO_VIEW_TASKS,
                                        .tracks_from_ns = own.tracks_from_ns,
                                        .tracks_to_ns = own.tracks_to_ns};
    size_t i = 0;
    while (i < sizeof(views) / sizeof(*views) && !matches(views[i].path, name, request.ids))
        i++;
    if (i == sizeof(views) / sizeof(*views))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no document '%.100s' about an application", name);
    struct pyro_arena arena;
    struct pyro_output output;
    struct pyro_json_writer json;
    pyro_arena_init(&arena, diagnosis->arena.allocator);
    request.arena = &arena;
    pyro_output_init(&output, writer, diagnosis->arena.allocator);
    pyro_json_writer_init(&json, &output);
    enum pyro_status status = views[i].write(&json, &request, error);
    if (status == PYRO_OK) {
        pyro_strbuf_add_char(&output.buffer, '\n');
        status = pyro_output_done(&output, error);
    } else {
        pyro_strbuf_done(&output.buffer);
    }
    pyro_arena_done(&arena);
    return status;
}

const char *pyro_view_name(size_t index)
{
    return index < sizeof(views) / sizeof(*views) ? views[index].path : NULL;
}
