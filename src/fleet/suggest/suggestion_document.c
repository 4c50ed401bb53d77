/* Suggestions as JSON, text, flags of spark-submit and lines of spark-defaults.conf. */
#include "fleet/suggest/suggestion_document.h"

#include <math.h>

#include "text/humanize.h"

static int64_t whole(double value)
{
    return isfinite(value) && fabs(value) < 9e18 ? llround(value) : PYRO_NONE;
}

static void write_range(struct pyro_json_writer *json, const struct pyro_candidate *candidate)
{
    pyro_json_begin(json, "wall_ms", '{');
    pyro_json_int(json, "low", whole(candidate->wall.low_ms));
    pyro_json_int(json, "expected", whole(candidate->wall.expected_ms));
    pyro_json_int(json, "high", whole(candidate->wall.high_ms));
    pyro_json_end(json, '}');
}

static void write_prediction(struct pyro_json_writer *json, const struct pyro_candidate *candidate)
{
    if (!candidate->known) {
        pyro_json_null(json, "wall_ms");
        pyro_json_null(json, "core_ms");
        pyro_json_null(json, "cost");
        return;
    }
    write_range(json, candidate);
    pyro_json_int(json, "core_ms", whole(candidate->core_ms));
    pyro_json_real(json, "cost", candidate->cost);
}

static void write_settings(struct pyro_json_writer *json, const char *key, const struct pyro_suggestion_result *result,
                           bool previous)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '{');
    for (size_t i = 0; result->has_settings && i < result->chosen.setting_count; i++) {
        const struct pyro_suggest_setting *setting = &result->chosen.settings[i];
        pyro_json_key(json, setting->key);
        pyro_json_text(json, NULL, previous ? setting->previous : setting->value);
    }
    pyro_json_end(json, '}');
}

static void write_texts(struct pyro_json_writer *json, const char *key, const pyro_texts *texts)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '[');
    for (size_t i = 0; i < texts->count; i++)
        pyro_json_text(json, NULL, texts->items[i]);
    pyro_json_end(json, ']');
}

static void write_current(struct pyro_json_writer *json, const struct pyro_suggestion_result *result)
{
    const struct pyro_suggest_run *run = result->history.completed;
    pyro_json_line(json);
    if (!run) {
        pyro_json_null(json, "current");
        return;
    }
    pyro_json_begin(json, "current", '{');
    pyro_json_text(json, "app_id", run->app_id);
    pyro_json_text(json, "attempt", run->attempt);
    pyro_json_int(json, "executors", whole(run->executors));
    pyro_json_int(json, "cores_per_executor", whole(run->cores));
    write_prediction(json, &result->current);
    pyro_json_end(json, '}');
}

static void write_basis(struct pyro_json_writer *json, const struct pyro_suggestion_result *result)
{
    pyro_json_line(json);
    pyro_json_begin(json, "basis", '{');
    pyro_json_string(json, "model", result->model);
    pyro_json_real(json, "error", result->model ? result->model_error : (double)NAN);
    pyro_json_count(json, "runs", result->model ? result->model_runs : result->history.count);
    pyro_json_bool(json, "never_ran", result->never_ran);
    pyro_json_string(json, "rung", result->rung);
    pyro_json_bool(json, "same_code", result->history.same_code);
    pyro_json_bool(json, "same_spark", result->history.same_spark);
    pyro_json_end(json, '}');
}

static void write_applied(struct pyro_json_writer *json, const struct pyro_suggestion *suggestion)
{
    if (!suggestion->applied.target.ptr)
        return;
    pyro_json_line(json);
    pyro_json_begin(json, "applied", '{');
    pyro_json_text(json, "target", suggestion->applied.target);
    pyro_json_text(json, "kept", suggestion->applied.kept);
    pyro_json_text(json, "before_xxh128", suggestion->applied.before);
    pyro_json_text(json, "after_xxh128", suggestion->applied.after);
    pyro_json_int(json, "time_ms", suggestion->applied.time_ms);
    pyro_json_end(json, '}');
}

void pyro_suggestion_json(struct pyro_json_writer *json, const char *key, const struct pyro_suggestion *suggestion)
{
    const struct pyro_suggestion_result *result = &suggestion->result;
    pyro_json_begin(json, key, '{');
    pyro_json_line(json);
    pyro_json_string(json, "schema", "pyrometer.suggestion/1");
    pyro_json_line(json);
    pyro_json_text(json, "id", suggestion->id);
    pyro_json_line(json);
    pyro_json_text(json, "application", suggestion->application);
    pyro_json_line(json);
    pyro_json_int(json, "input_bytes", whole(result->input_bytes));
    pyro_json_line(json);
    pyro_json_string(json, "goal", pyro_suggest_goal_name(result->goal));
    pyro_json_int(json, "deadline_ms", whole(suggestion->deadline_ms));
    pyro_json_real(json, "max_cost", suggestion->max_cost);
    write_current(json, result);
    write_settings(json, "settings", result, false);
    write_settings(json, "previous", result, true);
    pyro_json_line(json);
    if (result->has_current && result->chosen.known) {
        pyro_json_begin(json, "expected", '{');
        write_prediction(json, &result->chosen);
        pyro_json_end(json, '}');
    } else {
        pyro_json_null(json, "expected");
    }
    write_basis(json, result);
    write_texts(json, "doubts", &result->doubts);
    write_texts(json, "missing", &result->missing);
    write_applied(json, suggestion);
    pyro_json_end(json, '}');
}

/* ---- Text ----------------------------------------------------------------------------------------------------------
 */

static void add_prediction(struct pyro_strbuf *text, const char *label, const struct pyro_candidate *candidate)
{
    if (!candidate->known)
        return;
    pyro_strbuf_printf(text, "%-11s", label);
    pyro_human_ms(text, whole(candidate->wall.expected_ms));
    pyro_strbuf_add_text(text, " (");
    pyro_human_ms_range(text, whole(candidate->wall.low_ms), whole(candidate->wall.high_ms));
    pyro_strbuf_printf(text, "), %.3g core hours", candidate->core_ms / 3600e3);
    if (isfinite(candidate->cost))
        pyro_strbuf_printf(text, ", cost %.4g", candidate->cost);
    pyro_strbuf_add_char(text, '\n');
}

static void add_size(struct pyro_strbuf *text, double executors, double cores)
{
    if (executors > 0 && isfinite(cores))
        pyro_strbuf_printf(text, "%-11s%.0f executor%s with %.0f core%s\n", "Now:", executors, executors > 1 ? "s" : "",
                           cores, cores > 1 ? "s" : "");
    else
        pyro_strbuf_printf(text, "%-11sno executors\n", "Now:");
}

static void add_head(struct pyro_strbuf *text, const struct pyro_suggestion *suggestion)
{
    const struct pyro_suggestion_result *result = &suggestion->result;
    pyro_strbuf_add_text(text, "Application: ");
    pyro_strbuf_add_slice(text, suggestion->application);
    if (isfinite(result->input_bytes)) {
        pyro_strbuf_add_text(text, "    Input: ");
        pyro_human_bytes(text, whole(result->input_bytes));
    }
    pyro_strbuf_add_text(text, "\n");
    if (result->history.completed)
        add_size(text, result->history.completed->executors, result->history.completed->cores);
    add_prediction(text, "Predicted:", &result->current);
}

static void add_settings(struct pyro_strbuf *text, const struct pyro_suggestion_result *result)
{
    pyro_strbuf_add_text(text, "\nSet:\n");
    for (size_t i = 0; i < result->chosen.setting_count; i++) {
        const struct pyro_suggest_setting *setting = &result->chosen.settings[i];
        pyro_strbuf_add_text(text, "  ");
        pyro_strbuf_add_slice(text, setting->key);
        pyro_strbuf_add_char(text, '=');
        pyro_strbuf_add_slice(text, setting->value);
        if (setting->previous.ptr) {
            pyro_strbuf_add_text(text, "    (now ");
            pyro_strbuf_add_slice(text, setting->previous);
            pyro_strbuf_add_char(text, ')');
        }
        pyro_strbuf_add_char(text, '\n');
    }
    if (result->rung)
        pyro_strbuf_printf(text, "After the death of the newest run: %s.\n", result->rung);
    add_prediction(text, "Then:", &result->chosen);
}

static void add_texts(struct pyro_strbuf *text, const char *heading, const pyro_texts *texts)
{
    if (texts->count > 0)
        pyro_strbuf_printf(text, "\n%s:\n", heading);
    for (size_t i = 0; i < texts->count; i++) {
        pyro_strbuf_add_text(text, "  - ");
        pyro_strbuf_add_slice(text, texts->items[i]);
        pyro_strbuf_add_char(text, '\n');
    }
}

void pyro_suggestion_text(struct pyro_strbuf *text, const struct pyro_suggestion *suggestion)
{
    const struct pyro_suggestion_result *result = &suggestion->result;
    add_head(text, suggestion);
    if (result->has_settings)
        add_settings(text, result);
    else
        pyro_strbuf_add_text(text, result->missing.count > 0 ? "\nNo suggestion.\n" : "\nKeep the current settings.\n");
    if (result->model && result->never_ran && result->left_out == 0)
        pyro_strbuf_printf(text, "\nBasis: model %s, assumed to be %.0f %% off. This configuration never ran.\n",
                           result->model, 100 * result->model_error);
    else if (result->model && result->never_ran)
        pyro_strbuf_printf(text,
                           "\nBasis: model %s, %.1f %% off in the median of %zu runs, of %zu configurations that were "
                           "left out in turn. This one never ran.\n",
                           result->model, 100 * result->model_error, result->model_runs, result->left_out);
    else if (result->model)
        pyro_strbuf_printf(text, "\nBasis: model %s, %.1f %% off in the median of %zu runs.\n", result->model,
                           100 * result->model_error, result->model_runs);
    add_texts(text, "Doubts", &result->doubts);
    add_texts(text, "Missing", &result->missing);
}

/* ---- Settings -------------------------------------------------------------------------------------------------------
 */

static bool is_safe(struct pyro_slice text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+:/,=@%";
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\0' || !strchr(safe, text.ptr[i]))
            return false;
    return true;
}

/* As a word of a shell. */
static void add_quoted(struct pyro_strbuf *text, struct pyro_slice word)
{
    bool safe = is_safe(word);
    if (!safe)
        pyro_strbuf_add_char(text, '\'');
    for (size_t i = 0; i < word.len; i++)
        if (word.ptr[i] == '\'')
            pyro_strbuf_add_text(text, "'\\''");
        else
            pyro_strbuf_add_char(text, word.ptr[i]);
    if (!safe)
        pyro_strbuf_add_char(text, '\'');
}

void pyro_suggestion_flags(struct pyro_strbuf *text, const struct pyro_suggestion *suggestion)
{
    const struct pyro_suggestion_result *result = &suggestion->result;
    struct pyro_strbuf word;
    pyro_strbuf_init(&word, text->allocator);
    for (size_t i = 0; result->has_settings && i < result->chosen.setting_count; i++) {
        const struct pyro_suggest_setting *setting = &result->chosen.settings[i];
        pyro_strbuf_clear(&word);
        pyro_strbuf_add_slice(&word, setting->key);
        pyro_strbuf_add_char(&word, '=');
        pyro_strbuf_add_slice(&word, setting->value);
        pyro_strbuf_add_text(text, i > 0 ? " --conf " : "--conf ");
        add_quoted(text, pyro_strbuf_slice(&word));
    }
    text->failed = text->failed || word.failed;
    pyro_strbuf_done(&word);
    if (result->has_settings)
        pyro_strbuf_add_char(text, '\n');
}

void pyro_suggestion_defaults(struct pyro_strbuf *text, const struct pyro_suggestion *suggestion)
{
    const struct pyro_suggestion_result *result = &suggestion->result;
    for (size_t i = 0; result->has_settings && i < result->chosen.setting_count; i++) {
        pyro_strbuf_add_slice(text, result->chosen.settings[i].key);
        pyro_strbuf_add_char(text, ' ');
        pyro_strbuf_add_slice(text, result->chosen.settings[i].value);
        pyro_strbuf_add_char(text, '\n');
    }
}
