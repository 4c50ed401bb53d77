#include "rules/fixes/shuffle_service.h"

#include "analyze/app_facts.h"
#include "model/failure_text.h"
#include "rules/finding.h"

/* An address with this port after one of the words of Spark's network library. */
static struct pyro_slice address_with(struct pyro_slice text, struct pyro_slice port)
{
    static const char *const words[] = {"Failed to connect to ", "Connection from ", "Connection reset by peer: "};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        for (const char *at = text.ptr, *end = text.ptr + text.len; at && at < end;) {
            at = pyro_slice_find((struct pyro_slice){at, (size_t)(end - at)}, words[i]);
            if (!at)
                break;
            at += strlen(words[i]);
            size_t length = 0;
            while (at + length < end && !strchr(" \n\t,;", at[length]))
                length++;
            if (length > port.len + 1 && at[length - port.len - 1] == ':' &&
                memcmp(at + length - port.len, port.ptr, port.len) == 0)
                return (struct pyro_slice){at, length};
        }
    return PYRO_SLICE_NULL;
}

struct pyro_shuffle_service pyro_shuffle_service_of(const struct pyro_app *app, struct pyro_slice failure)
{
    struct pyro_slice port = pyro_app_property(app, "spark.shuffle.service.port");
    struct pyro_shuffle_service service = {.address = PYRO_SLICE_NULL};
    if (!failure.ptr || !pyro_app_property_bool(app, "spark.shuffle.service.enabled", false))
        return service;
    service.address = address_with(failure, port.len > 0 ? port : PYRO_SLICE_LITERAL("7337"));
    service.silent = service.address.ptr != NULL;
    service.forgot = pyro_text_has(failure, "Executor is not registered");
    return service;
}

const char *pyro_shuffle_service_say(struct pyro_rule_context *context, const struct pyro_shuffle_service *service)
{
    return service->silent ? pyro_say(context, "; the external shuffle service at %s did not answer",
                                      pyro_say_text(context, service->address, 80))
                                 .ptr
                           : "; the external shuffle service did not know the executor that had written them";
}

void pyro_shuffle_service_advise(struct pyro_rule_context *context, struct pyro_finding *finding,
                                 const struct pyro_shuffle_service *service, const char *verify)
{
    if (service->silent)
        pyro_finding_advise(
            context, finding,
            pyro_say(
                context,
                "Find out why the external shuffle service at %s did not answer: it runs in the node manager of "
                "YARN or the worker of a standalone cluster. Read its log at that time, and give it enough memory.",
                pyro_say_text(context, service->address, 80)),
            verify);
    pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Let the shuffle service know its executors again after a restart: "
                           "yarn.nodemanager.recovery.enabled on YARN, spark.shuffle.service.db.enabled on standalone "
                           "workers."),
        verify);
}
