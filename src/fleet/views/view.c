/* The fleet functions of pyrometer.h: which view, and what may be said with it. */
#include "fleet/views/views.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/options.h"
#include "fleet/views/times.h"
#include "text/escape.h"

static const struct pyro_fleet_info views[] = {
#define FLEET_VIEW(name, title, options, by, meaning) {#name, title, options, by, meaning, pyro_fleet_##name},
#include "fleet/views/views.def"
#undef FLEET_VIEW
};
enum { VIEWS = sizeof(views) / sizeof(*views) };

const struct pyro_fleet_info *pyro_fleet_view_info(size_t index)
{
    return index < VIEWS ? &views[index] : NULL;
}

const char *pyro_fleet_view_name(size_t index)
{
    return index < VIEWS ? views[index].name : NULL;
}

const char *pyro_fleet_view_meaning(size_t index)
{
    return index < VIEWS ? views[index].meaning : NULL;
}

static enum pyro_status find_view(const char *name, const struct pyro_fleet_info **ret, struct pyro_error *error)
{
    const char *names[VIEWS];
    for (size_t i = 0; i < VIEWS; i++) {
        names[i] = views[i].name;
        if (strcmp(name, names[i]) == 0) {
            *ret = &views[i];
            return PYRO_OK;
        }
    }
    const char *nearest = pyro_nearest(name, names, VIEWS);
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no view '%.100s'%s%s%s", name,
                          nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* ---- Options ---- */

static const struct {
    const char *name;
    size_t place;
    bool common;
} texts[] = {
#define FLEET_TEXT(name, common, meaning) {#name, offsetof(struct pyro_fleet_options, name), common},
#define FLEET_LIST(name, meaning)
#include "fleet/views/options.def"
#undef FLEET_TEXT
#undef FLEET_LIST
};

const char **pyro_fleet_option(struct pyro_fleet_options *options, size_t index, const char **ret_name)
{
    if (!options || !ret_name || index >= sizeof(texts) / sizeof(*texts) ||
        texts[index].place + sizeof(options->app) > options->size)
        return NULL;
    *ret_name = texts[index].name;
    return (const char **)(void *)((char *)options + texts[index].place);
}

const char *pyro_fleet_option_meaning(const char *option)
{
    static const struct {
        const char *name, *meaning;
    } meanings[] = {
#define FLEET_TEXT(name, common, meaning) {#name, meaning},
#define FLEET_LIST(name, meaning)         {#name, meaning},
#include "fleet/views/options.def"
#undef FLEET_TEXT
#undef FLEET_LIST
    };
    for (size_t i = 0; option && i < sizeof(meanings) / sizeof(*meanings); i++)
        if (strcmp(option, meanings[i].name) == 0)
            return meanings[i].meaning;
    return NULL;
}

static bool has_word(const char *words, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += len)
        if ((at == words || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

int pyro_fleet_view_takes(const char *view, const char *option)
{
    for (size_t i = 0; view && option && i < VIEWS; i++)
        if (strcmp(view, views[i].name) == 0)
            return has_word(views[i].options, option);
    return 0;
}

static enum pyro_status check_words(const struct pyro_fleet_info *info, const struct pyro_fleet_options *options,
                                    struct pyro_error *error)
{
    struct pyro_fleet_options given = *options;
    const char *name, **text;
    for (size_t i = 0; (text = pyro_fleet_option(&given, i, &name)) != NULL; i++)
        if (*text && !texts[i].common && !has_word(info->options, name))
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the view %s has no option '%s'", info->name, name);
    for (size_t i = 0; i < options->tag_count; i++)
        if (!options->tags[i] || options->tags[i][0] == '=' || !strchr(options->tags[i], '='))
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a tag is KEY=VALUE, not '%.100s'",
                                  options->tags[i] ? options->tags[i] : "");
    for (size_t i = 0; i < options->max_count; i++) {
        const char *equals = options->max[i] ? strchr(options->max[i], '=') : NULL;
        char *end = NULL;
        double limit = equals ? strtod(equals + 1, &end) : 0;
        if (!equals || equals == options->max[i] || end == equals + 1 || *end || !isfinite(limit))
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a maximum is FIELD=NUMBER, not '%.100s'",
                                  options->max[i] ? options->max[i] : "");
    }
    return PYRO_OK;
}

static enum pyro_status read_time(const char *name, const char *text, int64_t *ret, struct pyro_error *error)
{
    *ret = PYRO_NONE;
    if (!text || pyro_fleet_time(text, (int64_t)time(NULL) * 1000, ret))
        return PYRO_OK;
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                          "'%s' cannot be '%.60s'; it is a UTC time (2026-01-31, 2026-01-31T12:00:00), epoch "
                          "milliseconds, or how long ago (90m, 24h, 30d)",
                          name, text);
}

/* A field of the store; Spark's settings may be named without "property.". */
static enum pyro_status read_by(struct pyro_fleet_view *view, struct pyro_error *error)
{
    const char *given = view->options->by ? view->options->by : view->info->by;
    bool setting = strncmp(given, "spark.", 6) == 0;
    view->by = pyro_arena_printf(view->arena, "%s%s", setting ? "property." : "", given);
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, view->allocator);
    if (view->by.ptr)
        pyro_add_json(&text, view->by);
    view->by_json = pyro_arena_copy(view->arena, pyro_strbuf_slice(&text));
    bool ok = !text.failed && view->by.ptr && view->by_json.ptr;
    pyro_strbuf_done(&text);
    return ok ? PYRO_OK : pyro_no_memory(error);
}

static enum pyro_status make(struct pyro_fleet_view *view, struct pyro_error *error)
{
    PYRO_TRY(check_words(view->info, view->options, error));
    PYRO_TRY(read_time("since", view->options->since, &view->since_ms, error));
    PYRO_TRY(read_time("until", view->options->until, &view->until_ms, error));
    PYRO_TRY(read_time("at", view->options->at, &view->at_ms, error));
    PYRO_TRY(read_by(view, error));
    PYRO_TRY(view->info->make(view, error));
    return view->failed || view->arena->failed ? pyro_no_memory(error) : PYRO_OK;
}

enum pyro_status pyro_fleet_view_for(pyro_store *store, const char *name, const struct pyro_query_viewer *viewer,
                                     const struct pyro_fleet_options *wanted, enum pyro_format format,
                                     const struct pyro_report_options *report, const struct pyro_options *options,
                                     const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_fleet_options own = {.size = sizeof(own)};
    struct pyro_options work;
    struct pyro_arena arena;
    pyro_error_clear(error);
    if (!store || !name || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the store, the name of the view or the writer is missing");
    if (format != PYRO_FORMAT_TEXT && format != PYRO_FORMAT_JSON && format != PYRO_FORMAT_CSV &&
        format != PYRO_FORMAT_MARKDOWN)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "views are written as text, json, csv or markdown");
    PYRO_TRY(PYRO_TAKE(&own, wanted, error));
    PYRO_TRY(pyro_options_resolve(options, &work, error));
    struct pyro_fleet_view view = {.store = store, .viewer = viewer, .work = &work, .options = &own, .arena = &arena};
    PYRO_TRY(find_view(name, &view.info, error));
    view.name = view.info->name;
    view.allocator = work.allocator;
    pyro_arena_init(&arena, work.allocator);
    pyro_strbuf_init(&view.question, work.allocator);
    enum pyro_status status = make(&view, error);
    if (status == PYRO_OK)
        status = pyro_fleet_write(&view, format, report, writer, error);
    for (size_t i = 0; i < view.table_count; i++)
        pyro_vec_done(&view.tables[i].values, work.allocator);
    pyro_strbuf_done(&view.question);
    pyro_arena_done(&arena);
    return status;
}

enum pyro_status pyro_fleet_view(pyro_store *store, const char *name, const struct pyro_fleet_options *wanted,
                                 enum pyro_format format, const struct pyro_report_options *report,
                                 const struct pyro_options *options, const struct pyro_writer *writer,
                                 struct pyro_error *error)
{
    return pyro_fleet_view_for(store, name, NULL, wanted, format, report, options, writer, error);
}
