/* Inputs of a log, for uploads within limits. */
#ifndef PYRO_CATALOG_LIMITED_H
#define PYRO_CATALOG_LIMITED_H

#include "base/threads/cpu_meter.h"
#include "catalog/catalog.h"
#include "source/source.h"

/* Inputs that are this log. With `limits`, which only uploads have, reading them ends with PYRO_ERROR_INPUT beyond
 * those; `meter` must outlive the inputs. */
enum pyro_status pyro_catalog_inputs_of(const struct pyro_log *log, const struct pyro_upload_costs *limits,
                                        struct pyro_cpu_meter *meter, enum pyro_redaction redaction, pyro_inputs **ret,
                                        struct pyro_error *error);

#endif
