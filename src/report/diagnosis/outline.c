#include "report/diagnosis/outline.h"

#include "advice/fix.h"
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

static void add_cures(struct pyro_strbuf *line, const struct pyro_diagnosis *diagnosis,
                      const struct pyro_action *action)
{
    enum { NAMED_MAX = 5 };
    pyro_strbuf_add_text(line, action->cure_count == 1 ? ". Cures finding " : ". Cures findings ");
    for (size_t i = 0; i < action->cure_count && i < NAMED_MAX; i++)
        pyro_strbuf_printf(line, "%s%zu (%.*s)", i ? ", " : "", pyro_finding_number(diagnosis, action->cures[i]),
                           (int)diagnosis->findings[action->cures[i]].title.len,
                           diagnosis->findings[action->cures[i]].title.ptr);
    if (action->cure_count > NAMED_MAX)
        pyro_strbuf_printf(line, " and %zu more", action->cure_count - NAMED_MAX);
    pyro_strbuf_add_char(line, '.');
}

static void add_action(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis, size_t index)
{
    const struct pyro_action *action = &diagnosis->actions[index];
    struct pyro_strbuf *line = outline->line;
    begin(outline, "");
    pyro_strbuf_printf(line, "%zu. ", index + 1);
    pyro_strbuf_add_slice(line, action->text);
    end(outline, PYRO_OUTLINE_ACTION, "");
    if (action->setting_count)
        outline->settings(outline->form, action->settings, action->setting_count, true);
    if (action->code.len)
        outline->code(outline->form, action->code);
    begin(outline, "");
    pyro_fact_action_saves(line, diagnosis, action);
    if (line->len && line->data[0] >= 'a' && line->data[0] <= 'z')
        line->data[0] = (char)(line->data[0] - 'a' + 'A');
    add_cures(line, diagnosis, action);
    end(outline, PYRO_OUTLINE_FACT, "");
    begin(outline, "Check next time: ");
    pyro_strbuf_add_slice(line, action->check);
    if (action->check.len)
        end(outline, PYRO_OUTLINE_FACT, "");
}

void pyro_outline_actions(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis,
                          const struct pyro_report_options *options)
{
    enum { SHOWN = 10 };
    size_t count = diagnosis->action_count, shown = options->details || count < SHOWN ? count : SHOWN;
    if (count == 0)
        return;
    outline->heading(outline->form, "What to do");
    for (size_t i = 0; i < shown; i++)
        add_action(outline, diagnosis, i);
    begin(outline, "");
    if (count > shown)
        pyro_strbuf_printf(outline->line, "%zu more: --details shows all. ", count - shown);
    pyro_fact_together(outline->line, diagnosis);
    end(outline, PYRO_OUTLINE_PLAN, "");
}

/* The number of the action that a finding's part of the report points to; 0: none cures it. */
static size_t add_its_action(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis, size_t place)
{
    const struct pyro_action *action = pyro_action_of(diagnosis, &diagnosis->findings[place]);
    if (!action)
        return 0;
    size_t number = (size_t)(action - diagnosis->actions) + 1;
    begin(outline, "What to do: ");
    pyro_strbuf_printf(outline->line, "number %zu above", number);
    if (action->saves.wall_high_ms > 0) {
        pyro_strbuf_add_text(outline->line, ", which ");
        pyro_fact_saves(outline->line, diagnosis->app, &action->saves);
    }
    pyro_strbuf_add_char(outline->line, '.');
    end(outline, PYRO_OUTLINE_FACT, "");
    return number;
}

static bool became(const struct pyro_advice *advice, const struct pyro_action *action)
{
    return pyro_slice_eq(action->text, advice->text) && pyro_slice_eq(action->code, advice->code);
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

void pyro_outline_finding(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis, size_t place)
{
    static const char evidence[] = "Evidence: ", improvement[] = "Expected improvement: ";
    const struct pyro_finding *finding = &diagnosis->findings[place];
    begin(outline, "");
    pyro_fact_cause(outline->line, finding);
    end(outline, PYRO_OUTLINE_FACT, "");
    begin(outline, evidence);
    pyro_fact_evidence(outline->line, finding);
    end(outline, PYRO_OUTLINE_FACT, evidence);
    size_t action = add_its_action(outline, diagnosis, place);
    for (size_t i = 0; i < finding->advice_count; i++)
        if (!action || !became(&finding->advice[i], &diagnosis->actions[action - 1]))
            add_advice(outline, finding, i);
    begin(outline, improvement);
    if (!action) /* else it is said there, once for all findings that it cures */
        pyro_fact_improvement(outline->line, diagnosis->app, finding);
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
    outline->settings(outline->form, diagnosis->config_changes, diagnosis->config_change_count, false);
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
