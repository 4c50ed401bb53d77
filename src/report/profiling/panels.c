/* Lines of series, pauses and tasks as panels. Every row of the tracks is looked at once. */
#include "report/profiling/panels.h"

#include <math.h>
#include <stdlib.h>

#include "model/column.h"
#include "text/escape.h"
#include "text/humanize.h"

enum { LINES_MOST = 8, OTHERS_MOST = 12, NAMES = 3 };

static const double SECOND = 1e9, MOST = 1e30;

/* What is drawn together. */
static const struct {
    const char *title, *names[NAMES];
} charts[] = {
    {"Heap", {"heap.used", "heap.committed"}},
    {"Outside the heap", {"non_heap.used", "non_heap.committed"}},
    {"Memory pools", {"pool.used"}},
    {"Buffers", {"buffer.used"}},
    {"Resident memory", {"process.rss"}},
    {"CPU, share of all cores", {"cpu.process", "cpu.process.system", "cpu.system"}},
    {"Cores in use", {"cpu.cores", "cpu.time"}},
    {"Time in collections", {"gc.time"}},
    {"Storage, bytes a second", {"io.read", "io.written"}},
};

enum { CHARTS = sizeof(charts) / sizeof(*charts), NO_CHART = 1000 };

/* Drawn only if they are asked for: limits and variants of the above. */
static const char *const quiet[] = {"heap.max", "pool.committed",   "process.virtual",     "process.rss_peak",
                                    "gc.count", "io.read_by_calls", "io.written_by_calls", "process.page_faults"};

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static unsigned chart_of(const struct pyro_profiling *profile, struct pyro_slice name)
{
    for (unsigned i = 0; i < CHARTS; i++)
        for (unsigned n = 0; n < NAMES && charts[i].names[n]; n++)
            if (pyro_slice_is(name, charts[i].names[n]))
                return i;
    for (size_t i = 0; i < sizeof(quiet) / sizeof(*quiet) && profile->choice.metric_count == 0; i++)
        if (pyro_slice_is(name, quiet[i]))
            return NO_CHART;
    return CHARTS;
}

double pyro_panel_share(const struct pyro_profiling *profile, int64_t time_ns)
{
    double share =
        ((double)time_ns - (double)profile->start_ns) / ((double)profile->end_ns - (double)profile->start_ns);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

static const struct pyro_series_row *series_of(const struct pyro_panels *panels, const struct pyro_panel_line *line)
{
    return pyro_tracks_series(panels->profile->tracks, (size_t)line->series);
}

/* Change per second between the ends of two marks, whose values are the last ones; what is counted in time becomes a
 * share, or a number of cores. */
static double rate(const struct pyro_series_row *series, const struct pyro_track_mark *from,
                   const struct pyro_track_mark *to)
{
    double seconds = (double)(to->start_ns + to->duration_ns - from->start_ns - from->duration_ns) / SECOND;
    double change = to->value - from->value;
    double scale = pyro_slice_is(series->unit, "ms") ? 1e3 : pyro_slice_is(series->unit, "ns") ? SECOND : 1;
    return seconds > 0 && change > 0 ? change / seconds / scale : 0;
}

static bool add_line(struct pyro_panels *panels, const struct pyro_track *track, struct pyro_arena *arena)
{
    const struct pyro_profiling *profile = panels->profile;
    const struct pyro_series_row *series = pyro_tracks_series(profile->tracks, (size_t)track->series);
    unsigned chart = chart_of(profile, series->name);
    size_t first = series->type == PYRO_SERIES_COUNTER ? 1 : 0;
    if (!profile->takes_series[track->series] || chart == NO_CHART || track->count < first + 1 ||
        (pyro_tracks_thread(profile->tracks, (size_t)series->thread)->parent >= 0 && profile->choice.metric_count == 0))
        return true;
    struct pyro_panel_line *line = &panels->lines[panels->line_count++];
    *line = (struct pyro_panel_line){.series = track->series,
                                     .process = pyro_profiling_process_of(profile, series->thread),
                                     .chart = chart,
                                     .count = track->count - first,
                                     .x = pyro_arena_array(arena, track->count, sizeof(*line->x)),
                                     .y = pyro_arena_array(arena, track->count, sizeof(*line->y))};
    if (!line->x || !line->y)
        return false;
    for (size_t i = 0; i < line->count; i++) {
        const struct pyro_track_mark *mark = &track->marks[i + first];
        double value = first ? rate(series, mark - 1, mark) : mark->value;
        value = fabs(value) < MOST ? value : 0; /* records may say anything */
        line->x[i] = (float)pyro_panel_share(profile, mark->start_ns);
        line->y[i] = (float)value;
        line->most = value > line->most ? value : line->most;
    }
    return true;
}

static bool add_pauses(struct pyro_panels *panels, const struct pyro_track *track, struct pyro_arena *arena,
                       size_t *room)
{
    const struct pyro_profiling *profile = panels->profile;
    int32_t process = pyro_profiling_pauses_of(profile, track->thread);
    if (process < 0)
        return true;
    if (panels->pause_count + track->count > *room) {
        size_t more = 2 * *room + track->count;
        struct pyro_panel_pause *grown = pyro_arena_array(arena, more, sizeof(*grown));
        if (!grown)
            return false;
        if (panels->pause_count > 0)
            memcpy(grown, panels->pauses, panels->pause_count * sizeof(*grown));
        panels->pauses = grown;
        *room = more;
    }
    for (size_t i = 0; i < track->count; i++) {
        const struct pyro_track_mark *mark = &track->marks[i];
        if (mark->code == PYRO_SPAN_GC_PAUSE)
            panels->pauses[panels->pause_count++] =
                (struct pyro_panel_pause){.process = process,
                                          .merged = mark->merged,
                                          .from = pyro_panel_share(profile, mark->start_ns),
                                          .to = pyro_panel_share(profile, mark->start_ns + mark->duration_ns),
                                          .duration_ns = mark->duration_ns};
    }
    return true;
}

static int compare_lines(const void *a, const void *b)
{
    const struct pyro_panel_line *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->chart != y->chart)
        return x->chart < y->chart ? -1 : 1;
    return (x->series > y->series) - (x->series < y->series);
}

static int compare_pauses(const void *a, const void *b)
{
    const struct pyro_panel_pause *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* Round numbers, at most ten of them on the axis. */
static double tick_of(double seconds)
{
    static const double minutes[] = {60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400};
    double step = pow(10, floor(log10(seconds / 10)));
    while (seconds / step > 10)
        step *= seconds / step > 20 ? 5 : 2;
    for (size_t i = 0; step > 30 && i < sizeof(minutes) / sizeof(*minutes); i++)
        if (seconds / minutes[i] <= 10)
            return minutes[i];
    return step;
}

/* Both are sorted by process. */
static bool index_processes(struct pyro_panels *panels, struct pyro_arena *arena)
{
    size_t count = panels->profile->process_count, line = 0, pause = 0;
    panels->line_at = pyro_arena_array(arena, count + 1, sizeof(*panels->line_at));
    panels->pause_at = pyro_arena_array(arena, count + 1, sizeof(*panels->pause_at));
    if (!panels->line_at || !panels->pause_at)
        return false;
    for (size_t i = 0; i <= count; i++) {
        while (line < panels->line_count && (size_t)panels->lines[line].process < i)
            line++;
        while (pause < panels->pause_count && (size_t)panels->pauses[pause].process < i)
            pause++;
        panels->line_at[i] = line;
        panels->pause_at[i] = pause;
    }
    return true;
}

bool pyro_panels_make(struct pyro_panels *panels, struct pyro_output *output, const struct pyro_profiling *profile,
                      struct pyro_arena *arena)
{
    const struct pyro_track_window window = {profile->start_ns, profile->end_ns, PYRO_PANEL_PIXELS, 0};
    struct pyro_track_iterator iterator;
    struct pyro_track track;
    size_t room = 0;
    *panels = (struct pyro_panels){.output = output, .profile = profile};
    panels->tick_seconds = tick_of(((double)profile->end_ns - (double)profile->start_ns) / SECOND);
    panels->lines =
        pyro_arena_array(arena, pyro_tracks_count(profile->tracks, PYRO_TRACK_SERIES) + 1, sizeof(*panels->lines));
    if (!panels->lines || !pyro_track_begin(&iterator, profile->tracks, &window, arena))
        return false;
    while (pyro_track_next(&iterator, &track))
        if (track.kind == PYRO_TRACK_OF_POINTS ? !add_line(panels, &track, arena)
                                               : !add_pauses(panels, &track, arena, &room))
            return false;
    if (panels->line_count > 0)
        qsort(panels->lines, panels->line_count, sizeof(*panels->lines), compare_lines);
    if (panels->pause_count > 0)
        qsort(panels->pauses, panels->pause_count, sizeof(*panels->pauses), compare_pauses);
    return index_processes(panels, arena);
}

/* ---- The axis ---------------------------------------------------------------------------------------------------- */

static double seconds_of(const struct pyro_panels *panels)
{
    return ((double)panels->profile->end_ns - (double)panels->profile->start_ns) / SECOND;
}

static void add_tick(const struct pyro_panels *panels, double seconds)
{
    if (seconds == 0)
        pyro_strbuf_add_char(pyro_panel_to(panels), '0');
    else if (panels->profile->choice.normalize)
        pyro_strbuf_printf(pyro_panel_to(panels), "%.*f min", panels->tick_seconds < 60 ? 2 : 0, seconds / 60);
    else
        pyro_human_ms(pyro_panel_to(panels), (int64_t)(seconds * 1000 + 0.5));
}

void pyro_panels_axis(const struct pyro_panels *panels)
{
    double length = seconds_of(panels);
    pyro_strbuf_printf(pyro_panel_to(panels),
                       "<div class=\"axis\"><div class=\"row\"><span>Time since the start</span><div class=\"ticks\" "
                       "data-seconds=\"%.3f\" data-unit=\"%s\">",
                       length, panels->profile->choice.normalize ? "min" : "s");
    for (unsigned i = 0; i * panels->tick_seconds <= length * 0.96; i++) {
        pyro_strbuf_printf(pyro_panel_to(panels), "<span style=\"left:%.2f%%\">",
                           i * panels->tick_seconds / length * 100);
        add_tick(panels, i * panels->tick_seconds);
        pyro_strbuf_add_text(pyro_panel_to(panels), "</span>");
    }
    pyro_strbuf_add_text(pyro_panel_to(panels), "<em class=\"now\" style=\"position:absolute;top:0;font-style:normal;"
                                                "white-space:nowrap\"></em></div></div></div>\n");
}

/* Lines of the grid, and dashed ones where jobs begin, or stages if there are no jobs. */
static void write_grid(const struct pyro_panels *panels)
{
    const struct pyro_profiling *profile = panels->profile;
    const struct pyro_profiling_works *marks = profile->jobs.count > 0 ? &profile->jobs : &profile->stages;
    double length = seconds_of(panels);
    pyro_strbuf_add_text(pyro_panel_to(panels), "<path class=\"g\" d=\"");
    for (unsigned i = 1; i * panels->tick_seconds < length; i++)
        pyro_strbuf_printf(pyro_panel_to(panels), "M%.1f 0V100", i * panels->tick_seconds / length * 1000);
    pyro_strbuf_add_text(pyro_panel_to(panels), "\"/><path class=\"m\" d=\"");
    for (size_t i = 0; i < marks->count && i < PYRO_PANEL_BARS; i++)
        pyro_strbuf_printf(pyro_panel_to(panels), "M%.1f 0V100",
                           pyro_panel_share(profile, marks->items[i].start_ns) * 1000);
    pyro_strbuf_add_text(pyro_panel_to(panels), "\"/>");
}

void pyro_panel_begin_row(const struct pyro_panels *panels, struct pyro_slice title)
{
    pyro_strbuf_add_text(pyro_panel_to(panels), "<figure class=\"row\"><figcaption>");
    pyro_add_xml(pyro_panel_to(panels), title);
}

void pyro_panel_begin_plot(const struct pyro_panels *panels, unsigned height)
{
    pyro_strbuf_printf(pyro_panel_to(panels),
                       "</figcaption><div class=\"plot\" style=\"height:%upx\"><svg viewBox=\"0 0 1000 100\" "
                       "preserveAspectRatio=\"none\" aria-hidden=\"true\">",
                       height);
    write_grid(panels);
}

void pyro_panel_end_row(const struct pyro_panels *panels)
{
    pyro_strbuf_add_text(pyro_panel_to(panels), "</div></figure>\n");
    pyro_output_flush(panels->output, false);
}

/* ---- Charts ------------------------------------------------------------------------------------------------------ */

static void add_value(const struct pyro_panels *panels, const struct pyro_series_row *series, double value)
{
    bool counter = series->type == PYRO_SERIES_COUNTER;
    if (counter && pyro_slice_is(series->unit, "ms"))
        pyro_human_share(pyro_panel_to(panels), value);
    else if (counter && pyro_slice_is(series->unit, "ns"))
        pyro_human_hundredths(pyro_panel_to(panels), value);
    else
        pyro_profiling_add_value(panels->profile, pyro_panel_to(panels), series->unit, value);
    if (counter && !pyro_slice_is(series->unit, "ms") && !pyro_slice_is(series->unit, "ns"))
        pyro_strbuf_add_text(pyro_panel_to(panels), "/s");
}

/* "used", "committed": what the lines of one chart do not have in common. */
static void write_key(const struct pyro_panels *panels, const struct pyro_panel_line *line, unsigned color)
{
    const struct pyro_series_row *series = series_of(panels, line);
    pyro_strbuf_printf(pyro_panel_to(panels), "<span class=\"key\"><i style=\"background:var(--c%u)\"></i>", color);
    if (series->labels.len > 0) {
        const char *value = memchr(series->labels.ptr, '=', series->labels.len);
        struct pyro_slice label = series->labels;
        if (value)
            label = (struct pyro_slice){value + 1, (size_t)(series->labels.ptr + series->labels.len - value - 1)};
        pyro_add_xml(pyro_panel_to(panels), label);
    } else {
        pyro_add_xml(pyro_panel_to(panels), series->name);
    }
    if (pyro_profiling_is_gc_log(panels->profile, series->thread))
        pyro_strbuf_add_text(pyro_panel_to(panels), " (log)");
    pyro_strbuf_add_text(pyro_panel_to(panels), "</span>");
}

static void write_points(const struct pyro_panels *panels, const struct pyro_panel_line *line, double most)
{
    double scale = most > 0 ? 94 / most : 0;
    for (size_t i = 0; i < line->count; i++)
        pyro_strbuf_printf(pyro_panel_to(panels), "%c%.1f %.1f", i ? 'L' : 'M', (double)line->x[i] * 1000,
                           100 - (double)line->y[i] * scale);
    if (line->count == 1)
        pyro_strbuf_add_text(pyro_panel_to(panels), "h2");
}

static void write_line(const struct pyro_panels *panels, const struct pyro_panel_line *line, double most,
                       unsigned color)
{
    if (color == 0 && line->count > 1) {
        pyro_strbuf_add_text(pyro_panel_to(panels), "<path class=\"a f0\" d=\"");
        write_points(panels, line, most);
        pyro_strbuf_printf(pyro_panel_to(panels), "V100H%.1fZ\"/>", (double)line->x[0] * 1000);
    }
    pyro_strbuf_printf(pyro_panel_to(panels), "<path class=\"c%u\" d=\"", color % PYRO_PANEL_COLORS);
    write_points(panels, line, most);
    pyro_strbuf_add_text(pyro_panel_to(panels), "\"/>");
    pyro_output_flush(panels->output, false);
}

static bool is_same(struct pyro_slice a, struct pyro_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* The same records in two files, such as a copy that has all of them. */
static bool is_copy(const struct pyro_panels *panels, const struct pyro_panel_line *a, const struct pyro_panel_line *b)
{
    const struct pyro_series_row *first = series_of(panels, a), *second = series_of(panels, b);
    return a->count == b->count && is_same(first->name, second->name) && is_same(first->labels, second->labels) &&
           memcmp(a->x, b->x, a->count * sizeof(*a->x)) == 0 && memcmp(a->y, b->y, a->count * sizeof(*a->y)) == 0;
}

/* The lines of a chart that are drawn: LINES_MOST at most, each once. *ret_more: further ones. */
static size_t choose_lines(const struct pyro_panels *panels, size_t first, size_t count,
                           const struct pyro_panel_line **chosen, size_t *ret_more)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pyro_panel_line *line = &panels->lines[first + i];
        bool copy = false;
        for (size_t k = 0; k < kept && !copy; k++)
            copy = is_copy(panels, chosen[k], line);
        if (!copy && kept < LINES_MOST)
            chosen[kept++] = line;
        else
            *ret_more += !copy;
    }
    return kept;
}

/* Lines [first, first + count) of one chart. */
static void write_chart(const struct pyro_panels *panels, size_t first, size_t count)
{
    const struct pyro_panel_line *lines[LINES_MOST];
    size_t more = 0, drawn = choose_lines(panels, first, count, lines, &more);
    const struct pyro_series_row *series = series_of(panels, lines[0]);
    double most = 0;
    for (size_t i = 0; i < drawn; i++)
        most = lines[i]->most > most ? lines[i]->most : most;
    pyro_panel_begin_row(panels,
                         lines[0]->chart < CHARTS ? pyro_slice_from(charts[lines[0]->chart].title) : series->name);
    for (size_t i = 0; i < drawn; i++)
        write_key(panels, lines[i], (unsigned)(i % PYRO_PANEL_COLORS));
    if (more > 0)
        pyro_strbuf_printf(pyro_panel_to(panels), "<span class=\"key\">and %zu more</span>", more);
    pyro_panel_begin_plot(panels, 84);
    for (size_t i = 0; i < drawn; i++)
        write_line(panels, lines[i], most, (unsigned)i);
    pyro_strbuf_add_text(pyro_panel_to(panels), "</svg><b>");
    add_value(panels, series, most);
    pyro_strbuf_add_text(pyro_panel_to(panels), "</b><s>0</s>");
    pyro_panel_end_row(panels);
}

/* ---- Pauses ------------------------------------------------------------------------------------------------------ */

static void write_pauses(const struct pyro_panels *panels, int32_t process)
{
    const struct pyro_profiling_process *row = &panels->profile->processes[process];
    if (panels->pause_at[process] == panels->pause_at[process + 1])
        return;
    pyro_panel_begin_row(panels, PYRO_SLICE_LITERAL("Pauses of collections"));
    pyro_panel_begin_plot(panels, 44);
    for (size_t i = panels->pause_at[process]; i < panels->pause_at[process + 1]; i++) {
        const struct pyro_panel_pause *pause = &panels->pauses[i];
        double width = (pause->to - pause->from) * 1000, longest = (double)row->longest_pause_ns;
        double height = longest > 0 ? (double)pause->duration_ns / longest * 92 : 92;
        height = height < 6 ? 6 : height > 92 ? 92 : height;
        pyro_strbuf_printf(pyro_panel_to(panels),
                           "<rect class=\"p\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                           pause->from * 1000, 100 - height, width > 1.5 ? width : 1.5, height);
        pyro_output_flush(panels->output, false);
    }
    pyro_strbuf_add_text(pyro_panel_to(panels), "</svg><b>");
    pyro_profiling_add_ms(panels->profile, pyro_panel_to(panels), row->longest_pause_ns);
    pyro_strbuf_add_text(pyro_panel_to(panels), "</b>");
    pyro_panel_end_row(panels);
}

/* ---- A process -----------------------------------------------------------------------------------------------------
 */

bool pyro_panels_has(const struct pyro_panels *panels, int32_t process)
{
    bool any = panels->line_at[process] < panels->line_at[process + 1] ||
               panels->pause_at[process] < panels->pause_at[process + 1];
    for (size_t i = 0; i < panels->profile->tasks.count && !any; i++)
        any = panels->profile->tasks.items[i].process == process;
    return any;
}

void pyro_panels_process(const struct pyro_panels *panels, int32_t process)
{
    size_t end = panels->line_at[process + 1];
    bool asked = panels->profile->choice.metric_count > 0;
    unsigned others = 0;
    for (size_t i = panels->line_at[process]; i < end;) {
        const struct pyro_panel_line *line = &panels->lines[i];
        size_t count = 1;
        while (line->chart < CHARTS && i + count < end && panels->lines[i + count].chart == line->chart)
            count++;
        if (line->chart < CHARTS || asked || others++ < OTHERS_MOST)
            write_chart(panels, i, count);
        i += count;
    }
    write_pauses(panels, process);
    pyro_panel_tasks(panels, process);
}
