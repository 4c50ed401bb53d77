/* The comparison as JSON: schema pyrometer.comparison/1 (docs/schema/). */
#include <math.h>

#include "base/numbers/saturate.h"
#include "report/comparison/comparison.h"
#include "report/shared/finding_facts.h"
#include "text/json_write.h"

static void write_side(struct pyro_json_writer *json, const char *key, const struct pyro_app *app)
{
    const struct pyro_application_row *row = &app->application;
    pyro_json_line(json);
    pyro_json_begin(json, key, '{');
    pyro_json_text(json, "id", row->id);
    pyro_json_text(json, "name", row->name);
    pyro_json_text(json, "attempt", row->attempt);
    pyro_json_text(json, "spark_version", row->spark_version);
    pyro_json_int(json, "start_ms", row->start_ms);
    pyro_json_int(json, "duration_ms", row->duration_ms);
    pyro_json_text(json, "status", row->status);
    pyro_json_text(json, "outcome", row->outcome);
    pyro_json_real(json, "confidence", app->integrity.confidence);
    pyro_json_text(json, "path", app->path);
    pyro_json_end(json, '}');
}

static void write_account(struct pyro_json_writer *json, const char *key, int64_t before, int64_t after,
                          const char *const *names, const int64_t *parts_before, const int64_t *parts_after,
                          size_t count)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '{');
    pyro_json_int(json, "before_ms", before);
    pyro_json_int(json, "after_ms", after);
    pyro_json_begin(json, "parts", '[');
    for (size_t i = 0; i < count; i++) {
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "name", names[i]);
        pyro_json_int(json, "before_ms", parts_before[i]);
        pyro_json_int(json, "after_ms", parts_after[i]);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}

static void write_lines(struct pyro_json_writer *json, const char *key, struct pyro_slice rest)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '[');
    while (rest.len) {
        const char *newline = memchr(rest.ptr, '\n', rest.len);
        size_t len = newline ? (size_t)(newline - rest.ptr) : rest.len;
        pyro_json_line(json);
        pyro_json_text(json, NULL, (struct pyro_slice){rest.ptr, len});
        len += newline ? 1 : 0;
        rest = (struct pyro_slice){rest.ptr + len, rest.len - len};
    }
    pyro_json_end(json, ']');
}

static void write_explanation(struct pyro_json_writer *json, const struct pyro_comparison *comparison)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, json->output->buffer.allocator);
    pyro_comparison_verdict(&text, comparison);
    pyro_comparison_reasons(&text, comparison);
    write_lines(json, "explanation", pyro_strbuf_slice(&text));
    json->output->buffer.failed |= text.failed;
    pyro_strbuf_clear(&text);
    pyro_comparison_caveats(&text, comparison);
    write_lines(json, "caveats", pyro_strbuf_slice(&text));
    json->output->buffer.failed |= text.failed;
    pyro_strbuf_done(&text);
}

static void write_causes(struct pyro_json_writer *json, const struct pyro_comparison *comparison)
{
    unsigned order[PYRO_CAUSES];
    pyro_causes_order(comparison->causes, pyro_sub_saturating(comparison->after_ms, comparison->before_ms), order);
    pyro_json_line(json);
    pyro_json_begin(json, "causes", '[');
    for (unsigned i = 0; i < PYRO_CAUSES; i++) {
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "name", pyro_cause_names[order[i]]);
        pyro_json_string(json, "words", pyro_cause_words[order[i]]);
        pyro_json_int(json, "ms", comparison->causes[order[i]]);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_totals(struct pyro_json_writer *json, const struct pyro_comparison *comparison)
{
    struct pyro_compared_total totals[PYRO_COMPARED_TOTALS];
    pyro_comparison_totals(comparison, totals);
    pyro_json_line(json);
    pyro_json_begin(json, "totals", '[');
    for (size_t i = 0; i < PYRO_COMPARED_TOTALS; i++) {
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "name", totals[i].name);
        pyro_json_string(json, "unit", totals[i].unit);
        pyro_json_int(json, "before", totals[i].before);
        pyro_json_int(json, "after", totals[i].after);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_stage_side(struct pyro_json_writer *json, const char *key, const struct pyro_app *app, ptrdiff_t row,
                             int64_t wall_ms, double slots)
{
    if (row < 0) {
        pyro_json_null(json, key);
        return;
    }
    const struct pyro_stage *stage = &app->stages.items[row];
    pyro_json_begin(json, key, '{');
    pyro_json_int(json, "id", stage->id);
    pyro_json_int(json, "attempt", stage->attempt);
    pyro_json_int(json, "sql", stage->sql);
    pyro_json_int(json, "wall_ms", wall_ms);
    pyro_json_int(json, "tasks", stage->tasks);
    pyro_json_int(json, "task_ms", stage->task_ms);
    pyro_json_real(json, "slots", slots);
    pyro_json_end(json, '}');
}

static void write_stage_findings(struct pyro_json_writer *json, const struct pyro_comparison *comparison, ptrdiff_t row)
{
    pyro_json_begin(json, "findings", '[');
    for (size_t i = 0; row >= 0 && i < comparison->after->finding_count; i++)
        if (comparison->after->findings[i].stage == comparison->after->app->stages.items[row].id)
            pyro_json_text(json, NULL, comparison->after->findings[i].id);
    pyro_json_end(json, ']');
}

static void write_stage(struct pyro_json_writer *json, const struct pyro_comparison *comparison,
                        const struct pyro_compared_stage *row)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_text(json, "call_site", pyro_compared_site(comparison, row));
    pyro_json_string(json, "status", row->before < 0 ? "new" : row->after < 0 ? "gone" : "matched");
    pyro_json_int(json, "difference_ms", pyro_sub_saturating(row->after_ms, row->before_ms));
    pyro_json_line(json);
    write_stage_side(json, "before", comparison->before->app, row->before, row->before_ms, row->slots_before);
    pyro_json_line(json);
    write_stage_side(json, "after", comparison->after->app, row->after, row->after_ms, row->slots_after);
    pyro_json_line(json);
    pyro_json_begin(json, "causes", '{');
    for (unsigned i = 0; i < PYRO_CAUSES; i++)
        if (row->causes[i] != 0)
            pyro_json_int(json, pyro_cause_names[i], row->causes[i]);
    pyro_json_end(json, '}');
    if (row->volume) {
        pyro_json_begin(json, "data", '{');
        pyro_json_string(json, "measure", row->volume);
        pyro_json_real(json, "before", row->data_before);
        pyro_json_real(json, "after", row->data_after);
        pyro_json_end(json, '}');
    } else {
        pyro_json_null(json, "data");
    }
    write_stage_findings(json, comparison, row->after);
    pyro_json_end(json, '}');
}

static void write_queries(struct pyro_json_writer *json, const struct pyro_comparison *comparison)
{
    pyro_json_line(json);
    pyro_json_begin(json, "queries", '{');
    pyro_json_count(json, "matched", comparison->matched_queries);
    pyro_json_count(json, "new", comparison->new_queries);
    pyro_json_count(json, "gone", comparison->gone_queries);
    pyro_json_count(json, "changed", comparison->changed_queries);
    pyro_json_begin(json, "differences", '[');
    for (size_t i = 0; i < comparison->query_count; i++) {
        const struct pyro_compared_query *query = &comparison->queries[i];
        const struct pyro_sql_execution *after = &comparison->after->app->sql.items[query->after];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_int(json, "before", comparison->before->app->sql.items[query->before].id);
        pyro_json_int(json, "after", after->id);
        pyro_json_text(json, "description", after->description);
        pyro_json_text(json, "call_site", after->call_site);
        pyro_json_begin(json, "operators", '[');
        for (size_t k = 0; k < query->operator_count; k++) {
            pyro_json_line(json);
            pyro_json_begin(json, NULL, '{');
            pyro_json_text(json, "name", query->operators[k].name);
            pyro_json_int(json, "before", query->operators[k].before);
            pyro_json_int(json, "after", query->operators[k].after);
            pyro_json_end(json, '}');
        }
        pyro_json_end(json, ']');
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}

static void write_findings(struct pyro_json_writer *json, const char *key, const struct pyro_comparison *comparison,
                           bool before, bool after)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '[');
    for (size_t i = 0; i < comparison->finding_count; i++) {
        const struct pyro_compared_finding *row = &comparison->findings[i];
        if ((row->before != NULL) != before || (row->after != NULL) != after)
            continue;
        const struct pyro_finding *finding = row->after ? row->after : row->before;
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "id", finding->id);
        pyro_json_string(json, "rule", finding->rule->id);
        pyro_json_text(json, "title", finding->title);
        pyro_json_string(json, "severity_before", row->before ? pyro_severity_name(row->before->severity) : NULL);
        pyro_json_string(json, "severity_after", row->after ? pyro_severity_name(row->after->severity) : NULL);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

void pyro_comparison_json(struct pyro_output *output, const struct pyro_comparison *comparison)
{
    const struct pyro_numbers *before = &comparison->before->app->numbers, *after = &comparison->after->app->numbers;
    struct pyro_json_writer json;
    pyro_json_writer_init(&json, output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_line(&json);
    pyro_json_string(&json, "schema", "pyrometer.comparison/1");
    write_side(&json, "before", comparison->before->app);
    write_side(&json, "after", comparison->after->app);
    pyro_json_line(&json);
    pyro_json_int(&json, "difference_ms", pyro_sub_saturating(comparison->after_ms, comparison->before_ms));
    write_explanation(&json, comparison);
    write_causes(&json, comparison);
    write_account(&json, "wall", comparison->before_ms, comparison->after_ms, pyro_wall_part_names, before->wall_ms,
                  after->wall_ms, PYRO_WALL_PARTS);
    write_account(&json, "core", before->core_total_ms, after->core_total_ms, pyro_core_part_names, before->core_ms,
                  after->core_ms, PYRO_CORE_PARTS);
    write_totals(&json, comparison);
    pyro_json_line(&json);
    pyro_json_begin(&json, "matched", '{');
    pyro_json_count(&json, "stages", comparison->matched_stages);
    pyro_json_real(&json, "share", comparison->matched_share);
    pyro_json_bool(&json, "hardly", pyro_comparison_is_unlike(comparison));
    pyro_json_end(&json, '}');
    pyro_json_line(&json);
    pyro_json_begin(&json, "stages", '[');
    for (size_t i = 0; i < comparison->stage_count; i++) {
        write_stage(&json, comparison, &comparison->stages[i]);
        pyro_output_flush(output, false);
    }
    pyro_json_end(&json, ']');
    write_queries(&json, comparison);
    pyro_json_line(&json);
    pyro_json_begin(&json, "settings", '[');
    for (size_t i = 0; i < comparison->setting_count; i++) {
        const struct pyro_compared_setting *row = &comparison->settings[i];
        pyro_json_line(&json);
        pyro_json_begin(&json, NULL, '{');
        pyro_json_text(&json, "key", row->key);
        pyro_json_text(&json, "before", row->before);
        pyro_json_text(&json, "after", row->after);
        pyro_json_end(&json, '}');
    }
    pyro_json_end(&json, ']');
    pyro_json_line(&json);
    pyro_json_begin(&json, "findings", '{');
    write_findings(&json, "appeared", comparison, false, true);
    write_findings(&json, "vanished", comparison, true, false);
    write_findings(&json, "changed", comparison, true, true);
    pyro_json_end(&json, '}');
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output->buffer, '\n');
}
