/* Filling the public struct pyro_error; every function here accepts NULL for it. */
#ifndef PYRO_BASE_ERROR_H
#define PYRO_BASE_ERROR_H

#include <stdbool.h>

#include "pyrometer.h"

/* Sets code and message and returns `code`, so that callers can write `return pyro_error_set(error, ...)`. Secrets in
 * the message are hidden: much of it comes from files and servers. */
enum pyro_status pyro_error_set(struct pyro_error *error, enum pyro_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for functions that give another result, or return the code later. */
void pyro_error_describe(struct pyro_error *error, enum pyro_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Names the input: "what, where". Keeps a path that is already there. */
void pyro_error_at(struct pyro_error *error, const char *path, uint64_t offset);
/* The input's own bytes are why. Only an error that says so may be kept and reported again without another try. Returns
 * the code. */
enum pyro_status pyro_error_lasts(struct pyro_error *error, enum pyro_status code);
void pyro_error_clear(struct pyro_error *error);
/* False: NULL, or its size was not set, and nothing is written to it. */
bool pyro_error_is_usable(const struct pyro_error *error);
void pyro_error_copy(struct pyro_error *to, const struct pyro_error *from);

/* PYRO_ERROR_MEMORY. */
static inline enum pyro_status pyro_no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left");
}

/* For a result that changes nothing: `why` says what makes it so. */
static inline void pyro_ignore_status(enum pyro_status status, const char *why)
{
    (void)status, (void)why;
}

#define PYRO_TRY(expression)                                                                                           \
    do {                                                                                                               \
        enum pyro_status pyro_try_status_ = (expression);                                                              \
        if (pyro_try_status_ != PYRO_OK)                                                                               \
            return pyro_try_status_;                                                                                   \
    } while (0)

#endif
