/* every_format LOG: reads a log once and writes its report in every format, through the public header only.
 *
 * The sanitizers see each log and each renderer by it without paying for seven processes a log. One line a report goes
 * to standard output: its format and size. */
#include "pyrometer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int count_bytes(void *context, const void *data, size_t len)
{
    uint64_t *bytes = context;
    (void)data;
    *bytes += len;
    return 0;
}

static int fail(const struct pyro_error *error)
{
    fprintf(stderr, "every_format: %s\n", error->message);
    return (int)error->code;
}

static int write_all(const pyro_diagnosis *diagnosis)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_report_options report = {
        .size = sizeof(report), .details = 1, .ids = 1, .document = pyro_page_document};
    for (unsigned format = 0; pyro_format_name(format) != NULL; format++) {
        uint64_t bytes = 0;
        struct pyro_writer writer = {sizeof(writer), count_bytes, &bytes};
        enum pyro_status status = pyro_report_write(diagnosis, (enum pyro_format)format, &report, &writer, &error);
        if (status != PYRO_OK && strstr(error.message, "this build has no web UI") == NULL)
            return fail(&error);
        printf("%s %" PRIu64 "\n", pyro_format_name(format), bytes);
    }
    return 0;
}

static int render(const pyro_inputs *inputs, size_t index)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_load_options options = {.size = sizeof(options),
                                        .wanted = PYRO_WANT_PLAN_TEXT | PYRO_WANT_PLAN_CHANGES};
    pyro_app *app = NULL;
    pyro_diagnosis *diagnosis = NULL;
    if (pyro_app_load(inputs, index, &options, NULL, &app, &error) != PYRO_OK)
        return fail(&error);
    int status = pyro_diagnose(app, NULL, NULL, &diagnosis, &error) != PYRO_OK ? fail(&error) : write_all(diagnosis);
    pyro_diagnosis_free(diagnosis);
    pyro_app_release(app);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: every_format LOG\n");
        return 2;
    }
    struct pyro_error error = {.size = sizeof(error)};
    pyro_inputs *inputs = NULL;
    const char *path = argv[1];
    if (pyro_inputs_open(&path, 1, NULL, NULL, &inputs, &error) != PYRO_OK)
        return fail(&error);
    int status = pyro_inputs_count(inputs) == 0 ? (int)PYRO_ERROR_INPUT : 0;
    for (size_t index = 0; index < pyro_inputs_count(inputs); index++) {
        int one = render(inputs, index);
        status = one > status ? one : status;
    }
    pyro_inputs_close(inputs);
    return status;
}
