/* profile: what profilers and logs of garbage collectors recorded of a run, from pyrometer.profile/1. */
#include <inttypes.h>

#include "model/app.h"
#include "model/tracks/tracks.h"
#include "serve/mcp/mcp.h"

enum { METHODS = 30, SERIES = 40 };

/* Whether the samples of an event are asked for: those of one, or by default those of threads and of allocations. */
static bool takes(const struct mcp_call *call, const json_t *document, const char *event)
{
    const char *wanted = pyro_mcp_text(call, "event");
    size_t i;
    const json_t *samples;
    bool has_cpu = false;
    json_array_foreach(json_object_get(document, "samples"), i, samples)
    {
        has_cpu |= strcmp(pyro_mcp_text_of(samples, "event"), "cpu") == 0;
    }
    if (wanted)
        return strcmp(event, wanted) == 0;
    return strcmp(event, "alloc") == 0 || strcmp(event, has_cpu ? "cpu" : "wall") == 0;
}

/* Releases the rows, of which the first `most` are written. */
static void write_rows(struct mcp_call *call, const char *title, json_t *rows, size_t most)
{
    if (json_array_size(rows) > 0)
        pyro_mcp_line(call, "%s:", title);
    while (json_array_size(rows) > most)
        json_array_remove(rows, json_array_size(rows) - 1);
    pyro_mcp_table(call, rows);
    json_decref(rows);
}

static void add_weight(json_t *row, const json_t *of, const char *key, const char *name, const char *unit)
{
    int64_t weight = pyro_mcp_int_of(of, key);
    char full[40];
    snprintf(full, sizeof(full), "%s%s", name,
             strcmp(unit, "bytes") == 0 ? "_bytes"
             : strcmp(unit, "ns") == 0  ? "_ms"
                                        : "");
    json_object_set_new(row, full, json_integer(strcmp(unit, "ns") == 0 ? weight / 1000000 : weight));
}

static void add_text(json_t *row, const json_t *of, const char *key, const char *name)
{
    json_object_set(row, name, json_object_get(of, key));
}

static void add_percent(json_t *row, const json_t *of, const char *key)
{
    char text[24];
    snprintf(text, sizeof(text), "%.1f", 100 * pyro_mcp_real_of(of, key));
    json_object_set_new(row, "percent", json_string(text));
}

static void write_methods(struct mcp_call *call, const json_t *document, const char *event)
{
    char title[64];
    size_t i;
    const json_t *method;
    json_t *rows = json_array();
    json_array_foreach(json_object_get(document, "top_methods"), i, method)
    {
        json_t *row = json_object();
        if (strcmp(pyro_mcp_text_of(method, "event"), event) != 0) {
            json_decref(row);
            continue;
        }
        const char *unit = pyro_mcp_text_of(method, "unit");
        add_weight(row, method, "self", "own", unit);
        add_percent(row, method, "self_share");
        add_weight(row, method, "total", "with_callees", unit);
        add_text(row, method, "function", "method");
        add_text(row, method, "file", "file");
        json_array_append_new(rows, row);
    }
    snprintf(title, sizeof(title), "Methods by samples of %s", event);
    write_rows(call, title, rows, METHODS);
}

static void write_allocations(struct mcp_call *call, const json_t *document)
{
    size_t i;
    const json_t *allocation;
    json_t *rows = json_array();
    json_array_foreach(json_object_get(document, "top_allocations"), i, allocation)
    {
        json_t *row = json_object();
        add_weight(row, allocation, "bytes", "all", "bytes");
        add_percent(row, allocation, "share");
        add_text(row, allocation, "class", "class");
        add_text(row, allocation, "function", "method");
        add_text(row, allocation, "file", "file");
        json_array_append_new(rows, row);
    }
    write_rows(call, "Methods by samples of alloc", rows, METHODS);
}

static void write_serialization(struct mcp_call *call, const json_t *document)
{
    static const char *const names[] = {"spark", "java", "kryo"};
    size_t i;
    const json_t *stage;
    json_t *rows = json_array();
    json_array_foreach(json_object_get(document, "serialization"), i, stage)
    {
        json_t *row = json_object();
        add_text(row, stage, "stage", "stage");
        add_text(row, stage, "attempt", "attempt");
        add_text(row, stage, "event", "event");
        add_percent(row, stage, "share");
        for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
            add_text(row, stage, names[k], names[k]);
        add_text(row, stage, "unit", "unit");
        json_array_append_new(rows, row);
    }
    write_rows(call, "Samples in serializers, by stage", rows, METHODS);
}

static void write_processes(struct mcp_call *call, const json_t *document)
{
    size_t i;
    const json_t *process;
    json_t *rows = json_array();
    json_array_foreach(json_object_get(document, "processes"), i, process)
    {
        json_t *row = json_object();
        if (pyro_mcp_int_of(process, "gc_pauses") == 0) {
            json_decref(row);
            continue;
        }
        add_text(row, process, "name", "process");
        add_text(row, process, "gc_pauses", "pauses");
        json_object_set_new(row, "total_ms", json_integer(pyro_mcp_int_of(process, "gc_pause_ms")));
        json_object_set_new(row, "longest_ms", json_integer(pyro_mcp_int_of(process, "gc_longest_pause_ms")));
        json_array_append_new(rows, row);
    }
    write_rows(call, "Pauses of garbage collectors", rows, SERIES);
}

static void write_maxima(struct mcp_call *call, const json_t *document)
{
    size_t i;
    const json_t *most, *processes = json_object_get(document, "processes");
    json_t *rows = json_array();
    json_array_foreach(json_object_get(document, "maxima"), i, most)
    {
        json_t *row = json_object();
        add_text(row, most, "name", "series");
        add_text(row, most, "labels", "labels");
        add_text(row, json_array_get(processes, (size_t)pyro_mcp_int_of(most, "process")), "name", "process");
        add_text(row, most, "value", "most");
        add_text(row, most, "unit", "unit");
        json_array_append_new(rows, row);
    }
    write_rows(call, "Highest values of series", rows, SERIES);
}

static void write_files(struct mcp_call *call, const json_t *document)
{
    static const char *const names[] = {"kind", "executor", "host", "records", "problems", "path"};
    size_t i;
    const json_t *file;
    json_t *rows = json_array();
    json_array_foreach(json_object_get(document, "files"), i, file)
    {
        json_t *row = json_object();
        for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
            add_text(row, file, names[k], names[k]);
        json_array_append_new(rows, row);
    }
    write_rows(call, "Files", rows, SIZE_MAX);
}

static void write(struct mcp_call *call, const json_t *document)
{
    static const char *const events[] = {"cpu", "wall", "lock", "wait"};
    size_t i;
    const json_t *samples;
    for (i = 0; i < sizeof(events) / sizeof(*events); i++)
        if (takes(call, document, events[i]))
            write_methods(call, document, events[i]);
    if (takes(call, document, "alloc"))
        write_allocations(call, document);
    json_array_foreach(json_object_get(document, "samples"), i, samples)
    {
        if (takes(call, document, pyro_mcp_text_of(samples, "event")) && pyro_mcp_int_of(samples, "left_out") > 0)
            pyro_mcp_line(call, "%" PRId64 " %s (%s) name no stage for certain and are left out",
                          pyro_mcp_int_of(samples, "left_out"), pyro_mcp_text_of(samples, "unit"),
                          pyro_mcp_text_of(samples, "event"));
    }
    write_serialization(call, document);
    write_processes(call, document);
    write_maxima(call, document);
    write_files(call, document);
}

static bool has_profiles(const struct pyro_catalog_diagnosis *opened)
{
    const struct pyro_tracks *tracks = opened->app ? opened->app->tracks : NULL;
    for (size_t i = 0; tracks && i < pyro_tracks_count(tracks, PYRO_TRACK_ARTEFACTS); i++)
        if (!pyro_slice_is(pyro_tracks_artefact(tracks, i)->kind, "text-log"))
            return true;
    return false;
}

static void ask(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened)
{
    int64_t stage = pyro_mcp_integer(call, "stage", -1);
    struct pyro_strbuf document;
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_profiling_options asked = {
        .size = sizeof(asked), .filters = stage >= 0 ? PYRO_FLAME_BY_STAGE : 0, .stage = stage};
    const struct pyro_options options = pyro_ticket_options(call->mcp->ticket);
    if (!has_profiles(opened)) {
        pyro_mcp_fail(call, "this run has no records of profilers and no log of a garbage collector next to its event "
                            "log; docs/bundles.md says where they belong");
        return;
    }
    pyro_strbuf_init(&document, NULL);
    struct pyro_writer writer = pyro_strbuf_writer(&document);
    enum pyro_status status =
        pyro_profiling_write(NULL, opened->diagnosis, &asked, PYRO_FORMAT_JSON, &options, &writer, &error);
    json_t *tree = pyro_mcp_take(call, &document, status, &error);
    if (tree)
        write(call, tree);
    json_decref(tree);
}

static void run(struct mcp_call *call)
{
    const struct pyro_catalog_diagnosis *opened = pyro_mcp_open(call, "app");
    if (opened)
        ask(call, opened);
    pyro_catalog_diagnosis_release(opened);
}

static const struct mcp_parameter parameters[] = {
    MCP_PARAMETER_APP,
    {"event", MCP_TEXT, false,
     "cpu: threads that ran; wall: all threads; alloc: allocated bytes; lock: waiting for locks; wait: other waiting. "
     "Default: cpu and "
     "alloc",
     "cpu wall alloc lock wait"},
    {"stage", MCP_INTEGER, false, "Samples of threads that worked for this stage only", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_profile = {
    "profile", "Read the profiles",
    "What profilers and logs of garbage collectors recorded, for runs that have such files next to their event log: "
    "methods by samples, allocations, pauses, highest memory and processor use.",
    parameters, run};
