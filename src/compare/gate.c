/* Checks a run: whether its log is complete, severities, a budget, a baseline. */
#include "compare/gate.h"

#include <math.h>

#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"
#include "base/options.h"

#define CONFIDENT       0.9 /* below, reports call a log incomplete */
#define TOLERANCE_USUAL 0.1
/* What a run may exceed its baseline by whatever the tolerance: two runs of the same job differ by more than that. */
#define SLACK_MS    1000.0
#define SLACK_BYTES (16.0 * 1024 * 1024)
#define SLACK_SHARE 0.01

const struct pyro_limit_info pyro_limits[PYRO_LIMITS] = {
#define PYRO_LIMIT(constant, name, unit, words, compared, explains)                                                    \
    {#name, unit, words, (compared) != 0, (compared) == 2, explains},
#include "compare/limits.def"
#undef PYRO_LIMIT
};

struct gate_run {
    struct pyro_gate *gate;
    bool failed; /* no memory */
};

static struct pyro_check *add_check(struct gate_run *run, struct pyro_slice name, const char *unit, double value,
                                    double limit, bool passed)
{
    struct pyro_check *check = pyro_vec_push(&run->gate->checks, run->gate->arena.allocator);
    if (!check || !name.ptr) {
        run->failed = true;
        return NULL;
    }
    *check = (struct pyro_check){.name = name, .unit = unit, .value = value, .limit = limit, .passed = passed};
    run->gate->failed += !passed;
    return check;
}

#define SAY(run, check, ...)                                                                                           \
    do {                                                                                                               \
        if (check) {                                                                                                   \
            (check)->message = pyro_arena_printf(&(run)->gate->arena, __VA_ARGS__);                                    \
            (run)->failed |= !(check)->message.ptr;                                                                    \
        }                                                                                                              \
    } while (0)

static const char *name_of(struct gate_run *run, struct pyro_slice text)
{
    struct pyro_slice copy = pyro_arena_copy(&run->gate->arena, text);
    return copy.ptr ? copy.ptr : "unknown";
}

/* ---- Values ---- */

static double known(int64_t value)
{
    return value == PYRO_NONE ? NAN : (double)value;
}

static double value_of(const struct pyro_app *app, int limit)
{
    const struct pyro_numbers *numbers = &app->numbers;
    switch (limit) {
    case PYRO_LIMIT_WALL:
        return known(app->application.duration_ms);
    case PYRO_LIMIT_CORE_TIME:
        return known(numbers->core_total_ms);
    case PYRO_LIMIT_SPILL:
        return known(numbers->disk_spill_bytes);
    case PYRO_LIMIT_MEMORY_SPILL:
        return known(numbers->memory_spill_bytes);
    case PYRO_LIMIT_INPUT:
        return known(numbers->input_bytes);
    case PYRO_LIMIT_OUTPUT:
        return known(numbers->output_bytes);
    case PYRO_LIMIT_SHUFFLE:
        return known(numbers->shuffle_read_bytes) + known(numbers->shuffle_write_bytes);
    case PYRO_LIMIT_SHUFFLE_READ:
        return known(numbers->shuffle_read_bytes);
    case PYRO_LIMIT_SHUFFLE_WRITE:
        return known(numbers->shuffle_write_bytes);
    case PYRO_LIMIT_GC_SHARE:
        return numbers->run_ms > 0 ? known(numbers->gc_ms) / (double)numbers->run_ms : 0;
    case PYRO_LIMIT_FAILURES:
        return known(numbers->failed_tasks) + known(numbers->failed_stages) + known(numbers->failed_jobs);
    case PYRO_LIMIT_FAILED_TASKS:
        return known(numbers->failed_tasks);
    case PYRO_LIMIT_FAILED_STAGES:
        return known(numbers->failed_stages);
    default:
        return known(numbers->failed_jobs);
    }
}

static const char *say(struct gate_run *run, double value, const char *unit)
{
    struct pyro_slice text;
    if (!isfinite(value))
        return "unknown";
    if (!strcmp(unit, "ms"))
        text = pyro_arena_printf(&run->gate->arena, value < 120e3 ? "%.1f s" : "%.1f min",
                                 value < 120e3 ? value / 1e3 : value / 60e3);
    else if (!strcmp(unit, "bytes"))
        text = pyro_arena_printf(&run->gate->arena, value < 0x1p30 ? "%.1f MiB" : "%.1f GiB",
                                 value < 0x1p30 ? value / 0x1p20 : value / 0x1p30);
    else if (!strcmp(unit, "share"))
        text = pyro_arena_printf(&run->gate->arena, "%.1f %%", 100 * value);
    else
        text = pyro_arena_printf(&run->gate->arena, "%.0f", value);
    run->failed |= !text.ptr;
    return text.ptr ? text.ptr : "";
}

/* ---- The finding that explains ---- */

static bool is_named(const char *word, size_t len, const struct pyro_finding *finding)
{
    struct pyro_slice name = {word, len};
    return pyro_slice_is(name, "*") || pyro_slice_is(name, finding->rule->id) ||
           pyro_slice_is(name, finding->rule->category);
}

static bool is_better(const struct pyro_finding *finding, const struct pyro_finding *best, int limit)
{
    if (!best)
        return true;
    if (limit == PYRO_LIMIT_CORE_TIME && finding->saves.core_ms != best->saves.core_ms)
        return finding->saves.core_ms > best->saves.core_ms;
    return finding->severity > best->severity; /* else most wall time saved: findings come in that order */
}

static const struct pyro_finding *explain(const struct pyro_diagnosis *diagnosis, int limit)
{
    const struct pyro_finding *best = NULL;
    for (const char *word = pyro_limits[limit].explains; *word && !best;) {
        size_t len = strcspn(word, " ");
        for (size_t i = 0; i < diagnosis->finding_count; i++)
            if (is_named(word, len, &diagnosis->findings[i]) && is_better(&diagnosis->findings[i], best, limit))
                best = &diagnosis->findings[i];
        word += len;
        word += strspn(word, " ");
    }
    return best;
}

/* ---- Checks ---- */

static void check_complete(struct gate_run *run, const char *name, const struct pyro_app *app, bool allowed)
{
    struct pyro_slice status = app->application.status;
    double confidence = app->integrity.confidence;
    bool completed = pyro_slice_is(status, "completed"), complete = completed && confidence >= CONFIDENT;
    struct pyro_check *check =
        add_check(run, pyro_slice_from(name), "share", confidence, CONFIDENT, complete || allowed);
    if (complete)
        SAY(run, check, "The log is complete.");
    else if (pyro_slice_is(status, "failed"))
        SAY(run, check, "The application failed: its numbers describe a run that did not finish its work.%s",
            allowed ? " This is allowed." : "");
    else
        SAY(run, check, "The log %s (%s, confidence %.2f): the gate cannot judge %s.%s",
            app->integrity.contradictory ? "contradicts itself" : "is incomplete", name_of(run, status), confidence,
            app->integrity.contradictory ? "its times" : "missing events", allowed ? " This is allowed." : "");
}

static size_t count_findings(const struct pyro_diagnosis *diagnosis, int severity, const struct pyro_finding **worst)
{
    size_t count = 0;
    *worst = NULL;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        if ((int)finding->severity < severity || finding->folded)
            continue;
        count++;
        if (!*worst || finding->severity > (*worst)->severity)
            *worst = finding;
    }
    return count;
}

static void check_findings(struct gate_run *run, const char *prefix, int severity, double limit, bool or_failed)
{
    const struct pyro_finding *worst;
    const struct pyro_diagnosis *diagnosis = run->gate->diagnosis;
    size_t count = count_findings(diagnosis, severity, &worst);
    bool app_failed = or_failed && pyro_slice_is(diagnosis->app->application.status, "failed");
    struct pyro_slice name =
        pyro_arena_printf(&run->gate->arena, "%s.%s", prefix, pyro_severity_name((enum pyro_severity)severity));
    struct pyro_check *check =
        add_check(run, name, "count", (double)count, limit, (double)count <= limit && !app_failed);
    const char *or_worse = severity == PYRO_SEVERITY_CRITICAL ? "" : " or worse";
    SAY(run, check, "%zu finding%s of severity %s%s; %.0f allowed.%s", count, count == 1 ? "" : "s",
        pyro_severity_name((enum pyro_severity)severity), or_worse, floor(limit),
        app_failed ? " The application failed." : "");
    if (check && !check->passed)
        check->finding = worst;
}

static void check_limit(struct gate_run *run, int id, const struct pyro_budget_limit *budget)
{
    const struct pyro_limit_info *info = &pyro_limits[id];
    double value = value_of(run->gate->diagnosis->app, id), limit = budget->value * (1 + budget->tolerance);
    bool passed = isfinite(value) && value <= limit; /* what is unknown was not kept */
    struct pyro_check *check = add_check(run, pyro_slice_from(info->name), info->unit, value, limit, passed);
    const char *tolerance = "";
    if (budget->tolerance > 0)
        tolerance = pyro_arena_printf(&run->gate->arena, " plus %.1f %% tolerance", 100 * budget->tolerance).ptr;
    run->failed |= !tolerance;
    SAY(run, check, "%s %s; the limit is %s%s.", say(run, value, info->unit), info->words,
        say(run, budget->value, info->unit), tolerance ? tolerance : "");
    if (check && !passed)
        check->finding = explain(run->gate->diagnosis, id);
}

static void check_budget(struct gate_run *run, const struct pyro_budget *budget)
{
    for (int i = 0; i < PYRO_LIMITS; i++)
        if (budget->limits[i].set)
            check_limit(run, i, &budget->limits[i]);
    for (int severity = PYRO_SEVERITY_CRITICAL; severity >= PYRO_SEVERITY_LOW; severity--) {
        const struct pyro_budget_limit *limit = &budget->findings[severity];
        if (limit->set)
            check_findings(run, "findings", severity, limit->value * (1 + limit->tolerance), false);
    }
}

static double slack_of(const char *unit)
{
    return !strcmp(unit, "ms")      ? SLACK_MS
           : !strcmp(unit, "bytes") ? SLACK_BYTES
           : !strcmp(unit, "share") ? SLACK_SHARE
                                    : 0;
}

/* Why the wall time grew: the causes that have at least a quarter of the growth. */
static const char *causes_of(struct gate_run *run)
{
    const struct pyro_comparison *comparison = run->gate->comparison;
    int64_t change = pyro_sub_saturating(comparison->after_ms, comparison->before_ms);
    unsigned order[PYRO_CAUSES];
    const char *text = "";
    pyro_causes_order(comparison->causes, change, order);
    for (int i = 0; i < 3 && text; i++) {
        int64_t ms = comparison->causes[order[i]];
        if (ms > 0 && ms >= change / 4)
            text = pyro_arena_printf(&run->gate->arena, "%s %s longer: %s.", text, say(run, (double)ms, "ms"),
                                     pyro_cause_words[order[i]])
                       .ptr;
    }
    run->failed |= !text;
    return text ? text : "";
}

/* Clearly faster: by the tolerance, and by more than two runs of the same job differ. Then what it needed for that,
 * such as a larger shuffle, does not fail it. */
static bool is_faster(const struct pyro_comparison *comparison, double tolerance)
{
    double before = value_of(comparison->before->app, PYRO_LIMIT_WALL),
           value = value_of(comparison->after->app, PYRO_LIMIT_WALL);
    return value < before - fmax(before * fmin(tolerance, 1), SLACK_MS);
}

static void check_against(struct gate_run *run, int id, double tolerance, bool faster)
{
    const struct pyro_limit_info *info = &pyro_limits[id];
    const struct pyro_comparison *comparison = run->gate->comparison;
    double before = value_of(comparison->before->app, id), value = value_of(comparison->after->app, id);
    double limit = before + fmax(before * tolerance, slack_of(info->unit));
    bool within = value <= limit || (!isfinite(before) && !isfinite(value));
    bool excused = !within && faster && pyro_limits[id].means && isfinite(before) && isfinite(value);
    bool passed = within || excused;
    struct pyro_slice name = pyro_arena_printf(&run->gate->arena, "baseline.%s", info->name);
    struct pyro_check *check = add_check(run, name, info->unit, value, limit, passed);
    SAY(run, check, "%s %s; the baseline has %s, and at most %s is allowed.%s", say(run, value, info->unit),
        info->words, say(run, before, info->unit), say(run, limit, info->unit),
        excused                            ? " This does not fail the run, because it is clearly faster."
        : !passed && id == PYRO_LIMIT_WALL ? causes_of(run)
                                           : "");
    if (check && !passed)
        check->finding = explain(run->gate->diagnosis, id);
}

static void check_new_findings(struct gate_run *run)
{
    const struct pyro_comparison *comparison = run->gate->comparison;
    const struct pyro_finding *worst = NULL;
    size_t count = 0;
    for (size_t i = 0; i < comparison->finding_count; i++) {
        const struct pyro_compared_finding *row = &comparison->findings[i];
        bool worse = row->after && !row->after->folded && row->after->severity > PYRO_SEVERITY_LOW &&
                     (!row->before || row->before->severity < row->after->severity);
        count += worse;
        if (worse && (!worst || row->after->severity > worst->severity))
            worst = row->after;
    }
    struct pyro_check *check =
        add_check(run, PYRO_SLICE_LITERAL("baseline.findings"), "count", (double)count, 0, count == 0);
    SAY(run, check, "%zu finding%s above low severity that the baseline does not have, or has with a lower severity.",
        count, count == 1 ? "" : "s");
    if (check)
        check->finding = worst;
}

static enum pyro_status check_baseline(struct gate_run *run, const struct pyro_diagnosis *baseline, double tolerance,
                                       bool allow_incomplete, struct pyro_error *error)
{
    struct pyro_gate *gate = run->gate;
    PYRO_TRY(pyro_comparison_make(baseline, gate->diagnosis, gate->arena.allocator, &gate->comparison, error));
    check_complete(run, "baseline.complete", baseline->app, allow_incomplete);
    bool unlike = pyro_comparison_is_unlike(gate->comparison);
    struct pyro_check *check =
        add_check(run, PYRO_SLICE_LITERAL("baseline.alike"), "share", gate->comparison->matched_share, 0.2, !unlike);
    SAY(run, check,
        unlike ? "The run and its baseline have almost nothing in common: are they the same application?"
               : "The run and its baseline do the same work.");
    bool faster = is_faster(gate->comparison, tolerance);
    for (int i = 0; i < PYRO_LIMITS; i++)
        if (pyro_limits[i].compared)
            check_against(run, i, tolerance, faster);
    check_new_findings(run);
    return PYRO_OK;
}

/* ---- Public functions ---- */

static enum pyro_status read_options(const struct pyro_gate_options *given, struct pyro_gate_options *ret,
                                     struct pyro_error *error)
{
    struct pyro_gate_options options = {.size = sizeof(options)};
    PYRO_TRY(PYRO_TAKE(&options, given, error));
    if (options.fail_on < 0 || options.fail_on > 4 || !(options.tolerance <= 1000))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_gate_options have values outside their range");
    if (!options.fail_on && !options.budget && !options.baseline)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a gate needs a severity, a budget or a baseline");
    *ret = options;
    return PYRO_OK;
}

static enum pyro_status run_checks(struct gate_run *run, const struct pyro_gate_options *options,
                                   struct pyro_error *error)
{
    struct pyro_budget budget = {0};
    if (options->budget)
        PYRO_TRY(pyro_budget_read(&run->gate->arena, options->budget, &budget, error));
    check_complete(run, "complete", run->gate->diagnosis->app, options->allow_incomplete != 0);
    if (options->fail_on)
        check_findings(run, "fail_on", options->fail_on - 1, 0, true);
    if (options->budget)
        check_budget(run, &budget);
    if (options->baseline) {
        double tolerance = options->tolerance == 0 ? TOLERANCE_USUAL : fmax(options->tolerance, 0);
        PYRO_TRY(check_baseline(run, options->baseline, tolerance, options->allow_incomplete != 0, error));
    }
    return run->failed ? pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory to check the application") : PYRO_OK;
}

enum pyro_status pyro_gate_run(const pyro_diagnosis *diagnosis, const struct pyro_gate_options *options,
                               pyro_gate **ret, struct pyro_error *error)
{
    struct pyro_gate_options own = {.size = sizeof(own)};
    pyro_error_clear(error);
    if (!diagnosis || !ret)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the diagnosis is missing");
    PYRO_TRY(read_options(options, &own, error));
    const struct pyro_allocator *allocator = diagnosis->arena.allocator;
    struct pyro_gate *gate = pyro_allocate(allocator, sizeof(*gate));
    if (!gate)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory to check the application");
    *gate = (struct pyro_gate){.diagnosis = diagnosis};
    pyro_arena_init(&gate->arena, allocator);
    enum pyro_status status = run_checks(&(struct gate_run){.gate = gate}, &own, error);
    if (status != PYRO_OK) {
        pyro_gate_free(gate);
        return status;
    }
    *ret = gate;
    return PYRO_OK;
}

void pyro_gate_free(pyro_gate *gate)
{
    if (!gate)
        return;
    const struct pyro_allocator *allocator = gate->arena.allocator;
    pyro_comparison_free(gate->comparison);
    pyro_vec_done(&gate->checks, allocator);
    pyro_arena_done(&gate->arena);
    pyro_release(allocator, gate);
}

int pyro_gate_passed(const pyro_gate *gate)
{
    return gate->failed == 0;
}

size_t pyro_gate_check_count(const pyro_gate *gate)
{
    return gate->checks.count;
}

enum pyro_status pyro_gate_check(const pyro_gate *gate, size_t index, struct pyro_check_info *ret)
{
    if (index >= gate->checks.count)
        return PYRO_ERROR_ARGUMENT;
    const struct pyro_check *check = &gate->checks.items[index];
    const struct pyro_check_info info = {.name = check->name.ptr,
                                         .message = check->message.ptr,
                                         .unit = check->unit,
                                         .finding = check->finding ? check->finding->id.ptr : NULL,
                                         .value = check->value,
                                         .limit = check->limit,
                                         .passed = check->passed};
    return PYRO_GIVE(ret, &info);
}
