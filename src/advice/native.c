#include "advice/native.h"

#define START   true
#define RUNTIME false
#define PYRO_PLATFORM_SETTING(platform, key, when, numbers, meaning)                                                   \
    {PYRO_PLATFORM_##platform, key, when, PYRO_NUMBERS_##numbers, meaning},
const struct pyro_platform_setting pyro_platform_settings[] = {
#include "advice/platform_settings.def"
};
#undef PYRO_PLATFORM_SETTING
const size_t pyro_platform_setting_count = sizeof(pyro_platform_settings) / sizeof(pyro_platform_settings[0]);

static const struct native {
    enum pyro_platform platform;
    const char *rule, *key, *text;
} natives[] = {
#define PYRO_NATIVE(platform, rule, key, text) {PYRO_PLATFORM_##platform, rule, key, text},
#include "advice/native.def"
#undef PYRO_NATIVE
};

static bool advises(const struct pyro_advice *advice, const char *key)
{
    bool any = !key;
    for (size_t i = 0; i < advice->setting_count; i++)
        any |= key && pyro_slice_is(advice->settings[i].key, key);
    return any;
}

static bool add(struct pyro_diagnosis *diagnosis, const struct pyro_finding *finding, const struct native *native)
{
    for (size_t i = 0; i < finding->advice_count; i++) {
        struct pyro_advice *advice = &finding->advice[i];
        if (!advises(advice, native->key))
            continue;
        advice->text =
            pyro_arena_printf(&diagnosis->arena, "%.*s %s", (int)advice->text.len, advice->text.ptr, native->text);
        return advice->text.ptr != NULL;
    }
    return true;
}

bool pyro_native_advice(struct pyro_diagnosis *diagnosis)
{
    enum pyro_platform platform = pyro_app_platform(diagnosis->app);
    for (size_t n = 0; n < sizeof(natives) / sizeof(natives[0]); n++)
        for (size_t i = 0; i < diagnosis->finding_count && natives[n].platform == platform; i++) {
            const struct pyro_finding *finding = &diagnosis->findings[i];
            bool here = !natives[n].rule || strcmp(natives[n].rule, finding->rule->id) == 0;
            if (here && !add(diagnosis, finding, &natives[n]))
                return false;
        }
    return true;
}
