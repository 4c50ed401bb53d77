#include "decode/trace/syscalls.h"

#include <stddef.h>

static const struct pyro_syscall calls[] = {
#define PYRO_SYSCALL(name, x86_64, aarch64, class) {name, {x86_64, aarch64}, PYRO_CALL_##class},
#include "decode/trace/syscalls.def"
#undef PYRO_SYSCALL
};

enum { CALLS = sizeof(calls) / sizeof(*calls) };

int pyro_syscall_by_number(enum pyro_machine machine, int64_t number)
{
    if (number < 0 || number >= PYRO_SYSCALLS_MAX)
        return -1;
    for (int i = 0; i < CALLS; i++)
        if (calls[i].number[machine] == number)
            return i;
    return -1;
}

int pyro_syscall_by_name(struct pyro_slice name)
{
    for (int i = 0; i < CALLS; i++)
        if (pyro_slice_is(name, calls[i].name))
            return i;
    return -1;
}

const struct pyro_syscall *pyro_syscall(int row)
{
    return row >= 0 && row < CALLS ? &calls[row] : NULL;
}

int pyro_syscall_count(void)
{
    return CALLS;
}
