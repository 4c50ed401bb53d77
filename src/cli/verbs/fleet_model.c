/* pyrometer fleet model APP [STORE]: which model predicts an application's runs best. */
#include "fleet_model.h"
#include "ending.h"

static int write_models(const struct cli_call *call, const char *app, const char *url, enum pyro_format format,
                        struct cli_output *output)
{
    pyro_store *store = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_store_options how = {.size = sizeof(how), .redaction = cli_redaction(call), .read_only = 1};
    struct cli_progress progress = {0};
    const struct pyro_options work = {
        .size = sizeof(work), .progress = cli_progress_callback, .progress_context = &progress};
    const struct pyro_writer writer = cli_output_writer(output);
    enum pyro_status status = pyro_store_open(url, &how, NULL, &store, &error);
    if (status == PYRO_OK)
        status = pyro_fleet_model_write(store, app, 0, format, &work, &writer, &error);
    cli_progress_erase(&progress);
    pyro_store_close(store);
    return status == PYRO_OK ? CLI_EXIT_OK : cli_failure(&error);
}

/* Options of the other views; NULL: none was given. */
static const char *foreign_option(const struct cli_call *call)
{
    static const char *const others[] = {"user",   "since",    "until",  "tag",      "max",
                                         "by",     "value",    "before", "after",    "at",
                                         "prices", "instance", "region", "currency", "width"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (cli_value(call, others[i]) != NULL)
            return others[i];
    return NULL;
}

int cli_fleet_model(const struct cli_call *call)
{
    const char *app = cli_value(call, "app"), *url = cli_store_url(call), *other = foreign_option(call);
    size_t at = 1;
    enum pyro_format format;
    struct cli_output output;
    if (other != NULL)
        return cli_usage_error(call->verb, "model does not take --%s: it is of all runs of one application", other);
    if (!cli_format_value(call, "format", &format))
        return CLI_EXIT_USAGE;
    if (app == NULL && call->argument_count > at)
        app = call->arguments[at++];
    if (call->argument_count > at && cli_value(call, "store") != NULL)
        return cli_usage_error(call->verb, "the store is given twice: as STORE and with --store");
    if (call->argument_count > at)
        url = call->arguments[at++];
    if (app == NULL || url == NULL || call->argument_count > at)
        return cli_usage_error(call->verb, "give an application and a store: fleet model APP sqlite:FILE");
    if (format != PYRO_FORMAT_TEXT && format != PYRO_FORMAT_JSON)
        return cli_usage_error(call->verb, "models are written as text or json");
    int status = cli_result_open(call, &output, NULL);
    if (status != CLI_EXIT_OK)
        return status;
    status = write_models(call, app, url, format, &output);
    return cli_result_close(&output, status);
}
