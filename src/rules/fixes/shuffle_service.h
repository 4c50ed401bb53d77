/* The external shuffle service of a host: why files that it serves could not be fetched. */
#ifndef PYRO_RULES_FIXES_SHUFFLE_SERVICE_H
#define PYRO_RULES_FIXES_SHUFFLE_SERVICE_H

#include "rules/rule.h"

struct pyro_shuffle_service {
    struct pyro_slice address; /* "host/10.0.0.7:7337"; null: the text does not say it */
    bool silent;               /* it did not answer */
    bool forgot;               /* it does not know the executor: it was started again without what it knew */
};

/* What the failure of a stage or a job says of it. Neither silent nor forgot: nothing. */
struct pyro_shuffle_service pyro_shuffle_service_of(const struct pyro_app *app, struct pyro_slice failure);
/* The end of a sentence about files that could not be fetched: "; the external shuffle service at ... did not answer".
 * Of a service that was silent or forgot. */
const char *pyro_shuffle_service_say(struct pyro_rule_context *context, const struct pyro_shuffle_service *service);
void pyro_shuffle_service_advise(struct pyro_rule_context *context, struct pyro_finding *finding,
                                 const struct pyro_shuffle_service *service, const char *verify);

#endif
