/* Predictions for people: the run as it is, a table of what was asked with a picture of each time, and how each effect
 * was predicted. */
#include <math.h>

#include "report/cost/cost.h"
#include "report/shared/draw.h"
#include "report/shared/finding_facts.h"
#include "report/whatif/write_whatif.h"
#include "text/humanize.h"

enum { BAR = 16 };

static void add_run(struct pyro_strbuf *line, const struct pyro_predicted_run *run)
{
    pyro_strbuf_add_text(line, "Job: ");
    pyro_strbuf_add_slice(line, pyro_fact_name(run->app));
    pyro_strbuf_add_text(line, "    Duration: ");
    pyro_human_ms(line, run->check.measured_ms);
    pyro_strbuf_add_text(line, "    on ");
    pyro_human_count(line, run->executors);
    pyro_strbuf_add_text(line, run->executors == 1 ? " executor of " : " executors of ");
    pyro_human_count(line, run->cores);
    pyro_strbuf_add_text(line, run->cores == 1 ? " core" : " cores");
}

/* The lower bound of the tasks that ran; that of a scenario with other tasks is another one. */
static void add_trust(struct pyro_strbuf *line, const struct pyro_whatif *whatif)
{
    const struct pyro_predicted_run *run = &whatif->run;
    int64_t least = INT64_MAX;
    for (size_t n = 0; n < whatif->scenario_count; n++)
        if (whatif->scenarios[n].critical_path_ms != PYRO_NONE && whatif->scenarios[n].critical_path_ms < least)
            least = whatif->scenarios[n].critical_path_ms;
    pyro_strbuf_add_text(line, "Replaying the unchanged run gives ");
    pyro_human_ms(line, run->check.replayed_ms);
    pyro_strbuf_add_text(line, " (error ");
    pyro_human_share(line, run->check.error_share);
    pyro_strbuf_add_text(line, "). With unlimited slots the run takes at least ");
    pyro_human_ms(line, run->critical_path_ms);
    if (least < run->critical_path_ms) {
        pyro_strbuf_add_text(line, whatif->scenario_count == 1
                                       ? ", and with the changed tasks at least "
                                       : ", and with the changed tasks of a scenario at least ");
        pyro_human_ms(line, least);
    }
    pyro_strbuf_add_char(line, '.');
}

/* Low, expected and high in one picture: full blocks to low, lighter ones to high. */
static void add_bar(struct pyro_strbuf *text, const struct pyro_scenario *scenario, int64_t most)
{
    double unit = most > 0 ? (double)BAR / (double)most : 0;
    int full = (int)((double)scenario->wall_low_ms * unit + 0.5),
        all = (int)((double)scenario->wall_high_ms * unit + 0.5);
    full = full < 1 ? 1 : full;
    for (int i = 0; i < full; i++)
        pyro_strbuf_add_text(text, "█");
    for (int i = full; i < all; i++)
        pyro_strbuf_add_text(text, "░");
}

static void add_percent(struct pyro_strbuf *text, int64_t before, int64_t after)
{
    if (before <= 0)
        return;
    double percent = ((double)after / (double)before - 1) * 100;
    int whole = (int)(percent < 0 ? percent - 0.5 : percent > 1e6 ? 1e6 : percent + 0.5);
    if (whole == 0)
        pyro_strbuf_add_text(text, "unchanged");
    else
        pyro_strbuf_printf(text, "%+d %%", whole);
}

static void add_core_time(struct pyro_strbuf *text, int64_t ms)
{
    pyro_strbuf_printf(text, "%lld.%02lld", (long long)(ms / 3600000), (long long)(ms % 3600000 / 36000));
}

struct shown {
    struct pyro_grid_column columns[PYRO_GRID_COLUMNS];
    size_t count;
    bool memory, cost;
    bool same[PYRO_PREDICTED_SETTINGS]; /* given to all scenarios with one value: said once, above the table */
    unsigned settings[PYRO_GRID_COLUMNS];
    size_t setting_count;
};

/* Short enough for a column's title: what follows the last two dots of the key. */
static const char *short_key(const char *key)
{
    const char *best = key;
    unsigned dots = 0;
    for (const char *at = key + strlen(key); at > key && dots < 2; at--)
        if (at[-1] == '.') {
            best = at;
            dots++;
        }
    return best;
}

static bool is_same(const struct pyro_whatif *whatif, unsigned setting)
{
    struct pyro_slice value = whatif->scenarios[0].given[setting];
    for (size_t n = 1; n < whatif->scenario_count && value.ptr; n++)
        if (!whatif->scenarios[n].given[setting].ptr || !pyro_slice_eq(whatif->scenarios[n].given[setting], value))
            return false;
    return value.ptr != NULL;
}

static void choose_columns(const struct pyro_whatif *whatif, struct shown *shown)
{
    enum { SETTINGS = 6 };
    bool any[PYRO_PREDICTED_SETTINGS] = {false};
    const struct pyro_scenario *first = whatif->scenarios;
    for (size_t n = 0; n < whatif->scenario_count; n++) {
        const struct pyro_scenario *scenario = &whatif->scenarios[n];
        for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++)
            any[i] = any[i] || scenario->given[i].ptr;
        shown->memory = shown->memory || scenario->memory_bytes != whatif->run.memory_bytes ||
                        scenario->memory_bytes != first->memory_bytes;
    }
    shown->columns[shown->count++] = (struct pyro_grid_column){"Executors", true, 0, false};
    shown->columns[shown->count++] = (struct pyro_grid_column){"Cores", true, 0, false};
    if (shown->memory)
        shown->columns[shown->count++] = (struct pyro_grid_column){"Memory", true, 0, false};
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++) {
        if (!any[i] || shown->setting_count == SETTINGS || i == PYRO_PREDICTED_EXECUTORS || i == PYRO_PREDICTED_CORES ||
            i == PYRO_PREDICTED_MEMORY)
            continue;
        shown->same[i] = is_same(whatif, i);
        if (shown->same[i])
            continue;
        shown->settings[shown->setting_count++] = i;
        shown->columns[shown->count++] =
            (struct pyro_grid_column){pyro_predicted_settings[i].alias ? pyro_predicted_settings[i].alias
                                                                       : short_key(pyro_predicted_settings[i].key),
                                      true, 0, false};
    }
    shown->columns[shown->count++] = (struct pyro_grid_column){"Time", true, 0, false};
    shown->columns[shown->count++] = (struct pyro_grid_column){"between", true, 2, false};
    shown->columns[shown->count++] = (struct pyro_grid_column){"", true, 1, false};
    shown->columns[shown->count++] = (struct pyro_grid_column){"Core-h", true, 3, false};
    for (size_t n = 0; n < whatif->scenario_count; n++)
        shown->cost = shown->cost || whatif->scenarios[n].cost == whatif->scenarios[n].cost;
    if (shown->cost)
        shown->columns[shown->count++] = (struct pyro_grid_column){"Cost", true, 0, false};
    shown->columns[shown->count++] = (struct pyro_grid_column){"Used", true, 4, false};
    shown->columns[shown->count++] = (struct pyro_grid_column){"", false, 5, true};
}

static struct pyro_slice currency_of(const struct pyro_whatif *whatif)
{
    const struct pyro_cost *cost = whatif->run.cost;
    return cost && cost->money.known ? cost->money.currency : PYRO_SLICE_NULL;
}

static void add_times(struct pyro_grid *grid, const struct pyro_whatif *whatif, const struct pyro_scenario *scenario,
                      const struct shown *shown, int64_t most)
{
    pyro_human_ms(&grid->text, scenario->wall_expected_ms);
    pyro_grid_next(grid);
    pyro_human_ms_range(&grid->text, scenario->wall_low_ms, scenario->wall_high_ms);
    pyro_grid_next(grid);
    add_percent(&grid->text, whatif->run.check.replayed_ms, scenario->wall_expected_ms);
    pyro_grid_next(grid);
    add_core_time(&grid->text, scenario->core_ms);
    pyro_grid_next(grid);
    if (shown->cost) {
        if (scenario->cost == scenario->cost)
            pyro_human_money(&grid->text, (int64_t)llround(scenario->cost * 1e6), currency_of(whatif));
        pyro_grid_next(grid);
    }
    pyro_human_share(&grid->text, scenario->utilization);
    pyro_grid_next(grid);
    add_bar(&grid->text, scenario, most);
    pyro_grid_next(grid);
}

/* The settings that all scenarios have in common. */
static void add_same(struct pyro_page *page, const struct pyro_whatif *whatif, const struct shown *shown,
                     struct pyro_strbuf *line)
{
    const char *before = whatif->scenario_count > 1 ? "All scenarios set " : "The scenario sets ";
    pyro_strbuf_clear(line);
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++) {
        if (!shown->same[i])
            continue;
        const struct pyro_predicted_setting *setting = &pyro_predicted_settings[i];
        pyro_strbuf_printf(line, "%s%s=", before, setting->key ? setting->key : setting->alias);
        pyro_strbuf_add_slice(line, whatif->scenarios[0].given[i]);
        before = ", ";
    }
    if (line->len == 0)
        return;
    pyro_strbuf_add_char(line, '.');
    pyro_page_wrap(page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(line));
}

static void add_table(struct pyro_section *section, const struct pyro_whatif *whatif, const struct shown *shown)
{
    struct pyro_grid *grid = &section->grid;
    int64_t most = 0;
    section->title = "Scenarios";
    grid->columns = shown->columns;
    grid->column_count = shown->count;
    for (size_t n = 0; n < whatif->scenario_count; n++)
        most = whatif->scenarios[n].wall_high_ms > most ? whatif->scenarios[n].wall_high_ms : most;
    for (size_t n = 0; n < whatif->scenario_count; n++) {
        const struct pyro_scenario *scenario = &whatif->scenarios[n];
        pyro_human_count(&grid->text, scenario->executors);
        pyro_grid_next(grid);
        pyro_human_count(&grid->text, scenario->cores_per_executor);
        pyro_grid_next(grid);
        if (shown->memory) {
            pyro_human_bytes(&grid->text, scenario->memory_bytes);
            pyro_grid_next(grid);
        }
        for (size_t i = 0; i < shown->setting_count; i++) {
            pyro_strbuf_add_slice(&grid->text, scenario->given[shown->settings[i]]);
            pyro_grid_next(grid);
        }
        add_times(grid, whatif, scenario, shown, most);
    }
}

/* Each model once, in the words of the first scenario that it changed. */
static void add_models(struct pyro_page *page, const struct pyro_whatif *whatif, struct pyro_strbuf *line)
{
    bool told[PYRO_MODELS] = {false};
    bool any = false;
    for (size_t n = 0; n < whatif->scenario_count; n++)
        any = any || whatif->scenarios[n].effect_count > 0;
    if (!any)
        return;
    pyro_page_blank(page);
    pyro_page_heading(page, PYRO_SLICE_LITERAL("HOW THIS WAS PREDICTED"), '-');
    for (size_t n = 0; n < whatif->scenario_count; n++) {
        const struct pyro_scenario *scenario = &whatif->scenarios[n];
        bool now[PYRO_MODELS] = {false};
        for (size_t i = 0; i < scenario->effect_count; i++) {
            const struct pyro_predicted_effect *effect = &scenario->effects[i];
            if (told[effect->model])
                continue;
            now[effect->model] = true;
            pyro_strbuf_clear(line);
            pyro_strbuf_printf(line, "%s%s: ", pyro_model_name(effect->model),
                               whatif->scenario_count > 1 ? " (in the first scenario)" : "");
            pyro_strbuf_add_slice(line, effect->text);
            pyro_strbuf_add_char(line, '.');
            pyro_page_wrap(page, PYRO_STYLE_NONE, "  - ", pyro_strbuf_slice(line));
        }
        for (unsigned i = 0; i < PYRO_MODELS; i++)
            told[i] = told[i] || now[i];
    }
}

/* One line for each finding that is removed or added in a scenario; in sweeps there are too many to show. */
static void add_findings(struct pyro_page *page, const struct pyro_whatif *whatif, struct pyro_strbuf *line)
{
    const struct pyro_scenario *scenario = whatif->scenarios;
    if (whatif->scenario_count != 1)
        return;
    for (size_t i = 0; i < scenario->finding_count; i++) {
        const struct pyro_scenario_finding *judged = &scenario->findings[i];
        bool was = judged->finding->severity > PYRO_SEVERITY_LOW, is = judged->severity > PYRO_SEVERITY_LOW;
        if (!judged->known || was == is)
            continue;
        pyro_strbuf_clear(line);
        pyro_strbuf_add_text(line, was ? "Finding removed: " : "New finding: ");
        pyro_strbuf_add_slice(line, judged->finding->title);
        pyro_strbuf_printf(line, " (%s, was %s)", pyro_severity_name(judged->severity),
                           pyro_severity_name(judged->finding->severity));
        pyro_page_wrap(page, was ? PYRO_STYLE_GOOD : PYRO_STYLE_WARN, "  ", pyro_strbuf_slice(line));
    }
}

static void add_optimum(struct pyro_page *page, const struct pyro_whatif *whatif, struct pyro_strbuf *line)
{
    if (!whatif->goal.asked || whatif->scenario_count == 0)
        return;
    const struct pyro_scenario *best = &whatif->scenarios[whatif->optimum.best];
    pyro_strbuf_clear(line);
    pyro_strbuf_printf(line, "Least %s%s: %lld executor%s of %lld core%s, ", whatif->goal.cost ? "cost" : "time",
                       whatif->optimum.met ? "" : ", but beyond the limits", (long long)best->executors,
                       best->executors == 1 ? "" : "s", (long long)best->cores_per_executor,
                       best->cores_per_executor == 1 ? "" : "s");
    pyro_human_ms(line, best->wall_expected_ms);
    pyro_strbuf_printf(
        line, ". The search tried %zu configurations. It shows those that no other beats in both time and cost.",
        whatif->optimum.evaluated);
    pyro_page_wrap(page, whatif->optimum.met ? PYRO_STYLE_HEADING : PYRO_STYLE_WARN, "", pyro_strbuf_slice(line));
}

void pyro_whatif_text(struct pyro_output *output, const struct pyro_whatif *whatif,
                      const struct pyro_report_options *options)
{
    struct pyro_page page;
    struct pyro_strbuf line;
    struct pyro_section section;
    struct shown shown = {.count = 0};
    pyro_page_init(&page, output, options);
    pyro_strbuf_init(&line, output->buffer.allocator);
    pyro_section_init(&section, output->buffer.allocator);
    pyro_page_heading(&page, PYRO_SLICE_LITERAL("SPARK PREDICTION"), '=');
    add_run(&line, &whatif->run);
    pyro_page_wrap(&page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(&line));
    pyro_strbuf_clear(&line);
    add_trust(&line, whatif);
    pyro_page_wrap(&page, whatif->run.check.error_share > 0.02 ? PYRO_STYLE_WARN : PYRO_STYLE_NONE, "",
                   pyro_strbuf_slice(&line));
    if (whatif->run.app->integrity.confidence < 0.9)
        pyro_page_wrap(&page, PYRO_STYLE_WARN, "",
                       whatif->run.app->integrity.contradictory
                           ? PYRO_SLICE_LITERAL("The log contradicts itself: the prediction is not reliable.")
                           : PYRO_SLICE_LITERAL("The log is incomplete, and so is the prediction."));
    add_optimum(&page, whatif, &line);
    choose_columns(whatif, &shown);
    add_same(&page, whatif, &shown, &line);
    add_table(&section, whatif, &shown);
    pyro_text_section(&page, &section, &line);
    add_findings(&page, whatif, &line);
    add_models(&page, whatif, &line);
    output->buffer.failed |= line.failed || pyro_section_failed(&section);
    pyro_section_done(&section);
    pyro_strbuf_done(&line);
    pyro_page_done(&page);
}
