/* What was read in addition to the event log. */
#include "analyze/tracks/pauses.h"
#include "report/diagnosis/sections.h"
#include "text/humanize.h"

enum { FILES_SHOWN = 20, NS_PER_MS = 1000000 };

static void add_text(struct pyro_grid *grid, struct pyro_slice text)
{
    if (text.ptr)
        pyro_strbuf_add_slice(&grid->text, text);
    pyro_grid_next(grid);
}

static void add_file(struct pyro_grid *grid, const struct pyro_artefact_row *row)
{
    add_text(grid, row->kind);
    add_text(grid, row->executor);
    if (row->bytes != PYRO_NONE)
        pyro_human_bytes(&grid->text, row->bytes);
    pyro_grid_next(grid);
    pyro_human_count(&grid->text, row->rows);
    pyro_grid_next(grid);
    pyro_strbuf_add_slice(&grid->text, row->path);
    if (row->problems.ptr)
        pyro_strbuf_printf(&grid->text, " (%.*s)", (int)row->problems.len, row->problems.ptr);
    pyro_grid_next(grid);
}

/* "The garbage collector stopped executor 1 for 2.3 s in 14 pauses, at most 310 ms." */
static void say_pauses(struct pyro_section *section, const struct pyro_tracks *tracks)
{
    struct pyro_arena arena;
    size_t count;
    pyro_arena_init(&arena, section->remarks.allocator);
    const struct pyro_pauses *pauses = pyro_pauses_of(tracks, &arena, &count);
    section->remarks.failed |= !pauses;
    for (size_t i = 0; pauses && i < count; i++) {
        const struct pyro_thread_row *thread = pyro_tracks_thread(tracks, (size_t)pauses[i].thread);
        struct pyro_slice who = thread->executor.ptr ? thread->executor : thread->name;
        bool executor = thread->executor.ptr && !pyro_slice_is(who, "driver");
        pyro_strbuf_printf(&section->remarks, "The garbage collector stopped %s%.*s for ", executor ? "executor " : "",
                           (int)who.len, who.ptr ? who.ptr : "");
        pyro_human_ms(&section->remarks, pauses[i].total_ns / NS_PER_MS);
        pyro_strbuf_printf(&section->remarks, " in %llu pause%s, at most ", (unsigned long long)pauses[i].count,
                           pauses[i].count == 1 ? "" : "s");
        pyro_human_ms(&section->remarks, pauses[i].longest_ns / NS_PER_MS);
        pyro_strbuf_add_text(&section->remarks, ".\n");
    }
    pyro_arena_done(&arena);
}

void pyro_section_artefacts(struct pyro_section *section, const struct pyro_diagnosis *diagnosis,
                            const struct pyro_report_options *options)
{
    static const struct pyro_grid_column columns[] = {{"Kind", false, 0, false},
                                                      {"Executor", true, 1, false},
                                                      {"Size", true, 0, false},
                                                      {"Records", true, 0, false},
                                                      {"File", false, 0, false}};
    const struct pyro_tracks *tracks = diagnosis->app->tracks;
    if (!tracks)
        return;
    size_t count = pyro_tracks_count(tracks, PYRO_TRACK_ARTEFACTS);
    size_t shown = options->details || count < FILES_SHOWN ? count : FILES_SHOWN;
    section->title = "Other files";
    section->grid.columns = columns;
    section->grid.column_count = sizeof(columns) / sizeof(*columns);
    for (size_t i = 0; i < shown; i++)
        add_file(&section->grid, pyro_tracks_artefact(tracks, i));
    if (shown < count)
        pyro_strbuf_printf(&section->remarks, "Not shown: %zu files; --details shows all.\n", count - shown);
    say_pauses(section, tracks);
}
