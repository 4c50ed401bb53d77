/* What the difference in wall time is attributed to: integers that add up exactly, by stage and for the whole run. */
#include <math.h>
#include <stdlib.h>

#include "analyze/accounts/fixed_point.h"
#include "analyze/accounts/marks.h"
#include "analyze/scratch.h"
#include "analyze/task_slots.h"
#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"
#include "compare/comparing.h"

/* As disk-spill prices it: spilled bytes are written and read again at 200 MB/s, serialized and read back at 400. */
#define DISK_BYTES_PER_MS   200e3
#define SERIAL_BYTES_PER_MS 400e3
/* Three decades: a larger value is not a duration, and counts as unexplained. Keeps every sum in its integer. */
#define LONGEST_MS 1e12

/* One run, with the wall time of each of its stages in whole milliseconds. */
struct side {
    const struct pyro_app *app;
    struct pyro_stage_wall *walls;     /* by row; one more for tasks without a stage */
    int64_t *tasks_ms, *scheduling_ms; /* of walls[] */
    int64_t wait_ms, driver_ms, again_ms, length_ms;
    double *slot_time; /* slots x ms up to the time of each mark */
    uint64_t *slot_at;
    size_t slot_marks;
    struct pyro_window window;
};

/* ---- Whole milliseconds ---- */

/* Running sum of exact parts: each part's integer is what the sum's integer grows by, so that they add up. */
struct carry {
    pyro_fixed sum;
    int64_t given;
};

static int64_t take(struct carry *carry, pyro_fixed part)
{
    carry->sum += part;
    int64_t whole = (int64_t)(carry->sum >> PYRO_FIXED_BITS), more = whole - carry->given;
    carry->given = whole;
    return more;
}

static bool read_walls(struct side *side, struct pyro_error *error)
{
    const struct pyro_app *app = side->app;
    struct pyro_wall_split split;
    size_t count = app->stages.count + 1;
    side->walls = pyro_scratch(app, count, sizeof(*side->walls));
    side->tasks_ms = pyro_scratch(app, count, sizeof(int64_t));
    side->scheduling_ms = pyro_scratch(app, count, sizeof(int64_t));
    if (!side->walls || !side->tasks_ms || !side->scheduling_ms ||
        pyro_wall_by_stage(app, &split, side->walls, error) != PYRO_OK)
        return false;
    struct carry carry = {0};
    side->length_ms = split.length_ms;
    side->wait_ms = take(&carry, split.resource_wait);
    side->driver_ms = take(&carry, split.driver);
    side->again_ms = take(&carry, split.again);
    for (size_t i = 0; i < count; i++) {
        side->scheduling_ms[i] = take(&carry, side->walls[i].scheduling);
        side->tasks_ms[i] = take(&carry, side->walls[i].tasks);
    }
    side->tasks_ms[count - 1] += pyro_sub_saturating(side->length_ms, carry.given); /* what rounding down lost */
    return true;
}

/* ---- Slots ---- */

static bool read_slots(struct side *side)
{
    const struct pyro_app *app = side->app;
    struct pyro_marks marks;
    double slots = 0, sum = 0;
    uint64_t now = 0;
    pyro_marks_init(&marks, app->allocator, 2 * app->executors.count);
    for (size_t i = 0; i < app->executors.count; i++) {
        uint64_t from, to;
        pyro_executor_interval(&side->window, &app->executors.items[i], &from, &to);
        pyro_marks_add(&marks, from, 0, i);
        pyro_marks_add(&marks, to, 1, i);
    }
    bool good = pyro_marks_finish(&marks);
    size_t count = good ? marks.list.count : 0;
    side->slot_at = pyro_scratch(app, count + 1, sizeof(uint64_t));
    side->slot_time = pyro_scratch(app, count + 1, sizeof(double));
    good = good && side->slot_at && side->slot_time;
    for (size_t i = 0; good && i < count; i++) {
        const struct pyro_mark *mark = &marks.list.items[i];
        double own = (double)pyro_executor_slots(app, &app->executors.items[mark->row], NULL);
        sum += slots * (double)(mark->at - now);
        now = mark->at;
        slots = fmax(0, slots + (mark->kind ? -own : own));
        side->slot_at[i] = now;
        side->slot_time[i] = sum;
    }
    side->slot_marks = count;
    pyro_marks_done(&marks);
    return good;
}

/* Slots x ms up to a time: the marks hold what had gathered when they came, slots in between follow from neighbours. */
static double slot_time_at(const struct side *side, uint64_t time)
{
    size_t low = 0, high = side->slot_marks; /* first mark behind `time` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (side->slot_at[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || low == side->slot_marks)
        return low == 0 ? 0 : side->slot_time[low - 1];
    double span = (double)(side->slot_at[low] - side->slot_at[low - 1]);
    double more = side->slot_time[low] - side->slot_time[low - 1];
    return side->slot_time[low - 1] + more * (double)(time - side->slot_at[low - 1]) / span;
}

static double slots_of(const struct side *side, const struct pyro_stage *stage)
{
    uint64_t from, to;
    if (!pyro_stage_interval(&side->window, stage, &from, &to) || from == to)
        return NAN;
    double slots = (slot_time_at(side, to) - slot_time_at(side, from)) / (double)(to - from);
    return slots > 0 ? slots : NAN;
}

/* ---- Data ---- */

static double positive(int64_t a, int64_t b)
{
    return (a > 0 ? (double)a : 0) + (b > 0 ? (double)b : 0);
}

/* Data by which both stages can be measured: see docs/compare.md for the order. */
static void choose_volume(struct pyro_compared_stage *row, const struct pyro_stage *before,
                          const struct pyro_stage *after)
{
    enum { RECORDS_READ, BYTES_READ, RECORDS_WRITTEN, BYTES_WRITTEN, VOLUMES };
    static const char *const names[VOLUMES] = {"records_read", "bytes_read", "records_written", "bytes_written"};
    static const int sql_order[VOLUMES] = {RECORDS_READ, BYTES_READ, RECORDS_WRITTEN, BYTES_WRITTEN};
    static const int rdd_order[VOLUMES] = {BYTES_READ, RECORDS_READ, BYTES_WRITTEN, RECORDS_WRITTEN};
    const struct pyro_stage *stages[2] = {before, after};
    double volumes[2][VOLUMES];
    for (int side = 0; side < 2; side++) {
        const struct pyro_stage *stage = stages[side];
        volumes[side][RECORDS_READ] = positive(stage->input_records, stage->shuffle_read_records);
        volumes[side][BYTES_READ] = positive(stage->input_bytes, stage->shuffle_read_bytes);
        volumes[side][RECORDS_WRITTEN] = positive(stage->output_records, stage->shuffle_write_records);
        volumes[side][BYTES_WRITTEN] = positive(stage->output_bytes, stage->shuffle_write_bytes);
    }
    const int *order = after->sql != PYRO_NONE ? sql_order : rdd_order;
    for (int i = 0; i < VOLUMES; i++) {
        if (volumes[0][order[i]] > 0 && volumes[1][order[i]] > 0) {
            row->volume = names[order[i]];
            row->data_before = volumes[0][order[i]];
            row->data_after = volumes[1][order[i]];
            return;
        }
    }
}

/* ---- One stage ---- */

static void read_side(const struct side *side, size_t at, double slots, double data, struct pyro_stage_side *ret)
{
    const struct pyro_stage *stage = &side->app->stages.items[at];
    const struct pyro_stage_wall *wall = &side->walls[at];
    *ret = (struct pyro_stage_side){.wall_ms = (double)side->tasks_ms[at], .slots = slots, .data = data};
    double compute = (double)wall->split_ms[PYRO_SPLIT_COMPUTE];
    double spill = positive(stage->disk_spill_bytes, 0) * 2 / DISK_BYTES_PER_MS +
                   positive(stage->memory_spill_bytes, 0) / SERIAL_BYTES_PER_MS;
    double cpu = fmin(positive(stage->cpu_ms, 0), compute);
    spill = fmin(spill, compute / 2);
    /* Spilling is part CPU, part disk: it comes out of both as they are. */
    double rest = compute > 0 ? (compute - spill) / compute : 0;
    ret->parts[PYRO_CAUSE_GC] = (double)wall->split_ms[PYRO_SPLIT_GC];
    ret->parts[PYRO_CAUSE_SPILL] = spill;
    ret->parts[PYRO_CAUSE_FETCH_WAIT] = (double)wall->split_ms[PYRO_SPLIT_SHUFFLE_FETCH_WAIT];
    ret->parts[PYRO_CAUSE_SHUFFLE_WRITE] = (double)wall->split_ms[PYRO_SPLIT_SHUFFLE_WRITE];
    ret->parts[PYRO_CAUSE_CPU] = cpu * rest;
    ret->parts[PYRO_CAUSE_OFF_CPU] = (compute - cpu) * rest;
    ret->parts[PYRO_CAUSE_TASK_OVERHEAD] =
        (double)wall->split_ms[PYRO_SPLIT_SCHEDULER_DELAY] + (double)wall->split_ms[PYRO_SPLIT_DESERIALIZE] +
        (double)wall->split_ms[PYRO_SPLIT_RESULT_SERIALIZE] + (double)wall->split_ms[PYRO_SPLIT_GETTING_RESULT];
    for (int i = PYRO_CAUSE_GC; i <= PYRO_CAUSE_TASK_OVERHEAD; i++)
        ret->task_ms += ret->parts[i];
}

/* (x - y) / (ln x - ln y): the mean by which shares of a product's change add up. */
static double log_mean(double x, double y)
{
    double ratio = x / y;
    return fabs(ratio - 1) < 1e-9 ? x : (x - y) / log(ratio);
}

/* Whole milliseconds of each share, adding up to `total_ms`. */
static void round_shares(const double *shares, int64_t total_ms, int64_t *causes)
{
    int64_t whole[PYRO_CAUSES];
    __int128 left = total_ms;
    bool given[PYRO_CAUSES] = {false};
    for (int i = 0; i < PYRO_CAUSES; i++) {
        whole[i] = fabs(shares[i]) < LONGEST_MS ? (int64_t)floor(shares[i]) : 0;
        left -= whole[i];
    }
    for (; left > 0 && left <= PYRO_CAUSES; left--) {
        int best = -1;
        for (int i = 0; i < PYRO_CAUSES; i++)
            if (!given[i] && shares[i] != 0 &&
                (best < 0 || shares[i] - floor(shares[i]) > shares[best] - floor(shares[best])))
                best = i;
        if (best < 0)
            break;
        whole[best]++;
        given[best] = true;
    }
    whole[PYRO_CAUSE_UNEXPLAINED] = pyro_saturate(whole[PYRO_CAUSE_UNEXPLAINED] + left);
    for (int i = 0; i < PYRO_CAUSES; i++)
        causes[i] = pyro_add_saturating(causes[i], whole[i]);
}

void pyro_compare_split(const struct pyro_stage_side *before, const struct pyro_stage_side *after, int64_t total_ms,
                        int64_t *causes)
{
    double shares[PYRO_CAUSES] = {0};
    if (!(before->wall_ms > 0 && after->wall_ms > 0 && before->task_ms > 0 && after->task_ms > 0)) {
        causes[PYRO_CAUSE_UNEXPLAINED] = pyro_add_saturating(causes[PYRO_CAUSE_UNEXPLAINED], total_ms);
        return;
    }
    /* wall = data x (task time / data) / parallel tasks, and parallel tasks = slots x how full they are */
    bool has_data = before->data > 0 && after->data > 0;
    bool has_slots = before->slots > 0 && after->slots > 0;
    double mean = log_mean(after->wall_ms, before->wall_ms);
    double data = has_data ? after->data / before->data : 1;
    double slots = has_slots ? after->slots / before->slots : 1;
    double parallel = after->task_ms / after->wall_ms / (before->task_ms / before->wall_ms);
    shares[PYRO_CAUSE_DATA] = mean * log(data);
    shares[PYRO_CAUSE_SLOTS] = -mean * log(slots);
    shares[PYRO_CAUSE_FILL] = -mean * log(parallel / slots);
    double rate_before = before->task_ms, rate_after = after->task_ms / data;
    double scale = mean / log_mean(rate_after, rate_before);
    for (int i = PYRO_CAUSE_GC; i <= PYRO_CAUSE_TASK_OVERHEAD; i++) {
        double share = scale * (after->parts[i] / data - before->parts[i]);
        /* Without a measure of the data, it is not known whether there was more to do or the same took longer. */
        bool known = has_data || (i != PYRO_CAUSE_CPU && i != PYRO_CAUSE_OFF_CPU);
        shares[known ? i : PYRO_CAUSE_UNEXPLAINED] += share;
    }
    round_shares(shares, total_ms, causes);
}

static void compare_matched(const struct side *sides, struct pyro_compared_stage *row)
{
    const struct pyro_stage *before = &sides[0].app->stages.items[row->before];
    const struct pyro_stage *after = &sides[1].app->stages.items[row->after];
    struct pyro_stage_side left, right;
    choose_volume(row, before, after);
    row->slots_before = slots_of(&sides[0], before);
    row->slots_after = slots_of(&sides[1], after);
    read_side(&sides[0], (size_t)row->before, row->slots_before, row->data_before, &left);
    read_side(&sides[1], (size_t)row->after, row->slots_after, row->data_after, &right);
    row->causes[PYRO_CAUSE_SCHEDULING] =
        pyro_sub_saturating(sides[1].scheduling_ms[row->after], sides[0].scheduling_ms[row->before]);
    pyro_compare_split(&left, &right,
                       pyro_sub_saturating(sides[1].tasks_ms[row->after], sides[0].tasks_ms[row->before]), row->causes);
}

/* ---- All of them ---- */

static int64_t stage_ms(const struct side *side, size_t at)
{
    return pyro_add_saturating(side->scheduling_ms[at], side->tasks_ms[at]);
}

static void add_stage(struct pyro_comparison *comparison, const struct side *sides, ptrdiff_t before, ptrdiff_t after)
{
    struct pyro_compared_stage *row = &comparison->stages[comparison->stage_count++];
    *row = (struct pyro_compared_stage){.before = before, .after = after, .slots_before = NAN, .slots_after = NAN};
    row->before_ms = before >= 0 ? stage_ms(&sides[0], (size_t)before) : 0;
    row->after_ms = after >= 0 ? stage_ms(&sides[1], (size_t)after) : 0;
    if (before >= 0 && after >= 0)
        compare_matched(sides, row);
    else
        row->causes[before < 0 ? PYRO_CAUSE_NEW_STAGES : PYRO_CAUSE_GONE_STAGES] =
            pyro_sub_saturating(row->after_ms, row->before_ms);
    for (int i = 0; i < PYRO_CAUSES; i++)
        comparison->causes[i] = pyro_add_saturating(comparison->causes[i], row->causes[i]);
}

static int compare_rows(const void *left, const void *right)
{
    const struct pyro_compared_stage *a = left, *b = right;
    uint64_t x = pyro_distance(a->after_ms, a->before_ms), y = pyro_distance(b->after_ms, b->before_ms);
    if (x != y)
        return x > y ? -1 : 1;
    if (a->after != b->after)
        return a->after > b->after ? 1 : -1; /* rows of the run after in their order, removed ones first */
    return a->before > b->before ? 1 : a->before < b->before ? -1 : 0;
}

static bool attribute(struct pyro_comparison *comparison, const struct side *sides, const struct pyro_match *match)
{
    comparison->stages =
        pyro_arena_array(&comparison->arena, match->count[0] + match->count[1] + 1, sizeof(*comparison->stages));
    if (!comparison->stages)
        return false;
    double both = 0, all = 0;
    for (size_t i = 0; i < match->count[1]; i++) {
        const struct pyro_stage *stage = &sides[1].app->stages.items[i];
        if (match->mate[1][i] >= 0 || (stage->attempt <= 0 && !stage->unsubmitted))
            add_stage(comparison, sides, match->mate[1][i], (ptrdiff_t)i);
    }
    for (size_t i = 0; i < match->count[0]; i++) {
        const struct pyro_stage *stage = &sides[0].app->stages.items[i];
        if (match->mate[0][i] < 0 && stage->attempt <= 0 && !stage->unsubmitted)
            add_stage(comparison, sides, (ptrdiff_t)i, -1);
    }
    for (size_t i = 0; i < comparison->stage_count; i++) {
        const struct pyro_compared_stage *row = &comparison->stages[i];
        bool matched = row->before >= 0 && row->after >= 0;
        double ms = (double)row->before_ms + (double)row->after_ms;
        comparison->matched_stages += matched;
        all += ms;
        both += matched ? ms : 0;
    }
    comparison->matched_share = all > 0 ? both / all : NAN;
    if (comparison->stage_count)
        qsort(comparison->stages, comparison->stage_count, sizeof(*comparison->stages), compare_rows);
    return true;
}

enum pyro_status pyro_compare_attribute(struct pyro_comparison *comparison, const struct pyro_match *match,
                                        struct pyro_error *error)
{
    struct side sides[2] = {{.app = comparison->before->app}, {.app = comparison->after->app}};
    bool good = true;
    for (int i = 0; i < 2; i++) {
        sides[i].window = pyro_app_window(sides[i].app);
        good = good && read_walls(&sides[i], error) && read_slots(&sides[i]);
    }
    good = good && attribute(comparison, sides, match);
    if (good) {
        int64_t *causes = comparison->causes;
        __int128 sum = 0;
        comparison->before_ms = sides[0].length_ms;
        comparison->after_ms = sides[1].length_ms;
        causes[PYRO_CAUSE_EXECUTOR_WAIT] = pyro_sub_saturating(sides[1].wait_ms, sides[0].wait_ms);
        causes[PYRO_CAUSE_DRIVER] = pyro_sub_saturating(sides[1].driver_ms, sides[0].driver_ms);
        causes[PYRO_CAUSE_RETRIES] = pyro_sub_saturating(sides[1].again_ms, sides[0].again_ms);
        /* What is left belongs to no stage that is listed: tasks without one, stages without a submission. */
        for (int i = 0; i < PYRO_CAUSES; i++)
            sum += causes[i];
        sum = (__int128)comparison->after_ms - comparison->before_ms - sum;
        causes[PYRO_CAUSE_UNEXPLAINED] = pyro_saturate(causes[PYRO_CAUSE_UNEXPLAINED] + sum);
    }
    for (int i = 0; i < 2; i++) {
        const struct pyro_allocator *allocator = sides[i].app->allocator;
        pyro_release(allocator, sides[i].walls);
        pyro_release(allocator, sides[i].tasks_ms);
        pyro_release(allocator, sides[i].scheduling_ms);
        pyro_release(allocator, sides[i].slot_time);
        pyro_release(allocator, sides[i].slot_at);
    }
    return good ? PYRO_OK : pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory to compare the applications");
}
