#include "suggest_scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const int64_t now = SUGGEST_NOW;

double wave_ms(double blocks, double slots)
{
    return 10000 + 60000 * ceil(blocks / slots);
}

struct pyro_suggest_run run_of(int i, double executors, double cores)
{
    static char texts[256][32];
    static int used;
    char *instances = texts[used++ % 256], *core_text = texts[used++ % 256];
    snprintf(instances, 32, "%.0f", executors);
    snprintf(core_text, 32, "%.0f", cores);
    struct pyro_suggest_run run = {.app_id = PYRO_SLICE_LITERAL("app"),
                                   .version = PYRO_SLICE_LITERAL("1"),
                                   .spark_version = PYRO_SLICE_LITERAL("3.5.6"),
                                   .status = PYRO_SLICE_LITERAL("completed"),
                                   .start_ms = now - (RUNS - i) * DAY,
                                   .final = true,
                                   .duration_ms = wave_ms(20, executors * cores),
                                   .input_bytes = 20 * BLOCK,
                                   .largest_input_bytes = 20 * BLOCK,
                                   .executors = executors,
                                   .cores = cores,
                                   .heap_peak_bytes = NAN,
                                   .outside_peak_bytes = NAN,
                                   .largest_shuffle_bytes = NAN};
    run.core_ms = run.duration_ms * executors * cores;
    run.settings[PYRO_KEY_INSTANCES] = pyro_slice_from(instances);
    run.settings[PYRO_KEY_CORES] = pyro_slice_from(core_text);
    return run;
}

void make(struct pyro_suggest_run *rows)
{
    for (int i = 0; i < RUNS; i++)
        rows[i] = i % 3 == 0 ? run_of(i, 5, 4) : i % 3 == 1 ? run_of(i, 5, 2) : run_of(i, 8, 2);
}

struct pyro_suggest_asked question(void)
{
    return (struct pyro_suggest_asked){
        .input_bytes = NAN, .deadline_ms = NAN, .max_cost = NAN, .now_ms = now, .limits = {NAN, NAN, NAN, NAN}};
}

const char *setting(const struct pyro_candidate *candidate, const char *key)
{
    for (size_t i = 0; i < candidate->setting_count; i++)
        if (pyro_slice_is(candidate->settings[i].key, key))
            return candidate->settings[i].value.ptr;
    return "";
}

bool has_text(const pyro_texts *texts, const char *part)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strstr(texts->items[i].ptr, part))
            return true;
    return false;
}
