/* What was predicted, in its formats. */
#ifndef PYRO_REPORT_WHATIF_WRITE_WHATIF_H
#define PYRO_REPORT_WHATIF_WRITE_WHATIF_H

#include "advice/whatif_api.h"
#include "report/report.h"

/* `jobs`: with when each job of each scenario would run. */
void pyro_whatif_json(struct pyro_output *output, const struct pyro_whatif *whatif, bool jobs);
void pyro_whatif_text(struct pyro_output *output, const struct pyro_whatif *whatif,
                      const struct pyro_report_options *options);

/* Settings that a scenario changes and that have no column of their own: everything but the number of executors, their
 * cores and memory, unless these were asked for by their whole keys. */
bool pyro_whatif_shows(const struct pyro_scenario *scenario, unsigned setting);

#endif
