/* What several answers of Spark's REST API have in common. */
#include "report/sparkview/sparkview.h"

void pyro_spark_pairs_object(struct spark_json *json, const char *key, const pyro_history_pairs *pairs)
{
    pyro_spark_key(json, key);
    pyro_spark_open_object(json);
    for (size_t i = 0; i < pairs->count; i++) {
        pyro_spark_key_slice(json, pairs->items[i].key);
        pyro_spark_text(json, pairs->items[i].value);
    }
    pyro_spark_close_object(json);
}

void pyro_spark_write_accumulable(struct spark_json *json, const struct pyro_history_accumulable *one)
{
    pyro_spark_open_object(json);
    pyro_spark_put_int(json, "id", one->id);
    pyro_spark_put_text(json, "name", one->name);
    pyro_spark_put_text(json, "update", one->update);
    pyro_spark_put_text(json, "value", one->value);
    pyro_spark_close_object(json);
}

void pyro_spark_accumulables(struct spark_json *json, const struct pyro_history_accumulable *items, size_t count)
{
    pyro_spark_key(json, "accumulatorUpdates");
    pyro_spark_open_array(json);
    for (size_t i = 0; i < count; i++) {
        pyro_spark_element(json);
        pyro_spark_write_accumulable(json, &items[i]);
    }
    pyro_spark_close_array(json);
}

const struct spark_name pyro_spark_peak_names[PYRO_HISTORY_PEAKS] = {
#define HISTORY_PEAK(name) SPARK_NAME(#name),
#include "model/history/peaks.def"
#undef HISTORY_PEAK
};

void pyro_spark_peaks(struct spark_json *json, const char *key, const struct pyro_history_peaks *peaks)
{
    if (!peaks->set)
        return;
    pyro_spark_key(json, key);
    pyro_spark_open_object(json);
    pyro_spark_put_ints(json, pyro_spark_peak_names, peaks->values,
                        json->spark_4 ? PYRO_HISTORY_PEAKS : PYRO_HISTORY_PEAKS_SHOWN);
    pyro_spark_close_object(json);
}

void pyro_spark_counts_object(struct spark_json *json, const char *key, const pyro_history_counts *counts)
{
    pyro_spark_key(json, key);
    pyro_spark_open_object(json);
    for (size_t i = 0; i < counts->count; i++) {
        pyro_spark_key_slice(json, counts->items[i].reason);
        pyro_spark_integer(json, counts->items[i].count);
    }
    pyro_spark_close_object(json);
}
