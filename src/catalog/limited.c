/* Reading logs that anybody may have sent: no more of them than the catalog's options allow. */
#include "catalog/limited.h"
#include "load/load.h"

enum pyro_status pyro_catalog_inputs_of(const struct pyro_log *log, const struct pyro_upload_costs *limits,
                                        struct pyro_cpu_meter *meter, enum pyro_redaction redaction, pyro_inputs **ret,
                                        struct pyro_error *error)
{
    if (!limits)
        return pyro_inputs_of(log, redaction, ret, error);
    struct pyro_log limited = *log;
    limited.meter = meter;
    limited.parts = pyro_allocate(NULL, (log->part_count + 1) * sizeof(*limited.parts));
    if (!limited.parts)
        return pyro_no_memory(error);
    for (size_t i = 0; i < log->part_count; i++) {
        limited.parts[i] = log->parts[i];
        limited.parts[i].most_line_bytes = limits->line_bytes;
    }
    enum pyro_status status = pyro_inputs_of(&limited, redaction, ret, error);
    pyro_release(NULL, limited.parts);
    return status;
}
