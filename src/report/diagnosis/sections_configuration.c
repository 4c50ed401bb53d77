/* What this run says about Spark's properties. */
#include "report/diagnosis/sections.h"
#include "rules/profiles/profile.h"

enum { VALUE_MAX = 60 };

static void add_value(struct pyro_strbuf *text, struct pyro_slice value)
{
    if (!value.ptr) {
        pyro_strbuf_add_text(text, "unset");
        return;
    }
    size_t len = value.len;
    if (len > VALUE_MAX)
        for (len = VALUE_MAX; len > 0 && ((unsigned char)value.ptr[len] & 0xc0) == 0x80;)
            len--;
    pyro_strbuf_add(text, value.ptr, len);
    if (len < value.len)
        pyro_strbuf_add_text(text, "...");
}

static void add_row(struct pyro_strbuf *text, const struct pyro_configured *row)
{
    bool changes = row->finding.ptr != NULL;
    pyro_strbuf_add_slice(text, row->key);
    pyro_strbuf_add_text(text, changes ? ": " : " stays ");
    add_value(text, row->current);
    if (changes) {
        pyro_strbuf_add_text(text, " -> ");
        add_value(text, row->recommended);
    }
    pyro_strbuf_add_text(text, ". ");
    pyro_strbuf_add_slice(text, row->reason);
    if (row->note && changes) {
        pyro_strbuf_add_text(text, " (");
        pyro_strbuf_add_text(text, row->note);
        pyro_strbuf_add_text(text, ".)");
    }
    pyro_strbuf_add_char(text, '\n');
}

void pyro_section_configuration(struct pyro_section *section, const struct pyro_diagnosis *diagnosis,
                                const struct pyro_report_options *options)
{
    size_t changes = 0, stays = 0;
    for (size_t i = 0; i < diagnosis->configuration_count; i++)
        *(diagnosis->configuration[i].finding.ptr ? &changes : &stays) += 1;
    if (changes + stays == 0)
        return;
    section->title = "Configuration";
    if (changes == 0)
        pyro_strbuf_printf(&section->lead, "Nothing to change: %zu setting%s fit%s this run%s.", stays,
                           stays == 1 ? "" : "s", stays == 1 ? "s" : "",
                           options->details ? "" : " (--details shows why)");
    else
        pyro_strbuf_printf(&section->lead, "%zu to change, %zu unchanged%s.", changes, stays,
                           options->details || stays == 0 ? "" : " (--details shows why)");
    for (size_t i = 0; i < diagnosis->configuration_count; i++)
        if (diagnosis->configuration[i].finding.ptr || options->details)
            add_row(&section->remarks, &diagnosis->configuration[i]);
}

void pyro_section_profile(struct pyro_section *section, const struct pyro_diagnosis *diagnosis,
                          const struct pyro_report_options *options)
{
    static const struct pyro_grid_column columns[] = {
        {"Heuristic", false, 0, false}, {"Severity", false, 0, false}, {"Detail", false, 0, false}};
    (void)options;
    if (!diagnosis->profile)
        return;
    section->title = "Profile";
    pyro_strbuf_printf(&section->lead, "What %s reports for this run, by its own formulas and thresholds.",
                       diagnosis->profile->title);
    section->grid.columns = columns;
    section->grid.column_count = 3;
    for (size_t i = 0; i < diagnosis->peer_verdict_count; i++) {
        pyro_grid_add(&section->grid, diagnosis->peer_verdicts[i].heuristic);
        pyro_grid_add(&section->grid, diagnosis->peer_verdicts[i].severity);
        pyro_strbuf_add_slice(&section->grid.text, diagnosis->peer_verdicts[i].detail);
        pyro_grid_next(&section->grid);
    }
}
