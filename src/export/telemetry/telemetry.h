/* What an application was, in the forms of tools that watch systems. */
#ifndef PYRO_EXPORT_TELEMETRY_TELEMETRY_H
#define PYRO_EXPORT_TELEMETRY_TELEMETRY_H

#include "base/error.h"
#include "model/app.h"
#include "text/buffered_output.h"

/* Writes the application to the output, whose errors stick. PYRO_ERROR_MEMORY, or PYRO_OK. */
typedef enum pyro_status pyro_telemetry_writer(const struct pyro_app *app, struct pyro_output *output,
                                               struct pyro_error *error);

#define PYRO_TELEMETRY(id, name, write, doc) pyro_telemetry_writer write;
#define PYRO_TELEMETRY_FOLDER(id, name, doc)
#include "export/telemetry/forms.def"
#undef PYRO_TELEMETRY_FOLDER
#undef PYRO_TELEMETRY

#endif
