/* Shared libraries that are loaded when the first of their functions is needed, not when the process starts: to link
 * the command with libcurl, GnuTLS and libarchive takes ten times as long as a diagnosis of a small log
 * (docs/adr/0007-libraries-on-demand.md).
 *
 * A library has a header here, which lists the functions that are used. It makes their names stand for entries of a
 * table, so that callers write what the library's manual says. The table is empty until pyro_NAME_load(), which is
 * called before something is opened. In static builds (PYRO_LIBRARIES_LINKED) the names are the functions
 * themselves. */
#ifndef PYRO_LIBRARIES_ON_DEMAND_H
#define PYRO_LIBRARIES_ON_DEMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct pyro_on_demand {
    const char *file;         /* as the linker would have noted it: libcurl.so.4 */
    const char *purpose;      /* for the error: what cannot be done without it */
    const char *const *names; /* of `count` functions */
    void *functions;          /* `count` pointers in the order of `names`, NULL until they are loaded */
    size_t count;
    _Atomic bool loaded;
};

/* Loads the library, once for the process. Threads may call it at the same time. PYRO_ERROR_INPUT: it cannot be loaded,
 * or lacks a function. */
enum pyro_status pyro_on_demand_load(struct pyro_on_demand *library, struct pyro_error *error);

#ifdef PYRO_LIBRARIES_LINKED

#define PYRO_ON_DEMAND(name, FUNCTIONS)                                                                                \
    static inline enum pyro_status pyro_##name##_load(struct pyro_error *error)                                        \
    {                                                                                                                  \
        (void)error;                                                                                                   \
        return PYRO_OK;                                                                                                \
    }

#else

#define PYRO_ON_DEMAND_MEMBER(function) __typeof__(function) *function;
#define PYRO_ON_DEMAND_NAME(function)   #function,

/* The table of a library and the function that fills it. */
#define PYRO_ON_DEMAND(name, FUNCTIONS)                                                                                \
    struct pyro_##name##_functions {                                                                                   \
        FUNCTIONS(PYRO_ON_DEMAND_MEMBER)                                                                               \
    };                                                                                                                 \
    extern struct pyro_##name##_functions pyro_##name##_functions;                                                     \
    enum pyro_status pyro_##name##_load(struct pyro_error *error);

/* Its definition, in the library's own file. */
#define PYRO_ON_DEMAND_TABLE(name, FUNCTIONS, shared_file, what)                                                       \
    struct pyro_##name##_functions pyro_##name##_functions;                                                            \
    enum pyro_status pyro_##name##_load(struct pyro_error *error)                                                      \
    {                                                                                                                  \
        static const char *const names[] = {FUNCTIONS(PYRO_ON_DEMAND_NAME)};                                           \
        static struct pyro_on_demand library = {.file = shared_file,                                                   \
                                                .purpose = what,                                                       \
                                                .names = names,                                                        \
                                                .functions = &pyro_##name##_functions,                                 \
                                                .count = sizeof(names) / sizeof(*names)};                              \
        _Static_assert(sizeof(pyro_##name##_functions) == sizeof(names), "pointers only");                             \
        return pyro_on_demand_load(&library, error);                                                                   \
    }

#endif

#endif
