/* Files of perf to traces in the Common Trace Format. */
#ifndef PYROMETER_CLI_CONVERSION_H
#define PYROMETER_CLI_CONVERSION_H

#include "recording_json.h"

/* Converts what perf wrote into the folder "kernel" of the recording, and removes what was converted. Fills `traces`,
 * `unconverted` and `kernel_dropped`. Ctrl-C stops it: what was not converted stays, with the command that does it. */
void cli_convert(struct cli_recording *recording);

#endif
