#include "ending.h"

bool cli_width_value(const struct cli_call *call, struct pyro_report_options *ret)
{
    return cli_value(call, "width") == NULL || cli_unsigned_value(call, "width", 40, 1000, &ret->width);
}

int cli_result_open(const struct cli_call *call, struct cli_output *output, struct pyro_report_options *report)
{
    int status = cli_output_open(output, cli_value(call, "output"));
    if (status != CLI_EXIT_OK)
        return status;
    cli_catch_signals();
    if (report == NULL)
        return CLI_EXIT_OK;
    report->color = cli_wants_color(output, cli_value(call, "color"));
    if (report->width == 0)
        report->width = cli_text_width(output);
    return CLI_EXIT_OK;
}

int cli_result_close(struct cli_output *output, int status)
{
    bool done = status == CLI_EXIT_OK || status == CLI_EXIT_GATE;
    int closed = cli_output_close(output, done);
    return done && closed != CLI_EXIT_OK ? closed : status;
}

int cli_result_close_after(struct cli_output *output, enum pyro_status status, const struct pyro_error *error)
{
    return cli_result_close(output, status == PYRO_OK ? CLI_EXIT_OK : cli_failure(error));
}
