/* Native methods in which a thread waits, whatever its state is called. */
#ifndef PYRO_DECODE_PROFILING_NATIVE_WAITS_H
#define PYRO_DECODE_PROFILING_NATIVE_WAITS_H

#include <stdbool.h>

#include "base/strings/slice.h"

/* `frame`: the innermost one, "java.net.SocketInputStream.socketRead0", also with a module before it and a place after
 * it ("java.base/sun.nio.ch.EPoll.wait(Native Method)"). */
bool pyro_is_native_wait(struct pyro_slice frame);

#endif
