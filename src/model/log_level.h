/* Levels of messages in logs. */
#ifndef PYRO_MODEL_LOG_LEVEL_H
#define PYRO_MODEL_LOG_LEVEL_H

#include <stdint.h>

enum pyro_log_level {
    PYRO_LEVEL_NONE, /* the line has none */
    PYRO_LEVEL_TRACE,
    PYRO_LEVEL_DEBUG,
    PYRO_LEVEL_INFO,
    PYRO_LEVEL_WARN,
    PYRO_LEVEL_ERROR,
    PYRO_LEVEL_FATAL,
    PYRO_LEVELS
};

/* "INFO"; NULL of PYRO_LEVEL_NONE and of what is not a level. */
static inline const char *pyro_log_level_name(int64_t level)
{
    static const char *const names[PYRO_LEVELS] = {0, "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"};
    return level >= 0 && level < PYRO_LEVELS ? names[level] : (const char *)0;
}

#endif
