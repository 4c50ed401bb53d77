/* What rules build findings with: every text, evidence row and setting lives in the context's arena.
 * All of these are safe to call with a finding of NULL and after memory ran out; context->failed then says so. */
#ifndef PYRO_RULES_FINDING_H
#define PYRO_RULES_FINDING_H

#include "rules/rule.h"

#define PYRO_RULE(name) extern const struct pyro_rule pyro_rule_##name;
#include "rules/rules.def"
#undef PYRO_RULE

enum { PYRO_EVIDENCE_MAX = 12, PYRO_ADVICE_MAX = 8, PYRO_SETTINGS_MAX = 6 };

/* `expected` is NAN where a healthy run shows no particular number. Rows beyond the maximum are left out. */
void pyro_finding_evidence(struct pyro_rule_context *context, struct pyro_finding *finding, const char *metric,
                           double value, double expected, const char *unit);
/* Evidence "stages" or "scans": how many a merged case stands for. One alone says nothing and is left out. */
void pyro_finding_merged(struct pyro_rule_context *context, struct pyro_finding *finding, const char *metric,
                         size_t merged);
/* Adds advice with its sentence and how to verify it; NULL beyond the maximum or without memory. */
struct pyro_advice *pyro_finding_advise(struct pyro_rule_context *context, struct pyro_finding *finding,
                                        struct pyro_slice text, const char *verify);
/* Adds a setting; as code where neither a model nor a symptom knows the property. */
void pyro_advice_set(struct pyro_rule_context *context, struct pyro_advice *advice, const char *key,
                     struct pyro_slice value);
/* ... as a setting in any case. `key` is static text. */
void pyro_advice_configure(struct pyro_rule_context *context, struct pyro_advice *advice, const char *key,
                           struct pyro_slice value);
/* Names the failure that the settings prevent: they are advised although they save no time. Static text. */
void pyro_advice_prevents(struct pyro_advice *advice, const char *failure);
/* Another value for what the advice before it sets: the simulator compares them. */
void pyro_advice_competes(struct pyro_advice *advice);
/* Takes place and call site from a row of app->stages. */
void pyro_finding_at_stage(struct pyro_rule_context *context, struct pyro_finding *finding, size_t stage_row);
/* "1 task", "3 tasks", with its verb: pyro_say_count(context, 1, "task is", "tasks are"). */
const char *pyro_say_count(struct pyro_rule_context *context, double count, const char *one, const char *many);
/* printf into the arena; remembers failure. */
struct pyro_slice pyro_say(struct pyro_rule_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* For reading: "870 ms", "12.3 s", "4 min 10 s", "3 h 5 min"; "512 KiB", "1.2 GiB". NUL-terminated, never NULL. */
const char *pyro_say_ms(struct pyro_rule_context *context, double ms);
const char *pyro_say_bytes(struct pyro_rule_context *context, double bytes);
/* "Stage 5 (join at etl.py:88)". */
const char *pyro_say_stage(struct pyro_rule_context *context, size_t stage_row);
/* A memory size as Spark's configuration takes it: whole GiB ("6g"), below 2 GiB in steps of 256 MiB ("1536m"). */
struct pyro_slice pyro_say_memory(struct pyro_rule_context *context, double bytes);
/* NUL-terminated copy for use with %s; "" for a null slice; at most `limit` bytes, cut at a character. */
const char *pyro_say_text(struct pyro_rule_context *context, struct pyro_slice text, size_t limit);

#endif
