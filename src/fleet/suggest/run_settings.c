/* Settings of runs and candidates. */
#include <math.h>
#include <stdarg.h>

#include "analyze/settings/spark_settings.h"
#include "fleet/suggest/suggest.h"

#define MIB 1048576.0

const char *const pyro_suggest_keys[PYRO_SUGGEST_KEYS] = {
#define PYRO_SUGGEST_KEY(id, key) [PYRO_KEY_##id] = key,
#include "fleet/suggest/keys.def"
#undef PYRO_SUGGEST_KEY
};

struct pyro_slice pyro_size_text(double bytes, struct pyro_arena *arena)
{
    double mib = ceil(fmax(bytes, 0) / MIB - 1e-9);
    if (mib >= 1024 && fmod(mib, 1024) < 0.5)
        return pyro_arena_printf(arena, "%.0fg", mib / 1024);
    return pyro_arena_printf(arena, "%.0fm", mib);
}

double pyro_history_number(const struct pyro_suggest_run *run, enum pyro_suggest_key key)
{
    static const struct pyro_setting_row count = {.kind = PYRO_SETTING_COUNT, .unit = 1};
    const struct pyro_setting_row *row = pyro_setting_find(pyro_slice_from(pyro_suggest_keys[key]));
    struct pyro_slice value = run->settings[key];
    if (!value.ptr && row && row->fallback)
        value = pyro_slice_from(row->fallback);
    return pyro_setting_magnitude(row ? row : &count, value); /* advice does not set spark.task.cpus */
}

static struct pyro_slice value_of(const struct pyro_suggest_run *run, struct pyro_slice key)
{
    for (int i = 0; i < PYRO_SUGGEST_KEYS; i++)
        if (pyro_slice_is(key, pyro_suggest_keys[i]))
            return run->settings[i];
    return PYRO_SLICE_NULL;
}

bool pyro_candidate_set(struct pyro_candidate *candidate, const struct pyro_suggest_run *run, struct pyro_slice key,
                        struct pyro_slice value)
{
    const struct pyro_setting_row *row = pyro_setting_find(key);
    struct pyro_slice previous = value_of(run, key), now = previous;
    if (!key.ptr || !value.ptr)
        return false;
    if (!now.ptr && row && row->fallback)
        now = pyro_slice_from(row->fallback);
    size_t place = 0;
    while (place < candidate->setting_count && !pyro_slice_eq(candidate->settings[place].key, key))
        place++;
    if (pyro_setting_same(row, now, value)) {
        if (place < candidate->setting_count)
            candidate->settings[place] = candidate->settings[--candidate->setting_count];
        return true;
    }
    if (place >= PYRO_CANDIDATE_SETTINGS)
        return false;
    candidate->settings[place] = (struct pyro_suggest_setting){key, value, previous};
    candidate->setting_count += place == candidate->setting_count;
    return true;
}

bool pyro_texts_add(pyro_texts *texts, struct pyro_arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct pyro_slice text = pyro_arena_vprintf(arena, format, arguments);
    va_end(arguments);
    struct pyro_slice *all = pyro_arena_array(arena, texts->count + 1, sizeof(*all));
    if (!text.ptr || !all)
        return false;
    if (texts->count > 0)
        memcpy(all, texts->items, texts->count * sizeof(*all));
    all[texts->count++] = text;
    texts->items = all;
    return true;
}
