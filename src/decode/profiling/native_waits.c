#include "decode/profiling/native_waits.h"

#include <string.h>

bool pyro_is_native_wait(struct pyro_slice frame)
{
    static const char *const methods[] = {
#define PYRO_NATIVE_WAIT(method) method,
#include "decode/profiling/native_waits.def"
#undef PYRO_NATIVE_WAIT
    };
    const char *place = frame.ptr ? memchr(frame.ptr, '(', frame.len) : NULL;
    if (place)
        frame.len = (size_t)(place - frame.ptr);
    const char *module = frame.ptr ? memrchr(frame.ptr, '/', frame.len) : NULL;
    if (module)
        frame = (struct pyro_slice){module + 1, (size_t)(frame.ptr + frame.len - module - 1)};
    for (size_t i = 0; frame.ptr && i < sizeof(methods) / sizeof(*methods); i++)
        if (pyro_slice_is(frame, methods[i]))
            return true;
    return false;
}
