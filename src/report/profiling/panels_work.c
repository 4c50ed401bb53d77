/* Jobs, stages and tasks as panels. */
#include "model/column.h"
#include "report/profiling/panels.h"
#include "text/escape.h"

enum { LANES_MOST = 60, LANE = 9 };

static int64_t end_of(const struct pyro_profiling *profile, const struct pyro_profiling_work *work)
{
    return work->end_ns == PYRO_NONE ? profile->end_ns : work->end_ns;
}

/* The first lane that is free at the start; LANES_MOST: none is. */
static unsigned take_lane(int64_t *ends, unsigned *lanes, int64_t start_ns, int64_t end_ns)
{
    unsigned lane = 0;
    while (lane < *lanes && ends[lane] > start_ns)
        lane++;
    if (lane == LANES_MOST)
        return lane;
    *lanes = lane == *lanes ? lane + 1 : *lanes;
    ends[lane] = end_ns;
    return lane;
}

/* Tasks of a process, or with -1 of all, that run in each part of the axis, as an area. */
static void write_running(const struct pyro_panels *panels, int32_t process, const char *title)
{
    const struct pyro_profiling *profile = panels->profile;
    int32_t change[PYRO_PANEL_PIXELS + 2] = {0}, now = 0, most = 0;
    for (size_t i = 0; i < profile->tasks.count; i++) {
        const struct pyro_profiling_work *task = &profile->tasks.items[i];
        if (process >= 0 && task->process != process)
            continue;
        change[(size_t)(pyro_panel_share(profile, task->start_ns) * PYRO_PANEL_PIXELS)]++;
        change[(size_t)(pyro_panel_share(profile, end_of(profile, task)) * PYRO_PANEL_PIXELS) + 1]--;
    }
    for (size_t i = 0; i < PYRO_PANEL_PIXELS; i++) {
        now += change[i];
        most = now > most ? now : most;
    }
    if (most == 0)
        return;
    pyro_panel_begin_row(panels, pyro_slice_from(title));
    if (profile->tasks.left_out > 0)
        pyro_strbuf_printf(pyro_panel_to(panels), "<span class=\"key\">without %llu later ones</span>",
                           (unsigned long long)profile->tasks.left_out);
    pyro_panel_begin_plot(panels, 60);
    pyro_strbuf_add_text(pyro_panel_to(panels), "<path class=\"a f0\" style=\"fill-opacity:.45\" d=\"M0 100");
    now = 0;
    for (size_t i = 0; i < PYRO_PANEL_PIXELS; i++) {
        if (change[i] != 0) {
            now += change[i];
            pyro_strbuf_printf(pyro_panel_to(panels), "H%.1fV%.1f", (double)i * 1000 / PYRO_PANEL_PIXELS,
                               100 - (double)now * 94 / most);
        }
    }
    pyro_strbuf_printf(pyro_panel_to(panels), "H1000V100Z\"/></svg><b>%d</b><s>0</s>", (int)most);
    pyro_panel_end_row(panels);
}

static void write_task(const struct pyro_panels *panels, const struct pyro_profiling_work *task, unsigned lane,
                       unsigned lanes)
{
    double from = pyro_panel_share(panels->profile, task->start_ns) * 1000;
    double width = pyro_panel_share(panels->profile, end_of(panels->profile, task)) * 1000 - from;
    double height = 100.0 / lanes;
    unsigned color = task->stage == PYRO_NONE ? 0 : (unsigned)((uint64_t)task->stage % PYRO_PANEL_COLORS);
    pyro_strbuf_printf(pyro_panel_to(panels),
                       "<rect class=\"f%u\" x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\"><title>task %lld",
                       color, from, lane * height, width > 1 ? width : 1, height * 0.8, (long long)task->id);
    if (task->stage != PYRO_NONE)
        pyro_strbuf_printf(pyro_panel_to(panels), ", stage %lld", (long long)task->stage);
    pyro_strbuf_add_text(pyro_panel_to(panels), "</title></rect>");
    pyro_output_flush(panels->output, false);
}

/* Each task as a bar on a lane, if they fit. */
void pyro_panel_tasks(const struct pyro_panels *panels, int32_t process)
{
    const struct pyro_profiling *profile = panels->profile;
    const struct pyro_profiling_works *tasks = &profile->tasks;
    int64_t ends[LANES_MOST];
    unsigned lanes = 0, again = 0;
    size_t count = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        if (tasks->items[i].process != process)
            continue;
        unsigned lane = take_lane(ends, &lanes, tasks->items[i].start_ns, end_of(profile, &tasks->items[i]));
        if (lane == LANES_MOST || ++count > PYRO_PROFILING_TASKS / 10) {
            write_running(panels, process, "Running tasks");
            return;
        }
    }
    if (count == 0)
        return;
    pyro_panel_begin_row(panels, PYRO_SLICE_LITERAL("Tasks"));
    pyro_strbuf_add_text(pyro_panel_to(panels), "<span class=\"key\">a color for each stage</span>");
    pyro_panel_begin_plot(panels, lanes * LANE < 28 ? 28 : lanes * LANE);
    for (size_t i = 0; i < tasks->count; i++) {
        const struct pyro_profiling_work *task = &tasks->items[i];
        if (task->process == process)
            write_task(panels, task, take_lane(ends, &again, task->start_ns, end_of(profile, task)), lanes);
    }
    pyro_strbuf_add_text(pyro_panel_to(panels), "</svg>");
    pyro_panel_end_row(panels);
}

static void write_bar(const struct pyro_panels *panels, const struct pyro_profiling_work *work, unsigned lane,
                      const char *what)
{
    bool job = what[0] == 'J';
    double from = pyro_panel_share(panels->profile, work->start_ns) * 100;
    double width = pyro_panel_share(panels->profile, end_of(panels->profile, work)) * 100 - from;
    pyro_strbuf_printf(pyro_panel_to(panels),
                       "<div class=\"span%s\" style=\"left:%.2f%%;width:max(3px,%.2f%%);top:%upx\" title=\"",
                       job ? " j" : "", from, width, lane * 19);
    pyro_strbuf_printf(pyro_panel_to(panels), "%s %lld", what, (long long)work->id);
    if (!job && work->attempt != PYRO_NONE && work->attempt > 0)
        pyro_strbuf_printf(pyro_panel_to(panels), ".%lld", (long long)work->attempt);
    if (work->name.len > 0) {
        pyro_strbuf_add_text(pyro_panel_to(panels), ": ");
        pyro_add_xml(pyro_panel_to(panels), work->name);
    }
    pyro_strbuf_add_text(pyro_panel_to(panels), "\">");
    if (width > 2)
        pyro_strbuf_printf(pyro_panel_to(panels), "%s%lld", width > 7 ? (job ? "Job " : "Stage ") : "",
                           (long long)work->id);
    pyro_strbuf_add_text(pyro_panel_to(panels), "</div>");
    pyro_output_flush(panels->output, false);
}

static void write_bars(const struct pyro_panels *panels, const struct pyro_profiling_works *works, const char *title,
                       const char *what)
{
    const struct pyro_profiling *profile = panels->profile;
    int64_t ends[LANES_MOST];
    unsigned lanes = 0, again = 0;
    size_t count = works->count < PYRO_PANEL_BARS ? works->count : PYRO_PANEL_BARS;
    for (size_t i = 0; i < count; i++)
        take_lane(ends, &lanes, works->items[i].start_ns, end_of(profile, &works->items[i]));
    if (lanes == 0)
        return;
    pyro_panel_begin_row(panels, pyro_slice_from(title));
    if (count < works->count)
        pyro_strbuf_printf(pyro_panel_to(panels), "<span class=\"key\">the first %zu of %zu</span>", count,
                           works->count);
    pyro_panel_begin_plot(panels, lanes * 19 + 2);
    pyro_strbuf_add_text(pyro_panel_to(panels), "</svg>");
    for (size_t i = 0; i < count; i++) {
        unsigned lane = take_lane(ends, &again, works->items[i].start_ns, end_of(profile, &works->items[i]));
        if (lane < LANES_MOST)
            write_bar(panels, &works->items[i], lane, what);
    }
    pyro_panel_end_row(panels);
}

void pyro_panels_overview(const struct pyro_panels *panels)
{
    const struct pyro_profiling *profile = panels->profile;
    if (profile->jobs.count + profile->stages.count + profile->tasks.count == 0)
        return;
    pyro_strbuf_add_text(pyro_panel_to(panels), "<section><h2>Jobs, stages and tasks</h2>\n");
    write_bars(panels, &profile->jobs, "Jobs", "Job");
    write_bars(panels, &profile->stages, "Stages", "Stage");
    write_running(panels, -1, "Running tasks");
    pyro_strbuf_add_text(pyro_panel_to(panels), "</section>\n");
}
