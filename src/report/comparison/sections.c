/* The tables about two runs, as facts that text and Markdown draw in their own ways. */
#include <math.h>

#include "base/numbers/saturate.h"
#include "report/comparison/comparison.h"
#include "report/shared/finding_facts.h"
#include "text/escape.h"
#include "text/humanize.h"

enum { STAGES_SHOWN = 12, QUERIES_SHOWN = 10, SETTINGS_SHOWN = 40, VALUE_COLUMNS = 60 };

pyro_comparison_section pyro_compared_causes, pyro_compared_wall, pyro_compared_totals, pyro_compared_stages,
    pyro_compared_findings, pyro_compared_plans, pyro_compared_settings;

pyro_comparison_section *const pyro_comparison_sections[] = {
    pyro_compared_causes,   pyro_compared_wall,  pyro_compared_totals,   pyro_compared_stages,
    pyro_compared_findings, pyro_compared_plans, pyro_compared_settings,
};
const size_t pyro_comparison_section_count = sizeof(pyro_comparison_sections) / sizeof(*pyro_comparison_sections);

/* "+1.2 s", "-3 min"; nothing for no change. */
static void add_change(struct pyro_strbuf *buffer, int64_t ms)
{
    if (ms == 0)
        return;
    pyro_strbuf_add_char(buffer, ms > 0 ? '+' : '-');
    pyro_human_ms(buffer, ms == INT64_MIN ? INT64_MAX : ms < 0 ? -ms : ms);
}

static void cell_ms(struct pyro_grid *grid, int64_t ms)
{
    pyro_human_ms(&grid->text, ms);
    pyro_grid_next(grid);
}

static void cell_change(struct pyro_grid *grid, int64_t ms)
{
    add_change(&grid->text, ms);
    pyro_grid_next(grid);
}

static void cell_words(struct pyro_grid *grid, const char *name)
{
    for (; *name; name++)
        pyro_strbuf_add_char(&grid->text, *name == '_' ? ' ' : *name);
    pyro_grid_next(grid);
}

static void cell_text(struct pyro_grid *grid, struct pyro_slice text, const char *otherwise)
{
    if (text.ptr)
        pyro_strbuf_add(&grid->text, text.ptr, pyro_utf8_prefix(text, VALUE_COLUMNS));
    else
        pyro_strbuf_add_text(&grid->text, otherwise);
    pyro_grid_next(grid);
}

void pyro_compared_causes(struct pyro_section *section, const struct pyro_comparison *comparison,
                          const struct pyro_report_options *options)
{
    static const struct pyro_grid_column columns[] = {{"Change", true, 0, false}, {"Cause", false, 0, false}};
    unsigned order[PYRO_CAUSES];
    (void)options;
    section->title = "Where the difference comes from";
    pyro_strbuf_add_text(&section->lead, "The causes add up exactly to the difference of ");
    if (comparison->after_ms != comparison->before_ms)
        add_change(&section->lead, pyro_sub_saturating(comparison->after_ms, comparison->before_ms));
    else
        pyro_strbuf_add_text(&section->lead, "0 ms");
    pyro_strbuf_add_char(&section->lead, '.');
    section->grid.columns = columns;
    section->grid.column_count = 2;
    pyro_causes_order(comparison->causes, pyro_sub_saturating(comparison->after_ms, comparison->before_ms), order);
    for (unsigned i = 0; i < PYRO_CAUSES; i++) {
        if (comparison->causes[order[i]] == 0)
            continue;
        cell_change(&section->grid, comparison->causes[order[i]]);
        pyro_grid_add(&section->grid, pyro_cause_words[order[i]]);
    }
}

void pyro_compared_wall(struct pyro_section *section, const struct pyro_comparison *comparison,
                        const struct pyro_report_options *options)
{
    static const struct pyro_grid_column columns[] = {{"Wall time", false, 0, false},
                                                      {"Before", true, 0, false},
                                                      {"After", true, 0, false},
                                                      {"Change", true, 0, false}};
    const struct pyro_numbers *before = &comparison->before->app->numbers, *after = &comparison->after->app->numbers;
    struct pyro_grid *grid = &section->grid;
    (void)options;
    section->title = "Time account";
    grid->columns = columns;
    grid->column_count = 4;
    for (unsigned i = 0; i < PYRO_WALL_PARTS; i++) {
        if (before->wall_ms[i] == 0 && after->wall_ms[i] == 0)
            continue;
        cell_words(grid, pyro_wall_part_names[i]);
        cell_ms(grid, before->wall_ms[i]);
        cell_ms(grid, after->wall_ms[i]);
        cell_change(grid, pyro_sub_saturating(after->wall_ms[i], before->wall_ms[i]));
    }
    pyro_grid_add(grid, "all");
    cell_ms(grid, comparison->before_ms);
    cell_ms(grid, comparison->after_ms);
    cell_change(grid, pyro_sub_saturating(comparison->after_ms, comparison->before_ms));
}

void pyro_compared_totals(struct pyro_section *section, const struct pyro_comparison *comparison,
                          const struct pyro_report_options *options)
{
    static const struct pyro_grid_column columns[] = {
        {"Total", false, 0, false}, {"Before", true, 0, false}, {"After", true, 0, false}, {"Ratio", true, 0, false}};
    struct pyro_compared_total totals[PYRO_COMPARED_TOTALS];
    struct pyro_grid *grid = &section->grid;
    (void)options;
    section->title = "Amounts";
    grid->columns = columns;
    grid->column_count = 4;
    pyro_comparison_totals(comparison, totals);
    for (size_t i = 0; i < PYRO_COMPARED_TOTALS; i++) {
        const struct pyro_compared_total *row = &totals[i];
        if (row->before <= 0 && row->after <= 0)
            continue;
        cell_words(grid, row->name);
        for (int after = 0; after < 2; after++) {
            int64_t value = after ? row->after : row->before;
            if (!strcmp(row->unit, "ms"))
                pyro_human_ms(&grid->text, value);
            else if (!strcmp(row->unit, "bytes"))
                pyro_human_bytes(&grid->text, value);
            else
                pyro_human_count(&grid->text, value);
            pyro_grid_next(grid);
        }
        if (row->before > 0 && row->after >= 0)
            pyro_human_quantity(&grid->text, (double)row->after / (double)row->before, "ratio");
        pyro_grid_next(grid);
    }
}

static void cell_stage(struct pyro_grid *grid, const struct pyro_app *app, ptrdiff_t row)
{
    if (row >= 0)
        pyro_strbuf_add_int(&grid->text, app->stages.items[row].id);
    else
        pyro_strbuf_add_char(&grid->text, '-');
    pyro_grid_next(grid);
}

static void add_stage(struct pyro_grid *grid, const struct pyro_comparison *comparison,
                      const struct pyro_compared_stage *row)
{
    cell_stage(grid, comparison->before->app, row->before);
    cell_stage(grid, comparison->after->app, row->after);
    cell_ms(grid, row->before_ms);
    cell_ms(grid, row->after_ms);
    cell_change(grid, pyro_sub_saturating(row->after_ms, row->before_ms));
    if (row->volume)
        pyro_human_quantity(&grid->text, row->data_after / row->data_before, "ratio");
    pyro_grid_next(grid);
    unsigned cause = pyro_compared_main_cause(row);
    cell_words(grid, row->before < 0        ? "new"
                     : row->after < 0       ? "removed"
                     : cause == PYRO_CAUSES ? ""
                                            : pyro_cause_names[cause]);
    pyro_strbuf_add_slice(&grid->text, pyro_compared_site(comparison, row));
    pyro_grid_next(grid);
}

void pyro_compared_stages(struct pyro_section *section, const struct pyro_comparison *comparison,
                          const struct pyro_report_options *options)
{
    static const struct pyro_grid_column columns[] = {{"Before", true, 0, false}, {"After", true, 0, false},
                                                      {"Wall", true, 0, false},   {"Wall after", true, 0, false},
                                                      {"Change", true, 0, false}, {"Data", true, 1, false},
                                                      {"Cause", false, 0, false}, {"Stage", false, 0, false}};
    size_t shown = options->details || comparison->stage_count < STAGES_SHOWN ? comparison->stage_count : STAGES_SHOWN;
    section->title = "Stages";
    if (!comparison->stage_count) {
        pyro_strbuf_add_text(&section->lead, "Neither run has stages.");
        return;
    }
    pyro_strbuf_printf(&section->lead, "%zu stage%s matched", comparison->matched_stages,
                       comparison->matched_stages == 1 ? "" : "s");
    if (isfinite(comparison->matched_share)) {
        pyro_strbuf_add_text(&section->lead, " (");
        pyro_human_share(&section->lead, comparison->matched_share);
        pyro_strbuf_add_text(&section->lead, " of the stage time)");
    }
    pyro_strbuf_add_text(&section->lead, "; the largest changes first.");
    section->grid.columns = columns;
    section->grid.column_count = sizeof(columns) / sizeof(*columns);
    for (size_t i = 0; i < shown; i++)
        add_stage(&section->grid, comparison, &comparison->stages[i]);
    if (shown < comparison->stage_count)
        pyro_strbuf_printf(&section->remarks, "%zu more with smaller changes.\n", comparison->stage_count - shown);
}

void pyro_compared_findings(struct pyro_section *section, const struct pyro_comparison *comparison,
                            const struct pyro_report_options *options)
{
    static const struct pyro_grid_column columns[] = {
        {"", false, 0, false}, {"Severity", false, 0, false}, {"Finding", false, 0, false}, {"Id", false, 0, false}};
    size_t low = 0;
    section->title = "Findings";
    section->grid.columns = columns;
    section->grid.column_count = 4;
    for (size_t i = 0; i < comparison->finding_count; i++) {
        const struct pyro_compared_finding *row = &comparison->findings[i];
        const struct pyro_finding *finding = row->after ? row->after : row->before;
        if (!finding)
            continue;
        if (!options->details && finding->severity == PYRO_SEVERITY_LOW &&
            (!row->before || row->before->severity == PYRO_SEVERITY_LOW)) {
            low++;
            continue;
        }
        pyro_grid_add(&section->grid, !row->before ? "appeared" : !row->after ? "vanished" : "changed");
        if (row->before && row->after) {
            pyro_strbuf_add_text(&section->grid.text, pyro_severity_name(row->before->severity));
            pyro_strbuf_add_text(&section->grid.text, " -> ");
        }
        pyro_grid_add(&section->grid, pyro_severity_name(finding->severity));
        cell_text(&section->grid, finding->title, "");
        pyro_strbuf_add_slice(&section->grid.text, finding->id);
        pyro_grid_next(&section->grid);
    }
    if (!section->grid.ends.count)
        pyro_strbuf_add_text(&section->lead, "No finding above low severity is new or removed.");
    if (low)
        pyro_strbuf_printf(&section->remarks, "%zu of low severity new or removed.\n", low);
}

void pyro_compared_plans(struct pyro_section *section, const struct pyro_comparison *comparison,
                         const struct pyro_report_options *options)
{
    static const struct pyro_grid_column columns[] = {{"Query", true, 0, false},
                                                      {"Before", true, 0, false},
                                                      {"After", true, 0, false},
                                                      {"Operator", false, 0, false}};
    size_t shown =
        options->details || comparison->query_count < QUERIES_SHOWN ? comparison->query_count : QUERIES_SHOWN;
    if (!comparison->matched_queries && !comparison->new_queries && !comparison->gone_queries)
        return;
    section->title = "Plans";
    pyro_strbuf_printf(&section->lead, "%zu SQL execution%s matched", comparison->matched_queries,
                       comparison->matched_queries == 1 ? "" : "s");
    if (comparison->new_queries)
        pyro_strbuf_printf(&section->lead, ", %zu new", comparison->new_queries);
    if (comparison->gone_queries)
        pyro_strbuf_printf(&section->lead, ", %zu removed", comparison->gone_queries);
    pyro_strbuf_printf(&section->lead, "; operators differ in %zu.", comparison->changed_queries);
    section->grid.columns = columns;
    section->grid.column_count = 4;
    for (size_t i = 0; i < shown; i++) {
        const struct pyro_compared_query *query = &comparison->queries[i];
        for (size_t k = 0; k < query->operator_count; k++) {
            pyro_strbuf_add_int(&section->grid.text, comparison->after->app->sql.items[query->after].id);
            pyro_grid_next(&section->grid);
            pyro_human_count(&section->grid.text, query->operators[k].before);
            pyro_grid_next(&section->grid);
            pyro_human_count(&section->grid.text, query->operators[k].after);
            pyro_grid_next(&section->grid);
            cell_text(&section->grid, query->operators[k].name, "");
        }
    }
    if (shown < comparison->changed_queries)
        pyro_strbuf_printf(&section->remarks, "SQL executions with other operators that are not shown: %zu.\n",
                           comparison->changed_queries - shown);
}

void pyro_compared_settings(struct pyro_section *section, const struct pyro_comparison *comparison,
                            const struct pyro_report_options *options)
{
    static const struct pyro_grid_column columns[] = {
        {"Setting", false, 0, false}, {"Before", false, 0, false}, {"After", false, 0, false}};
    size_t shown =
        options->details || comparison->setting_count < SETTINGS_SHOWN ? comparison->setting_count : SETTINGS_SHOWN;
    section->title = "Configuration";
    if (!comparison->setting_count) {
        pyro_strbuf_add_text(&section->lead, "The same in both runs.");
        return;
    }
    section->grid.columns = columns;
    section->grid.column_count = 3;
    for (size_t i = 0; i < shown; i++) {
        cell_text(&section->grid, comparison->settings[i].key, "");
        cell_text(&section->grid, comparison->settings[i].before, "(not set)");
        cell_text(&section->grid, comparison->settings[i].after, "(not set)");
    }
    if (shown < comparison->setting_count)
        pyro_strbuf_printf(&section->remarks, "Other changed settings that are not shown: %zu.\n",
                           comparison->setting_count - shown);
}
