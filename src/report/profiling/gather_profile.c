/* The processes, the series and the axis of time of a profile. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/collections/hash.h"
#include "base/numbers/saturate.h"
#include "model/column.h"
#include "report/profiling/profiling.h"
#include "text/humanize.h"

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000, DAY_S = 86400 };

static const double MOST = 9e15; /* of numbers that are shown as integers */

/* ---- Units ------------------------------------------------------------------------------------------------------- */

const char *pyro_profiling_unit(const struct pyro_profiling *profile, struct pyro_slice unit)
{
    if (!profile->choice.normalize)
        return NULL;
    if (pyro_slice_is(unit, "bytes"))
        return "MiB";
    return pyro_slice_is(unit, "ms") || pyro_slice_is(unit, "ns") ? "min" : NULL;
}

double pyro_profiling_value(const struct pyro_profiling *profile, struct pyro_slice unit, double value)
{
    if (!pyro_profiling_unit(profile, unit))
        return value;
    return value / (pyro_slice_is(unit, "bytes") ? 0x1p20 : pyro_slice_is(unit, "ms") ? 6e4 : 6e10);
}

void pyro_profiling_add_value(const struct pyro_profiling *profile, struct pyro_strbuf *to, struct pyro_slice unit,
                              double value)
{
    const char *normalized = pyro_profiling_unit(profile, unit);
    if (!(fabs(value) < MOST))
        pyro_strbuf_printf(to, "%g", value); /* records may say anything */
    else if (normalized)
        pyro_strbuf_printf(to, "%.2f %s", pyro_profiling_value(profile, unit, value), normalized);
    else if (pyro_slice_is(unit, "bytes"))
        pyro_human_bytes(to, (int64_t)value);
    else if (pyro_slice_is(unit, "ms"))
        pyro_human_ms(to, (int64_t)value);
    else if (pyro_slice_is(unit, "ns"))
        pyro_human_ms(to, (int64_t)(value / NS_PER_MS));
    else if (pyro_slice_is(unit, "share"))
        pyro_human_share(to, value);
    else if (value >= 100)
        pyro_human_count(to, (int64_t)value);
    else if (value > 0 && value < 0.1)
        pyro_strbuf_printf(to, "%.2g", value);
    else
        pyro_human_hundredths(to, value);
}

void pyro_profiling_add_ms(const struct pyro_profiling *profile, struct pyro_strbuf *to, int64_t ns)
{
    pyro_profiling_add_value(profile, to, PYRO_SLICE_LITERAL("ns"), (double)ns);
}

/* ---- Processes --------------------------------------------------------------------------------------------------- */

static bool is_worker(const struct pyro_thread_row *row)
{
    return pyro_slice_is(row->role, "python-worker");
}

/* The row of the process that a thread belongs to. A parent comes before its threads: no circle. */
static int32_t process_row(const struct pyro_tracks *tracks, int32_t thread)
{
    const struct pyro_thread_row *row = pyro_tracks_thread(tracks, (size_t)thread);
    while (row->parent >= 0 && row->parent < thread) {
        const struct pyro_thread_row *parent = pyro_tracks_thread(tracks, (size_t)row->parent);
        if (is_worker(row) && !is_worker(parent))
            break; /* of an executor */
        thread = row->parent;
        row = parent;
    }
    return thread;
}

static struct pyro_slice name_of(const struct pyro_profiling_process *process, struct pyro_slice other,
                                 struct pyro_arena *arena)
{
    bool driver = pyro_slice_is(process->executor, "driver"), worker = pyro_slice_is(process->role, "python-worker");
    struct pyro_slice of = process->executor.ptr ? process->executor : other.ptr ? other : PYRO_SLICE_LITERAL("");
    char pid[40] = "";
    if (process->pid != PYRO_NONE && (worker || of.len == 0))
        snprintf(pid, sizeof(pid), "%sprocess %lld", worker || of.len > 0 ? " " : "", (long long)process->pid);
    if (of.len == 0 && !worker && !pid[0])
        of = process->host.ptr ? process->host : PYRO_SLICE_LITERAL("process");
    return pyro_arena_printf(arena, "%s%.*s%s%s%s", process->executor.ptr && !driver ? "executor " : "",
                             (int)(of.len < 400 ? of.len : 400), of.ptr, worker && of.len > 0 ? ", " : "",
                             worker ? "Python worker" : "", pid);
}

/* Executors and drivers by name, others by host and process id, the rest by itself. */
static uint64_t key_of(const struct pyro_thread_row *row, int32_t number)
{
    char text[64];
    if (row->executor.ptr && !is_worker(row))
        return pyro_hash_slice(row->executor);
    if (row->pid == PYRO_NONE)
        snprintf(text, sizeof(text), "row %d", (int)number);
    else
        snprintf(text, sizeof(text), "%d %lld %llx", is_worker(row), (long long)row->pid,
                 (unsigned long long)(row->host.ptr ? pyro_hash_slice(row->host) : 0));
    return pyro_hash_slice(pyro_slice_from(text));
}

static void add_row(struct pyro_profiling_process *process, const struct pyro_thread_row *row)
{
    if (!process->role.ptr || pyro_slice_is(process->role, "jvm"))
        process->role = row->role.ptr ? row->role : process->role;
    process->executor = process->executor.ptr ? process->executor : row->executor;
    process->host = process->host.ptr ? process->host : row->host;
    process->pid = process->pid != PYRO_NONE ? process->pid : row->pid;
}

/* Groups the rows: process_of[] is the place of each in an order of first appearance. */
static bool group_rows(struct pyro_profiling *profile, struct pyro_map *known, struct pyro_arena *arena)
{
    size_t count = pyro_tracks_count(profile->tracks, PYRO_TRACK_THREADS);
    for (size_t i = 0; i < count; i++) {
        int32_t number = process_row(profile->tracks, (int32_t)i);
        const struct pyro_thread_row *row = pyro_tracks_thread(profile->tracks, (size_t)number);
        uint64_t *place = pyro_map_put(known, key_of(row, number), NULL);
        if (!place)
            return false;
        if (!*place) {
            profile->processes[profile->process_count++] =
                (struct pyro_profiling_process){.thread = number, .pid = PYRO_NONE};
            *place = profile->process_count;
        }
        profile->process_of[i] = (int32_t)(*place - 1);
        if ((size_t)number == i)
            add_row(&profile->processes[*place - 1], row);
    }
    for (size_t i = 0; i < profile->process_count; i++) {
        struct pyro_profiling_process *process = &profile->processes[i];
        process->name = name_of(process, pyro_tracks_thread(profile->tracks, (size_t)process->thread)->name, arena);
        if (!process->name.ptr)
            return false;
    }
    return true;
}

/* The driver, then executors by number, each with its workers, then the others. */
static int64_t rank_of(const struct pyro_profiling_process *process)
{
    struct pyro_slice id = process->executor;
    int64_t number = 0;
    if (pyro_slice_is(id, "driver") || (!id.ptr && pyro_slice_is(process->role, "driver")))
        return -1;
    for (size_t i = 0; id.ptr && i < id.len && i < 9 && id.ptr[i] >= '0' && id.ptr[i] <= '9'; i++)
        number = number * 10 + (id.ptr[i] - '0');
    return id.ptr ? number : INT64_MAX;
}

static int compare_processes(const void *a, const void *b)
{
    const struct pyro_profiling_process *x = a, *y = b;
    int64_t first = rank_of(x), second = rank_of(y);
    if (first != second)
        return first < second ? -1 : 1;
    int order = pyro_slice_compare(x->executor, y->executor);
    if (order == 0)
        order = pyro_slice_is(x->role, "python-worker") - pyro_slice_is(y->role, "python-worker");
    if (order == 0)
        order = (x->pid > y->pid) - (x->pid < y->pid);
    if (order == 0)
        order = pyro_slice_compare(x->name, y->name);
    return order ? order : (x->thread > y->thread) - (x->thread < y->thread);
}

static bool is_chosen(const struct pyro_profiling *profile, const struct pyro_profiling_process *process)
{
    struct pyro_slice wanted = profile->choice.process;
    char pid[24];
    snprintf(pid, sizeof(pid), "%lld", (long long)process->pid);
    return !wanted.ptr || (process->executor.ptr && pyro_slice_eq(wanted, process->executor)) ||
           pyro_slice_eq(wanted, process->name) || (process->pid != PYRO_NONE && pyro_slice_is(wanted, pid));
}

/* Sorts the processes, takes off those that are not chosen, and renumbers the rows. */
static bool order_processes(struct pyro_profiling *profile, struct pyro_arena *arena)
{
    size_t threads = pyro_tracks_count(profile->tracks, PYRO_TRACK_THREADS), kept = 0;
    int32_t *now = pyro_arena_array(arena, threads + 1, sizeof(*now)); /* by the row that a process is named after */
    int32_t *was = pyro_arena_array(arena, threads + 1, sizeof(*was));
    if (!now || !was)
        return false;
    for (size_t i = 0; i < profile->process_count; i++)
        was[i] = profile->processes[i].thread;
    qsort(profile->processes, profile->process_count, sizeof(*profile->processes), compare_processes);
    for (size_t i = 0; i < profile->process_count; i++) {
        now[profile->processes[i].thread] = is_chosen(profile, &profile->processes[i]) ? (int32_t)kept : -1;
        if (is_chosen(profile, &profile->processes[i]))
            profile->processes[kept++] = profile->processes[i];
    }
    profile->process_count = kept;
    for (size_t i = 0; i < threads; i++)
        profile->process_of[i] = now[was[profile->process_of[i]]];
    return true;
}

static bool find_processes(struct pyro_profiling *profile, struct pyro_arena *arena)
{
    size_t count = pyro_tracks_count(profile->tracks, PYRO_TRACK_THREADS);
    struct pyro_map known;
    profile->processes = pyro_arena_array(arena, count + 1, sizeof(*profile->processes));
    profile->process_of = pyro_arena_array(arena, count + 1, sizeof(*profile->process_of));
    if (!profile->processes || !profile->process_of)
        return false;
    pyro_map_init(&known, arena->allocator);
    bool done = group_rows(profile, &known, arena) && order_processes(profile, arena);
    pyro_map_done(&known);
    return done;
}

int32_t pyro_profiling_process_of(const struct pyro_profiling *profile, int32_t thread)
{
    return thread < 0 ? -1 : profile->process_of[thread];
}

bool pyro_profiling_is_gc_log(const struct pyro_profiling *profile, int32_t thread)
{
    const struct pyro_thread_row *row = pyro_tracks_thread(profile->tracks, (size_t)thread);
    return row->clock >= 0 && pyro_slice_is(pyro_tracks_clock(profile->tracks, (size_t)row->clock)->source, "gc-log");
}

int32_t pyro_profiling_pauses_of(const struct pyro_profiling *profile, int32_t thread)
{
    int32_t at = pyro_profiling_process_of(profile, thread);
    return at >= 0 && profile->processes[at].has_gc_log && !pyro_profiling_is_gc_log(profile, thread) ? -1 : at;
}

static void count_pauses(struct pyro_profiling *profile)
{
    for (size_t i = 0; i < pyro_tracks_count(profile->tracks, PYRO_TRACK_SPANS); i++) {
        int32_t thread = pyro_tracks_span(profile->tracks, i).thread, at = pyro_profiling_process_of(profile, thread);
        if (at >= 0 && pyro_profiling_is_gc_log(profile, thread))
            profile->processes[at].has_gc_log = true;
    }
    for (size_t i = 0; i < pyro_tracks_count(profile->tracks, PYRO_TRACK_SPANS); i++) {
        const struct pyro_span_row span = pyro_tracks_span(profile->tracks, i);
        int32_t at = pyro_profiling_pauses_of(profile, span.thread);
        if (span.kind != PYRO_SPAN_GC_PAUSE || at < 0)
            continue;
        struct pyro_profiling_process *process = &profile->processes[at];
        process->pauses++;
        process->pause_ns = pyro_add_saturating(process->pause_ns, span.duration_ns);
        process->longest_pause_ns =
            span.duration_ns > process->longest_pause_ns ? span.duration_ns : process->longest_pause_ns;
    }
}

/* ---- Series ------------------------------------------------------------------------------------------------------ */

static bool has_any(struct pyro_slice name, const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pyro_slice_find(name, parts[i]))
            return true;
    return false;
}

static bool find_series(struct pyro_profiling *profile, struct pyro_arena *arena)
{
    const struct pyro_profiling_choice *choice = &profile->choice;
    size_t count = pyro_tracks_count(profile->tracks, PYRO_TRACK_SERIES);
    profile->takes_series = pyro_arena_array(arena, count + 1, sizeof(*profile->takes_series));
    profile->most = pyro_arena_array(arena, count + 1, sizeof(*profile->most));
    if (!profile->takes_series || !profile->most)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct pyro_series_row *row = pyro_tracks_series(profile->tracks, i);
        profile->takes_series[i] =
            pyro_profiling_process_of(profile, row->thread) >= 0 &&
            (choice->metric_count == 0 || has_any(row->name, choice->metrics, choice->metric_count)) &&
            !has_any(row->name, choice->ignored, choice->ignored_count);
        profile->most[i].series = -1;
    }
    for (size_t i = 0; i < pyro_tracks_count(profile->tracks, PYRO_TRACK_POINTS); i++) {
        const struct pyro_point_row point = pyro_tracks_point(profile->tracks, i);
        struct pyro_point_row *most = point.series >= 0 ? &profile->most[point.series] : NULL;
        if (most && profile->takes_series[point.series] && (most->series < 0 || point.value > most->value))
            *most = point;
    }
    return true;
}

/* ---- The axis ---------------------------------------------------------------------------------------------------- */

bool pyro_profiling_is_timed(const struct pyro_profiling *profile)
{
    return profile->start_ns != PYRO_NONE && profile->end_ns > profile->start_ns;
}

static void extend(struct pyro_profiling *profile, int64_t start_ns, int64_t end_ns)
{
    if (start_ns == PYRO_NONE || end_ns == PYRO_NONE || end_ns < start_ns)
        return;
    if (profile->start_ns == PYRO_NONE || start_ns < profile->start_ns)
        profile->start_ns = start_ns;
    if (profile->end_ns == PYRO_NONE || end_ns > profile->end_ns)
        profile->end_ns = end_ns;
}

static int64_t ns_of(int64_t ms)
{
    return ms == PYRO_NONE || ms > INT64_MAX / NS_PER_MS || ms < 0 ? PYRO_NONE : ms * NS_PER_MS;
}

/* The application, and the files; what a wrong clock puts more than a day away from it would only squeeze the rest. */
static void find_axis(struct pyro_profiling *profile)
{
    const int64_t day = (int64_t)DAY_S * NS_PER_S;
    profile->start_ns = profile->end_ns = PYRO_NONE;
    if (profile->diagnosis)
        extend(profile, ns_of(profile->diagnosis->app->application.start_ms),
               ns_of(profile->diagnosis->app->application.end_ms));
    const int64_t least = profile->start_ns == PYRO_NONE ? INT64_MIN : pyro_sub_saturating(profile->start_ns, day);
    const int64_t most = profile->end_ns == PYRO_NONE ? INT64_MAX : pyro_add_saturating(profile->end_ns, day);
    for (size_t i = 0; i < pyro_tracks_count(profile->tracks, PYRO_TRACK_ARTEFACTS); i++) {
        const struct pyro_artefact_row *row = pyro_tracks_artefact(profile->tracks, i);
        if (row->first_ns != PYRO_NONE && row->first_ns >= least && row->last_ns <= most)
            extend(profile, row->first_ns, row->last_ns);
    }
    if (profile->start_ns != PYRO_NONE && profile->end_ns == profile->start_ns)
        profile->end_ns = pyro_add_saturating(profile->start_ns, NS_PER_MS);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static bool gather(struct pyro_profiling *profile, struct pyro_arena *arena)
{
    if (!find_processes(profile, arena) || !find_series(profile, arena))
        return false;
    count_pauses(profile);
    find_axis(profile);
    return pyro_profiling_find_work(profile, arena) && pyro_profiling_find_methods(profile, arena) &&
           pyro_profiling_find_serialization(profile, arena);
}

enum pyro_status pyro_profiling_gather(const struct pyro_tracks *tracks, const struct pyro_diagnosis *diagnosis,
                                       const struct pyro_profiling_choice *choice, struct pyro_arena *arena,
                                       struct pyro_profiling *ret, struct pyro_error *error)
{
    *ret =
        (struct pyro_profiling){.tracks = tracks, .diagnosis = diagnosis, .start_ns = PYRO_NONE, .end_ns = PYRO_NONE};
    if (choice)
        ret->choice = *choice;
    if (!gather(ret, arena))
        return pyro_no_memory(error);
    if (ret->choice.process.ptr && ret->process_count == 0)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "there is no process '%s': an executor (3, driver), a process id, or a name",
                              ret->choice.process.ptr);
    return PYRO_OK;
}
