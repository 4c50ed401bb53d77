/* Two findings of which one is the reason of the other: the reason comes first. */
#include <string.h>

#include "advice/advice.h"

/* A reason that saves less than this share of what its consequence does is one of several: it stays where it is. */
#define ROOT_SHARE 0.25
/* Beyond, a report has so many findings that their order no longer matters. */
enum { FINDINGS_MAX = 1000 };

static bool may_follow(const struct pyro_rule *rule, const struct pyro_rule *root)
{
    for (size_t i = 0; i < PYRO_RULE_ROOTS_MOST && rule->follows[i]; i++)
        if (strcmp(rule->follows[i], root->id) == 0)
            return true;
    return false;
}

bool pyro_findings_share_stage(const struct pyro_finding *a, const struct pyro_finding *b)
{
    if (a->stage_count == 0 || b->stage_count == 0)
        return true;
    for (size_t i = 0, k = 0; i < a->stage_count && k < b->stage_count;) {
        if (a->stages[i] == b->stages[k])
            return true;
        if (a->stages[i] < b->stages[k])
            i++;
        else
            k++;
    }
    return false;
}

static size_t find_reason(const struct pyro_finding *findings, size_t count, size_t place)
{
    for (const char *const *rule = findings[place].reasons; *rule; rule++)
        for (size_t i = 0; i < count; i++)
            if (i != place && strcmp(findings[i].rule->id, *rule) == 0 && findings[i].severity > PYRO_SEVERITY_LOW &&
                !findings[i].folded)
                return i;
    return place;
}

/* The finding that `place` follows from, or `place` itself. */
static size_t find_root(const struct pyro_finding *findings, size_t count, size_t place)
{
    const struct pyro_finding *own = &findings[place];
    if (own->reasons)
        return find_reason(findings, count, place);
    double least = ROOT_SHARE * (double)own->own.wall_expected_ms;
    for (size_t i = 0; i < count && own->rule->follows[0]; i++)
        if (i != place && may_follow(own->rule, findings[i].rule) && findings[i].severity > PYRO_SEVERITY_LOW &&
            !findings[i].folded && (double)findings[i].own.wall_expected_ms >= least &&
            pyro_findings_share_stage(own, &findings[i]))
            return i;
    return place;
}

static void move(struct pyro_finding *findings, size_t from, size_t to)
{
    struct pyro_finding moved = findings[from];
    memmove(&findings[to + 1], &findings[to], (from - to) * sizeof(*findings));
    findings[to] = moved;
}

static struct pyro_slice say_first(struct pyro_arena *arena, struct pyro_slice cause, const struct pyro_finding *root)
{
    int len = (int)cause.len, title = (int)root->title.len;
    if (root->stage == PYRO_NONE)
        return pyro_arena_printf(arena, "%.*s Fix \"%.*s\" first: this follows from it.", len, cause.ptr, title,
                                 root->title.ptr);
    return pyro_arena_printf(arena, "%.*s Fix \"%.*s\" of stage %lld first: this follows from it.", len, cause.ptr,
                             title, root->title.ptr, (long long)root->stage);
}

bool pyro_findings_lead_by_roots(struct pyro_arena *arena, struct pyro_finding *findings, size_t count)
{
    size_t end = count < FINDINGS_MAX ? count : FINDINGS_MAX;
    for (size_t i = 0; i < end;) {
        size_t root = findings[i].severity > PYRO_SEVERITY_LOW ? find_root(findings, end, i) : i;
        if (root <= i) {
            i++;
            continue;
        }
        /* What fixes the reason fixes the consequence too. */
        if (findings[root].severity < findings[i].severity)
            findings[root].severity = findings[i].severity;
        move(findings, root, i);
    }
    for (size_t i = 0; i < end; i++) {
        size_t place = find_root(findings, end, i);
        if (place == i)
            continue;
        const struct pyro_finding *root = &findings[place];
        findings[i].root = root->id;
        findings[i].cause = say_first(arena, findings[i].cause, root);
        if (!findings[i].cause.ptr)
            return false;
    }
    return true;
}
