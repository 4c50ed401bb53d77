/* One attempt, as lists of applications show it. */
#include "base/numbers/saturate.h"
#include "report/sparkview/sparkview.h"

void pyro_spark_write_attempt(struct spark_json *json, const struct pyro_attempt *attempt)
{
    pyro_spark_open_object(json);
    pyro_spark_put_text(json, "attemptId", attempt->attempt_id);
    pyro_spark_put_date(json, "startTime", attempt->start_ms);
    pyro_spark_put_date(json, "endTime", attempt->end_ms);
    pyro_spark_put_date(json, "lastUpdated", attempt->modified_ms);
    pyro_spark_put_int(json, "duration",
                       attempt->completed ? pyro_sub_wrapping(attempt->end_ms, attempt->start_ms) : 0);
    pyro_spark_put_text(json, "sparkUser", attempt->user);
    pyro_spark_put_bool(json, "completed", attempt->completed);
    pyro_spark_put_text(json, "appSparkVersion", attempt->version);
    pyro_spark_put_int(json, "startTimeEpoch", attempt->start_ms);
    pyro_spark_put_int(json, "endTimeEpoch", attempt->end_ms);
    pyro_spark_put_int(json, "lastUpdatedEpoch", attempt->modified_ms);
    pyro_spark_close_object(json);
}
