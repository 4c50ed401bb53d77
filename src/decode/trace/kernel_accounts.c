/* Accounts of tasks: what their threads did while they had them, added up to the nanosecond. */
#include "base/numbers/saturate.h"
#include "decode/trace/kernel.h"
#include "model/column.h"

struct account_row {
    enum pyro_kernel_state state, root;
    int about;
    struct pyro_slice by; /* in the tracks' pool */
    int64_t duration_ns, count, bytes;
};

struct pyro_task_account {
    int64_t known_ns; /* all rows added up */
    size_t count;
    struct account_row rows[PYRO_ACCOUNT_ROWS_MAX];
};

struct pyro_slice pyro_kernel_about(const struct pyro_kernel *kernel, int about)
{
    if (about <= PYRO_ABOUT_DEVICE(0))
        return kernel->devices.items[-2 - about].name;
    const struct pyro_syscall *call = pyro_syscall(about);
    return call ? pyro_slice_from(call->name) : PYRO_SLICE_NULL;
}

static bool has_details(const struct account_row *row)
{
    return row->about != PYRO_ABOUT_NOTHING || row->by.ptr;
}

static struct account_row *find_row(struct pyro_task_account *account, enum pyro_kernel_state state,
                                    enum pyro_kernel_state root, int about, struct pyro_slice by)
{
    for (size_t i = 0; i < account->count; i++) {
        struct account_row *row = &account->rows[i];
        if (row->state == state && row->root == root && row->about == about && row->by.ptr == by.ptr)
            return row;
    }
    return NULL;
}

/* Takes the details off the smallest row that has some, and puts it to the row of its kind without. False: none has. */
static bool fold_smallest(struct pyro_task_account *account)
{
    struct account_row *least = NULL;
    for (size_t i = 0; i < account->count; i++) {
        struct account_row *row = &account->rows[i];
        if (has_details(row) && (!least || row->duration_ns < least->duration_ns))
            least = row;
    }
    if (!least)
        return false;
    struct account_row *rest = find_row(account, least->state, least->root, PYRO_ABOUT_NOTHING, PYRO_SLICE_NULL);
    if (!rest) {
        least->about = PYRO_ABOUT_NOTHING;
        least->by = PYRO_SLICE_NULL;
        return true;
    }
    rest->duration_ns += least->duration_ns;
    rest->count += least->count;
    if (least->bytes != PYRO_NONE)
        rest->bytes = rest->bytes == PYRO_NONE ? least->bytes : pyro_add_saturating(rest->bytes, least->bytes);
    *least = account->rows[--account->count];
    return true;
}

/* Row of the account. Where it is full, small rows are put together to make room. */
static struct account_row *row_of(struct pyro_task_account *account, enum pyro_kernel_state state,
                                  enum pyro_kernel_state root, int about, struct pyro_slice by)
{
    struct account_row *row = find_row(account, state, root, about, by);
    if (row)
        return row;
    while (account->count == PYRO_ACCOUNT_ROWS_MAX && fold_smallest(account)) {
    }
    if (account->count == PYRO_ACCOUNT_ROWS_MAX) { /* all of different kinds */
        row = find_row(account, state, root, PYRO_ABOUT_NOTHING, PYRO_SLICE_NULL);
        return row ? row : &account->rows[account->count - 1];
    }
    row = &account->rows[account->count++];
    *row = (struct account_row){.state = state, .root = root, .about = about, .by = by, .bytes = PYRO_NONE};
    return row;
}

void pyro_account_add(struct pyro_kernel *kernel, struct pyro_kthread *thread, enum pyro_kernel_state state,
                      enum pyro_kernel_state root, int about, struct pyro_slice by, int64_t duration_ns)
{
    (void)kernel;
    struct account_row *row = row_of(thread->account, state, root, about, by);
    row->duration_ns += duration_ns;
    row->count += state != PYRO_KERNEL_SYSTEM; /* of which calls are counted */
    thread->account->known_ns += duration_ns;
}

/* ---- Begin and end ----------------------------------------------------------------------------------------------- */

static bool is_torn(const struct pyro_kernel *kernel, const struct pyro_kthread *thread,
                    const struct pyro_task_window *window, int64_t end_ns)
{
    for (size_t i = 0; i < kernel->losses.count; i++) {
        const struct pyro_kloss *loss = &kernel->losses.items[i];
        if (loss->host == thread->host && loss->from_ns < end_ns && loss->until_ns > window->start_ns)
            return true;
    }
    return false;
}

static bool write_row(struct pyro_kernel *kernel, const struct pyro_task_window *window, const struct account_row *row)
{
    const struct pyro_task_wait_row written = {.task = window->task,
                                               .stage = window->stage,
                                               .stage_attempt = window->stage_attempt,
                                               .state = row->state,
                                               .root = row->root,
                                               .what = pyro_kernel_about(kernel, row->about),
                                               .by = row->by,
                                               .duration_ns = row->duration_ns,
                                               .count = row->count,
                                               .bytes = row->bytes};
    return pyro_tracks_add_task_wait(kernel->tracks, &written);
}

/* Writes the account of the window that is open. What no span covers is unknown; where events are missing, all of it.
 */
static void close_account(struct pyro_kernel *kernel, struct pyro_kthread *thread)
{
    const struct pyro_task_window *window = &thread->windows[thread->window_at];
    struct pyro_task_account *account = thread->account;
    int64_t end_ns = window->end_ns < INT64_MAX ? window->end_ns : kernel->last_ns;
    int64_t whole_ns = end_ns - window->start_ns;
    if (!account || account->known_ns == 0 || whole_ns <= 0)
        return;
    struct account_row rest = {.state = PYRO_KERNEL_UNKNOWN,
                               .root = PYRO_KERNEL_UNKNOWN,
                               .about = PYRO_ABOUT_NOTHING,
                               .duration_ns = whole_ns - account->known_ns,
                               .count = 1,
                               .bytes = PYRO_NONE};
    bool torn = is_torn(kernel, thread, window, end_ns), done = true;
    if (torn)
        rest.duration_ns = whole_ns;
    for (size_t i = 0; i < account->count && done && !torn; i++)
        if (account->rows[i].duration_ns > 0 || account->rows[i].count > 0)
            done = write_row(kernel, window, &account->rows[i]);
    if (done && rest.duration_ns > 0)
        done = write_row(kernel, window, &rest);
    kernel->no_memory |= !done;
    *account = (struct pyro_task_account){0};
}

/* First window that ends after the time. */
static size_t find_window(const struct pyro_kthread *thread, int64_t time_ns)
{
    size_t low = 0, high = thread->window_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (thread->windows[middle].end_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool open_account(struct pyro_kernel *kernel, struct pyro_kthread *thread, size_t window)
{
    if (thread->account && thread->wait.open && find_window(thread, thread->wait.from_ns) < window)
        pyro_kwait_resolve(kernel, thread, PYRO_NONE); /* it belongs to the account that is closed */
    if (thread->account && thread->window_at == window)
        return true;
    if (thread->account)
        close_account(kernel, thread);
    else
        thread->account = pyro_arena_array(&kernel->arena, 1, sizeof(*thread->account));
    thread->window_at = window;
    kernel->no_memory |= !thread->account;
    return thread->account != NULL;
}

void pyro_accounts_end(struct pyro_kernel *kernel)
{
    for (size_t i = 0; i < kernel->all.count; i++)
        if (kernel->all.items[i]->account)
            close_account(kernel, kernel->all.items[i]);
}

/* ---- Spans ------------------------------------------------------------------------------------------------------- */

static void take_part(struct pyro_kernel *kernel, struct pyro_kthread *thread, const struct pyro_kspan *span)
{
    const struct pyro_task_window *window = &thread->windows[thread->window_at];
    const struct pyro_task_state_row row = {.thread = thread->row,
                                            .state = span->state,
                                            .start_ns = span->from_ns,
                                            .duration_ns = span->until_ns - span->from_ns,
                                            .task = window->task,
                                            .what = pyro_kernel_about(kernel, span->about),
                                            .by = pyro_kthread_label(kernel, span->by, thread)};
    kernel->no_memory |= !pyro_tracks_add_task_state(kernel->tracks, &row);
    pyro_kwait_blame(kernel, thread, span);
}

static void take_in_windows(struct pyro_kernel *kernel, struct pyro_kthread *thread, const struct pyro_kspan *span)
{
    for (size_t i = find_window(thread, span->from_ns); i < thread->window_count; i++) {
        const struct pyro_task_window *window = &thread->windows[i];
        if (window->start_ns >= span->until_ns)
            break;
        if (thread->account && i < thread->window_at) /* its account was written */
            continue;
        struct pyro_kspan part = *span;
        part.from_ns = part.from_ns > window->start_ns ? part.from_ns : window->start_ns;
        part.until_ns = part.until_ns < window->end_ns ? part.until_ns : window->end_ns;
        if (part.until_ns > part.from_ns && open_account(kernel, thread, i))
            take_part(kernel, thread, &part);
    }
}

static bool is_ready(enum pyro_kernel_state state)
{
    return state == PYRO_KERNEL_USER || state == PYRO_KERNEL_SYSTEM || state == PYRO_KERNEL_RUNNABLE;
}

/* A thread goes in and out of the kernel, and loses its processor, some thousand times before it waits: until then it
 * is one span. */
static void note_recent(struct pyro_kthread *thread, const struct pyro_kspan *span)
{
    struct pyro_kspan *place = &thread->recent[(thread->recent_at + PYRO_KTHREAD_RECENT - 1) % PYRO_KTHREAD_RECENT];
    int64_t ns = span->until_ns - span->from_ns;
    if (!is_ready(span->state) || place->state != PYRO_KERNEL_USER || place->until_ns != span->from_ns) {
        place = &thread->recent[thread->recent_at];
        thread->recent_at = (thread->recent_at + 1) % PYRO_KTHREAD_RECENT;
        *place = *span;
        if (!is_ready(span->state))
            return;
        place->state = PYRO_KERNEL_USER;
        place->about = PYRO_ABOUT_NOTHING;
        place->by = NULL;
    }
    place->until_ns = span->until_ns;
    if (span->state == PYRO_KERNEL_SYSTEM)
        place->system_ns += ns;
    if (span->state != PYRO_KERNEL_RUNNABLE)
        return;
    place->runnable_ns += ns;
    if (ns > place->longest_ns) {
        place->longest_ns = ns;
        place->by = span->by;
    }
}

void pyro_kernel_take(struct pyro_kernel *kernel, struct pyro_kthread *thread, const struct pyro_kspan *span)
{
    int64_t ns = span->until_ns - span->from_ns;
    thread->sums[span->state] = pyro_add_saturating(thread->sums[span->state], ns);
    thread->counts[span->state]++;
    if (thread->window_count > 0)
        take_in_windows(kernel, thread, span);
    note_recent(thread, span);
}

void pyro_kernel_count_call(struct pyro_kernel *kernel, struct pyro_kthread *thread, int call, int64_t bytes,
                            int64_t time_ns)
{
    (void)kernel;
    size_t window = thread->window_count > 0 ? find_window(thread, time_ns) : 0;
    if (!thread->account || window != thread->window_at || window >= thread->window_count ||
        thread->windows[window].start_ns > time_ns)
        return;
    struct account_row *row = row_of(thread->account, PYRO_KERNEL_SYSTEM, PYRO_KERNEL_SYSTEM, call, PYRO_SLICE_NULL);
    row->count++;
    if (bytes != PYRO_NONE)
        row->bytes = row->bytes == PYRO_NONE ? bytes : pyro_add_saturating(row->bytes, bytes);
}
