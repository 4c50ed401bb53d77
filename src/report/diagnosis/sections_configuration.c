/* What this run says about Spark's properties. */
#include "report/diagnosis/sections.h"
#include "rules/profiles/profile.h"

enum { VALUE_MAX = 60 };

void pyro_add_setting(struct pyro_strbuf *text, struct pyro_slice value)
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

/* Those to change are listed with the findings. */
void pyro_section_configuration(struct pyro_section *section, const struct pyro_diagnosis *diagnosis,
                                const struct pyro_report_options *options)
{
    if (diagnosis->change_count > 0 && !options->details)
        return;
    if (diagnosis->change_count == 0)
        pyro_strbuf_add_text(&section->lead, "Nothing to change: ");
    if (pyro_add_fitting_settings(&section->lead, diagnosis, "", options) == 0)
        return; /* a section without a title is left out */
    section->title = "Configuration";
    for (size_t i = 0; i < diagnosis->configuration_count && options->details; i++) {
        const struct pyro_configured *row = &diagnosis->configuration[i];
        if (row->finding.ptr)
            continue;
        pyro_strbuf_add_slice(&section->remarks, row->key);
        pyro_strbuf_add_text(&section->remarks, " stays ");
        pyro_add_setting(&section->remarks, row->current);
        pyro_strbuf_add_text(&section->remarks, ". ");
        pyro_strbuf_add_slice(&section->remarks, row->reason);
        pyro_strbuf_add_char(&section->remarks, '\n');
    }
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
