/* A fast look at a text before any expression runs over it. */
#ifndef PYRO_BASE_SECRETS_SECRET_SCAN_H
#define PYRO_BASE_SECRETS_SECRET_SCAN_H

#include <stdbool.h>

#include "base/strings/slice.h"

/* False: nothing that secret_forms.h describes is in the text. Most texts end here. */
bool pyro_may_hold_secret(struct pyro_slice text);
/* False: none of the words that secret_forms.h lists is in the text. */
bool pyro_may_name_secret(struct pyro_slice text);

#endif
