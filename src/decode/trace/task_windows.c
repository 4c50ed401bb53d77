#include "decode/trace/task_windows.h"

#include <stdlib.h>

#include "base/numbers/saturate.h"
#include "model/column.h"

void pyro_task_windows_done(struct pyro_task_windows *windows)
{
    pyro_vec_done(&windows->items, windows->allocator);
    pyro_vec_done(&windows->pairs, windows->allocator);
    pyro_vec_done(&windows->processes, windows->allocator);
    pyro_vec_done(&windows->children, windows->allocator);
}

/* Hosts are named by their short or their full names. */
static bool same_host(struct pyro_slice a, struct pyro_slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    if (!a.ptr || !b.ptr || memcmp(a.ptr, b.ptr, len) != 0)
        return false;
    return a.len == b.len || (a.len > len ? a.ptr[len] : b.ptr[len]) == '.';
}

/* Whether all processes name one host: then it is the one that was traced, however the trace calls it. */
static bool has_one_host(const struct pyro_task_windows *windows)
{
    for (size_t i = 1; i < windows->processes.count; i++)
        if (!pyro_slice_eq(windows->processes.items[i].host, windows->processes.items[0].host))
            return false;
    return true;
}

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t drift_of(const struct pyro_clock_pair *first, const struct pyro_clock_pair *last)
{
    double elapsed = (double)pyro_sub_saturating(last->monotonic_ns, first->monotonic_ns);
    double gained = (double)pyro_sub_saturating(pyro_sub_saturating(last->utc_ns, first->utc_ns),
                                                pyro_sub_saturating(last->monotonic_ns, first->monotonic_ns));
    double drift = elapsed >= 1e9 ? gained / elapsed * 1e9 : 0;
    return drift > 1e9 || drift < -1e9 ? PYRO_NONE : (int64_t)drift;
}

struct pyro_clock_fit pyro_task_windows_fit(const struct pyro_task_windows *windows, struct pyro_slice host)
{
    struct pyro_clock_fit fit = {0};
    const struct pyro_clock_pair *first = NULL, *last = NULL;
    int64_t *offsets = pyro_allocate(windows->allocator, (windows->pairs.count + 1) * sizeof(*offsets));
    bool one = !host.ptr || has_one_host(windows);
    for (size_t i = 0; i < windows->pairs.count && offsets; i++) {
        const struct pyro_clock_pair *pair = &windows->pairs.items[i];
        if (!one && !same_host(pair->host, host))
            continue;
        offsets[fit.matches++] = pyro_sub_saturating(pair->utc_ns, pair->monotonic_ns);
        if (!first || pair->monotonic_ns < first->monotonic_ns)
            first = pair;
        if (!last || pair->monotonic_ns > last->monotonic_ns)
            last = pair;
    }
    if (fit.matches > 0) {
        qsort(offsets, fit.matches, sizeof(*offsets), compare_numbers);
        fit.offset_ns = offsets[fit.matches / 2];
        int64_t below = pyro_sub_saturating(fit.offset_ns, offsets[0]);
        int64_t above = pyro_sub_saturating(offsets[fit.matches - 1], fit.offset_ns);
        fit.error_ns = below > above ? below : above;
        fit.drift_ppb = drift_of(first, last);
    }
    pyro_release(windows->allocator, offsets);
    return fit;
}

/* ---- Windows ----------------------------------------------------------------------------------------------------- */

static int compare_windows(const void *a, const void *b)
{
    const struct pyro_task_window *x = a, *y = b;
    int order = pyro_slice_compare(x->host, y->host);
    if (order != 0)
        return order;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns) /* the end of a task, then its begin */
        return x->end_ns < y->end_ns ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static bool same_thread(const struct pyro_task_window *a, const struct pyro_task_window *b)
{
    return a->tid == b->tid && pyro_slice_eq(a->host, b->host);
}

/* Begins of tasks whose end was written, too, are dropped; tasks without an end last until the next of their thread. */
static void cut_windows(struct pyro_task_windows *windows)
{
    struct pyro_task_window *items = windows->items.items;
    size_t kept = 0;
    for (size_t i = 0; i < windows->items.count; i++) {
        struct pyro_task_window *last = kept > 0 && same_thread(&items[kept - 1], &items[i]) ? &items[kept - 1] : NULL;
        if (last && last->task == items[i].task && last->start_ns == items[i].start_ns)
            continue;
        if (last && last->end_ns > items[i].start_ns) {
            last->torn = last->end_ns != INT64_MAX;
            last->end_ns = items[i].start_ns;
        }
        if (items[i].end_ns > items[i].start_ns)
            items[kept++] = items[i];
    }
    windows->items.count = kept;
}

static bool add_owners(const struct pyro_task_windows *windows, struct pyro_tracks *tracks)
{
    for (size_t i = 0; i < windows->items.count; i++) {
        const struct pyro_task_window *window = &windows->items.items[i];
        const struct pyro_owner_row row = {.thread = window->thread,
                                           .start_ns = window->start_ns,
                                           .end_ns = window->end_ns,
                                           .task = window->task,
                                           .stage = window->stage,
                                           .stage_attempt = window->stage_attempt,
                                           .method = PYRO_SLICE_LITERAL("named"),
                                           .confidence = 1};
        if (!pyro_tracks_add_owner(tracks, &row))
            return false;
    }
    return true;
}

bool pyro_task_windows_settle(struct pyro_task_windows *windows, struct pyro_tracks *tracks)
{
    struct pyro_slice host = PYRO_SLICE_NULL;
    struct pyro_clock_fit fit = {0};
    if (windows->settled)
        return true;
    windows->settled = true;
    if (windows->items.count == 0)
        return true;
    qsort(windows->items.items, windows->items.count, sizeof(*windows->items.items), compare_windows);
    cut_windows(windows);
    for (size_t i = 0; i < windows->items.count; i++) {
        struct pyro_task_window *window = &windows->items.items[i];
        if (i == 0 || !pyro_slice_eq(host, window->host)) {
            host = window->host;
            fit = pyro_task_windows_fit(windows, host);
        }
        window->start_ns = pyro_add_saturating(window->start_ns, fit.offset_ns);
        window->end_ns = pyro_add_saturating(window->end_ns, window->end_ns == INT64_MAX ? 0 : fit.offset_ns);
    }
    return add_owners(windows, tracks);
}

const struct pyro_task_window *pyro_task_windows_of(const struct pyro_task_windows *windows, struct pyro_slice host,
                                                    int64_t tid, size_t *ret_count)
{
    bool one = !host.ptr || has_one_host(windows);
    const struct pyro_task_window *found = NULL;
    *ret_count = 0;
    for (size_t i = 0; i < windows->items.count;) { /* by hosts, of which there are few */
        const struct pyro_task_window *items = windows->items.items;
        size_t end = i + 1, low, high;
        while (end < windows->items.count && pyro_slice_eq(items[end].host, items[i].host))
            end++;
        low = i;
        high = end;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (items[middle].tid < tid)
                low = middle + 1;
            else
                high = middle;
        }
        if ((one || same_host(items[i].host, host)) && low < end && items[low].tid == tid) {
            found = &items[low];
            while (low < end && items[low].tid == tid) {
                low++;
                (*ret_count)++;
            }
            break;
        }
        i = end;
    }
    return found;
}

const struct pyro_task_process *pyro_task_windows_process(const struct pyro_task_windows *windows,
                                                          struct pyro_slice host, int64_t pid)
{
    bool one = !host.ptr || has_one_host(windows);
    for (size_t i = 0; i < windows->processes.count && pid > 0; i++)
        if (windows->processes.items[i].pid == pid && (one || same_host(windows->processes.items[i].host, host)))
            return &windows->processes.items[i];
    return NULL;
}

int pyro_task_windows_is_child(const struct pyro_task_windows *windows, struct pyro_slice host, int64_t pid)
{
    bool one = !host.ptr || has_one_host(windows);
    for (size_t i = 0; i < windows->children.count && pid > 0; i++)
        if (windows->children.items[i].pid == pid && (one || same_host(windows->children.items[i].host, host)))
            return 1;
    return windows->knows_children ? 0 : -1;
}
