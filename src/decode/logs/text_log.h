/* Text logs to rows: the threads that wrote, the tasks they worked for, each message with its template; and the errors.
 */
#ifndef PYRO_DECODE_LOGS_TEXT_LOG_H
#define PYRO_DECODE_LOGS_TEXT_LOG_H

#include "decode/artefact_kinds.h"
#include "decode/logs/errors.h"
#include "decode/logs/repeats/templates.h"

/* Makes what is not there yet. */
enum pyro_status pyro_text_logs_begin(struct pyro_text_logs *logs, const struct pyro_artefact_reading *reading,
                                      struct pyro_error *error);
/* Adds the templates, whose numbers the messages have. */
enum pyro_status pyro_text_logs_end(struct pyro_text_logs *logs, struct pyro_tracks *tracks, struct pyro_error *error);
void pyro_text_logs_done(struct pyro_text_logs *logs);

#endif
