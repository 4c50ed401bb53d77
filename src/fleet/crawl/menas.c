/* Menas, the catalog of Enceladus: what its documents of a run say, under the names that Spot gives them. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fleet/crawl/enrich.h"

enum { MOST_DURATIONS = 100 }; /* of checkpoints: each is a name of its own in the store */

#define BLOCK_BYTES (128.0 * 1024 * 1024)

static const char *text_at(const json_t *document, const char *pointer)
{
    return json_string_value(pyro_json_at(document, pyro_slice_from(pointer)));
}

/* Sizes are written as texts. */
static double size_at(const json_t *document, const char *pointer)
{
    const json_t *value = pyro_json_at(document, pyro_slice_from(pointer));
    double number = json_is_number(value) ? json_number_value(value) : NAN;
    char rest;
    if (json_is_string(value) && sscanf(json_string_value(value), "%lf%c", &number, &rest) != 1)
        number = NAN;
    return number;
}

/* ---- Which document ---------------------------------------------------------------------------------------------- */

#define INFO "/controlMeasure/metadata/additionalInfo"

static bool is_conformance(const json_t *document, const struct pyro_run *run)
{
    const char *id = text_at(document, INFO "/conform_application_id");
    return id && pyro_slice_is(run->app_id, id);
}

static bool is_standardization(const json_t *document, const struct pyro_run *run)
{
    const char *id = text_at(document, INFO "/std_application_id");
    return id && pyro_slice_is(run->app_id, id);
}

/* The documents of one application are in the opposite order of its attempts: the last one is of the first attempt. */
static const json_t *choose(const json_t *documents, const struct pyro_run *run)
{
    const json_t *found[64];
    size_t count = 0;
    int attempt = 1;
    char rest;
    for (size_t i = 0; i < json_array_size(documents) && count < sizeof(found) / sizeof(*found); i++) {
        const json_t *document = json_array_get(documents, i);
        if (is_standardization(document, run) || is_conformance(document, run))
            found[count++] = document;
    }
    if (run->attempt.len > 0 && run->attempt.len < 8) {
        char text[8];
        memcpy(text, run->attempt.ptr, run->attempt.len);
        text[run->attempt.len] = '\0';
        if (sscanf(text, "%d%c", &attempt, &rest) != 1 || attempt < 1)
            attempt = 1;
    }
    return (size_t)attempt <= count ? found[count - (size_t)attempt] : NULL;
}

/* ---- Checkpoints ------------------------------------------------------------------------------------------------- */

static bool date_at(const json_t *checkpoint, const char *pointer, int64_t *ret_ms)
{
    const char *text = text_at(checkpoint, pointer);
    return text && (pyro_parse_date(text, "%d-%m-%Y %H:%M:%S %z", ret_ms) ||
                    pyro_parse_date(text, "%d-%m-%Y %H:%M:%S", ret_ms));
}

static bool put_duration(const json_t *checkpoint, struct pyro_run *run)
{
    char name[200] = "menas.checkpoints.";
    const char *given = text_at(checkpoint, "/name");
    size_t len = strlen(name);
    int64_t start_ms, end_ms;
    if (!given || !date_at(checkpoint, "/processStartTime", &start_ms) ||
        !date_at(checkpoint, "/processEndTime", &end_ms))
        return true;
    /* A name becomes one of an aggregate: letters and digits, and no part that a point ends. */
    for (; *given && len < 180; given++)
        if (*given != ' ')
            name[len++] = isalnum((unsigned char)*given) || *given == '-' ? *given : '_';
    snprintf(name + len, sizeof(name) - len, ".duration");
    return pyro_enrich_number(run, name, (double)end_ms - (double)start_ms);
}

static const json_t *control_named(const json_t *controls, const char *name)
{
    for (size_t i = 0; i < json_array_size(controls); i++) {
        const json_t *control = json_array_get(controls, i);
        const char *own = text_at(control, "/controlName");
        if (own && strcmp(own, name) == 0)
            return control;
    }
    return NULL;
}

/* The first control that differs from that of the first checkpoint; NULL: none. */
static const char *find_difference(const json_t *first, const json_t *controls)
{
    if (json_array_size(first) != json_array_size(controls))
        return "number of controls";
    for (size_t i = 0; i < json_array_size(controls); i++) {
        const json_t *control = json_array_get(controls, i);
        const char *name = text_at(control, "/controlName");
        const json_t *other = name ? control_named(first, name) : NULL;
        if (!other || !json_equal(json_object_get(other, "controlValue"), json_object_get(control, "controlValue")))
            return name ? name : "control without a name";
    }
    return NULL;
}

static bool put_checkpoints(const json_t *document, struct pyro_secrets *secrets, struct pyro_run *run)
{
    const json_t *checkpoints = pyro_json_at(document, PYRO_SLICE_LITERAL("/controlMeasure/checkpoints")),
                 *first = NULL;
    const char *error = NULL, *where = NULL;
    size_t controls = 0;
    bool ok = true;
    for (size_t i = 0; i < json_array_size(checkpoints) && ok; i++) {
        const json_t *checkpoint = json_array_get(checkpoints, i), *own = json_object_get(checkpoint, "controls");
        ok = i >= MOST_DURATIONS || put_duration(checkpoint, run);
        if (!first && json_array_size(own) > 0) {
            first = own;
            controls = json_array_size(own);
        } else if (first && !error) {
            error = find_difference(first, own);
            where = error ? text_at(checkpoint, "/name") : NULL;
        }
    }
    ok = ok && pyro_enrich_number(run, "menas.checkpoints.elements_count", (double)json_array_size(checkpoints)) &&
         pyro_enrich_number(run, "menas.checkpoints.num_controls", (double)controls) &&
         pyro_enrich_number(run, "menas.checkpoints.controls_match", error == NULL);
    if (ok && error) {
        char text[300];
        snprintf(text, sizeof(text), "%.140s: %.140s", where ? where : "", error);
        ok = pyro_enrich_tag(run, secrets, "menas.controls_error", pyro_slice_from(text));
    }
    return ok;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

static double aggregate_of(const struct pyro_run *run, const char *name)
{
    for (size_t i = 0; i < run->aggregates.count; i++)
        if (strcmp(run->aggregates.items[i].name, name) == 0)
            return run->aggregates.items[i].value;
    return NAN;
}

static bool put_ratio(struct pyro_run *run, const char *name, double above, double below)
{
    double ratio = above / below;
    return !(above != 0 && below > 0) || !isfinite(ratio) || pyro_enrich_number(run, name, ratio);
}

static bool put_blocks(struct pyro_run *run, const char *name, double bytes)
{
    return !isfinite(bytes) || pyro_enrich_number(run, name, ceil(bytes / BLOCK_BYTES));
}

static bool put_sizes(const json_t *document, struct pyro_run *run)
{
    bool std = is_standardization(document, run), conform = is_conformance(document, run);
    double input = size_at(document, std ? INFO "/std_input_data_size" : INFO "/conform_input_data_size");
    double output = size_at(document, conform ? INFO "/conform_output_data_size" : INFO "/std_output_data_size");
    double read = aggregate_of(run, "stages.inputBytes.max"), written = aggregate_of(run, "stages.outputBytes.max");
    double peak = aggregate_of(run, "summary.est_peak_memory_usage");
    return put_blocks(run, "menas.input_in_storage_HDFS_blocks", input) &&
           put_blocks(run, "menas.output_in_storage_HDFS_blocks", output) &&
           put_ratio(run, "menas.input_deserialization_factor", read, input) &&
           put_ratio(run, "menas.output_deserialization_factor", written, output) &&
           put_ratio(run, "menas.peak_to_input_memory_factor", peak, input) &&
           put_ratio(run, "menas.peak_to_output_memory_factor", peak, output) &&
           put_ratio(run, "menas.output_to_input_storage_size_ratio", output, input);
}

/* ---- The document ------------------------------------------------------------------------------------------------ */

static bool put_texts(const json_t *document, struct pyro_secrets *secrets, struct pyro_run *run)
{
    static const char *const rows[][2] = {
        {"menas.dataset", "/dataset"},
        {"menas.uniqueId", "/uniqueId"},
        {"menas.status", "/runStatus/status"},
        {"menas.std_enceladus_version", INFO "/std_enceladus_version"},
        {"menas.informationDate", "/controlMeasure/metadata/informationDate"},
    };
    bool ok = true;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && ok; i++) {
        const char *text = text_at(document, rows[i][1]);
        ok = !text || pyro_enrich_tag(run, secrets, rows[i][0], pyro_slice_from(text));
    }
    double version = size_at(document, "/datasetVersion"), run_id = size_at(document, "/runId");
    return ok && (!isfinite(version) || pyro_enrich_number(run, "menas.datasetVersion", version)) &&
           (!isfinite(run_id) || pyro_enrich_number(run, "menas.runId", run_id));
}

bool pyro_menas_take(const json_t *document, struct pyro_secrets *secrets, struct pyro_run *run, bool *ret_found)
{
    const json_t *own = choose(document, run);
    *ret_found = own != NULL;
    return !own || (put_texts(own, secrets, run) && put_checkpoints(own, secrets, run) && put_sizes(own, run));
}
