/* Filling the public struct pyro_error; every function here accepts NULL for it. */
#ifndef PYRO_BASE_ERROR_H
#define PYRO_BASE_ERROR_H

#include "pyrometer.h"

/* Sets code and message and returns `code`, so that callers can write `return pyro_error_set(error, ...)`. */
enum pyro_status pyro_error_set(struct pyro_error *error, enum pyro_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Names the input: "what, where". Keeps a path that is already there. */
void pyro_error_at(struct pyro_error *error, const char *path, uint64_t offset);
/* The input's own bytes are why. Only what says so may be kept and told again without another try. Returns the code. */
enum pyro_status pyro_error_lasts(struct pyro_error *error, enum pyro_status code);
void pyro_error_clear(struct pyro_error *error);

#define PYRO_TRY(expression)                                                                                           \
    do {                                                                                                               \
        enum pyro_status pyro_try_status_ = (expression);                                                              \
        if (pyro_try_status_ != PYRO_OK)                                                                               \
            return pyro_try_status_;                                                                                   \
    } while (0)

#endif
