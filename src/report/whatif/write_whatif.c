/* Writing predictions: as text, JSON or CSV. */
#include "report/whatif/write_whatif.h"

#include "base/options.h"
#include "report/shared/draw.h"
#include "text/escape.h"

bool pyro_whatif_shows(const struct pyro_scenario *scenario, unsigned setting)
{
    const struct pyro_predicted_setting *row = &pyro_predicted_settings[setting];
    bool spark = strncmp(row->key, "spark.", 6) == 0;
    return scenario->given[setting].ptr && spark && (scenario->full[setting] || !row->alias);
}

static void csv_int(struct pyro_strbuf *out, int64_t value)
{
    if (value != PYRO_NONE)
        pyro_strbuf_add_int(out, value);
    pyro_strbuf_add_char(out, ',');
}

/* One row a scenario; every setting that any of them changes has a column. */
static void write_csv(struct pyro_output *output, const struct pyro_whatif *whatif)
{
    struct pyro_strbuf *out = &output->buffer;
    bool shown[PYRO_PREDICTED_SETTINGS] = {false};
    pyro_strbuf_add_text(out, "executors,cores_per_executor,memory_bytes,wall_low_ms,wall_expected_ms,wall_high_ms,"
                              "core_ms,cost,utilization,critical_path_ms");
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++) {
        for (size_t n = 0; n < whatif->scenario_count && !shown[i]; n++)
            shown[i] = pyro_whatif_shows(&whatif->scenarios[n], i);
        if (shown[i]) {
            pyro_strbuf_add_char(out, ',');
            pyro_strbuf_add_text(out, pyro_predicted_settings[i].key);
        }
    }
    pyro_strbuf_add_text(out, "\r\n");
    for (size_t n = 0; n < whatif->scenario_count; n++) {
        const struct pyro_scenario *scenario = &whatif->scenarios[n];
        csv_int(out, scenario->executors);
        csv_int(out, scenario->cores_per_executor);
        csv_int(out, scenario->memory_bytes);
        csv_int(out, scenario->wall_low_ms);
        csv_int(out, scenario->wall_expected_ms);
        csv_int(out, scenario->wall_high_ms);
        csv_int(out, scenario->core_ms);
        if (scenario->cost == scenario->cost)
            pyro_add_json_real(out, scenario->cost);
        pyro_strbuf_add_char(out, ',');
        if (scenario->utilization == scenario->utilization)
            pyro_add_json_real(out, scenario->utilization);
        pyro_strbuf_add_char(out, ',');
        pyro_strbuf_add_int(out, scenario->critical_path_ms);
        for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++) {
            if (!shown[i])
                continue;
            pyro_strbuf_add_char(out, ',');
            pyro_add_csv(out, scenario->given[i].ptr ? scenario->given[i] : PYRO_SLICE_LITERAL(""));
        }
        pyro_strbuf_add_text(out, "\r\n");
        pyro_output_flush(output, false);
    }
}

enum pyro_status pyro_whatif_write(const pyro_whatif *whatif, enum pyro_format format,
                                   const struct pyro_report_options *options, const struct pyro_writer *writer,
                                   struct pyro_error *error)
{
    struct pyro_report_options own;
    struct pyro_output output;
    pyro_error_clear(error);
    if (!whatif || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the prediction or the writer is missing");
    if (format != PYRO_FORMAT_TEXT && format != PYRO_FORMAT_JSON && format != PYRO_FORMAT_CSV)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a prediction is written as text, json or csv");
    PYRO_TRY(pyro_report_options_read(options, &own, error));
    pyro_output_init(&output, writer, whatif->arena.allocator);
    if (format == PYRO_FORMAT_JSON)
        pyro_whatif_json(&output, whatif, true);
    else if (format == PYRO_FORMAT_CSV)
        write_csv(&output, whatif);
    else
        pyro_whatif_text(&output, whatif, &own);
    return pyro_output_done(&output, error);
}
