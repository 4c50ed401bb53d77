/* The profile as one page that loads nothing: panels of each process on one axis of time, and tables. */
#include "model/column.h"
#include "report/profiling/page_style.h"
#include "report/profiling/panels.h"
#include "report/profiling/profiling.h"
#include "text/escape.h"
#include "text/humanize.h"

enum { NS_PER_MS = 1000000 };

struct document {
    struct pyro_output *output;
    const struct pyro_profiling *profile;
};

static struct pyro_strbuf *to(const struct document *document)
{
    return &document->output->buffer;
}

static void add(const struct document *document, const char *text)
{
    pyro_strbuf_add_text(to(document), text);
}

static void add_counted(const struct document *document, uint64_t count, const char *one, const char *many)
{
    pyro_human_count(to(document), (int64_t)count);
    pyro_strbuf_add_char(to(document), ' ');
    add(document, count == 1 ? one : many);
}

/* ---- Head -------------------------------------------------------------------------------------------------------- */

static void write_head(const struct document *document)
{
    const struct pyro_profiling *profile = document->profile;
    struct pyro_slice name = profile->diagnosis ? profile->diagnosis->app->application.name : PYRO_SLICE_NULL;
    add(document, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                  "content=\"width=device-width,initial-scale=1\"><meta http-equiv=\"Content-Security-Policy\" "
                  "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>");
    pyro_add_xml(to(document), name.len > 0 ? name : PYRO_SLICE_LITERAL("Profile"));
    add(document, "</title>\n<style>\n");
    add(document, page_style);
    add(document, "</style></head><body><main>\n<h1>");
    pyro_add_xml(to(document), name.len > 0 ? name : PYRO_SLICE_LITERAL("Profile"));
    add(document, "</h1>\n<p class=\"sub\">");
    if (profile->diagnosis && profile->diagnosis->app->application.id.ptr) {
        pyro_add_xml(to(document), profile->diagnosis->app->application.id);
        add(document, " · ");
    }
    add_counted(document, profile->process_count, "process", "processes");
    add(document, " in ");
    add_counted(document, pyro_tracks_count(profile->tracks, PYRO_TRACK_ARTEFACTS), "file", "files");
    if (pyro_profiling_is_timed(profile)) {
        add(document, " · ");
        pyro_profiling_add_ms(profile, to(document), profile->end_ns - profile->start_ns);
        add(document, " from ");
        pyro_human_time(to(document), profile->start_ns / NS_PER_MS, 0);
    }
    add(document, "</p>\n");
}

static void write_findings(const struct document *document)
{
    const struct pyro_diagnosis *diagnosis = document->profile->diagnosis;
    if (!diagnosis || diagnosis->finding_count == 0)
        return;
    add(document, "<section><h2>Findings</h2><ul>\n");
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        pyro_strbuf_printf(to(document), "<li><b>%s</b>: ", pyro_severity_name(finding->severity));
        pyro_add_xml(to(document), finding->title);
        if (finding->stage != PYRO_NONE)
            pyro_strbuf_printf(to(document), " (stage %lld)", (long long)finding->stage);
        add(document, "</li>\n");
    }
    add(document, "</ul></section>\n");
}

/* ---- Processes --------------------------------------------------------------------------------------------------- */

/* "heap 1.2 GiB": the largest value of a series with this name. */
static void write_most(const struct document *document, size_t process, const char *name, const char *title)
{
    const struct pyro_profiling *profile = document->profile;
    int64_t best = -1;
    for (size_t i = 0; i < pyro_tracks_count(profile->tracks, PYRO_TRACK_SERIES); i++) {
        const struct pyro_series_row *row = pyro_tracks_series(profile->tracks, i);
        if (profile->most[i].series >= 0 && pyro_profiling_process_of(profile, row->thread) == (int32_t)process &&
            pyro_slice_is(row->name, name) && (best < 0 || profile->most[i].value > profile->most[best].value))
            best = (int64_t)i;
    }
    if (best < 0)
        return;
    pyro_strbuf_printf(to(document), "<span>%s <b>", title);
    pyro_profiling_add_value(profile, to(document), pyro_tracks_series(profile->tracks, (size_t)best)->unit,
                             profile->most[best].value);
    add(document, "</b></span>");
}

static void write_facts(const struct document *document, size_t number)
{
    const struct pyro_profiling_process *process = &document->profile->processes[number];
    add(document, "<p class=\"facts\">");
    write_most(document, number, "heap.used", "heap up to");
    write_most(document, number, "process.rss", "resident up to");
    write_most(document, number, "cpu.process", "CPU up to");
    write_most(document, number, "cpu.cores", "cores up to");
    if (process->pauses > 0) {
        add(document, "<span>pauses <b>");
        pyro_human_count(to(document), (int64_t)process->pauses);
        add(document, "</b> in <b>");
        pyro_profiling_add_ms(document->profile, to(document), process->pause_ns);
        add(document, "</b>, longest <b>");
        pyro_profiling_add_ms(document->profile, to(document), process->longest_pause_ns);
        add(document, "</b></span>");
    }
    if (process->samples > 0) {
        add(document, "<span>samples <b>");
        pyro_human_count(to(document), (int64_t)process->samples);
        add(document, "</b></span>");
    }
    if (process->host.len > 0) {
        add(document, "<span>host ");
        pyro_add_xml(to(document), process->host);
        add(document, "</span>");
    }
    add(document, "</p>\n");
}

static bool write_panels(const struct document *document, struct pyro_arena *arena)
{
    const struct pyro_profiling *profile = document->profile;
    struct pyro_panels panels;
    if (!pyro_panels_make(&panels, document->output, profile, arena))
        return false;
    pyro_panels_axis(&panels);
    pyro_panels_overview(&panels);
    for (size_t i = 0; i < profile->process_count; i++) {
        if (!pyro_panels_has(&panels, (int32_t)i))
            continue;
        add(document, "<section><h2>");
        pyro_add_xml(to(document), profile->processes[i].name);
        add(document, "</h2>\n");
        write_facts(document, i);
        pyro_panels_process(&panels, (int32_t)i);
        add(document, "</section>\n");
        pyro_output_flush(document->output, false);
    }
    return true;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void write_share(const struct document *document, int64_t part, int64_t whole)
{
    add(document, "<td class=\"n\">");
    if (part > 0)
        pyro_human_share(to(document), (double)part / (double)whole);
    add(document, "</td>");
}

static void write_bar(const struct document *document, int64_t part, int64_t whole)
{
    pyro_strbuf_printf(to(document), "<td class=\"w\"><div style=\"width:%.1f%%\"></div></td>",
                       (double)part * 100 / (double)whole);
}

static void write_place(const struct document *document, struct pyro_slice function, struct pyro_slice file)
{
    add(document, "<td class=\"t\">");
    pyro_add_xml(to(document), function.ptr ? function : PYRO_SLICE_LITERAL("-"));
    if (file.len > 0) {
        add(document, " <span>");
        pyro_add_xml(to(document), file);
        add(document, "</span>");
    }
    add(document, "</td>");
}

static const char *title_of(enum pyro_sample_event event)
{
    switch (event) {
    case PYRO_SAMPLE_CPU:
        return "Methods by CPU samples";
    case PYRO_SAMPLE_WALL:
        return "Methods by wall-clock samples";
    case PYRO_SAMPLE_LOCK:
        return "Methods that wait for locks";
    default:
        return "Methods that sleep, are parked, read or write";
    }
}

static void write_methods(const struct document *document, enum pyro_sample_event event)
{
    const struct pyro_profiling_samples *samples = &document->profile->samples[event];
    bool waits = false;
    if (samples->method_count == 0 || samples->weight <= 0)
        return;
    for (size_t i = 0; i < samples->method_count; i++)
        waits |= samples->methods[i].waiting > 0;
    pyro_strbuf_printf(to(document), "<section><h2>%s</h2>\n<p class=\"facts\"><span>", title_of(event));
    if (event == PYRO_SAMPLE_LOCK || event == PYRO_SAMPLE_WAIT)
        pyro_profiling_add_ms(document->profile, to(document), samples->weight);
    else
        add_counted(document, (uint64_t)samples->weight, "sample", "samples");
    pyro_strbuf_printf(to(document),
                       "</span></p><div class=\"scroll\"><table><tr><th class=\"n\">Own</th><th class=\"w\"></th>%s<th "
                       "class=\"n\">With callees</th><th>Method</th></tr>\n",
                       waits ? "<th class=\"n\">Waiting</th>" : "");
    for (size_t i = 0; i < samples->method_count; i++) {
        const struct pyro_profiling_method *method = &samples->methods[i];
        add(document, "<tr>");
        write_share(document, method->self, samples->weight);
        write_bar(document, method->self, samples->weight);
        if (waits)
            write_share(document, method->waiting, samples->weight);
        write_share(document, method->total, samples->weight);
        write_place(document, method->function, method->file);
        add(document, "</tr>\n");
    }
    add(document, "</table></div></section>\n");
    pyro_output_flush(document->output, false);
}

static void write_allocations(const struct document *document)
{
    const struct pyro_profiling *profile = document->profile;
    int64_t weight = profile->samples[PYRO_SAMPLE_ALLOC].weight;
    if (profile->allocation_count == 0 || weight <= 0)
        return;
    add(document, "<section><h2>Allocations</h2>\n<div class=\"scroll\"><table><tr><th class=\"n\">Share</th><th "
                  "class=\"w\"></th>"
                  "<th class=\"n\">Bytes</th><th>Class</th><th>Method</th></tr>\n");
    for (size_t i = 0; i < profile->allocation_count; i++) {
        const struct pyro_profiling_allocation *row = &profile->allocations[i];
        add(document, "<tr>");
        write_share(document, row->bytes, weight);
        write_bar(document, row->bytes, weight);
        add(document, "<td class=\"n\">");
        pyro_profiling_add_value(profile, to(document), PYRO_SLICE_LITERAL("bytes"), (double)row->bytes);
        add(document, "</td>");
        write_place(document, row->class_name, PYRO_SLICE_NULL);
        write_place(document, row->function, row->file);
        add(document, "</tr>\n");
    }
    add(document, "</table></div></section>\n");
    pyro_output_flush(document->output, false);
}

static void write_files(const struct document *document)
{
    const struct pyro_tracks *tracks = document->profile->tracks;
    add(document, "<section><details><summary>Files</summary><div class=\"scroll\"><table><tr><th>Kind</th><th "
                  "class=\"n\">Records</th><th>File</th><th>Problems</th></tr>\n");
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_ARTEFACTS); i++) {
        const struct pyro_artefact_row *row = pyro_tracks_artefact(tracks, i);
        add(document, "<tr><td>");
        pyro_add_xml(to(document), row->kind);
        add(document, "</td><td class=\"n\">");
        pyro_human_count(to(document), row->rows);
        add(document, "</td><td class=\"t\">");
        pyro_add_xml(to(document), row->path);
        add(document, "</td><td>");
        if (row->problems.len > 0)
            pyro_add_xml(to(document), row->problems);
        add(document, "</td></tr>\n");
    }
    add(document, "</table></div></details></section>\n");
}

bool pyro_profiling_html(struct pyro_output *output, const struct pyro_profiling *profile, struct pyro_arena *arena)
{
    const struct document document = {.output = output, .profile = profile};
    write_head(&document);
    bool done = !pyro_profiling_is_timed(profile) || write_panels(&document, arena);
    write_findings(&document);
    for (int event = 0; event < PYRO_SAMPLE_EVENTS; event++)
        if (event != PYRO_SAMPLE_ALLOC)
            write_methods(&document, (enum pyro_sample_event)event);
    write_allocations(&document);
    write_files(&document);
    add(&document, "</main><script>");
    add(&document, page_script);
    add(&document, "</script></body></html>\n");
    return done;
}
