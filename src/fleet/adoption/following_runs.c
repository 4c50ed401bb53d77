/* Which runs follow a piece of advice. */
#include <math.h>

#include "analyze/settings/spark_settings.h"
#include "fleet/adoption/adoption.h"

#define FULL_SHARE 0.8

static struct pyro_slice value_or_default(const struct pyro_setting_row *row, struct pyro_slice value)
{
    return value.ptr ? value : pyro_setting_lasting_default(row);
}

enum pyro_adoption pyro_adoption_of(struct pyro_slice key, struct pyro_slice previous, struct pyro_slice advised,
                                    struct pyro_slice actual)
{
    const struct pyro_setting_row *row = pyro_setting_find(key);
    previous = value_or_default(row, previous);
    actual = value_or_default(row, actual);
    if (!advised.ptr || !actual.ptr)
        return PYRO_ADOPTION_NONE;
    if (pyro_setting_same(row, actual, advised))
        return PYRO_ADOPTION_FULL;
    if (!row || !previous.ptr || row->kind == PYRO_SETTING_TEXT || row->kind == PYRO_SETTING_FLAG)
        return PYRO_ADOPTION_NONE;
    double from = pyro_setting_magnitude(row, previous), to = pyro_setting_magnitude(row, advised);
    double at = pyro_setting_magnitude(row, actual);
    if (!(from > 0 && to > 0 && at > 0) || pyro_setting_same(row, previous, advised))
        return PYRO_ADOPTION_NONE;
    double share = log(at / from) / log(to / from);
    if (share >= FULL_SHARE)
        return PYRO_ADOPTION_FULL;
    return share > 0 ? PYRO_ADOPTION_PARTLY : PYRO_ADOPTION_NONE;
}

struct pyro_adoption_span pyro_adoption_find(struct pyro_slice key, struct pyro_slice previous,
                                             struct pyro_slice advised, const struct pyro_slice *values, size_t count,
                                             size_t advised_at)
{
    const struct pyro_setting_row *row = pyro_setting_find(key);
    struct pyro_adoption_span span = {.first = count, .end = count};
    for (size_t i = advised_at + 1; i < count && span.first == count; i++) {
        enum pyro_adoption adoption = pyro_adoption_of(key, previous, advised, values[i]);
        if (adoption > span.adoption)
            span.adoption = adoption;
        if (adoption == PYRO_ADOPTION_FULL)
            span.first = i;
    }
    if (span.first == count)
        return span;
    struct pyro_slice adopted = value_or_default(row, values[span.first]);
    for (size_t i = span.first + 1; i < count; i++) {
        if (!pyro_setting_same(row, value_or_default(row, values[i]), adopted)) {
            span.end = i;
            break;
        }
    }
    return span;
}

size_t pyro_adoption_gone(const struct pyro_slice *versions, const bool *has_finding, size_t count, size_t advised_at)
{
    size_t without = 0;
    bool changed = false;
    for (size_t i = advised_at + 1; i < count; i++) {
        changed = changed || !pyro_slice_eq(versions[i], versions[advised_at]);
        without = changed && !has_finding[i] ? without + 1 : 0;
        if (without == PYRO_ADOPTION_GONE)
            return i + 1 - PYRO_ADOPTION_GONE;
    }
    return count;
}
