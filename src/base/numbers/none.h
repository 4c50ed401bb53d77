/* The integer that stands for "not known". */
#ifndef PYRO_BASE_NUMBERS_NONE_H
#define PYRO_BASE_NUMBERS_NONE_H

#include <stdint.h>

/* An integer that the log does not give. Shown as JSON null, SQL NULL, an empty CSV field. */
#define PYRO_NONE INT64_MIN

#endif
