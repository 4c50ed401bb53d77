/* pyro_evaluate(): runs every rule over a corpus and compares with its labels. */
#include "evaluate/evaluate.h"

#include "base/error.h"
#include "base/files/yaml_file.h"
#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"
#include "base/options.h"

struct evaluating {
    const struct pyro_evaluate_options *wanted;
    struct pyro_options options;
    const char *folder;
    struct pyro_evaluation result;
};

static const char *keep(struct evaluating *state, const char *text)
{
    return pyro_arena_copy(&state->result.arena, pyro_slice_from(text)).ptr;
}

static enum pyro_status no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for an evaluation");
}

static enum pyro_status add_outcome(struct evaluating *state, struct pyro_judged_run *run, const char *rule,
                                    enum pyro_outcome outcome, struct pyro_error *error)
{
    struct pyro_judged_rule *row = pyro_vec_push(&run->rules, state->result.allocator);
    const char *copy = keep(state, rule);
    if (!row || !copy)
        return no_memory(error);
    *row = (struct pyro_judged_rule){copy, outcome};
    return PYRO_OK;
}

/* ---- One run ----------------------------------------------------------------------------------------------------- */

static bool lists(const struct pyro_yaml *list, const char *rule)
{
    for (size_t i = 0; list && list->kind == PYRO_YAML_LIST && i < list->count; i++)
        if (pyro_slice_is(list->entries[i].value->text, rule))
            return true;
    return false;
}

/* Loads and diagnoses a log of the corpus. What cannot be read is a fact about the run (`ret_reason`), no failure. */
static enum pyro_status diagnose(struct evaluating *state, const char *file, pyro_diagnosis **ret,
                                 const char **ret_reason, struct pyro_error *error)
{
    struct pyro_error own = {.size = sizeof(own)};
    pyro_inputs *inputs = NULL;
    pyro_app *app = NULL;
    const char *path = pyro_arena_printf(&state->result.arena, "%s/%s", state->folder, file).ptr;
    if (!path)
        return no_memory(error);
    const char *const paths[] = {path};
    enum pyro_status status = pyro_inputs_open(paths, 1, state->wanted->load, &state->options, &inputs, &own);
    if (status == PYRO_OK && pyro_inputs_count(inputs) != 1) {
        const char *why = pyro_inputs_unreadable_count(inputs) ? pyro_inputs_unreadable_reason(inputs, 0)
                                                               : "it is not exactly one log";
        status = pyro_error_set(&own, PYRO_ERROR_INPUT, "%s", why);
    }
    if (status == PYRO_OK)
        status = pyro_app_load(inputs, 0, state->wanted->load, &state->options, &app, &own);
    if (status == PYRO_OK)
        status = pyro_diagnose(app, NULL, &state->options, ret, &own);
    pyro_app_release(app);
    pyro_inputs_close(inputs);
    if (status != PYRO_ERROR_INPUT) {
        if (status != PYRO_OK)
            pyro_error_copy(error, &own);
        return status;
    }
    *ret_reason = keep(state, own.message);
    return *ret_reason ? PYRO_OK : no_memory(error);
}

static bool is_serious(const struct pyro_finding *finding)
{
    return finding->severity != PYRO_SEVERITY_LOW && !finding->folded;
}

static bool fired(const pyro_diagnosis *diagnosis, const char *rule)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        if (is_serious(&diagnosis->findings[i]) && strcmp(diagnosis->findings[i].rule->id, rule) == 0)
            return true;
    return false;
}

static enum pyro_status judge_rules(struct evaluating *state, struct pyro_judged_run *run,
                                    const pyro_diagnosis *diagnosis, const struct pyro_yaml *entry,
                                    struct pyro_error *error)
{
    const struct pyro_yaml *expected = pyro_yaml_get(entry, "expected"), *allowed = pyro_yaml_get(entry, "allowed");
    for (size_t i = 0; i < pyro_rule_count; i++) {
        const char *rule = pyro_rules[i]->id;
        if (!fired(diagnosis, rule))
            continue;
        enum pyro_outcome outcome = lists(expected, rule)  ? PYRO_OUTCOME_RIGHT
                                    : lists(allowed, rule) ? PYRO_OUTCOME_ALLOWED
                                                           : PYRO_OUTCOME_WRONG;
        PYRO_TRY(add_outcome(state, run, rule, outcome, error));
    }
    for (size_t i = 0; expected && expected->kind == PYRO_YAML_LIST && i < expected->count; i++) {
        const char *rule;
        if (pyro_yaml_text(expected->entries[i].value, &rule) && !fired(diagnosis, rule))
            PYRO_TRY(add_outcome(state, run, rule, PYRO_OUTCOME_MISSED, error));
    }
    return PYRO_OK;
}

/* Without the time in which there was no executor: how long they take to start says nothing about a fault. */
static int64_t working_ms(const struct pyro_app *app)
{
    return pyro_sub_saturating(app->numbers.wall_total_ms, app->numbers.wall_ms[PYRO_WALL_RESOURCE_WAIT]);
}

static enum pyro_status judge_saving(struct evaluating *state, struct pyro_judged_run *run,
                                     const pyro_diagnosis *diagnosis, const struct pyro_yaml *entry,
                                     struct pyro_error *error)
{
    const char *file = NULL, *reason = NULL;
    pyro_diagnosis *repaired = NULL;
    if (!pyro_yaml_text(pyro_yaml_get(entry, "repaired"), &file))
        return PYRO_OK;
    PYRO_TRY(diagnose(state, file, &repaired, &reason, error));
    if (!repaired)
        return PYRO_OK;
    const struct pyro_finding *best = NULL;
    for (size_t i = 0; i < diagnosis->finding_count && !best; i++)
        if (lists(pyro_yaml_get(entry, "expected"), diagnosis->findings[i].rule->id))
            best = &diagnosis->findings[i]; /* they come with the most saved first */
    run->duration_ms = working_ms(diagnosis->app);
    run->saved_ms = pyro_sub_saturating(run->duration_ms, working_ms(repaired->app));
    run->predicted_low_ms = best ? best->saves.wall_low_ms : 0;
    run->predicted_ms = best ? best->saves.wall_expected_ms : 0;
    run->predicted_high_ms = best ? best->saves.wall_high_ms : 0;
    pyro_diagnosis_free(repaired);
    return PYRO_OK;
}

static struct pyro_judged_run *add_run(struct evaluating *state)
{
    struct pyro_judged_run *run = pyro_vec_push(&state->result.runs, state->result.allocator);
    if (run)
        run->predicted_low_ms = run->predicted_ms = run->predicted_high_ms = run->saved_ms = run->duration_ms =
            PYRO_NONE;
    return run;
}

static enum pyro_status judge_entry(struct evaluating *state, const struct pyro_yaml *entry, const char *manifest,
                                    struct pyro_error *error)
{
    const char *file = NULL, *split = NULL;
    if (!pyro_yaml_text(pyro_yaml_get(entry, "file"), &file))
        return pyro_error_set(error, PYRO_ERROR_INPUT, "%.200s, line %u: a run needs \"file\"", manifest, entry->line);
    if (file[0] == '/' || strstr(file, ".."))
        return pyro_error_set(error, PYRO_ERROR_INPUT, "%.200s, line %u: \"file\" must be inside the corpus", manifest,
                              entry->line);
    pyro_yaml_text(pyro_yaml_get(entry, "split"), &split);
    if (state->wanted->split && (!split || strcmp(split, state->wanted->split) != 0))
        return PYRO_OK;
    struct pyro_judged_run *run = add_run(state);
    pyro_diagnosis *diagnosis = NULL;
    if (!run)
        return no_memory(error);
    run->file = keep(state, file);
    run->split = split ? keep(state, split) : NULL;
    if (!run->file || (split && !run->split))
        return no_memory(error);
    pyro_yaml_bool(pyro_yaml_get(entry, "healthy"), &run->healthy);
    PYRO_TRY(diagnose(state, file, &diagnosis, &run->reason, error));
    if (!diagnosis)
        return PYRO_OK;
    enum pyro_status status = judge_rules(state, run, diagnosis, entry, error);
    if (status == PYRO_OK)
        status = judge_saving(state, run, diagnosis, entry, error);
    pyro_diagnosis_free(diagnosis);
    return status;
}

/* ---- The corpus -------------------------------------------------------------------------------------------------- */

static enum pyro_status judge_corpus(struct evaluating *state, struct pyro_error *error)
{
    const struct pyro_yaml *root = NULL, *logs;
    const char *manifest = pyro_arena_printf(&state->result.arena, "%s/manifest.json", state->folder).ptr;
    if (!manifest)
        return no_memory(error);
    PYRO_TRY(pyro_yaml_load(&state->result.arena, manifest, &root, error));
    logs = root->kind == PYRO_YAML_LIST ? root : pyro_yaml_get(root, "logs");
    if (!logs || logs->kind != PYRO_YAML_LIST)
        return pyro_error_set(error, PYRO_ERROR_INPUT,
                              "%.200s has no list \"logs\"; docs/accuracy.md describes a corpus", manifest);
    for (size_t i = 0; i < logs->count; i++)
        PYRO_TRY(judge_entry(state, logs->entries[i].value, manifest, error));
    return PYRO_OK;
}

/* Verdicts of a store are labels too: one run an application. */
struct gathering {
    struct evaluating *state;
    struct pyro_error *error;
    enum pyro_status status;
};

static int take_feedback(void *context, const struct pyro_feedback *feedback)
{
    struct gathering *to = context;
    struct pyro_evaluation *result = &to->state->result;
    struct pyro_judged_run *run = NULL;
    if (!feedback->rule)
        return 0; /* a new kind of problem: no rule to count it for */
    for (size_t i = 0; i < result->runs.count && !run; i++)
        if (result->runs.items[i].feedback && strcmp(result->runs.items[i].file, feedback->application) == 0)
            run = &result->runs.items[i];
    if (!run) {
        run = add_run(to->state);
        const char *name = keep(to->state, feedback->application);
        if (!run || !name) {
            to->status = no_memory(to->error);
            return 1;
        }
        run->file = name;
        run->feedback = true;
    }
    enum pyro_outcome outcome = feedback->verdict == PYRO_FEEDBACK_MISSED           ? PYRO_OUTCOME_MISSED
                                : feedback->verdict == PYRO_FEEDBACK_FALSE_POSITIVE ? PYRO_OUTCOME_WRONG
                                                                                    : PYRO_OUTCOME_RIGHT;
    to->status = add_outcome(to->state, run, feedback->rule, outcome, to->error);
    return to->status != PYRO_OK;
}

static enum pyro_status judge_all(struct evaluating *state, struct pyro_error *error)
{
    PYRO_TRY(judge_corpus(state, error));
    if (!state->wanted->store)
        return PYRO_OK;
    struct gathering to = {state, error, PYRO_OK};
    enum pyro_status status = pyro_store_each_feedback(state->wanted->store, take_feedback, &to, error);
    return status == PYRO_OK ? to.status : status;
}

enum pyro_status pyro_evaluate(const char *corpus, const struct pyro_evaluate_options *wanted,
                               const struct pyro_options *options, enum pyro_format format,
                               const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_evaluate_options own = {.size = sizeof(own)};
    struct evaluating state = {.folder = corpus, .wanted = &own};
    pyro_error_clear(error);
    PYRO_TRY(pyro_options_resolve(options, &state.options, error));
    if (!corpus || !pyro_can_write(writer) || format > PYRO_FORMAT_MARKDOWN)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "the corpus or the writer is missing, or the format is not text, json or markdown");
    PYRO_TRY(PYRO_TAKE(&own, wanted, error));
    state.result.allocator = state.options.allocator;
    pyro_arena_init(&state.result.arena, state.options.allocator);
    enum pyro_status status = judge_all(&state, error);
    if (status == PYRO_OK) {
        struct pyro_output output;
        pyro_output_init(&output, writer, state.options.allocator);
        pyro_evaluation_write(&state.result, format, &output);
        status = pyro_output_done(&output, error);
    }
    for (size_t i = 0; i < state.result.runs.count; i++)
        pyro_vec_done(&state.result.runs.items[i].rules, state.result.allocator);
    pyro_vec_done(&state.result.runs, state.result.allocator);
    pyro_arena_done(&state.result.arena);
    return status;
}
