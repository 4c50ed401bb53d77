#include "export/telemetry/telemetry.h"

#include "base/options.h"

/* NULL: the form is a folder. */
static pyro_telemetry_writer *const writers[] = {
#define PYRO_TELEMETRY(id, name, write, doc) [PYRO_TELEMETRY_##id] = write,
#define PYRO_TELEMETRY_FOLDER(id, name, doc) [PYRO_TELEMETRY_##id] = NULL,
#include "export/telemetry/forms.def"
#undef PYRO_TELEMETRY_FOLDER
#undef PYRO_TELEMETRY
};

const char *pyro_telemetry_name(enum pyro_telemetry form)
{
    static const char *const names[] = {
#define PYRO_TELEMETRY(id, name, write, doc) [PYRO_TELEMETRY_##id] = name,
#define PYRO_TELEMETRY_FOLDER(id, name, doc) [PYRO_TELEMETRY_##id] = name,
#include "export/telemetry/forms.def"
#undef PYRO_TELEMETRY_FOLDER
#undef PYRO_TELEMETRY
    };
    return (unsigned)form < sizeof(names) / sizeof(names[0]) ? names[form] : NULL;
}

enum pyro_status pyro_export_telemetry(const pyro_app *app, enum pyro_telemetry form,
                                       const struct pyro_options *options, const struct pyro_writer *writer,
                                       struct pyro_error *error)
{
    struct pyro_options own;
    struct pyro_output output;
    pyro_error_clear(error);
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    if (!app || !pyro_can_write(writer) || (unsigned)form >= sizeof(writers) / sizeof(writers[0]))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the application, the form or the writer is missing");
    if (!writers[form])
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s is a folder: see pyro_trace_compass_write()",
                              pyro_telemetry_name(form));
    pyro_output_init(&output, writer, own.allocator);
    enum pyro_status status = writers[form](app, &output, error);
    enum pyro_status written = pyro_output_done(&output, status == PYRO_OK ? error : NULL);
    return status == PYRO_OK ? written : status;
}
