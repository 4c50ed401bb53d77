/* stages/ID/ATTEMPT/taskSummary, and the same inside stages */
#include "serve/spark/spark_request.h"
#include "serve/spark/summaries.h"

static void write_reals(struct spark_json *json, const double *values, size_t count)
{
    pyro_spark_open_array(json);
    for (size_t i = 0; i < count; i++) {
        pyro_spark_element(json);
        pyro_spark_real(json, values[i]);
    }
    pyro_spark_close_array(json);
}

void pyro_spark_write_quantiles(struct spark_json *json, struct spark_summaries *summaries)
{
    if (summaries->text.len == 0) {
        struct spark_json text = {.out = &summaries->text};
        write_reals(&text, summaries->quantiles, summaries->quantile_count);
    }
    json->out->failed |= summaries->text.failed;
    pyro_spark_key(json, "quantiles");
    pyro_strbuf_add_slice(json->out, pyro_strbuf_slice(&summaries->text));
}

static void write_summary(struct spark_json *json, struct spark_summaries *summaries)
{
    const double *values = summaries->picked;
    pyro_spark_open_object(json);
    pyro_spark_write_quantiles(json, summaries);
    for (size_t i = 0; i < SPARK_SUMMARY_ROWS; i++) {
        const struct spark_summary_row *row = &pyro_spark_summary_rows[i];
        if (row->kind == SUMMARY_CLOSE) {
            pyro_spark_close_object(json);
            continue;
        }
        pyro_spark_name(json, &row->name);
        if (row->kind == SUMMARY_OPEN) {
            pyro_spark_open_object(json);
            continue;
        }
        write_reals(json, values, summaries->quantile_count);
        values += summaries->quantile_count;
    }
    pyro_spark_close_object(json);
}

bool pyro_spark_write_task_distributions(struct spark_json *json, struct spark_summaries *summaries,
                                         const struct pyro_history_stage *stage)
{
    enum spark_summary_state state = pyro_spark_summaries_compute(summaries, stage);
    if (state == SUMMARY_THERE) {
        pyro_spark_key(json, "taskMetricsDistributions");
        write_summary(json, summaries);
    }
    return state != SUMMARY_NO_MEMORY;
}

void pyro_spark_task_summary(struct spark_request *request)
{
    double quantiles[SPARK_QUANTILES];
    size_t count;
    struct spark_summaries summaries;
    if (!pyro_spark_quantiles(request, "0.05,0.25,0.5,0.75,0.95", quantiles, &count))
        return;
    int64_t id = pyro_serve_id(request->arguments[0]), attempt = pyro_serve_id(request->arguments[1]);
    const struct pyro_history_stage *stage = pyro_history_stage(request->history, id, attempt);
    pyro_spark_summaries_init(&summaries, request->history, quantiles, count);
    enum spark_summary_state state = stage ? pyro_spark_summaries_compute(&summaries, stage) : SUMMARY_NO_TASKS;
    if (state == SUMMARY_THERE)
        write_summary(&request->json, &summaries);
    else if (state == SUMMARY_NO_MEMORY)
        pyro_spark_error(request, 503, "no memory left");
    else
        pyro_spark_error(request, 404, "No tasks reported metrics for %lld / %lld yet.", (long long)id,
                         (long long)attempt);
    pyro_spark_summaries_done(&summaries);
}
