#include "export/thread_names.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/numbers/none.h"

void pyro_process_name(const struct pyro_thread_row *process, char ret[PYRO_PROCESS_NAME_BYTES])
{
    struct pyro_slice who = process->executor;
    char number[32] = "process";
    if (process->pid != PYRO_NONE)
        snprintf(number, sizeof(number), "process %" PRId64, process->pid);
    if (who.len == 0)
        snprintf(ret, PYRO_PROCESS_NAME_BYTES, "%s", number);
    else
        snprintf(ret, PYRO_PROCESS_NAME_BYTES, "%s%.*s (%s)", pyro_slice_is(who, "driver") ? "" : "executor ",
                 (int)(who.len < 64 ? who.len : 64), who.ptr, number);
}
