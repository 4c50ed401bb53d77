/* A fast look at a text before any expression runs over it. */
#ifndef PYRO_BASE_SECRETS_SECRET_SCAN_H
#define PYRO_BASE_SECRETS_SECRET_SCAN_H

#include <stdbool.h>

#include "base/strings/slice.h"

enum { PYRO_SECRET_BY_NAME = 1, PYRO_SECRET_BY_SHAPE = 2, PYRO_SECRET_BY_OPTION = 4, PYRO_SECRET_BY_HEADER = 8 };

/* Which secrets may be in the text: those that a name announces (NAMED_FORMS of secret_forms.h) or a header
 * (HEADER_FORMS, WHOLE_FORMS), those of ADDRESS_FORMS and SHAPED_FORMS, and values of options, of whose names or values
 * SPARK_OPTIONS or a name is a part. Most texts have none. */
unsigned pyro_may_hold_secret(struct pyro_slice text);
/* False: none of the words that secret_forms.h lists is in the text. */
bool pyro_may_name_secret(struct pyro_slice text);

#endif
