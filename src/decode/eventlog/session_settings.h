/* Settings of SQL executions that differ from those of the application. */
#ifndef PYRO_DECODE_EVENTLOG_SESSION_SETTINGS_H
#define PYRO_DECODE_EVENTLOG_SESSION_SETTINGS_H

#include "decode/builder.h"

/* The object `modifiedConfigs`, as written, as lines of KEY=VALUE: those of SQL first. Null where it is empty. */
struct pyro_slice pyro_build_settings(struct pyro_builder *builder, struct pyro_slice raw);
/* After the log has said what is to be hidden. */
void pyro_build_settings_again(struct pyro_builder *builder);

#endif
