#include "report/diagnosis/outline.h"

#include "report/shared/finding_facts.h"

static void begin(const struct pyro_outline *outline, const char *label)
{
    pyro_strbuf_clear(outline->line);
    pyro_strbuf_add_text(outline->line, label);
}

/* A part is left out if nothing follows its label. Clearing the line would forget a failure. */
static void end(const struct pyro_outline *outline, enum pyro_outline_part part, const char *label)
{
    outline->output->buffer.failed |= outline->line->failed;
    if (outline->line->len > strlen(label))
        outline->part(outline->form, part, pyro_strbuf_slice(outline->line));
}

void pyro_outline_plans(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis)
{
    for (int code = 0; code < 2; code++) {
        begin(outline, "");
        pyro_fact_plan(outline->line, diagnosis, code == 1);
        end(outline, PYRO_OUTLINE_PLAN, "");
    }
}

static void add_advice(const struct pyro_outline *outline, const struct pyro_finding *finding, size_t index)
{
    const struct pyro_advice *advice = &finding->advice[index];
    begin(outline, "Recommendation: ");
    pyro_strbuf_add_slice(outline->line, advice->text);
    end(outline, PYRO_OUTLINE_FACT, "");
    if (advice->code.len)
        outline->code(outline->form, advice->code);
    if (!pyro_fact_shows_check(finding, index))
        return;
    begin(outline, "Check next time: ");
    pyro_strbuf_add_slice(outline->line, advice->verify);
    end(outline, PYRO_OUTLINE_CHECK, "");
}

void pyro_outline_finding(const struct pyro_outline *outline, const struct pyro_app *app,
                          const struct pyro_finding *finding)
{
    static const char evidence[] = "Evidence: ", improvement[] = "Expected improvement: ";
    begin(outline, "");
    pyro_fact_cause(outline->line, finding);
    end(outline, PYRO_OUTLINE_FACT, "");
    begin(outline, evidence);
    pyro_fact_evidence(outline->line, finding);
    end(outline, PYRO_OUTLINE_FACT, evidence);
    for (size_t i = 0; i < finding->advice_count; i++)
        add_advice(outline, finding, i);
    begin(outline, improvement);
    pyro_fact_improvement(outline->line, app, finding);
    end(outline, PYRO_OUTLINE_FACT, improvement);
    begin(outline, "");
    pyro_fact_judgement(outline->line, finding);
    end(outline, PYRO_OUTLINE_FACT, "");
}

void pyro_outline_folded(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis)
{
    bool first = true;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        if (!finding->folded)
            continue;
        if (first)
            outline->heading(outline->form, "Marked as false positive");
        first = false;
        begin(outline, "");
        pyro_strbuf_add_slice(outline->line, finding->id);
        if (finding->note.len) {
            pyro_strbuf_add_text(outline->line, ": ");
            pyro_strbuf_add_slice(outline->line, finding->note);
        }
        end(outline, PYRO_OUTLINE_FOLDED, "");
    }
}

void pyro_outline_changes(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis,
                          const struct pyro_report_options *options)
{
    if (!diagnosis->change_count)
        return;
    outline->heading(outline->form, "Configuration changes");
    outline->settings(outline->form, diagnosis);
    for (size_t i = 0; i < diagnosis->change_count; i++) {
        begin(outline, "");
        pyro_change_remark(outline->line, diagnosis, i);
        end(outline, PYRO_OUTLINE_CHANGE, "");
    }
    begin(outline, "");
    pyro_changes_rest(outline->line, diagnosis, options);
    end(outline, PYRO_OUTLINE_CHANGE, "");
}

void pyro_outline_sections(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis,
                           const struct pyro_report_options *options)
{
    struct pyro_output *output = outline->output;
    for (size_t i = 0; i < pyro_section_count; i++) {
        struct pyro_section section;
        pyro_section_init(&section, output->buffer.allocator);
        pyro_section_builders[i](&section, diagnosis, options);
        if (section.title)
            outline->section(outline->form, &section);
        output->buffer.failed |= pyro_section_failed(&section) || outline->line->failed;
        pyro_section_done(&section);
        pyro_output_flush(output, false);
    }
}

bool pyro_outline_remark(struct pyro_slice *rest, struct pyro_slice *ret)
{
    if (!rest->len)
        return false;
    const char *newline = memchr(rest->ptr, '\n', rest->len);
    size_t len = newline ? (size_t)(newline - rest->ptr) : rest->len, used = len + (newline ? 1 : 0);
    *ret = (struct pyro_slice){rest->ptr, len};
    *rest = (struct pyro_slice){rest->ptr + used, rest->len - used};
    return true;
}
