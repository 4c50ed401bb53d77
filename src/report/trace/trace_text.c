/* pyrometer.trace/1 as text. */
#include "model/column.h"
#include "report/trace/trace.h"
#include "rules/rule.h"
#include "text/humanize.h"
#include "text/page.h"

enum { STAGES_SHOWN = 10, WAITS_SHOWN = 8, PROCESSES_SHOWN = 8, CALLS_SHOWN = 8, NS_PER_MS = 1000000 };

struct text {
    struct pyro_page page;
    const struct pyro_trace_report *trace;
    const struct pyro_report_options *options;
    struct pyro_strbuf line;
};

static size_t limited(const struct text *text, size_t count, size_t shown)
{
    return text->options->details || count < shown ? count : shown;
}

static void heading(struct text *text, const char *title)
{
    pyro_page_blank(&text->page);
    pyro_page_wrap(&text->page, PYRO_STYLE_HEADING, "", pyro_slice_from(title));
}

static void add_ns(struct pyro_strbuf *line, int64_t ns)
{
    pyro_human_ms(line, ns / NS_PER_MS);
}

static void say(struct text *text, enum pyro_style style)
{
    pyro_page_wrap(&text->page, style, "", pyro_strbuf_slice(&text->line));
    pyro_strbuf_clear(&text->line);
}

static void add_head(struct text *text)
{
    const struct pyro_trace_report *trace = text->trace;
    struct pyro_strbuf *line = &text->line;
    pyro_page_heading(&text->page, PYRO_SLICE_LITERAL("Trace"), '=');
    if (trace->diagnosis && trace->diagnosis->app->application.name.ptr) {
        pyro_strbuf_add_slice(line, trace->diagnosis->app->application.name);
        pyro_strbuf_add_text(line, ": ");
    }
    pyro_human_count(line, trace->events);
    pyro_strbuf_add_text(line, trace->events == 1 ? " event" : " events");
    if (trace->first_ns != PYRO_NONE) {
        pyro_strbuf_add_text(line, " in ");
        add_ns(line, trace->last_ns - trace->first_ns);
    }
    pyro_strbuf_add_text(line, ", ");
    pyro_human_count(line, (int64_t)trace->tasks);
    pyro_strbuf_add_text(line, trace->tasks == 1 ? " task" : " tasks");
    pyro_strbuf_add_text(line, " traced.");
    say(text, PYRO_STYLE_NONE);
    if (trace->losses > 0) {
        pyro_strbuf_printf(line, "Events are missing in %lld %s (%lld events, as far as that is known): ",
                           (long long)trace->losses, trace->losses == 1 ? "place" : "places", (long long)trace->lost);
        pyro_strbuf_printf(line, "%llu tasks are not judged.", (unsigned long long)trace->torn);
        say(text, PYRO_STYLE_WARN);
    }
    if (trace->clock.tasks > 0) {
        pyro_strbuf_printf(line, "Tasks began %.1f ms after their launch in the event log (p99 %.1f, at most %.1f).",
                           trace->clock.p50_ms, trace->clock.p99_ms, trace->clock.most_ms);
        say(text, PYRO_STYLE_DIM);
    }
    if (trace->tasks == 0) {
        pyro_strbuf_add_text(line, "The trace says nothing of tasks: that needs the files of the Spark plugin "
                                   "(spark.pyrometer.trace.dir), which trace record makes.");
        say(text, PYRO_STYLE_WARN);
    }
}

static void add_problems(struct text *text)
{
    for (size_t i = 0; i < pyro_tracks_count(text->trace->tracks, PYRO_TRACK_ARTEFACTS); i++) {
        const struct pyro_artefact_row *row = pyro_tracks_artefact(text->trace->tracks, i);
        if (!row->problems.ptr || (!pyro_slice_is(row->kind, "ctf") && !pyro_slice_is(row->kind, "task-threads")))
            continue;
        pyro_strbuf_add_slice(&text->line, row->path);
        pyro_strbuf_add_text(&text->line, ": ");
        pyro_strbuf_add_slice(&text->line, row->problems);
        say(text, PYRO_STYLE_WARN);
    }
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void add_share(struct pyro_strbuf *cell, int64_t part, int64_t whole)
{
    pyro_strbuf_printf(cell, "%.1f %%", whole > 0 ? 100 * (double)part / (double)whole : 0);
}

/* What a wait was and what it came down to: "python-worker: runnable". */
static void add_wait_row(struct pyro_grid *grid, const struct pyro_traced_wait *wait, int64_t whole)
{
    pyro_strbuf_add_text(&grid->text, pyro_kernel_state_name(wait->state));
    pyro_grid_next(grid);
    pyro_strbuf_add_text(&grid->text, wait->root == wait->state ? "" : pyro_kernel_state_name(wait->root));
    pyro_grid_next(grid);
    add_ns(&grid->text, wait->duration_ns);
    pyro_grid_next(grid);
    add_share(&grid->text, wait->duration_ns, whole);
    pyro_grid_next(grid);
    pyro_human_count(&grid->text, wait->count);
    pyro_grid_next(grid);
    pyro_strbuf_add_slice(&grid->text, wait->what);
    pyro_grid_next(grid);
    pyro_strbuf_add_slice(&grid->text, wait->by);
    pyro_grid_next(grid);
}

static void add_stage(struct text *text, size_t stage)
{
    static const struct pyro_grid_column columns[] = {
        {"did", false, 0, false},  {"which was", false, 1, false}, {"time", true, 0, false}, {"share", true, 0, false},
        {"count", true, 3, false}, {"what", false, 2, false},      {"by", false, 0, false}};
    const struct pyro_trace_report *trace = text->trace;
    const struct pyro_stage_waited *waited = &trace->waits->stages[stage];
    struct pyro_grid grid;
    pyro_page_blank(&text->page);
    pyro_strbuf_printf(&text->line, "Stage %lld", (long long)trace->stages[stage].id);
    if (trace->stages[stage].attempt > 0)
        pyro_strbuf_printf(&text->line, ".%lld", (long long)trace->stages[stage].attempt);
    pyro_strbuf_printf(&text->line, ": %zu tasks, ", waited->tasks);
    add_ns(&text->line, waited->traced_ns);
    say(text, PYRO_STYLE_NONE);
    pyro_grid_init(&grid, text->page.output->buffer.allocator);
    grid.columns = columns;
    grid.column_count = sizeof(columns) / sizeof(*columns);
    for (size_t i = 0; i < limited(text, waited->count, WAITS_SHOWN); i++)
        add_wait_row(&grid, &trace->waits->waits[waited->first + i], waited->traced_ns);
    pyro_page_grid(&text->page, &grid);
    pyro_grid_done(&grid);
}

static void add_stages(struct text *text)
{
    const struct pyro_trace_report *trace = text->trace;
    size_t shown = 0, all = 0;
    if (!trace->waits->stages)
        return;
    heading(text, "WHAT TASKS DID AND WAITED FOR");
    for (size_t i = 0; i < trace->stage_count; i++) {
        if (trace->waits->stages[i].traced_ns == 0)
            continue;
        if (all++ < STAGES_SHOWN || text->options->details) {
            add_stage(text, i);
            shown++;
        }
    }
    if (shown < all) {
        pyro_strbuf_printf(&text->line, "%zu more stages: --details shows them.", all - shown);
        say(text, PYRO_STYLE_DIM);
    }
}

static void add_processes(struct text *text)
{
    static const struct pyro_grid_column columns[] = {{"pid", true, 0, false},      {"running", true, 0, false},
                                                      {"runnable", true, 0, false}, {"disk", true, 2, false},
                                                      {"threads", true, 3, false},  {"process", false, 0, false}};
    const struct pyro_trace_report *trace = text->trace;
    struct pyro_grid grid;
    if (trace->process_count == 0)
        return;
    heading(text, "PROCESSES");
    pyro_grid_init(&grid, text->page.output->buffer.allocator);
    grid.columns = columns;
    grid.column_count = sizeof(columns) / sizeof(*columns);
    for (size_t i = 0; i < limited(text, trace->process_count, PROCESSES_SHOWN); i++) {
        const struct pyro_trace_process *process = &trace->processes[i];
        if (process->pid != PYRO_NONE)
            pyro_strbuf_add_int(&grid.text, process->pid);
        pyro_grid_next(&grid);
        add_ns(&grid.text, process->state_ns[PYRO_KERNEL_USER] + process->state_ns[PYRO_KERNEL_SYSTEM]);
        pyro_grid_next(&grid);
        add_ns(&grid.text, process->state_ns[PYRO_KERNEL_RUNNABLE] + process->state_ns[PYRO_KERNEL_THROTTLED]);
        pyro_grid_next(&grid);
        add_ns(&grid.text, process->state_ns[PYRO_KERNEL_DISK]);
        pyro_grid_next(&grid);
        pyro_human_count(&grid.text, (int64_t)process->threads);
        pyro_grid_next(&grid);
        pyro_strbuf_add_slice(&grid.text, process->name);
        if (process->executor.ptr) {
            pyro_strbuf_add_text(&grid.text, pyro_slice_is(process->executor, "driver") ? ", " : ", executor ");
            pyro_strbuf_add_slice(&grid.text, process->executor);
        }
        pyro_grid_next(&grid);
    }
    pyro_page_grid(&text->page, &grid);
    pyro_grid_done(&grid);
}

static void add_calls(struct text *text)
{
    static const struct pyro_grid_column columns[] = {{"call", false, 0, false},
                                                      {"count", true, 0, false},
                                                      {"time", true, 0, false},
                                                      {"errors", true, 2, false},
                                                      {"bytes", true, 1, false}};
    const struct pyro_trace_report *trace = text->trace;
    struct pyro_grid grid;
    if (trace->call_count == 0)
        return;
    heading(text, "SYSTEM CALLS");
    pyro_grid_init(&grid, text->page.output->buffer.allocator);
    grid.columns = columns;
    grid.column_count = sizeof(columns) / sizeof(*columns);
    for (size_t i = 0; i < limited(text, trace->call_count, CALLS_SHOWN); i++) {
        const struct pyro_trace_call_row row = pyro_tracks_trace_call(trace->tracks, trace->calls[i]);
        pyro_strbuf_add_slice(&grid.text, row.name);
        pyro_grid_next(&grid);
        pyro_human_count(&grid.text, row.count);
        pyro_grid_next(&grid);
        add_ns(&grid.text, row.duration_ns);
        pyro_grid_next(&grid);
        pyro_human_count(&grid.text, row.errors);
        pyro_grid_next(&grid);
        if (row.bytes != PYRO_NONE)
            pyro_human_bytes(&grid.text, row.bytes);
        pyro_grid_next(&grid);
    }
    pyro_page_grid(&text->page, &grid);
    pyro_grid_done(&grid);
}

static void add_findings(struct text *text)
{
    const struct pyro_diagnosis *diagnosis = text->trace->diagnosis;
    bool any = false;
    for (size_t i = 0; diagnosis && i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        if (!finding->rule->needs_trace)
            continue;
        if (!any)
            heading(text, "FINDINGS");
        any = true;
        pyro_strbuf_printf(&text->line, "%s (%s): ", finding->rule->title, finding->rule->id);
        pyro_strbuf_add_slice(&text->line, finding->cause);
        pyro_page_wrap(&text->page, PYRO_STYLE_NONE, "- ", pyro_strbuf_slice(&text->line));
        pyro_strbuf_clear(&text->line);
    }
}

void pyro_trace_text(struct pyro_output *output, const struct pyro_trace_report *trace,
                     const struct pyro_report_options *options)
{
    struct text text = {.trace = trace, .options = options};
    pyro_page_init(&text.page, output, options);
    pyro_strbuf_init(&text.line, output->buffer.allocator);
    add_head(&text);
    add_problems(&text);
    add_findings(&text);
    add_stages(&text);
    add_processes(&text);
    add_calls(&text);
    output->buffer.failed |= text.line.failed;
    pyro_strbuf_done(&text.line);
    pyro_page_done(&text.page);
}
