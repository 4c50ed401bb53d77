/* Which documents the HTML report has in addition to the report itself: all of an application's, but of stages and SQL
 * executions those with findings and the longest, and a limited number of tasks. */
#include "report/diagnosis/html_documents.h"

#include <stdio.h>

#include "base/memory/allocator.h"
#include "model/tracks/tracks.h"
#include "report/diagnosis/html_pack.h"

enum { STAGE_TASKS = 20000, ALL_STAGE_TASKS = 200000 };

struct limits {
    size_t timeline_tasks;
    size_t rows; /* stages and SQL executions each, beside those with findings */
    bool environment, predictions;
};

static const struct limits alone = {200000, 50, true, true}, among_others = {20000, 0, false, false};

struct documents {
    struct pyro_output *page;
    const struct pyro_diagnosis *diagnosis;
    const struct limits *limits;
    size_t stage_tasks;
    struct pyro_html_pack pack; /* the one being written */
};

static struct pyro_writer begin_document(struct documents *documents, const char *name)
{
    pyro_html_pack_begin(&documents->pack, documents->page, ",\n", name);
    return (struct pyro_writer){sizeof(struct pyro_writer), pyro_html_pack_write, &documents->pack};
}

/* PYRO_ERROR_ARGUMENT: there is no such document, and the page does without. */
static void end_document(struct documents *documents, enum pyro_status status)
{
    pyro_html_pack_end(&documents->pack);
    if (status != PYRO_OK && (status != PYRO_ERROR_ARGUMENT || documents->pack.begun) &&
        documents->page->status == PYRO_OK)
        documents->page->status = status;
}

static void add_document(struct documents *documents, const char *name, size_t most_tasks)
{
    const struct pyro_writer writer = begin_document(documents, name);
    const struct pyro_view_options options = {.size = sizeof(options), .most_tasks = most_tasks};
    struct pyro_error error = {.size = sizeof(error)};
    end_document(documents, pyro_view_write(documents->diagnosis, name, &options, &writer, &error));
}

/* What this layer cannot make by itself: predictions take threads. */
static void add_worked_out(struct documents *documents, const char *name, const struct pyro_report_options *options)
{
    const struct pyro_writer writer = begin_document(documents, name);
    struct pyro_error error = {.size = sizeof(error)};
    end_document(documents, options->document(options->document_context, documents->diagnosis, name, &writer, &error));
}

/* Of `count` rows those with a finding, and as many others as the limits allow: those that took longest. */
static bool *choose(const struct documents *documents, size_t count,
                    bool (*has_finding)(const struct pyro_diagnosis *diagnosis, size_t row),
                    int64_t (*weight)(const struct pyro_app *app, size_t row))
{
    const struct pyro_diagnosis *diagnosis = documents->diagnosis;
    bool *chosen = pyro_allocate(diagnosis->app->allocator, count ? count : 1);
    if (!chosen) {
        documents->page->status = PYRO_ERROR_MEMORY;
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        chosen[i] = has_finding(diagnosis, i);
    for (size_t n = 0; n < documents->limits->rows; n++) {
        size_t best = count;
        for (size_t i = 0; i < count; i++)
            if (!chosen[i] && (best == count || weight(diagnosis->app, i) > weight(diagnosis->app, best)))
                best = i;
        if (best == count)
            break;
        chosen[best] = true;
    }
    return chosen;
}

static bool stage_has_finding(const struct pyro_diagnosis *diagnosis, size_t row)
{
    const struct pyro_stage *stage = &diagnosis->app->stages.items[row];
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        if (diagnosis->findings[i].stage == stage->id &&
            (diagnosis->findings[i].attempt == stage->attempt || diagnosis->findings[i].attempt == PYRO_NONE))
            return true;
    return false;
}

static int64_t stage_weight(const struct pyro_app *app, size_t row)
{
    return app->stages.items[row].task_ms;
}

static void add_stages(struct documents *documents)
{
    const struct pyro_app *app = documents->diagnosis->app;
    bool *chosen = choose(documents, app->stages.count, stage_has_finding, stage_weight);
    for (size_t i = 0; chosen && i < app->stages.count && documents->stage_tasks < ALL_STAGE_TASKS; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        char name[64];
        if (!chosen[i])
            continue;
        snprintf(name, sizeof(name), "stages/%lld/%lld", (long long)stage->id, (long long)stage->attempt);
        add_document(documents, name, STAGE_TASKS);
        int64_t tasks = stage->tasks > 0 ? stage->tasks : 0;
        documents->stage_tasks += tasks < STAGE_TASKS ? (size_t)tasks : STAGE_TASKS;
    }
    pyro_release(app->allocator, chosen);
}

static bool sql_has_finding(const struct pyro_diagnosis *diagnosis, size_t row)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        if (diagnosis->findings[i].sql == diagnosis->app->sql.items[row].id)
            return true;
    return false;
}

static int64_t sql_weight(const struct pyro_app *app, size_t row)
{
    return app->sql.items[row].task_ms;
}

static void add_sql(struct documents *documents)
{
    const struct pyro_app *app = documents->diagnosis->app;
    bool *chosen = choose(documents, app->sql.count, sql_has_finding, sql_weight);
    for (size_t i = 0; chosen && i < app->sql.count; i++) {
        char name[32];
        if (!chosen[i])
            continue;
        snprintf(name, sizeof(name), "sql/%lld", (long long)app->sql.items[i].id);
        add_document(documents, name, STAGE_TASKS);
    }
    pyro_release(app->allocator, chosen);
}

static bool has_trace(const struct pyro_tracks *tracks)
{
    for (size_t i = 0; tracks && i < pyro_tracks_count(tracks, PYRO_TRACK_ARTEFACTS); i++)
        if (pyro_slice_is(pyro_tracks_artefact(tracks, i)->kind, "ctf"))
            return true;
    return false;
}

/* The document of traces says nothing if there is none. */
static bool is_wanted(const struct documents *documents, const char *name)
{
    if (!strcmp(name, "trace"))
        return has_trace(documents->diagnosis->app->tracks);
    return documents->limits->environment || strcmp(name, "environment") != 0;
}

void pyro_html_documents(struct pyro_output *page, const struct pyro_diagnosis *diagnosis,
                         const struct pyro_report_options *options, bool many)
{
    struct documents documents = {.page = page, .diagnosis = diagnosis, .limits = many ? &among_others : &alone};
    for (size_t i = 0; pyro_view_name(i); i++) {
        const char *name = pyro_view_name(i);
        if (!strcmp(name, "stages/{#}/{#}"))
            add_stages(&documents);
        else if (!strcmp(name, "sql/{#}"))
            add_sql(&documents);
        else if (!strchr(name, '{') && is_wanted(&documents, name))
            add_document(&documents, name, documents.limits->timeline_tasks);
    }
    if (options->document && documents.limits->predictions)
        add_worked_out(&documents, "whatif", options);
    if (options->document)
        add_worked_out(&documents, "cost", options);
}
