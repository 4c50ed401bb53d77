/* executors, allexecutors, allmiscellaneousprocess */
#include <time.h>

#include "serve/spark/spark_request.h"

static void write_executors(struct spark_request *request, bool active_only)
{
    if (!pyro_spark_write_executors(&request->json, request->history, (int64_t)time(NULL) * 1000, active_only))
        pyro_spark_error(request, 503, "no memory left");
}

void pyro_spark_executors(struct spark_request *request)
{
    write_executors(request, true);
}

void pyro_spark_all_executors(struct spark_request *request)
{
    write_executors(request, false);
}

void pyro_spark_processes(struct spark_request *request)
{
    struct spark_json *json = &request->json;
    pyro_spark_open_array(json);
    for (size_t i = 0; i < request->history->processes.count; i++) {
        const struct pyro_history_process *process = &request->history->processes.items[i];
        pyro_spark_element(json);
        pyro_spark_open_object(json);
        pyro_spark_put_text(json, "id", process->id);
        pyro_spark_put_text(json, "hostPort", process->host_port);
        pyro_spark_put_bool(json, "isActive", true);
        pyro_spark_put_int(json, "totalCores", process->cores);
        pyro_spark_put_date(json, "addTime", process->added_ms);
        pyro_spark_pairs_object(json, "processLogs", &process->logs);
        pyro_spark_close_object(json);
    }
    pyro_spark_close_array(json);
}

/* Both are of a running driver only. */

void pyro_spark_threads(struct spark_request *request)
{
    struct pyro_slice id = request->arguments[0];
    bool digits = true;
    for (size_t i = 0; i < id.len; i++)
        digits = digits && id.ptr[i] >= '0' && id.ptr[i] <= '9';
    if (!digits && !pyro_slice_is(id, "driver"))
        pyro_spark_error(request, 400, "Invalid executorId: neither 'driver' nor number.");
    else
        pyro_spark_error(request, 503, "Thread dumps not available through the history server.");
}

void pyro_spark_streaming(struct spark_request *request)
{
    const struct pyro_catalog_app *app = pyro_catalog_list_find(pyro_serve_list(request->http), request->app_id);
    struct pyro_slice name = app ? app->name : PYRO_SLICE_LITERAL("");
    pyro_spark_error(request, 404, "no streaming listener attached to %.*s", (int)name.len, name.ptr);
}
