/* The settings to change: what each was, whose advice it is, and what to mind. */
#include "report/diagnosis/sections.h"

static const struct pyro_configured *find_row(const struct pyro_diagnosis *diagnosis, struct pyro_slice key)
{
    for (size_t i = 0; i < diagnosis->configuration_count; i++)
        if (pyro_slice_eq(diagnosis->configuration[i].key, key))
            return &diagnosis->configuration[i];
    return NULL;
}

size_t pyro_finding_number(const struct pyro_diagnosis *diagnosis, size_t place)
{
    const struct pyro_finding *own = &diagnosis->findings[place];
    size_t number = 1;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *other = &diagnosis->findings[i];
        number +=
            !other->folded && (other->severity > own->severity || (other->severity == own->severity && i < place));
    }
    return number;
}

void pyro_change_remark(struct pyro_strbuf *text, const struct pyro_diagnosis *diagnosis, size_t index)
{
    const struct pyro_change *change = &diagnosis->changes[index];
    const struct pyro_configured *row = find_row(diagnosis, change->key);
    pyro_strbuf_add_slice(text, change->key);
    if (change->elsewhere) {
        pyro_strbuf_add_text(text, " to ");
        pyro_add_setting(text, change->value);
        pyro_strbuf_add_text(text, ", not as a Spark property here");
    }
    if (row) {
        pyro_strbuf_add_text(text, change->elsewhere ? ", was " : " was ");
        pyro_add_setting(text, row->current);
    }
    pyro_strbuf_printf(text, ": finding %zu.", pyro_finding_number(diagnosis, change->finding));
    if (row && row->note)
        pyro_strbuf_printf(text, " %s.", row->note);
}

size_t pyro_add_fitting_settings(struct pyro_strbuf *text, const struct pyro_diagnosis *diagnosis, const char *which,
                                 const struct pyro_report_options *options)
{
    size_t stays = 0;
    for (size_t i = 0; i < diagnosis->configuration_count; i++)
        stays += !diagnosis->configuration[i].finding.ptr;
    if (stays > 0)
        pyro_strbuf_printf(text, "%zu %ssetting%s fit%s this run%s.", stays, which, stays == 1 ? "" : "s",
                           stays == 1 ? "s" : "", options->details ? "" : " (--details shows why)");
    return stays;
}

void pyro_changes_rest(struct pyro_strbuf *text, const struct pyro_diagnosis *diagnosis,
                       const struct pyro_report_options *options)
{
    if (!options->details)
        pyro_add_fitting_settings(text, diagnosis, "other ", options);
}
