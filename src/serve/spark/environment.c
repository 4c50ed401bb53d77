/* environment */
#include "serve/spark/spark_request.h"

void pyro_spark_environment(struct spark_request *request)
{
    if (!request->history->has_environment)
        pyro_spark_no_such_app(request);
    else if (!pyro_spark_write_environment(&request->json, request->history))
        pyro_spark_error(request, 503, "no memory left");
}
