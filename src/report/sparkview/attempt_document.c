/* One attempt as stores keep it: the answers of the REST API in one object, and its settings with their types. */
#include <math.h>
#include <stdlib.h>

#include "analyze/settings/spark_settings.h"
#include "base/memory/allocator.h"
#include "report/sparkview/sparkview.h"

/* ---- Settings ---- */

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* A number as JSON writes it, so that its text can stay as it is. */
static bool is_number(struct pyro_slice text)
{
    enum { DIGITS = 15 }; /* all of which a double holds */
    size_t at = text.len && text.ptr[0] == '-', first = at, digits = 0;
    for (; at < text.len && is_digit(text.ptr[at]); at++)
        digits++;
    if (digits == 0 || (digits > 1 && text.ptr[first] == '0'))
        return false;
    if (at < text.len && text.ptr[at] == '.') {
        for (first = ++at; at < text.len && is_digit(text.ptr[at]); at++)
            digits++;
        if (at == first)
            return false;
    }
    return at == text.len && digits <= DIGITS;
}

/* In any case: PySpark writes "True". */
static bool is_flag(struct pyro_slice text)
{
    return pyro_property_bool(text, true) == pyro_property_bool(text, false);
}

static bool is_name(struct pyro_slice key)
{
    return pyro_slice_is(key, "spark.app.name") || pyro_slice_is(key, "spark.app.id");
}

/* A setting that is known has the type that Spark reads it with: sizes in bytes, times in milliseconds. Of others, the
 * text says what they are, except names. */
static void write_value(struct spark_json *json, struct pyro_slice key, struct pyro_slice value)
{
    const struct pyro_setting_row *row = pyro_setting_find(key);
    double number = pyro_setting_magnitude(row, value);
    if (row && row->kind == PYRO_SETTING_FLAG && isfinite(number))
        pyro_spark_word(json, number > 0 ? "true" : "false");
    else if (row && isfinite(number) && fabs(number) < 0x1p53 && floor(number) >= number)
        pyro_spark_integer(json, (int64_t)number);
    else if (row && isfinite(number))
        pyro_spark_real(json, number);
    else if (!row && !is_name(key) && is_flag(value))
        pyro_spark_word(json, pyro_property_bool(value, false) ? "true" : "false");
    else if (!row && !is_name(key) && is_number(value))
        pyro_strbuf_add_slice(json->out, value);
    else
        pyro_spark_text(json, value);
}

static bool write_settings(struct spark_json *json, const struct pyro_history *history)
{
    const pyro_history_pairs *pairs = &history->sections[PYRO_SECTION_SPARK];
    struct pyro_history_pair *sorted = pyro_spark_sort_pairs(pairs);
    if (!sorted)
        return false;
    pyro_spark_key(json, "sparkProperties");
    pyro_spark_open_object(json);
    for (size_t i = 0; i < pairs->count; i++) {
        if (i && pyro_slice_eq(sorted[i].key, sorted[i - 1].key))
            continue;
        pyro_spark_key_slice(json, sorted[i].key);
        write_value(json, sorted[i].key, sorted[i].value);
    }
    pyro_spark_close_object(json);
    pyro_release(NULL, sorted);
    return true;
}

/* ---- Stages ---- */

/* The newest first, as the API lists them. */
static int by_id(const void *left, const void *right)
{
    const struct pyro_history_stage *a = *(const struct pyro_history_stage *const *)left,
                                    *b = *(const struct pyro_history_stage *const *)right;
    if (a->id != b->id)
        return a->id > b->id ? -1 : 1;
    return a->attempt > b->attempt ? -1 : a->attempt < b->attempt;
}

static bool write_stages(struct spark_json *json, const struct pyro_history *history)
{
    size_t count = history->stages.count;
    const struct pyro_history_stage **stages = pyro_allocate(NULL, (count + 1) * sizeof(*stages));
    if (!stages)
        return false;
    for (size_t i = 0; i < count; i++)
        stages[i] = &history->stages.items[i];
    qsort(stages, count, sizeof(*stages), by_id);
    pyro_spark_key(json, "stages");
    pyro_spark_open_array(json);
    for (size_t i = 0; i < count; i++) {
        pyro_spark_element(json);
        pyro_spark_open_stage(json, stages[i]);
        pyro_spark_stage_profile(json, stages[i]);
        pyro_spark_close_stage(json, stages[i]);
    }
    pyro_spark_close_array(json);
    pyro_release(NULL, stages);
    return true;
}

/* ---- The document ---- */

bool pyro_spark_write_document(const struct pyro_app *app, const struct pyro_spark_document *document,
                               struct pyro_strbuf *to)
{
    struct spark_json json = {.out = to, .brief = true, .spark_4 = document->spark_4};
    const struct pyro_history *history = app->history;
    pyro_spark_open_object(&json);
    pyro_spark_put_text(&json, "schema", PYRO_SLICE_LITERAL("pyrometer.history_document/1"));
    pyro_spark_put_text(&json, "id", app->listed.app_id);
    pyro_spark_put_text(&json, "name", app->listed.name);
    pyro_spark_key(&json, "history_host");
    if (document->history_host.ptr)
        pyro_spark_text(&json, document->history_host);
    else
        pyro_spark_word(&json, "null");
    pyro_spark_put_date(&json, "time_processed", document->time_processed_ms);
    pyro_spark_put_bool(&json, "is_final_attempt", document->is_final_attempt);
    pyro_spark_key(&json, "attempt");
    pyro_spark_write_attempt(&json, &app->listed);
    pyro_spark_key(&json, "allexecutors");
    bool ok =
        pyro_spark_write_executors(&json, history, app->listed.modified_ms, false) && write_stages(&json, history);
    if (history->has_environment) {
        pyro_spark_key(&json, "environment");
        ok = ok && pyro_spark_write_environment(&json, history) && write_settings(&json, history);
    }
    pyro_spark_close_object(&json);
    return ok && !to->failed;
}
