#include "rules/finding.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "analyze/app_facts.h"
#include "analyze/settings/spark_settings.h"
#include "predict/predict.h"

const char *pyro_severity_name(enum pyro_severity severity)
{
    static const char *const names[] = {"low", "moderate", "severe", "critical"};
    return (unsigned)severity < 4 ? names[severity] : "low";
}

const char *pyro_effort_name(enum pyro_effort effort)
{
    static const char *const names[] = {[PYRO_EFFORT_CODE] = "code",
                                        [PYRO_EFFORT_SETTING] = "setting",
                                        [PYRO_EFFORT_DATA] = "data",
                                        [PYRO_EFFORT_CLUSTER] = "cluster"};
    return names[effort];
}

const char *pyro_risk_name(enum pyro_risk risk)
{
    static const char *const names[] = {"low", "medium", "high"};
    return names[risk];
}

struct pyro_finding *pyro_finding_add(struct pyro_rule_context *context, const struct pyro_rule *rule)
{
    struct pyro_finding *finding = pyro_vec_push(&context->findings, context->arena->allocator);
    if (!finding) {
        context->failed = true;
        return NULL;
    }
    finding->rule = rule;
    finding->confidence = context->app->integrity.confidence;
    finding->title = pyro_slice_from(rule->title);
    finding->part = 1;
    finding->job = finding->stage = finding->attempt = finding->sql = PYRO_NONE;
    finding->own = (struct pyro_saving){.stage_share = (double)NAN, .core_ms = PYRO_NONE, .cost = (double)NAN};
    finding->saves = finding->own;
    finding->costs = finding->full_costs = (struct pyro_fault_costs){PYRO_NONE, PYRO_NONE};
    return finding;
}

void pyro_finding_evidence(struct pyro_rule_context *context, struct pyro_finding *finding, const char *metric,
                           double value, double expected, const char *unit)
{
    if (!finding || finding->evidence_count >= PYRO_EVIDENCE_MAX || !isfinite(value))
        return;
    if (!finding->evidence)
        finding->evidence = pyro_arena_array(context->arena, PYRO_EVIDENCE_MAX, sizeof(*finding->evidence));
    if (!finding->evidence) {
        context->failed = true;
        return;
    }
    finding->evidence[finding->evidence_count++] = (struct pyro_evidence){metric, value, expected, unit};
}

void pyro_finding_merged(struct pyro_rule_context *context, struct pyro_finding *finding, const char *metric,
                         size_t merged)
{
    if (merged > 1)
        pyro_finding_evidence(context, finding, metric, (double)merged, (double)NAN, "count");
}

const char *pyro_say_count(struct pyro_rule_context *context, double count, const char *one, const char *many)
{
    return pyro_say(context, "%.0f %s", count, count < 1.5 && count > 0.5 ? one : many).ptr;
}

struct pyro_advice *pyro_finding_advise(struct pyro_rule_context *context, struct pyro_finding *finding,
                                        struct pyro_slice text, const char *verify)
{
    if (!finding || finding->advice_count >= PYRO_ADVICE_MAX)
        return NULL;
    if (!finding->advice)
        finding->advice = pyro_arena_array(context->arena, PYRO_ADVICE_MAX, sizeof(*finding->advice));
    if (!finding->advice) {
        context->failed = true;
        return NULL;
    }
    struct pyro_advice *advice = &finding->advice[finding->advice_count++];
    advice->text = text;
    advice->verify = pyro_slice_from(verify);
    return advice;
}

/* What it saves is then not known, but another value leaves something in a log. */
static bool leaves_symptom(const char *key)
{
    const struct pyro_setting_row *row = pyro_setting_find(pyro_slice_from(key));
    return row && (row->below != PYRO_SYMPTOM_NONE || row->above != PYRO_SYMPTOM_NONE);
}

void pyro_advice_set(struct pyro_rule_context *context, struct pyro_advice *advice, const char *key,
                     struct pyro_slice value)
{
    if (!advice || advice->setting_count >= PYRO_SETTINGS_MAX)
        return;
    if (pyro_predicted_is_known(pyro_slice_from(key)) || leaves_symptom(key)) {
        pyro_advice_configure(context, advice, key, value);
    } else {
        advice->code =
            pyro_say(context, "%.*s%s--conf %s=%.*s", (int)advice->code.len, advice->code.ptr ? advice->code.ptr : "",
                     advice->code.len ? "\n" : "", key, (int)value.len, value.ptr ? value.ptr : "");
    }
}

void pyro_advice_configure(struct pyro_rule_context *context, struct pyro_advice *advice, const char *key,
                           struct pyro_slice value)
{
    if (!advice || advice->setting_count >= PYRO_SETTINGS_MAX)
        return;
    if (!advice->settings)
        advice->settings = pyro_arena_array(context->arena, PYRO_SETTINGS_MAX, sizeof(*advice->settings));
    if (!advice->settings || !value.ptr) {
        context->failed = true;
        return;
    }
    advice->settings[advice->setting_count++] = (struct pyro_setting){pyro_slice_from(key), value};
}

void pyro_advice_prevents(struct pyro_advice *advice, const char *failure)
{
    if (advice)
        advice->prevents = failure;
}

void pyro_advice_competes(struct pyro_advice *advice)
{
    if (advice)
        advice->competes = true;
}

void pyro_finding_at_stage(struct pyro_rule_context *context, struct pyro_finding *finding, size_t stage_row)
{
    if (!finding)
        return;
    const struct pyro_stage *stage = &context->app->stages.items[stage_row];
    finding->job = stage->job;
    finding->stage = stage->id;
    finding->attempt = stage->attempt;
    finding->sql = stage->sql;
    finding->call_site = stage->call_site.ptr ? stage->call_site : stage->name;
}

struct pyro_slice pyro_say(struct pyro_rule_context *context, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct pyro_slice text = pyro_arena_vprintf(context->arena, format, arguments);
    va_end(arguments);
    context->failed |= !text.ptr;
    return text.ptr ? text : PYRO_SLICE_LITERAL("");
}

const char *pyro_say_ms(struct pyro_rule_context *context, double ms)
{
    if (!(ms > 0))
        return "0 ms";
    if (ms < 999.5)
        return pyro_say(context, "%.0f ms", ms).ptr;
    if (ms < 59950)
        return pyro_say(context, "%.1f s", ms / 1000).ptr;
    double s = floor(ms / 1000 + 0.5);
    if (s < 3600)
        return pyro_say(context, "%.0f min %.0f s", floor(s / 60), fmod(s, 60)).ptr;
    double minutes = floor(s / 60);
    return pyro_say(context, "%.0f h %.0f min", floor(minutes / 60), fmod(minutes, 60)).ptr;
}

const char *pyro_say_bytes(struct pyro_rule_context *context, double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    while (bytes >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        bytes /= 1024;
        unit++;
    }
    return pyro_say(context, unit == 0 || bytes >= 99.95 ? "%.0f %s" : "%.1f %s", bytes, units[unit]).ptr;
}

const char *pyro_say_stage(struct pyro_rule_context *context, size_t stage_row)
{
    const struct pyro_stage *stage = &context->app->stages.items[stage_row];
    struct pyro_slice site = stage->call_site.ptr ? stage->call_site : stage->name;
    /* A line of the Scala shell: "$line16.$read$$iw$$iw...", where the name says "count at <console>:25". */
    if (pyro_slice_starts_with(site, "$line") && stage->name.len > 0)
        site = stage->name;
    if (site.len == 0)
        return pyro_say(context, "Stage %lld", (long long)stage->id).ptr;
    return pyro_say(context, "Stage %lld (%s)", (long long)stage->id, pyro_say_text(context, site, 80)).ptr;
}

struct pyro_slice pyro_say_memory(struct pyro_rule_context *context, double bytes)
{
    double mib = ceil(bytes / (1024 * 1024));
    if (mib < 2048)
        return pyro_say(context, "%.0fm", fmax(ceil(mib / 256), 1) * 256);
    return pyro_say(context, "%.0fg", ceil(mib / 1024));
}

const char *pyro_say_text(struct pyro_rule_context *context, struct pyro_slice text, size_t limit)
{
    if (!text.ptr)
        return "";
    size_t len = text.len;
    if (len > limit) {
        len = limit;
        while (len > 0 && ((unsigned char)text.ptr[len] & 0xC0) == 0x80)
            len--;
    }
    if (len > INT32_MAX)
        len = INT32_MAX;
    return pyro_say(context, "%.*s", (int)len, text.ptr).ptr;
}
