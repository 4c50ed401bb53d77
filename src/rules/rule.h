/* A rule: a descriptor and a function that judges one application. One file each, listed in rules.def.
 *
 * Rules judge and explain; numbers come from src/analyze. A rule says one of three things: nothing is wrong (quiet),
 * the question does not arise for this application (not applicable), or it adds findings. */
#ifndef PYRO_RULES_RULE_H
#define PYRO_RULES_RULE_H

#include "analyze/analyze.h"
#include "base/memory/arena.h"
#include "cost/cost.h"
#include "model/app.h"
#include "replay/replay.h"

enum pyro_verdict { PYRO_VERDICT_QUIET, PYRO_VERDICT_FINDING, PYRO_VERDICT_NOT_APPLICABLE };

struct pyro_evidence {
    const char *metric;     /* "slowest_task_ms", ... documented on the rule's page */
    double value, expected; /* expected: what a healthy run shows; NaN when there is no such number */
    const char *unit;       /* "ms", "bytes", "ratio", "share", "count" */
};

struct pyro_setting {
    struct pyro_slice key, value;
};

/* Whether the run is faster or cheaper with the settings of an advice: what the simulator says. */
enum pyro_helps { PYRO_HELPS_UNKNOWN, PYRO_HELPS_YES, PYRO_HELPS_NO };

struct pyro_advice {
    struct pyro_slice text; /* one imperative sentence with values computed from this run */
    struct pyro_setting *settings;
    size_t setting_count;
    struct pyro_slice code;   /* an example, or null */
    struct pyro_slice verify; /* what to look at in the next run */
    const char *prevents;     /* the failure that its settings prevent, whatever time they take; or NULL */
    bool competes;            /* with the advice before it: another value of the same; only the better one is shown */
    enum pyro_helps helps;
    bool restated; /* its text only says what is set: the rule's own would name other values */
    bool dropped;  /* others do it: it is not shown */
    bool edits;    /* its settings do what the finding's edits say; a model that knows them prevails */
    /* As the rule said it: settings that are not taken are left out of the above (advice/settings.c). */
    struct pyro_setting *asked;
    size_t asked_count;
    struct pyro_slice said;
};

/* What was simulated to know what fixing a finding saves. */
enum pyro_basis { PYRO_BASIS_NONE, PYRO_BASIS_SETTINGS, PYRO_BASIS_CODE };

/* Milliseconds of wall time that fixing it would save. low <= expected <= high. */
struct pyro_saving {
    int64_t wall_low_ms, wall_expected_ms, wall_high_ms;
    double stage_share; /* of the stage's duration, NaN where no stage is concerned */
    int64_t core_ms;    /* allocated core time saved, PYRO_NONE when unknown */
    int64_t busy_ms;    /* time of tasks on slots */
    double cost;        /* money saved; NaN: no prices */
    enum pyro_basis basis;
};

/* Milliseconds that a fault costs, within the time of the stages that it is about; PYRO_NONE: unknown. */
struct pyro_fault_costs {
    int64_t wall_ms, core_ms;
};

/* What has to be changed: a setting, the program, how data lies in files, or the machines. */
enum pyro_effort { PYRO_EFFORT_CODE, PYRO_EFFORT_SETTING, PYRO_EFFORT_DATA, PYRO_EFFORT_CLUSTER };
/* What else it touches: this query only; resources or results of the application; others that read its data. */
enum pyro_risk { PYRO_RISK_LOW, PYRO_RISK_MEDIUM, PYRO_RISK_HIGH };

/* Something to do: one set of settings or one change of the program, simulated once, and the findings that it cures. */
struct pyro_action {
    struct pyro_slice id, title;   /* stable as ids of findings are; what to do, in a sentence without a full stop */
    struct pyro_slice text;        /* the whole advice */
    bool by_settings;              /* settings do it, if also not as Spark properties or where the program sets them */
    struct pyro_setting *settings; /* Spark properties; none: the program or something else is to be changed */
    size_t setting_count;
    struct pyro_setting *elsewhere; /* the same, but set by the program, or by other means on this platform */
    size_t elsewhere_count;
    struct pyro_slice code, check; /* an example, or null; what to look at in the next run */
    enum pyro_effort effort;
    enum pyro_risk risk;
    size_t *cures; /* places in diagnosis->findings, ascending, then consequences of the others */
    size_t cure_count;
    struct pyro_saving saves; /* stage_share: NaN; basis none: what it saves is not known */
};

struct pyro_finding {
    const struct pyro_rule *rule;
    struct pyro_slice id; /* stable for the same fault in the next run: rule + where, without run ids */
    enum pyro_severity severity;
    double confidence;       /* 0..1 */
    struct pyro_slice title; /* short, no numbers needed */
    /* Where: PYRO_NONE and null slices for what does not apply. */
    int64_t job, stage, attempt, sql;
    struct pyro_slice executor, host, call_site;
    struct pyro_slice cause; /* one or two sentences with the run's numbers: what happened and why */
    struct pyro_slice root;  /* id of the finding that this one follows from, or null */
    /* Ids of rules whose findings are its reason wherever they are, the likeliest first, NULL at the end; in place of
     * its rule's `follows`. NULL: that counts. */
    const char *const *reasons;
    struct pyro_evidence *evidence;
    size_t evidence_count;
    struct pyro_advice *advice;
    size_t advice_count;
    struct pyro_advice *all_advice; /* also what is not shown; NULL: `advice` is all of it */
    size_t all_advice_count;
    struct pyro_saving own;   /* by what was chosen to fix it, and nothing else */
    struct pyro_saving saves; /* by the action that cures it; where none does, as `own` */
    /* What it costs; a rule sets it where it knows better than what its fix saves. costs: its part of that where others
     * cost time at the same moments, so that all of them add up to no more than the run. See advice/fault_costs.h. */
    struct pyro_fault_costs full_costs, costs;
    size_t place; /* before actions changed order and severity: see advice/findings_by_action.c */
    enum pyro_severity own_severity;
    double failure_risk; /* 0..1: chance that this run or the next fails of it; enters the severity */
    double harm;         /* 0..1: harm to those who read the output */
    bool frees_slots;    /* what it wastes is the time of slots, whether others use them or not */
    /* What the program does without the fault: see shared/remedy.h. */
    struct pyro_edit *edits;
    size_t edit_count, edit_room;
    double part;      /* of what they change, 0..1: what is left of the fault stays */
    bool by_settings; /* the settings of its first advice do that, and the program cannot */
    /* The settings that fix it, where these were chosen. */
    const struct pyro_setting *fix;
    size_t fix_count;
    /* Rows of app->stages that it is about, the named one among them: see shared/affected.h. */
    uint32_t *stages;
    size_t stage_count, stage_room;
    /* What people said of it in earlier runs: see feedback.h. */
    bool judged, folded; /* folded: marked false for this application */
    enum pyro_feedback_verdict judgement;
    int64_t judged_ms;
    struct pyro_slice note;
};

/* A number that a rule judges by. Users may set it in a configuration file as rules.<id>.<name>: 0 to 1 where the unit
 * is "share", else 0 to 10^15. Those called target_... are what advice aims at; they are more than 0. */
struct pyro_threshold {
    const char *name; /* "task_ms_min" */
    double value;     /* unless the user says otherwise; 0 or more */
    const char *unit; /* as in evidence */
    const char *doc;  /* one line: what it limits, and where the number comes from */
};

struct pyro_plans;

struct pyro_finding_list {
    struct pyro_finding *items;
    size_t count, capacity;
};

/* What a rule reads and writes to. Rules run on several threads: each has a context of its own, and what they share is
 * made before. */
struct pyro_rule_context {
    const struct pyro_app *app;
    const struct pyro_rule *rule; /* the one that runs */
    const double *limits;         /* of its thresholds: see pyro_limit() */
    struct pyro_arena *arena;     /* findings and their texts */
    struct pyro_arena *scratch;   /* what the rule needs no longer than it runs */
    struct pyro_finding_list findings;
    struct pyro_finding_list earlier;         /* of the rules that this one comes after */
    bool failed;                              /* out of memory */
    const struct pyro_activity *activity;     /* see pyro_alone_ms() */
    const struct pyro_plans *plans;           /* see pyro_rule_plans() */
    const struct pyro_stage_parts *parts;     /* see pyro_stage_parts() */
    const struct pyro_stage_samples *samples; /* what profilers saw: analyze/tracks/stage_samples.h */
    const struct pyro_stage_waits *waits;     /* what traces saw: analyze/tracks/stage_waits.h */
};

enum { PYRO_RULE_AFTER_MOST = 4, PYRO_RULE_ROOTS_MOST = 5 };

/* As the only entry of `after`: it looks at the findings of all others, except those of rules that do so too. */
#define PYRO_RULE_AFTER_ALL "*"

struct pyro_traced_rule; /* rules/tasks/traced.h */

struct pyro_rule {
    const char *id;       /* "data-skew": file data_skew.c, page docs/rules/data-skew.md */
    const char *category; /* skew, memory, parallelism, shuffle, io, plan, caching, driver, failures, resources,
                             streaming, code */
    const char *title;    /* "Data skew" */
    const char *summary;  /* one sentence: what it means */
    const struct pyro_threshold *thresholds; /* in the order of the rule's own enum */
    size_t threshold_count;
    const char *after[PYRO_RULE_AFTER_MOST]; /* ids of rules before it in the catalog whose findings it looks at */
    /* Ids of rules: what they find is the reason of what this one finds, where both are about the same stages. */
    const char *follows[PYRO_RULE_ROOTS_MOST];
    enum pyro_effort effort; /* of what it advises in place of settings; 0: the program */
    bool needs_whole;        /* it judges the whole course of the run: not where the log holds only part of it */
    bool needs_settings;     /* what it says rests on settings, also on their defaults: not where they are unknown */
    bool needs_trace;        /* it judges by traces of the kernel */
    enum pyro_verdict (*evaluate)(struct pyro_rule_context *context);
    const struct pyro_traced_rule *traced; /* of those that pyro_traced_judge() evaluates */
};

/* "critical", "severe", "moderate", "low" */
const char *pyro_severity_name(enum pyro_severity severity);
/* "setting", "code", "data", "cluster" */
const char *pyro_effort_name(enum pyro_effort effort);
/* "low", "medium", "high" */
const char *pyro_risk_name(enum pyro_risk risk);

extern const struct pyro_rule *const pyro_rules[];
extern const size_t pyro_rule_count;
const struct pyro_rule *pyro_rule_find(const char *id);

enum { PYRO_THRESHOLDS_MAX = 24 };

/* The value of threshold `index` of the rule that runs. */
static inline double pyro_limit(const struct pyro_rule_context *context, size_t index)
{
    return context->limits[index];
}
#define PYRO_THRESHOLDS(table) .thresholds = (table), .threshold_count = sizeof(table) / sizeof((table)[0])

/* Adds a finding with the rule, empty places and confidence of the log's integrity; NULL when there is no memory.
 * Severity and id are set by pyro_diagnosis_new() afterwards (docs/severity.md); an id that the rule set itself,
 * because its finding is about the whole application, stays. */
struct pyro_finding *pyro_finding_add(struct pyro_rule_context *context, const struct pyro_rule *rule);

struct pyro_rule_outcome {
    const struct pyro_rule *rule;
    enum pyro_verdict verdict;
};

/* A finding that the user does not want to see. */
struct pyro_suppressed {
    const struct pyro_rule *rule;
    struct pyro_slice id, reason;
    enum pyro_severity severity;
};

struct pyro_changed_limit {
    const struct pyro_rule *rule;
    const struct pyro_threshold *threshold;
    double value;
};

/* A setting that is to change, and whose advice it is. */
struct pyro_change {
    struct pyro_slice key, value;
    size_t finding, advice;
    bool elsewhere;            /* by other means than a Spark property: not in config_changes */
    struct pyro_slice current; /* what the program itself sets it to; null: it does not */
};

/* One property and what this run says about it; recommended equals current where nothing should change. */
struct pyro_configured {
    struct pyro_slice key, current, recommended; /* current: null when unknown */
    struct pyro_slice reason, verify;
    const char
        *applies; /* "start", "runtime": when it can be set; "elsewhere": not as a Spark property on this platform */
    const char *note;          /* what to mind on this platform, or NULL */
    struct pyro_slice finding; /* id of the finding that advises it; null when nothing should change */
};

/* The run with all that is advised, simulated once: savings of single findings overlap. */
struct pyro_recommended_plan {
    bool made; /* something is advised */
    int64_t wall_low_ms, wall_expected_ms, wall_high_ms, core_ms;
    double cost;      /* NaN: no prices */
    size_t *findings; /* that it fixes: places in diagnosis->findings */
    size_t finding_count;
};

struct pyro_diagnosis {
    const struct pyro_app *app; /* a reference is held */
    struct pyro_arena arena;
    struct pyro_arena *arenas; /* what rules wrote on other threads than the calling one */
    size_t arena_count;
    struct pyro_finding
        *findings; /* in the order of the actions that cure them, reasons before what follows from them */
    size_t finding_count;
    bool placed;                        /* findings know their own places: advice/findings_by_action.h */
    struct pyro_suppressed *suppressed; /* findings that the user does not want, in the same order */
    size_t suppressed_count;
    struct pyro_changed_limit *changed; /* thresholds that are not at their defaults, in the order of the catalog */
    size_t changed_count;
    struct pyro_rule_outcome *outcomes;  /* one a rule, in catalog order */
    struct pyro_replay_check replay;     /* how well the simulator tells this run */
    const struct pyro_plans *plans;      /* of the SQL executions: analyze/plans/plan_tree.h */
    struct pyro_setting *config_changes; /* conflicts resolved, sorted by key */
    size_t config_change_count;
    struct pyro_change *changes; /* the same, with their origin */
    size_t change_count;
    bool savings_unknown; /* the replay does not tell the run */
    struct pyro_recommended_plan settings_plan, code_plan;
    struct pyro_action *actions; /* what ended the application first, then what saves most */
    size_t action_count;
    struct pyro_recommended_plan together; /* all actions; its `findings` are none */
    struct pyro_configured *configuration; /* in the order of spark_settings.def */
    size_t configuration_count;
    struct pyro_cost *cost;             /* NULL: no prices were given */
    const struct pyro_profile *profile; /* another tool's eyes, or NULL: see profile.h */
    struct pyro_peer_verdict *peer_verdicts;
    size_t peer_verdict_count;
    const char *note; /* what is wanting of this diagnosis, as a sentence without a full stop; NULL: nothing */
};
/* What is to be said of the log and of this diagnosis in addition to the findings, in order: the application's notes,
 * then the diagnosis' own. Null: there is no such note. */
struct pyro_slice pyro_diagnosis_note(const struct pyro_diagnosis *diagnosis, size_t index);
/* The finding of an id; NULL: there is none. */
const struct pyro_finding *pyro_finding_by_id(const struct pyro_diagnosis *diagnosis, struct pyro_slice id);

void pyro_diagnosis_free(struct pyro_diagnosis *diagnosis);

#endif
