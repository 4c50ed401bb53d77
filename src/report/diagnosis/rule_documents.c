/* The catalog of rules as JSON: pyrometer.rules/1, pyrometer.rule/1, and pyrometer.finding/1 with a rule in it. */
#include "base/error.h"
#include "base/options.h"
#include "report/diagnosis/json_parts.h"

static void write_rule(struct pyro_json_writer *json, size_t index)
{
    const struct pyro_rule *rule = pyro_rules[index];
    pyro_json_string(json, "id", rule->id);
    pyro_json_string(json, "category", rule->category);
    pyro_json_string(json, "title", rule->title);
    pyro_json_string(json, "summary", rule->summary);
}

static void write_thresholds(struct pyro_json_writer *json, size_t index)
{
    pyro_json_begin(json, "thresholds", '[');
    for (size_t i = 0; i < pyro_rules_threshold_count(index); i++) {
        const struct pyro_threshold *threshold = &pyro_rules[index]->thresholds[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "name", threshold->name);
        pyro_json_real(json, "value", threshold->value);
        pyro_json_string(json, "unit", threshold->unit);
        pyro_json_string(json, "meaning", threshold->doc);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_list(struct pyro_json_writer *json)
{
    pyro_json_string(json, "schema", "pyrometer.rules/1");
    pyro_json_begin(json, "rules", '[');
    for (size_t i = 0; i < pyro_rules_count(); i++) {
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        write_rule(json, i);
        write_thresholds(json, i);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

void pyro_json_rule(struct pyro_json_writer *json, size_t index)
{
    pyro_json_line(json);
    pyro_json_begin(json, "rule", '{');
    write_rule(json, index);
    pyro_json_string(json, "page", pyro_rules_page(index));
    write_thresholds(json, index);
    pyro_json_end(json, '}');
}

enum pyro_status pyro_rules_write(const char *id, const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_output output;
    struct pyro_json_writer json;
    size_t index = 0;
    pyro_error_clear(error);
    if (!pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the writer is missing");
    while (id && index < pyro_rules_count() && strcmp(pyro_rules[index]->id, id) != 0)
        index++;
    if (id && index == pyro_rules_count()) {
        const char *names[128];
        size_t count = 0;
        for (; count < pyro_rules_count() && count < sizeof(names) / sizeof(*names); count++)
            names[count] = pyro_rules[count]->id;
        const char *nearest = pyro_nearest(id, names, count);
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no rule '%.100s'%s%s%s", id,
                              nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    }
    pyro_output_init(&output, writer, NULL);
    pyro_json_writer_init(&json, &output);
    pyro_json_begin(&json, NULL, '{');
    if (id) {
        pyro_json_string(&json, "schema", "pyrometer.rule/1");
        write_rule(&json, index);
        pyro_json_string(&json, "page", pyro_rules_page(index));
        write_thresholds(&json, index);
    } else {
        write_list(&json);
    }
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output.buffer, '\n');
    return pyro_output_done(&output, error);
}

enum pyro_status pyro_finding_write(const pyro_diagnosis *diagnosis, const char *id, const struct pyro_writer *writer,
                                    struct pyro_error *error)
{
    struct pyro_output output;
    struct pyro_json_writer json;
    size_t i = 0, rule = 0;
    pyro_error_clear(error);
    if (!diagnosis || !id || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "the diagnosis, the id of the finding or the writer is missing");
    while (i < diagnosis->finding_count && !pyro_slice_is(diagnosis->findings[i].id, id))
        i++;
    if (i == diagnosis->finding_count)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "this run has no finding '%.200s'", id);
    while (rule + 1 < pyro_rules_count() && strcmp(pyro_rules[rule]->id, diagnosis->findings[i].rule->id) != 0)
        rule++;
    pyro_output_init(&output, writer, diagnosis->arena.allocator);
    pyro_json_writer_init(&json, &output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_string(&json, "schema", "pyrometer.finding/1");
    pyro_json_finding(&json, "finding", diagnosis, &diagnosis->findings[i]);
    pyro_json_rule(&json, rule);
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output.buffer, '\n');
    return pyro_output_done(&output, error);
}
