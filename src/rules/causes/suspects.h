/* Settings that this run changed from Spark's default to a side that leaves a symptom in a log
 * (analyze/settings/spark_settings.def): what may be the cause of what is seen. */
#ifndef PYRO_RULES_CAUSES_SUSPECTS_H
#define PYRO_RULES_CAUSES_SUSPECTS_H

#include "analyze/settings/spark_settings.h"
#include "rules/rule.h"

struct pyro_suspect {
    const struct pyro_setting_row *row;
    struct pyro_slice value, usual; /* as set; Spark's default for this version */
    enum pyro_symptom symptom;
    bool is_default; /* the value is Spark's own default, and `usual` is better */
    bool is_option;  /* the value is one word of an option list, and `usual` is the list without it */
    double factor;   /* at least 1: how far the value is from the default; INFINITY for flags, texts and zeros */
};

struct pyro_suspects {
    struct pyro_suspect *items;
    size_t count;
};

/* One for each value of a setting, in the order of properties, then of queries that changed it. False when there is no
 * memory (and context->failed is set). */
bool pyro_suspects_load(struct pyro_rule_context *context, struct pyro_suspects *ret);
/* Whether a query (PYRO_NONE: what belongs to none) ran with the value. */
bool pyro_suspect_covers(const struct pyro_app *app, const struct pyro_suspect *suspect, int64_t sql);
/* Whether the stage ran with it, and does what the setting is about: a setting of scans says nothing of a stage that
 * reads a shuffle. */
bool pyro_suspect_fits(struct pyro_rule_context *context, const struct pyro_suspect *suspect, size_t stage);
/* Whether a setting that leaves the symptom fits the stage. */
bool pyro_stage_has_suspect(struct pyro_rule_context *context, enum pyro_symptom symptom, size_t stage);
/* Whether one of the findings advises a value of it. */
bool pyro_suspect_is_advised(const struct pyro_suspect *suspect, const struct pyro_finding *findings, size_t count);
/* The rule that shows the symptom: "disk-spill", or "costly-setting". */
const char *pyro_symptom_rule(enum pyro_symptom symptom);
/* "Data spills to disk" */
const char *pyro_symptom_doc(enum pyro_symptom symptom);

/* Adds the advice to set it back to the default; `verify` as in pyro_finding_advise(). */
struct pyro_advice *pyro_suspect_advise(struct pyro_rule_context *context, struct pyro_finding *finding,
                                        const struct pyro_suspect *suspect, const char *verify);

#endif
