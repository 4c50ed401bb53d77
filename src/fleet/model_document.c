/* The models of one application, as text and JSON (pyrometer.fleet_model/1). */
#include <math.h>
#include <stdio.h>

#include "base/options.h"
#include "fleet/suggest/simulate_logs.h"
#include "fleet/suggest/store.h"
#include "text/humanize.h"
#include "text/json_write.h"

struct document {
    struct pyro_slice application;
    struct pyro_suggest_history history;
    struct pyro_fleet_models models;
    struct pyro_slice missing; /* why no run counts; null: some do */
};

static void write_interval(struct pyro_json_writer *json, double low, double high)
{
    pyro_json_begin(json, "interval", '{');
    pyro_json_real(json, "low", low);
    pyro_json_real(json, "high", high);
    pyro_json_end(json, '}');
}

static void write_predicted(struct pyro_json_writer *json, const struct pyro_fleet_predicted *predicted, size_t count)
{
    pyro_json_begin(json, "predicted", '[');
    for (size_t i = 0; i < count; i++) {
        pyro_json_begin(json, NULL, '{');
        pyro_json_int(json, "start_ms", predicted[i].start_ms);
        pyro_json_real(json, "predicted_ms", predicted[i].predicted_ms);
        pyro_json_real(json, "observed_ms", predicted[i].observed_ms);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_unseen(struct pyro_json_writer *json, const struct pyro_fleet_unseen *unseen)
{
    if (!unseen->usable) {
        pyro_json_null(json, "unseen");
        return;
    }
    pyro_json_begin(json, "unseen", '{');
    pyro_json_bool(json, "assumed", unseen->assumed);
    pyro_json_count(json, "configurations", unseen->configurations);
    pyro_json_count(json, "predictions", unseen->predictions);
    pyro_json_real(json, "error", unseen->error);
    write_interval(json, unseen->low, unseen->high);
    write_predicted(json, unseen->predicted, unseen->predictions);
    pyro_json_end(json, '}');
}

static void write_fit(struct pyro_json_writer *json, const struct pyro_fleet_fit *fit,
                      const struct pyro_fleet_model_info *info)
{
    size_t coefficients = info->columns > 0 ? info->columns : 1;
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "name", info->name);
    pyro_json_string(json, "formula", info->formula);
    pyro_json_begin(json, "coefficients", '{');
    for (size_t i = 0; fit->usable && i < coefficients; i++)
        pyro_json_real(json, info->coefficients[i], fit->coefficients[i]);
    pyro_json_end(json, '}');
    pyro_json_count(json, "runs", fit->runs);
    pyro_json_count(json, "predictions", fit->predictions);
    pyro_json_real(json, "error", fit->usable ? fit->error : (double)NAN);
    if (fit->usable)
        write_interval(json, fit->low, fit->high);
    else
        pyro_json_null(json, "interval");
    write_unseen(json, &fit->unseen);
    pyro_json_string(json, "missing", fit->missing);
    write_predicted(json, fit->predicted, fit->predictions);
    pyro_json_end(json, '}');
}

static void write_json(struct pyro_output *output, const struct document *document)
{
    const struct pyro_suggest_history *history = &document->history;
    struct pyro_json_writer json;
    pyro_json_writer_init(&json, output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_line(&json);
    pyro_json_string(&json, "schema", "pyrometer.fleet_model/1");
    pyro_json_line(&json);
    pyro_json_text(&json, "application", document->application);
    pyro_json_line(&json);
    pyro_json_begin(&json, "runs", '{');
    pyro_json_count(&json, "counted", history->count);
    pyro_json_count(&json, "outliers", history->outliers);
    pyro_json_bool(&json, "same_code", history->same_code);
    pyro_json_bool(&json, "same_spark", history->same_spark);
    pyro_json_int(&json, "first_start_ms", history->count > 0 ? history->runs[0]->start_ms : PYRO_NONE);
    pyro_json_int(&json, "last_start_ms", history->completed ? history->completed->start_ms : PYRO_NONE);
    pyro_json_end(&json, '}');
    pyro_json_line(&json);
    pyro_json_text(&json, "missing", document->missing);
    pyro_json_line(&json);
    pyro_json_string(&json, "best",
                     document->models.best >= 0 ? pyro_fleet_model_infos[document->models.best].name : NULL);
    pyro_json_string(&json, "best_unseen",
                     document->models.best_unseen >= 0 ? pyro_fleet_model_infos[document->models.best_unseen].name
                                                       : NULL);
    pyro_json_line(&json);
    pyro_json_begin(&json, "models", '[');
    for (int i = 0; i < PYRO_FLEET_MODELS; i++)
        write_fit(&json, &document->models.fits[i], &pyro_fleet_model_infos[i]);
    pyro_json_end(&json, ']');
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output->buffer, '\n');
}

static void write_text(struct pyro_strbuf *text, const struct document *document)
{
    const struct pyro_suggest_history *history = &document->history;
    pyro_strbuf_add_text(text, "Application: ");
    pyro_strbuf_add_slice(text, document->application);
    pyro_strbuf_printf(text, "\n%zu run%s count%s", history->count, history->count == 1 ? "" : "s",
                       history->count == 1 ? "s" : "");
    if (history->outliers > 0)
        pyro_strbuf_printf(text, ", %zu outlier%s left out", history->outliers, history->outliers == 1 ? "" : "s");
    if (document->missing.ptr) {
        pyro_strbuf_add_text(text, "\nMissing: ");
        pyro_strbuf_add_slice(text, document->missing);
        pyro_strbuf_add_text(text, ".\n");
        return;
    }
    pyro_strbuf_printf(text, "\n\n%-10s %-8s %-6s %-16s %-8s %s\n", "Model", "Error", "Runs", "Interval", "New",
                       "Formula");
    for (int i = 0; i < PYRO_FLEET_MODELS; i++) {
        const struct pyro_fleet_fit *fit = &document->models.fits[i];
        const struct pyro_fleet_model_info *info = &pyro_fleet_model_infos[i];
        if (!fit->usable) {
            pyro_strbuf_printf(text, "%-10s needs %s\n", info->name, fit->missing);
            continue;
        }
        char unseen[16] = "-";
        if (fit->unseen.usable)
            snprintf(unseen, sizeof(unseen), "%.1f %%", fmin(100 * fit->unseen.error, 1e6));
        bool best = document->models.best == i, best_unseen = document->models.best_unseen == i;
        pyro_strbuf_printf(text, "%-10s %5.1f %%  %-6zu %+6.1f..%+.1f %%  %-8s %s%s\n", info->name, 100 * fit->error,
                           fit->runs, 100 * fit->low, 100 * fit->high, unseen, info->formula,
                           best && best_unseen ? "  (best)"
                           : best              ? "  (best of what ran)"
                           : best_unseen       ? "  (best of what never ran)"
                                               : "");
    }
}

static enum pyro_status fit(pyro_store *store, bool without_logs, const struct pyro_options *options,
                            struct pyro_arena *arena, struct document *document, struct pyro_error *error)
{
    struct pyro_suggest_run *rows = NULL;
    size_t count = 0;
    PYRO_TRY(pyro_history_read(store, NULL, document->application, arena, &rows, &count, error));
    if (!pyro_history_choose(rows, count, pyro_store_now_ms(), arena, &document->history))
        return pyro_no_memory(error);
    PYRO_TRY(pyro_history_explain(store, NULL, document->application, rows, count, document->history.count, arena,
                                  &document->missing, error));
    struct pyro_replays replays;
    pyro_replays_init(&replays, &document->history, options);
    const struct pyro_suggest_simulator simulator = pyro_replays_simulator(&replays);
    enum pyro_status status =
        pyro_suggest_fit(&document->history, without_logs ? NULL : &simulator, arena, &document->models, error);
    pyro_replays_done(&replays);
    return status;
}

enum pyro_status pyro_fleet_model_write(pyro_store *store, const char *application, int without_logs,
                                        enum pyro_format format, const struct pyro_options *options,
                                        const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_options own;
    struct pyro_arena arena;
    struct pyro_output output;
    pyro_error_clear(error);
    if (!store || !application || !pyro_can_write(writer) || (format != PYRO_FORMAT_TEXT && format != PYRO_FORMAT_JSON))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "the store, the application or the writer is missing, or there is no such format");
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    struct document document = {.application = pyro_slice_from(application)};
    pyro_arena_init(&arena, own.allocator);
    enum pyro_status status = fit(store, without_logs != 0, &own, &arena, &document, error);
    if (status == PYRO_OK) {
        pyro_output_init(&output, writer, own.allocator);
        if (format == PYRO_FORMAT_JSON)
            write_json(&output, &document);
        else
            write_text(&output.buffer, &document);
        status = pyro_output_done(&output, error);
    }
    pyro_arena_done(&arena);
    return status;
}
