/* The profile as text: processes, methods, allocations, and with details the maxima of all series. */
#include "model/column.h"
#include "report/profiling/profiling.h"
#include "text/escape.h"
#include "text/humanize.h"
#include "text/page.h"

enum { SHOWN = 10, FINDINGS_SHOWN = 5, NS_PER_MS = 1000000 };

struct text {
    struct pyro_page page;
    const struct pyro_profiling *profile;
    const struct pyro_report_options *options;
    struct pyro_strbuf line;
};

static void heading(struct text *text, const char *title)
{
    pyro_page_blank(&text->page);
    pyro_page_wrap(&text->page, PYRO_STYLE_HEADING, "", pyro_slice_from(title));
}

static void add_counted(struct pyro_strbuf *line, uint64_t count, const char *one, const char *many)
{
    pyro_human_count(line, (int64_t)count);
    pyro_strbuf_add_char(line, ' ');
    pyro_strbuf_add_text(line, count == 1 ? one : many);
}

static void add_head(struct text *text)
{
    const struct pyro_profiling *profile = text->profile;
    struct pyro_strbuf *line = &text->line;
    pyro_page_heading(&text->page, PYRO_SLICE_LITERAL("Profile"), '=');
    pyro_strbuf_clear(line);
    if (profile->diagnosis && profile->diagnosis->app->application.name.ptr) {
        pyro_strbuf_add_slice(line, profile->diagnosis->app->application.name);
        pyro_strbuf_add_text(line, ": ");
    }
    add_counted(line, profile->process_count, "process", "processes");
    pyro_strbuf_add_text(line, " in ");
    add_counted(line, pyro_tracks_count(profile->tracks, PYRO_TRACK_ARTEFACTS), "file", "files");
    if (pyro_profiling_is_timed(profile)) {
        pyro_strbuf_add_text(line, ", ");
        pyro_profiling_add_ms(profile, line, profile->end_ns - profile->start_ns);
        pyro_strbuf_add_text(line, " from ");
        pyro_human_time(line, profile->start_ns / NS_PER_MS, text->options->utc_offset_s);
    }
    pyro_strbuf_add_char(line, '.');
    if (profile->jobs.count + profile->stages.count + profile->tasks.count > 0) {
        pyro_strbuf_add_char(line, ' ');
        add_counted(line, profile->jobs.count, "job", "jobs");
        pyro_strbuf_add_text(line, ", ");
        add_counted(line, profile->stages.count, "stage", "stages");
        pyro_strbuf_add_text(line, ", ");
        add_counted(line, profile->tasks.count + profile->tasks.left_out, "task", "tasks");
        pyro_strbuf_add_char(line, '.');
    }
    pyro_page_wrap(&text->page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(line));
}

/* The largest value of a series of the process, whichever file has it. */
static void add_most(const struct pyro_profiling *profile, struct pyro_strbuf *cell, size_t process, const char *name)
{
    const struct pyro_point_row *most = NULL;
    struct pyro_slice unit = PYRO_SLICE_NULL;
    for (size_t i = 0; i < pyro_tracks_count(profile->tracks, PYRO_TRACK_SERIES); i++) {
        const struct pyro_series_row *row = pyro_tracks_series(profile->tracks, i);
        if (profile->most[i].series < 0 || pyro_profiling_process_of(profile, row->thread) != (int32_t)process ||
            !pyro_slice_is(row->name, name) || (most && most->value >= profile->most[i].value))
            continue;
        most = &profile->most[i];
        unit = row->unit;
    }
    if (most)
        pyro_profiling_add_value(profile, cell, unit, most->value);
}

static void add_process(const struct pyro_profiling *profile, struct pyro_grid *grid, size_t number)
{
    const struct pyro_profiling_process *process = &profile->processes[number];
    pyro_strbuf_add_slice(&grid->text, process->name);
    pyro_grid_next(grid);
    add_most(profile, &grid->text, number, "heap.used");
    pyro_grid_next(grid);
    add_most(profile, &grid->text, number, "process.rss");
    pyro_grid_next(grid);
    add_most(profile, &grid->text, number, "cpu.process");
    pyro_grid_next(grid);
    add_most(profile, &grid->text, number, "cpu.cores");
    pyro_grid_next(grid);
    if (process->pauses > 0)
        pyro_human_count(&grid->text, (int64_t)process->pauses);
    pyro_grid_next(grid);
    if (process->pauses > 0)
        pyro_profiling_add_ms(profile, &grid->text, process->pause_ns);
    pyro_grid_next(grid);
    if (process->pauses > 0)
        pyro_profiling_add_ms(profile, &grid->text, process->longest_pause_ns);
    pyro_grid_next(grid);
    if (process->samples > 0)
        pyro_human_count(&grid->text, (int64_t)process->samples);
    pyro_grid_next(grid);
}

static void add_processes(struct text *text)
{
    static const struct pyro_grid_column columns[] = {
        {"process", false, 0, false}, {"heap", true, 1, false},    {"resident", true, 2, false},
        {"CPU", true, 3, false},      {"cores", true, 4, false},   {"GC pauses", true, 5, false},
        {"GC time", true, 6, false},  {"longest", true, 7, false}, {"samples", true, 8, false},
    };
    struct pyro_grid grid;
    pyro_grid_init(&grid, text->line.allocator);
    grid.columns = columns;
    grid.column_count = sizeof(columns) / sizeof(*columns);
    heading(text, "PROCESSES, AND THEIR MAXIMA");
    for (size_t i = 0; i < text->profile->process_count; i++)
        add_process(text->profile, &grid, i);
    pyro_page_grid(&text->page, &grid);
    pyro_grid_done(&grid);
}

static size_t shown(const struct text *text, size_t count)
{
    return text->options->details || count < SHOWN ? count : SHOWN;
}

static void add_place(struct pyro_strbuf *cell, struct pyro_slice function, struct pyro_slice file)
{
    pyro_strbuf_add_slice(cell, function);
    if (file.len > 0) {
        pyro_strbuf_add_text(cell, "  ");
        pyro_strbuf_add_slice(cell, file);
    }
}

static void add_methods(struct text *text, enum pyro_sample_event event)
{
    static const struct pyro_grid_column columns[] = {{"own", true, 0, false},
                                                      {"waiting", true, 1, false},
                                                      {"with callees", true, 0, false},
                                                      {"method", false, 0, false}};
    const struct pyro_profiling_samples *samples = &text->profile->samples[event];
    struct pyro_grid grid;
    if (samples->method_count == 0 || samples->weight <= 0)
        return;
    pyro_strbuf_clear(&text->line);
    pyro_strbuf_printf(&text->line, "TOP METHODS (%s)", pyro_sample_event_name(event));
    heading(text, text->line.data ? text->line.data : "");
    pyro_grid_init(&grid, text->line.allocator);
    grid.columns = columns;
    grid.column_count = sizeof(columns) / sizeof(*columns);
    for (size_t i = 0; i < shown(text, samples->method_count); i++) {
        const struct pyro_profiling_method *method = &samples->methods[i];
        pyro_human_share(&grid.text, (double)method->self / (double)samples->weight);
        pyro_grid_next(&grid);
        if (method->waiting > 0)
            pyro_human_share(&grid.text, (double)method->waiting / (double)samples->weight);
        pyro_grid_next(&grid);
        pyro_human_share(&grid.text, (double)method->total / (double)samples->weight);
        pyro_grid_next(&grid);
        add_place(&grid.text, method->function, method->file);
        pyro_grid_next(&grid);
    }
    pyro_page_grid(&text->page, &grid);
    pyro_grid_done(&grid);
}

static void add_allocations(struct text *text)
{
    static const struct pyro_grid_column columns[] = {
        {"share", true, 0, false}, {"bytes", true, 0, false}, {"class", false, 0, false}, {"method", false, 0, false}};
    const struct pyro_profiling *profile = text->profile;
    int64_t weight = profile->samples[PYRO_SAMPLE_ALLOC].weight;
    struct pyro_grid grid;
    if (profile->allocation_count == 0 || weight <= 0)
        return;
    heading(text, "TOP ALLOCATIONS");
    pyro_grid_init(&grid, text->line.allocator);
    grid.columns = columns;
    grid.column_count = sizeof(columns) / sizeof(*columns);
    for (size_t i = 0; i < shown(text, profile->allocation_count); i++) {
        const struct pyro_profiling_allocation *row = &profile->allocations[i];
        pyro_human_share(&grid.text, (double)row->bytes / (double)weight);
        pyro_grid_next(&grid);
        pyro_profiling_add_value(profile, &grid.text, PYRO_SLICE_LITERAL("bytes"), (double)row->bytes);
        pyro_grid_next(&grid);
        pyro_strbuf_add_slice(&grid.text, row->class_name);
        pyro_grid_next(&grid);
        add_place(&grid.text, row->function, row->file);
        pyro_grid_next(&grid);
    }
    pyro_page_grid(&text->page, &grid);
    pyro_grid_done(&grid);
}

static void add_stage(struct pyro_strbuf *cell, const struct pyro_profiling_serialization *row)
{
    if (row->stage == PYRO_NONE)
        pyro_strbuf_add_text(cell, "not known");
    else
        pyro_strbuf_printf(cell, "%lld", (long long)row->stage);
    if (row->attempt != PYRO_NONE && row->attempt > 0)
        pyro_strbuf_printf(cell, " (attempt %lld)", (long long)row->attempt);
}

static void add_serialization(struct text *text)
{
    static const struct pyro_grid_column columns[] = {{"share", true, 0, false}, {"Spark", true, 1, false},
                                                      {"Java", true, 2, false},  {"Kryo", true, 3, false},
                                                      {"of", false, 0, false},   {"stage", false, 0, false}};
    const struct pyro_profiling *profile = text->profile;
    struct pyro_grid grid;
    if (profile->serialization_count == 0)
        return;
    heading(text, "SERIALIZATION");
    pyro_grid_init(&grid, text->line.allocator);
    grid.columns = columns;
    grid.column_count = sizeof(columns) / sizeof(*columns);
    for (size_t i = 0; i < shown(text, profile->serialization_count); i++) {
        const struct pyro_profiling_serialization *row = &profile->serialization[i];
        pyro_human_share(&grid.text, (double)row->sum / (double)row->weight);
        pyro_grid_next(&grid);
        for (int k = PYRO_SERIALIZER_SPARK; k < PYRO_SERIALIZERS; k++) {
            if (row->serializers[k] > 0)
                pyro_human_share(&grid.text, (double)row->serializers[k] / (double)row->weight);
            pyro_grid_next(&grid);
        }
        pyro_strbuf_add_text(&grid.text, pyro_sample_event_name(row->event));
        pyro_grid_next(&grid);
        add_stage(&grid.text, row);
        pyro_grid_next(&grid);
    }
    pyro_page_grid(&text->page, &grid);
    pyro_grid_done(&grid);
}

/* Of a choice of a task or stage: what is not known to belong to it or not. */
static void add_left_out(struct text *text)
{
    const struct pyro_flame_filter *filter = &text->profile->choice.samples;
    for (int event = 0; event < PYRO_SAMPLE_EVENTS && (filter->by_task || filter->by_stage); event++) {
        const struct pyro_profiling_samples *samples = &text->profile->samples[event];
        if (samples->left_out <= 0)
            continue;
        pyro_strbuf_clear(&text->line);
        pyro_human_count(&text->line, samples->left_out);
        pyro_strbuf_printf(&text->line, " %s (%s) name no %s for certain and are left out.",
                           pyro_sample_event_unit((enum pyro_sample_event)event),
                           pyro_sample_event_name((enum pyro_sample_event)event), filter->by_task ? "task" : "stage");
        pyro_page_blank(&text->page);
        pyro_page_wrap(&text->page, PYRO_STYLE_WARN, "", pyro_strbuf_slice(&text->line));
    }
}

static void add_maxima(struct text *text)
{
    static const struct pyro_grid_column columns[] = {
        {"process", false, 0, false}, {"most", true, 0, false}, {"series", false, 0, false}};
    const struct pyro_profiling *profile = text->profile;
    struct pyro_grid grid;
    heading(text, "MAXIMA OF ALL SERIES");
    pyro_grid_init(&grid, text->line.allocator);
    grid.columns = columns;
    grid.column_count = sizeof(columns) / sizeof(*columns);
    for (size_t i = 0; i < pyro_tracks_count(profile->tracks, PYRO_TRACK_SERIES); i++) {
        const struct pyro_series_row *row = pyro_tracks_series(profile->tracks, i);
        int32_t process = pyro_profiling_process_of(profile, row->thread);
        if (profile->most[i].series < 0 || process < 0)
            continue;
        pyro_strbuf_add_slice(&grid.text, profile->processes[process].name);
        pyro_grid_next(&grid);
        pyro_profiling_add_value(profile, &grid.text, row->unit, profile->most[i].value);
        pyro_grid_next(&grid);
        add_place(&grid.text, row->name, row->labels);
        pyro_grid_next(&grid);
    }
    pyro_page_grid(&text->page, &grid);
    pyro_grid_done(&grid);
}

static void add_findings(struct text *text)
{
    const struct pyro_diagnosis *diagnosis = text->profile->diagnosis;
    if (!diagnosis || diagnosis->finding_count == 0)
        return;
    heading(text, "FINDINGS OF THE EVENT LOG");
    for (size_t i = 0; i < diagnosis->finding_count && (i < FINDINGS_SHOWN || text->options->details); i++) {
        pyro_strbuf_clear(&text->line);
        pyro_strbuf_printf(&text->line, "%s: ", pyro_severity_name(diagnosis->findings[i].severity));
        pyro_strbuf_add_slice(&text->line, diagnosis->findings[i].title);
        pyro_page_wrap(&text->page, PYRO_STYLE_NONE, "  - ", pyro_strbuf_slice(&text->line));
    }
}

static void add_problems(struct text *text)
{
    bool any = false;
    for (size_t i = 0; i < pyro_tracks_count(text->profile->tracks, PYRO_TRACK_ARTEFACTS); i++) {
        const struct pyro_artefact_row *row = pyro_tracks_artefact(text->profile->tracks, i);
        if (row->problems.len == 0)
            continue;
        if (!any)
            heading(text, "PROBLEMS");
        any = true;
        pyro_strbuf_clear(&text->line);
        pyro_strbuf_add_slice(&text->line, row->path);
        pyro_strbuf_add_text(&text->line, ": ");
        pyro_strbuf_add_slice(&text->line, row->problems);
        pyro_page_wrap(&text->page, PYRO_STYLE_WARN, "  - ", pyro_strbuf_slice(&text->line));
    }
}

void pyro_profiling_text(struct pyro_output *output, const struct pyro_profiling *profile,
                         const struct pyro_report_options *options)
{
    struct text text = {.profile = profile, .options = options};
    pyro_page_init(&text.page, output, options);
    pyro_strbuf_init(&text.line, output->buffer.allocator);
    add_head(&text);
    add_processes(&text);
    for (int event = 0; event < PYRO_SAMPLE_EVENTS; event++)
        if (!pyro_sample_event_is_bytes((enum pyro_sample_event)event))
            add_methods(&text, (enum pyro_sample_event)event);
    add_allocations(&text);
    add_serialization(&text);
    add_left_out(&text);
    add_findings(&text);
    if (options->details)
        add_maxima(&text);
    add_problems(&text);
    output->buffer.failed |= text.line.failed;
    pyro_strbuf_done(&text.line);
    pyro_page_done(&text.page);
}
