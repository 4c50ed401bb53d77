#include <math.h>

#include "analyze/app_facts.h"
#include "base/numbers/saturate.h"
#include "report/comparison/comparison.h"
#include "report/shared/finding_facts.h"
#include "text/humanize.h"

enum { REASONS_SHOWN = 6 };

static const struct pyro_app *app_of(const struct pyro_comparison *comparison, bool after)
{
    return after ? comparison->after->app : comparison->before->app;
}

struct pyro_slice pyro_compared_site(const struct pyro_comparison *comparison, const struct pyro_compared_stage *row)
{
    bool after = row->after >= 0;
    const struct pyro_stage *stage =
        &app_of(comparison, after)->stages.items[after ? (size_t)row->after : (size_t)row->before];
    return stage->call_site.len ? stage->call_site : stage->name;
}

unsigned pyro_compared_main_cause(const struct pyro_compared_stage *row)
{
    unsigned order[PYRO_CAUSES];
    int64_t total = pyro_sub_saturating(row->after_ms, row->before_ms);
    pyro_causes_order(row->causes, total, order);
    return total != 0 && row->causes[order[0]] != 0 ? order[0] : PYRO_CAUSES;
}

static double share_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}

static int64_t absolute(int64_t ms)
{
    return ms == INT64_MIN ? INT64_MAX : ms < 0 ? -ms : ms;
}

void pyro_comparison_verdict(struct pyro_strbuf *buffer, const struct pyro_comparison *comparison)
{
    int64_t change = pyro_sub_saturating(comparison->after_ms, comparison->before_ms);
    double share = share_of(absolute(change), comparison->before_ms);
    if (change == 0 || share < 0.01) {
        pyro_strbuf_add_text(buffer, "Both runs took the same time: ");
        pyro_human_ms(buffer, comparison->before_ms);
        pyro_strbuf_add_text(buffer, " and ");
        pyro_human_ms(buffer, comparison->after_ms);
    } else {
        pyro_strbuf_add_text(buffer, "The run after took ");
        pyro_human_ms(buffer, absolute(change));
        if (isfinite(share)) {
            pyro_strbuf_add_text(buffer, " (");
            pyro_human_share(buffer, share);
            pyro_strbuf_add_char(buffer, ')');
        }
        pyro_strbuf_add_text(buffer, change > 0 ? " longer: " : " less: ");
        pyro_human_ms(buffer, comparison->after_ms);
        pyro_strbuf_add_text(buffer, " instead of ");
        pyro_human_ms(buffer, comparison->before_ms);
    }
    pyro_strbuf_add_text(buffer, ".\n");
}

/* The stage that has most of a cause, in the cause's direction. */
static const struct pyro_compared_stage *place_of(const struct pyro_comparison *comparison, unsigned cause)
{
    const struct pyro_compared_stage *best = NULL;
    bool down = comparison->causes[cause] < 0;
    for (size_t i = 0; i < comparison->stage_count; i++) {
        const struct pyro_compared_stage *row = &comparison->stages[i];
        int64_t ms = down ? -row->causes[cause] : row->causes[cause];
        if (ms > 0 && (!best || ms > (down ? -best->causes[cause] : best->causes[cause])))
            best = row;
    }
    return best;
}

static void add_number(struct pyro_strbuf *buffer, double value)
{
    pyro_human_quantity(buffer, value, "ratio");
}

static void add_pair(struct pyro_strbuf *buffer, const char *what, int64_t before, int64_t after,
                     void (*write)(struct pyro_strbuf *, int64_t))
{
    pyro_strbuf_add_text(buffer, what);
    write(buffer, after);
    pyro_strbuf_add_text(buffer, " instead of ");
    write(buffer, before);
}

/* What changed at a stage, as far as it bears on the cause. */
static void add_detail(struct pyro_strbuf *buffer, const struct pyro_comparison *comparison,
                       const struct pyro_compared_stage *row, unsigned cause)
{
    if (row->before < 0 || row->after < 0)
        return;
    const struct pyro_stage *before = &comparison->before->app->stages.items[row->before];
    const struct pyro_stage *after = &comparison->after->app->stages.items[row->after];
    if (cause == PYRO_CAUSE_DATA && row->volume) {
        pyro_strbuf_add_text(buffer, ", ");
        add_number(buffer, row->data_after / row->data_before);
        pyro_strbuf_add_text(buffer, " the ");
        for (const char *p = row->volume; *p; p++)
            pyro_strbuf_add_char(buffer, *p == '_' ? ' ' : *p);
    } else if (cause == PYRO_CAUSE_SLOTS) {
        pyro_strbuf_printf(buffer, ", %.1f slots instead of %.1f", row->slots_after, row->slots_before);
    } else if (cause == PYRO_CAUSE_FILL) {
        add_pair(buffer, ", tasks: ", before->tasks, after->tasks, pyro_human_count);
        add_pair(buffer, ", the longest ", before->duration_max, after->duration_max, pyro_human_ms);
        add_pair(buffer, ", the median ", before->duration_median, after->duration_median, pyro_human_ms);
    } else if (cause == PYRO_CAUSE_GC) {
        add_pair(buffer, ", ", before->gc_ms, after->gc_ms, pyro_human_ms);
    } else if (cause == PYRO_CAUSE_SPILL) {
        add_pair(buffer, ", ", before->disk_spill_bytes, after->disk_spill_bytes, pyro_human_bytes);
        pyro_strbuf_add_text(buffer, " to disk");
    } else if (cause == PYRO_CAUSE_FETCH_WAIT) {
        add_pair(buffer, ", ", before->fetch_wait_ms, after->fetch_wait_ms, pyro_human_ms);
    } else if (cause == PYRO_CAUSE_SHUFFLE_WRITE) {
        add_pair(buffer, ", ", before->shuffle_write_ms, after->shuffle_write_ms, pyro_human_ms);
    } else if (cause == PYRO_CAUSE_CPU) {
        add_pair(buffer, ", ", before->cpu_ms, after->cpu_ms, pyro_human_ms);
        pyro_strbuf_add_text(buffer, " summed over its tasks");
    }
}

/* Findings above low that the run after has at this stage. */
static void add_findings(struct pyro_strbuf *buffer, const struct pyro_comparison *comparison,
                         const struct pyro_compared_stage *row)
{
    const struct pyro_diagnosis *diagnosis = comparison->after;
    if (row->after < 0)
        return;
    const struct pyro_stage *stage = &diagnosis->app->stages.items[row->after];
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        if (finding->stage != stage->id || finding->severity == PYRO_SEVERITY_LOW)
            continue;
        pyro_strbuf_add_text(buffer, "; see finding ");
        pyro_strbuf_add_slice(buffer, finding->id);
    }
}

/* Says so where operators of the stage's query changed. */
static void add_plan(struct pyro_strbuf *buffer, const struct pyro_comparison *comparison,
                     const struct pyro_compared_stage *row)
{
    bool after = row->after >= 0;
    const struct pyro_app *app = app_of(comparison, after);
    int64_t sql = app->stages.items[after ? row->after : row->before].sql;
    for (size_t i = 0; sql != PYRO_NONE && i < comparison->query_count; i++) {
        const struct pyro_compared_query *query = &comparison->queries[i];
        if (app->sql.items[after ? query->after : query->before].id == sql) {
            pyro_strbuf_add_text(buffer, "; the plan of its SQL execution changed");
            return;
        }
    }
}

static void add_place(struct pyro_strbuf *buffer, const struct pyro_comparison *comparison, unsigned cause)
{
    const struct pyro_numbers *before = &comparison->before->app->numbers, *after = &comparison->after->app->numbers;
    const struct pyro_compared_stage *row = place_of(comparison, cause);
    if (cause == PYRO_CAUSE_EXECUTOR_WAIT) {
        add_pair(buffer, ", ", before->wall_ms[PYRO_WALL_RESOURCE_WAIT], after->wall_ms[PYRO_WALL_RESOURCE_WAIT],
                 pyro_human_ms);
    } else if (cause == PYRO_CAUSE_DRIVER) {
        add_pair(buffer, ", ", before->wall_ms[PYRO_WALL_DRIVER], after->wall_ms[PYRO_WALL_DRIVER], pyro_human_ms);
    } else if (cause == PYRO_CAUSE_RETRIES) {
        add_pair(buffer, ", failed tasks: ", before->failed_tasks, after->failed_tasks, pyro_human_count);
        add_pair(buffer, ", killed: ", before->killed_tasks, after->killed_tasks, pyro_human_count);
    } else if (row && cause != PYRO_CAUSE_UNEXPLAINED) {
        pyro_strbuf_add_text(buffer, row->causes[cause] == comparison->causes[cause] ? ", at " : ", most of it at ");
        pyro_strbuf_add_slice(buffer, pyro_compared_site(comparison, row));
        add_detail(buffer, comparison, row, cause);
        add_plan(buffer, comparison, row);
        add_findings(buffer, comparison, row);
    }
}

static void add_reason(struct pyro_strbuf *buffer, const struct pyro_comparison *comparison, unsigned cause)
{
    int64_t ms = comparison->causes[cause];
    pyro_human_ms(buffer, absolute(ms));
    pyro_strbuf_add_text(buffer, ms > 0 ? " longer: " : " less: ");
    pyro_strbuf_add_text(buffer, pyro_cause_words[cause]);
    add_place(buffer, comparison, cause);
    pyro_strbuf_add_text(buffer, ".\n");
}

void pyro_comparison_reasons(struct pyro_strbuf *buffer, const struct pyro_comparison *comparison)
{
    unsigned order[PYRO_CAUSES];
    int64_t change = pyro_sub_saturating(comparison->after_ms, comparison->before_ms), least = absolute(change) / 20;
    /* Where both take the same time, changes that cancel out are shown if they are at least a hundredth of the run. */
    if (least < comparison->before_ms / 100)
        least = comparison->before_ms / 100;
    pyro_causes_order(comparison->causes, change, order);
    unsigned shown = 0;
    for (unsigned i = 0; i < PYRO_CAUSES && shown < REASONS_SHOWN; i++) {
        int64_t ms = comparison->causes[order[i]];
        if (ms == 0 || absolute(ms) < least)
            continue;
        add_reason(buffer, comparison, order[i]);
        shown++;
    }
}

void pyro_comparison_caveats(struct pyro_strbuf *buffer, const struct pyro_comparison *comparison)
{
    for (int after = 0; after < 2; after++) {
        const struct pyro_app *app = app_of(comparison, after != 0);
        enum pyro_run_outcome outcome = pyro_app_outcome(app);
        if (pyro_run_outcome_ended(outcome) && app->integrity.confidence >= 0.9)
            continue;
        pyro_strbuf_printf(buffer, "The log of the run %s is incomplete (", after ? "after" : "before");
        pyro_strbuf_add_text(buffer, pyro_run_outcome_words(outcome));
        pyro_strbuf_add_text(buffer, ", confidence ");
        pyro_human_hundredths(buffer, app->integrity.confidence);
        pyro_strbuf_add_text(buffer, "): missing parts count as removed.\n");
    }
    if (pyro_comparison_is_unlike(comparison)) {
        pyro_strbuf_add_text(buffer, "The two runs have little in common: only ");
        pyro_human_share(buffer, comparison->matched_share);
        pyro_strbuf_add_text(buffer,
                             " of their stage time is in stages that both have. Are they the same application?\n");
    }
}

void pyro_comparison_totals(const struct pyro_comparison *comparison, struct pyro_compared_total *ret)
{
    const struct pyro_numbers *before = &comparison->before->app->numbers, *after = &comparison->after->app->numbers;
    size_t count = 0;
#define TOTAL(name, unit, field) ret[count++] = (struct pyro_compared_total){name, unit, before->field, after->field};
    TOTAL("core_time", "ms", core_total_ms)
    TOTAL("task_time", "ms", task_ms)
    TOTAL("cpu_time", "ms", cpu_ms)
    TOTAL("gc_time", "ms", gc_ms)
    TOTAL("input", "bytes", input_bytes)
    TOTAL("output", "bytes", output_bytes)
    TOTAL("shuffle_read", "bytes", shuffle_read_bytes)
    TOTAL("shuffle_write", "bytes", shuffle_write_bytes)
    TOTAL("memory_spill", "bytes", memory_spill_bytes)
    TOTAL("disk_spill", "bytes", disk_spill_bytes)
    TOTAL("executors", "count", executors)
    TOTAL("cores_peak", "count", cores_peak)
    TOTAL("jobs", "count", jobs)
    TOTAL("stages", "count", stages)
    TOTAL("tasks", "count", tasks)
    TOTAL("failed_tasks", "count", failed_tasks)
    TOTAL("killed_tasks", "count", killed_tasks)
    TOTAL("failed_stages", "count", failed_stages)
#undef TOTAL
    _Static_assert(PYRO_COMPARED_TOTALS == 18, "one row each");
}
