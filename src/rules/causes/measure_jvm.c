/* Options that keep the JVM from compiling what it runs. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/causes/jvm_suspect.h"
#include "rules/causes/measures.h"
#include "rules/finding.h"
#include "rules/fixes/jvm_options.h"

/* Share of the processor time that code takes longer with the option. That of level 1 was measured (corpus/settings);
 * the others are known for their order of magnitude only. */
static const char *const options[] = {"-Xint$",
                                      "-Djava.compiler=NONE$",
                                      "-XX:TieredStopAtLevel=0$",
                                      "-XX:TieredStopAtLevel=1$",
                                      "-XX:TieredStopAtLevel=2$",
                                      "-XX:TieredStopAtLevel=3$"};
static const double shares[] = {0.8, 0.8, 0.8, 0.15, 0.3, 0.4};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

bool pyro_jvm_suspect(struct pyro_rule_context *context, struct pyro_suspect *ret)
{
    struct pyro_slice all = pyro_jvm_options(context->app);
    struct pyro_slice option = pyro_jvm_option(all, options, OPTIONS);
    if (!option.ptr)
        return false;
    *ret = (struct pyro_suspect){.row = pyro_setting_find(pyro_slice_from(pyro_jvm_options_key(context->app))),
                                 .value = option,
                                 .usual = pyro_jvm_options_without(context, all, options, OPTIONS, ""),
                                 .symptom = PYRO_SYMPTOM_SLOW_CODE,
                                 .is_option = true,
                                 .factor = INFINITY};
    return ret->row && ret->usual.ptr;
}

void pyro_measure_slow_code(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                            struct pyro_measured *ret)
{
    const struct pyro_app *app = context->app;
    double share = 0;
    for (size_t i = 0; i < OPTIONS && share == 0; i++)
        share = pyro_jvm_option(suspect->value, &options[i], 1).ptr ? shares[i] : 0;
    for (size_t i = 0; i < app->stages.count; i++)
        ret->stage_ms[i] = share * pyro_real(app->stages.items[i].cpu_ms);
}
