/* An evaluation as text, JSON (pyrometer.evaluation/1) and Markdown. */
#include "evaluate/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory/allocator.h"
#include "text/humanize.h"
#include "text/json_write.h"

enum { RULES_MAX = 512 }; /* a corpus may name rules that this build does not have, but not any number of them */

static const char *const outcome_names[PYRO_OUTCOMES] = {"right", "wrong", "missed", "allowed"};

double pyro_score_precision(const struct pyro_rule_score *score)
{
    double right = (double)score->count[PYRO_OUTCOME_RIGHT], wrong = (double)score->count[PYRO_OUTCOME_WRONG];
    return right + wrong > 0 ? right / (right + wrong) : (double)NAN;
}

double pyro_score_recall(const struct pyro_rule_score *score)
{
    double right = (double)score->count[PYRO_OUTCOME_RIGHT], missed = (double)score->count[PYRO_OUTCOME_MISSED];
    return right + missed > 0 ? right / (right + missed) : (double)NAN;
}

static int by_rule(const void *left, const void *right)
{
    const struct pyro_rule_score *a = left, *b = right;
    return strcmp(a->rule, b->rule);
}

struct scores {
    struct pyro_rule_score rules[RULES_MAX], total;
    size_t count;
};

static void tally(const struct pyro_evaluation *evaluation, struct scores *ret)
{
    *ret = (struct scores){.total = {.rule = "all"}};
    for (size_t i = 0; i < evaluation->runs.count; i++) {
        const struct pyro_judged_run *run = &evaluation->runs.items[i];
        for (size_t k = 0; k < run->rules.count; k++) {
            const struct pyro_judged_rule *one = &run->rules.items[k];
            size_t at = 0;
            while (at < ret->count && strcmp(ret->rules[at].rule, one->rule) != 0)
                at++;
            if (at == RULES_MAX)
                continue;
            if (at == ret->count)
                ret->rules[ret->count++] = (struct pyro_rule_score){.rule = one->rule};
            ret->rules[at].count[one->outcome]++;
            ret->total.count[one->outcome]++;
        }
    }
    if (ret->count > 1)
        qsort(ret->rules, ret->count, sizeof(ret->rules[0]), by_rule);
}

/* Runs that were judged; healthy ones; healthy ones without a finding above low. */
static void count_runs(const struct pyro_evaluation *evaluation, size_t *ret_judged, size_t *ret_healthy,
                       size_t *ret_silent)
{
    *ret_judged = *ret_healthy = *ret_silent = 0;
    for (size_t i = 0; i < evaluation->runs.count; i++) {
        const struct pyro_judged_run *run = &evaluation->runs.items[i];
        if (run->feedback || run->reason)
            continue;
        ++*ret_judged;
        *ret_healthy += run->healthy;
        *ret_silent += run->healthy && run->rules.count == 0;
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void score_json(struct pyro_json_writer *json, const char *key, const struct pyro_rule_score *score)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '{');
    pyro_json_count(json, "tp", score->count[PYRO_OUTCOME_RIGHT]);
    pyro_json_count(json, "fp", score->count[PYRO_OUTCOME_WRONG]);
    pyro_json_count(json, "fn", score->count[PYRO_OUTCOME_MISSED]);
    pyro_json_real(json, "precision", pyro_score_precision(score));
    pyro_json_real(json, "recall", pyro_score_recall(score));
    pyro_json_count(json, "allowed", score->count[PYRO_OUTCOME_ALLOWED]);
    pyro_json_end(json, '}');
}

static void run_json(struct pyro_json_writer *json, const struct pyro_judged_run *run)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, run->feedback ? "application" : "file", run->file);
    pyro_json_string(json, "source", run->feedback ? "feedback" : "corpus");
    pyro_json_string(json, "split", run->split);
    pyro_json_bool(json, "healthy", run->healthy);
    pyro_json_string(json, "unreadable", run->reason);
    for (size_t outcome = 0; outcome < PYRO_OUTCOMES; outcome++) {
        pyro_json_begin(json, outcome_names[outcome], '[');
        for (size_t i = 0; i < run->rules.count; i++)
            if (run->rules.items[i].outcome == outcome)
                pyro_json_string(json, NULL, run->rules.items[i].rule);
        pyro_json_end(json, ']');
    }
    if (run->saved_ms == PYRO_NONE) {
        pyro_json_null(json, "saves");
    } else {
        pyro_json_begin(json, "saves", '{');
        pyro_json_int(json, "duration_ms", run->duration_ms);
        pyro_json_int(json, "low_ms", run->predicted_low_ms);
        pyro_json_int(json, "expected_ms", run->predicted_ms);
        pyro_json_int(json, "high_ms", run->predicted_high_ms);
        pyro_json_int(json, "measured_ms", run->saved_ms);
        pyro_json_real(json, "error_share",
                       run->duration_ms > 0
                           ? ((double)run->predicted_ms - (double)run->saved_ms) / (double)run->duration_ms
                           : (double)NAN);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, '}');
}

static void write_json(const struct pyro_evaluation *evaluation, const struct scores *scores,
                       struct pyro_output *output)
{
    struct pyro_json_writer json;
    size_t judged, healthy, silent;
    count_runs(evaluation, &judged, &healthy, &silent);
    pyro_json_writer_init(&json, output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_line(&json);
    pyro_json_string(&json, "schema", "pyrometer.evaluation/1");
    pyro_json_line(&json);
    pyro_json_begin(&json, "rules", '{');
    for (size_t i = 0; i < scores->count; i++)
        score_json(&json, scores->rules[i].rule, &scores->rules[i]);
    pyro_json_end(&json, '}');
    score_json(&json, "total", &scores->total);
    pyro_json_line(&json);
    pyro_json_begin(&json, "healthy", '{');
    pyro_json_count(&json, "runs", healthy);
    pyro_json_count(&json, "silent", silent);
    pyro_json_end(&json, '}');
    pyro_json_line(&json);
    pyro_json_begin(&json, "runs", '[');
    for (size_t i = 0; i < evaluation->runs.count; i++)
        run_json(&json, &evaluation->runs.items[i]);
    pyro_json_end(&json, ']');
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output->buffer, '\n');
}

/* ---- Text and Markdown ------------------------------------------------------------------------------------------- */

static void add_share(struct pyro_strbuf *out, double share, const char *format)
{
    char text[16] = "-";
    if (isfinite(share))
        snprintf(text, sizeof(text), "%.2f", share);
    pyro_strbuf_printf(out, format, text);
}

static void score_row(struct pyro_strbuf *out, const struct pyro_rule_score *score, bool markdown)
{
    const size_t *count = score->count;
    if (markdown)
        pyro_strbuf_printf(out, "| %s | %zu | %zu | %zu |", score->rule, count[PYRO_OUTCOME_RIGHT],
                           count[PYRO_OUTCOME_MISSED], count[PYRO_OUTCOME_WRONG]);
    else
        pyro_strbuf_printf(out, "%-24s %6zu %7zu %13zu", score->rule, count[PYRO_OUTCOME_RIGHT],
                           count[PYRO_OUTCOME_MISSED], count[PYRO_OUTCOME_WRONG]);
    add_share(out, pyro_score_precision(score), markdown ? " %s |" : " %10s");
    add_share(out, pyro_score_recall(score), markdown ? " %s |" : " %7s");
    pyro_strbuf_printf(out, markdown ? " %zu |\n" : " %8zu\n", count[PYRO_OUTCOME_ALLOWED]);
}

static void saving_row(struct pyro_strbuf *out, const struct pyro_judged_run *run, bool markdown)
{
    if (run->saved_ms == PYRO_NONE)
        return;
    pyro_strbuf_printf(out, markdown ? "- %s: predicted " : "%s: predicted ", run->file);
    pyro_human_ms_range(out, run->predicted_low_ms, run->predicted_high_ms);
    pyro_strbuf_add_text(out, " (");
    pyro_human_ms(out, run->predicted_ms);
    pyro_strbuf_add_text(out, run->saved_ms < 0 ? "), the fixed run took longer by " : "), measured ");
    pyro_human_ms(out, run->saved_ms < 0 ? -run->saved_ms : run->saved_ms);
    pyro_strbuf_add_text(out, " of ");
    pyro_human_ms(out, run->duration_ms);
    pyro_strbuf_add_char(out, '\n');
}

static void write_page(const struct pyro_evaluation *evaluation, const struct scores *scores, struct pyro_strbuf *out,
                       bool markdown)
{
    size_t judged, healthy, silent;
    count_runs(evaluation, &judged, &healthy, &silent);
    pyro_strbuf_printf(out, "%zu run%s judged; no findings in %zu of %zu healthy runs.\n\n", judged,
                       judged == 1 ? "" : "s", silent, healthy);
    pyro_strbuf_add_text(
        out, markdown ? "| rule | correct | missed | false alarms | precision | recall | also allowed |\n| --- | --- | "
                        "--- | --- | --- | --- | --- |\n"
                      : "rule                    correct  missed  false alarms  precision  recall  allowed\n");
    for (size_t i = 0; i < scores->count; i++)
        score_row(out, &scores->rules[i], markdown);
    score_row(out, &scores->total, markdown);
    pyro_strbuf_add_char(out, '\n');
    for (size_t i = 0; i < evaluation->runs.count; i++) {
        const struct pyro_judged_run *run = &evaluation->runs.items[i];
        if (run->reason)
            pyro_strbuf_printf(out, "%s%s: not judged, %s\n", markdown ? "- " : "", run->file, run->reason);
        for (size_t k = 0; k < run->rules.count; k++)
            if (run->rules.items[k].outcome == PYRO_OUTCOME_MISSED || run->rules.items[k].outcome == PYRO_OUTCOME_WRONG)
                pyro_strbuf_printf(out, "%s%s: %s %s\n", markdown ? "- " : "", run->file, run->rules.items[k].rule,
                                   run->rules.items[k].outcome == PYRO_OUTCOME_MISSED ? "missed" : "is a false alarm");
        saving_row(out, run, markdown);
    }
}

void pyro_evaluation_write(const struct pyro_evaluation *evaluation, enum pyro_format format,
                           struct pyro_output *output)
{
    struct scores *scores = pyro_allocate(evaluation->allocator, sizeof(*scores));
    if (!scores) {
        output->status = PYRO_ERROR_MEMORY;
        return;
    }
    tally(evaluation, scores);
    if (format == PYRO_FORMAT_JSON)
        write_json(evaluation, scores, output);
    else
        write_page(evaluation, scores, &output->buffer, format == PYRO_FORMAT_MARKDOWN);
    pyro_release(evaluation->allocator, scores);
}
