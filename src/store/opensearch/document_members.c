/* Members of documents. */
#include <stdio.h>
#include <string.h>

#include "advice/fault_costs.h"
#include "base/collections/digest.h"
#include "base/secrets/secret_expressions.h"
#include "store/opensearch/opensearch.h"
#include "text/json_compact.h"

/* ---- Ids --------------------------------------------------------------------------------------------------------- */

enum { LONGEST_ID = 400, LEFT_OF_ID = 300 };

/* What is long, or is perhaps not UTF-8, is cut; the hash of all of it makes it unique again. */
struct pyro_slice pyro_opensearch_id(struct pyro_arena *arena, struct pyro_slice text)
{
    size_t plain = 0;
    while (plain < text.len && text.ptr[plain] > ' ' && text.ptr[plain] < 127)
        plain++;
    if (plain == text.len && plain > 0 && plain <= LONGEST_ID)
        return text;
    char digits[PYRO_DIGEST_BYTES];
    pyro_digest(text, digits);
    return pyro_arena_printf(arena, "%.*s~%s", (int)(plain < LEFT_OF_ID ? plain : LEFT_OF_ID), text.ptr, digits);
}

struct pyro_slice pyro_opensearch_run_id(struct pyro_arena *arena, struct pyro_slice app_id, struct pyro_slice attempt)
{
    struct pyro_slice whole = app_id;
    if (attempt.len)
        whole = pyro_arena_printf(arena, "%.*s/%.*s", (int)app_id.len, app_id.ptr, (int)attempt.len, attempt.ptr);
    return whole.ptr ? pyro_opensearch_id(arena, whole) : whole;
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

/* A text that is perhaps too long to be searched for: then "long" says that there is one. There are at least as many
 * bytes as characters. */
static void add_long(struct pyro_strbuf *to, const char *name, struct pyro_slice value)
{
    pyro_compact_text(to, name, value);
    if (value.len > PYRO_OS_TEXT)
        pyro_compact_string(to, "long", name);
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* Columns of the run in a document of `from`, which may have one of its own with the same name. */
struct of_run {
    struct pyro_strbuf *to;
    enum pyro_query_from from;
};

static bool is_shadowed(const struct of_run *of, const char *name)
{
    return of->from != PYRO_FROM_RUNS && pyro_opensearch_has_own(of->from, pyro_slice_from(name));
}

static void run_text(const struct of_run *of, const char *name, struct pyro_slice value)
{
    if (!is_shadowed(of, name))
        pyro_compact_text(of->to, name, value);
}

static void run_int(const struct of_run *of, const char *name, int64_t value)
{
    if (!is_shadowed(of, name))
        pyro_compact_int(of->to, name, value);
}

static void add_columns(const struct of_run *of, const struct pyro_run *run)
{
    const struct pyro_app *app = run->diagnosis->app;
    const struct pyro_application_row *row = &app->application;
    run_text(of, "app_id", run->app_id);
    run_text(of, "attempt", run->attempt);
    run_text(of, "name", run->name);
    run_text(of, "user", row->user);
    run_int(of, "start_ms", row->start_ms);
    run_int(of, "end_ms", row->end_ms);
    run_int(of, "duration_ms", row->duration_ms);
    run_text(of, "spark_version", row->spark_version);
    run_text(of, "master", row->master);
    run_text(of, "status", row->status);
    run_int(of, "core_ms", app->numbers.core_total_ms);
    if (!is_shadowed(of, "confidence"))
        pyro_compact_real(of->to, "confidence", app->integrity.confidence);
    run_int(of, "recorded_ms", run->recorded_ms);
    run_text(of, "path", run->path);
    run_text(of, "application", run->application);
    run_text(of, "type", run->type);
    run_text(of, "version", run->version);
    run_text(of, "tag", run->tag);
    run_text(of, "queue", run->queue);
    run_int(of, "input_bytes", run->input_bytes);
    run_text(of, "source", run->source);
    run_int(of, "is_final_attempt", run->is_final_attempt);
    run_text(of, "outcome", row->outcome);
}

static void add_pairs(struct pyro_strbuf *to, const char *name, const struct pyro_run_pair *pairs, size_t count)
{
    struct pyro_strbuf pair;
    pyro_strbuf_init(&pair, to->allocator);
    pyro_compact_begin(to, name, '[');
    for (size_t i = 0; i < count; i++) {
        pyro_strbuf_clear(&pair);
        pyro_strbuf_add_slice(&pair, pairs[i].key);
        pyro_strbuf_add_char(&pair, '=');
        pyro_strbuf_add_slice(&pair, pairs[i].value);
        pyro_compact_text(to, NULL, pyro_strbuf_slice(&pair));
        to->failed |= pair.failed;
    }
    pyro_compact_end(to, ']');
    pyro_strbuf_done(&pair);
}

/* "u:ann"; a star in a list is everybody. */
static void add_viewer(struct pyro_strbuf *to, char kind, struct pyro_slice name, bool listed)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, to->allocator);
    if (!listed || !pyro_slice_is(name, "*"))
        pyro_strbuf_printf(&text, "%c:", kind);
    pyro_strbuf_add_slice(&text, name);
    pyro_compact_text(to, NULL, pyro_strbuf_slice(&text));
    to->failed |= text.failed;
    pyro_strbuf_done(&text);
}

static void add_viewers(struct pyro_strbuf *to, char kind, struct pyro_slice list)
{
    struct pyro_slice name;
    while (pyro_access_next(&list, &name))
        add_viewer(to, kind, name, true);
}

/* Who may see the run, as it can be asked for: its owner, "open" if it checks no one, and whom its lists name; and the
 * lists as they are. */
static void add_access(struct pyro_strbuf *to, const struct pyro_run *run)
{
    const struct pyro_access_lists *access = &run->access;
    struct pyro_slice owner = run->diagnosis->app->application.user;
    pyro_compact_begin(to, "seen_by", '[');
    pyro_compact_string(to, NULL, access->enabled ? "listed" : "open");
    if (owner.len)
        add_viewer(to, 'u', owner, false);
    add_viewers(to, 'u', access->users);
    add_viewers(to, 'u', access->admins);
    add_viewers(to, 'g', access->groups);
    add_viewers(to, 'g', access->admin_groups);
    pyro_compact_end(to, ']');
    pyro_compact_begin(to, "access", '{');
    pyro_compact_int(to, "enabled", access->enabled);
    pyro_compact_text(to, "view_users", access->users);
    pyro_compact_text(to, "view_groups", access->groups);
    pyro_compact_text(to, "admin_users", access->admins);
    pyro_compact_text(to, "admin_groups", access->admin_groups);
    pyro_compact_end(to, '}');
}

void pyro_opensearch_add_run(const struct pyro_run *run, struct pyro_slice id, int64_t epoch, enum pyro_query_from from,
                             enum pyro_opensearch_parts parts, struct pyro_strbuf *to)
{
    const struct of_run of = {to, from};
    add_columns(&of, run);
    pyro_compact_text(to, "run", id);
    pyro_compact_int(to, "run_start_ms", run->diagnosis->app->application.start_ms);
    pyro_compact_int(to, "epoch", epoch);
    add_access(to, run);
    if (parts != PYRO_OS_ALL)
        return;
    add_pairs(to, "properties", run->properties.items, run->properties.count);
    add_pairs(to, "tags", run->tags.items, run->tags.count);
    pyro_compact_begin(to, "agg", '{');
    for (size_t i = 0; i < run->aggregates.count; i++)
        pyro_compact_real(to, run->aggregates.items[i].name, run->aggregates.items[i].value);
    pyro_compact_end(to, '}');
}

void pyro_opensearch_add_raw(const struct pyro_run *run, bool with_document, struct pyro_strbuf *to)
{
    char key[24];
    snprintf(key, sizeof(key), "%llu", (unsigned long long)pyro_secret_expressions_key(run->diagnosis->app->redaction));
    pyro_compact_string(to, "redaction", key);
    pyro_compact_text(to, "report", run->report);
    if (!with_document || !run->raw.ptr)
        return;
    pyro_compact_name(to, "raw");
    for (size_t i = 0; i < run->raw.len; i++) /* a line break would end the operation */
        pyro_strbuf_add_char(to, run->raw.ptr[i] == '\n' || run->raw.ptr[i] == '\r' ? ' ' : run->raw.ptr[i]);
}

/* ---- What runs have ---------------------------------------------------------------------------------------------- */

void pyro_opensearch_add_finding(const struct pyro_finding *finding, struct pyro_strbuf *to)
{
    pyro_compact_text(to, "id", finding->id);
    pyro_compact_string(to, "rule", finding->rule->id);
    pyro_compact_string(to, "category", finding->rule->category);
    pyro_compact_string(to, "severity", pyro_severity_name(finding->severity));
    pyro_compact_real(to, "confidence", finding->confidence);
    pyro_compact_text(to, "title", finding->title);
    pyro_compact_text(to, "cause", finding->cause);
    pyro_compact_int(to, "job", finding->job);
    pyro_compact_int(to, "stage", finding->stage);
    pyro_compact_int(to, "stage_attempt", finding->attempt);
    pyro_compact_int(to, "sql", finding->sql);
    pyro_compact_text(to, "executor", finding->executor);
    pyro_compact_text(to, "host", finding->host);
    pyro_compact_text(to, "call_site", finding->call_site);
    const struct pyro_saving part = pyro_finding_part(finding);
    pyro_compact_int(to, "saves_low_ms", part.wall_low_ms);
    pyro_compact_int(to, "saves_ms", part.wall_expected_ms);
    pyro_compact_int(to, "saves_high_ms", part.wall_high_ms);
    pyro_compact_int(to, "saves_core_ms", part.core_ms);
    pyro_compact_int(to, "folded", finding->folded);
}

void pyro_opensearch_add_usage(const struct pyro_usage_row *row, struct pyro_strbuf *to)
{
    pyro_compact_int(to, "start_ms", row->start_ms);
    pyro_compact_int(to, "span_ms", row->span_ms);
    pyro_compact_int(to, "slot_ms", row->slot_ms);
    pyro_compact_int(to, "core_ms", row->core_ms);
    pyro_compact_int(to, "busy_core_ms", row->busy_core_ms);
    pyro_compact_int(to, "mib_ms", row->mib_ms);
    pyro_compact_int(to, "input_bytes", row->input_bytes);
    pyro_compact_int(to, "output_bytes", row->output_bytes);
    pyro_compact_int(to, "shuffle_bytes", row->shuffle_bytes);
}

void pyro_opensearch_add_allocation(const struct pyro_allocation_row *row, struct pyro_strbuf *to)
{
    pyro_compact_int(to, "core_ms", row->core_ms);
    pyro_compact_int(to, "mib_ms", row->mib_ms);
    pyro_compact_text(to, "parts", row->parts);
    pyro_compact_text(to, "platform", row->platform);
    pyro_compact_text(to, "instance", row->instance);
    pyro_compact_text(to, "region", row->region);
}

void pyro_opensearch_add_advice(const struct pyro_advice_row *row, struct pyro_strbuf *to)
{
    pyro_compact_text(to, "finding", row->finding);
    pyro_compact_text(to, "rule", row->rule);
    pyro_compact_text(to, "key", row->key);
    pyro_compact_text(to, "previous", row->previous);
    pyro_compact_text(to, "value", row->value);
    pyro_compact_int(to, "saves_low_ms", row->saves_low_ms);
    pyro_compact_int(to, "saves_ms", row->saves_ms);
    pyro_compact_int(to, "saves_high_ms", row->saves_high_ms);
    pyro_compact_int(to, "saves_core_ms", row->saves_core_ms);
}

/* ---- Others ------------------------------------------------------------------------------------------------------ */

void pyro_opensearch_add_error(const struct pyro_store_error_row *row, struct pyro_strbuf *to)
{
    pyro_compact_string(to, "kind", pyro_opensearch_kind(PYRO_FROM_ERRORS));
    pyro_compact_int(to, "time_ms", row->time_ms);
    pyro_compact_string(to, "app_id", row->application);
    pyro_compact_string(to, "attempt", row->attempt);
    pyro_compact_string(to, "source", row->source);
    pyro_compact_string(to, "step", row->step);
    pyro_compact_string(to, "type", row->type);
    pyro_compact_string(to, "message", row->message);
    add_long(to, "raw", pyro_slice_from(row->raw));
    pyro_compact_int(to, "tries", row->tries);
}

void pyro_opensearch_add_verdict(const struct pyro_verdict_row *row, struct pyro_strbuf *to)
{
    pyro_compact_string(to, "kind", "verdict");
    pyro_compact_int(to, "time_ms", row->time_ms);
    pyro_compact_string(to, "application", row->application);
    pyro_compact_string(to, "finding", row->finding);
    pyro_compact_string(to, "rule", row->rule);
    pyro_compact_string(to, "verdict", pyro_feedback_name(row->verdict));
    pyro_compact_string(to, "note", row->note);
}

void pyro_opensearch_add_suggestion(const struct pyro_suggestion_row *row, struct pyro_strbuf *to)
{
    pyro_compact_string(to, "kind", pyro_opensearch_kind(PYRO_FROM_SUGGESTIONS));
    pyro_compact_text(to, "id", row->id);
    pyro_compact_text(to, "application", row->application);
    pyro_compact_int(to, "time_ms", row->time_ms);
    pyro_compact_text(to, "state", row->state);
    pyro_compact_text(to, "goal", row->goal);
    pyro_compact_text(to, "target", row->target);
    add_long(to, "document", row->document);
    pyro_compact_text(to, "note", row->note);
}

void pyro_opensearch_add_cluster(const struct pyro_cluster_row *row, struct pyro_strbuf *to)
{
    pyro_compact_string(to, "kind", pyro_opensearch_kind(PYRO_FROM_CLUSTER));
    pyro_compact_text(to, "source", row->source);
    pyro_compact_int(to, "time_ms", row->time_ms);
    pyro_compact_text(to, "name", row->name);
    pyro_compact_real(to, "number", row->value); /* "value" is a text in documents of advice */
}
