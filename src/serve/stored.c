#include "serve/stored.h"

#include "base/error.h"
#include "base/memory/allocator.h"
#include "base/strings/strbuf.h"
#include "report/diagnosis/json_parts.h"

enum { DEPTH = 40 }; /* of values that are written again; the writer's own limit is higher */

/* ---- Reading ---- */

enum pyro_status pyro_stored_write_report(const struct pyro_catalog_diagnosis *opened, const struct pyro_writer *writer,
                                          struct pyro_error *error)
{
    if (opened->diagnosis)
        return pyro_report_write(opened->diagnosis, PYRO_FORMAT_JSON, NULL, writer, error);
    if (writer->write(writer->context, opened->report.ptr, opened->report.len) == 0)
        return PYRO_OK;
    return pyro_error_set(error, PYRO_ERROR_OUTPUT, "cannot write the report");
}

json_t *pyro_stored_tree(const struct pyro_catalog_diagnosis *opened, struct pyro_error *error)
{
    struct pyro_strbuf text;
    json_error_t why = {0};
    json_t *tree = NULL;
    pyro_strbuf_init(&text, NULL);
    const struct pyro_writer writer = pyro_strbuf_writer(&text);
    if (pyro_stored_write_report(opened, &writer, error) == PYRO_OK) {
        tree = json_loadb(text.data, text.len, 0, &why);
        if (!json_is_object(tree)) {
            json_decref(tree);
            tree = NULL;
            if (json_error_code(&why) == json_error_out_of_memory)
                pyro_error_describe(error, PYRO_ERROR_MEMORY, "no memory left for a stored report");
            else
                pyro_ignore_status(
                    pyro_error_lasts(error,
                                     pyro_error_set(error, PYRO_ERROR_INPUT,
                                                    "the stored report is not a pyrometer.report/1: %s", why.text)),
                    "the caller gets NULL and the error");
        }
    }
    pyro_strbuf_done(&text);
    return tree;
}

static struct pyro_slice text_of(const json_t *value)
{
    return json_is_string(value) ? (struct pyro_slice){json_string_value(value), json_string_length(value)}
                                 : PYRO_SLICE_NULL;
}

static int64_t int_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : PYRO_NONE;
}

/* The first object of an array whose member is that text; NULL: there is none. */
static const json_t *find_by(const json_t *objects, const char *key, struct pyro_slice wanted)
{
    size_t i;
    json_t *object;
    json_array_foreach(objects, i, object)
    {
        struct pyro_slice text = text_of(json_object_get(object, key));
        if (text.ptr && pyro_slice_eq(text, wanted))
            return object;
    }
    return NULL;
}

/* ---- Writing ---- */

static void write_value(struct pyro_json_writer *json, const char *key, const json_t *value, unsigned depth);

static void write_members(struct pyro_json_writer *json, const json_t *value, unsigned depth)
{
    const char *name;
    json_t *member;
    json_object_foreach((json_t *)pyro_unconst(value), name, member)
    {
        pyro_json_key(json, pyro_slice_from(name));
        write_value(json, NULL, member, depth + 1);
    }
}

static void write_value(struct pyro_json_writer *json, const char *key, const json_t *value, unsigned depth)
{
    size_t i;
    json_t *item;
    switch (value && depth < DEPTH ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT:
        pyro_json_begin(json, key, '{');
        write_members(json, value, depth);
        pyro_json_end(json, '}');
        break;
    case JSON_ARRAY:
        pyro_json_begin(json, key, '[');
        json_array_foreach(value, i, item) write_value(json, NULL, item, depth + 1);
        pyro_json_end(json, ']');
        break;
    case JSON_STRING:
        pyro_json_text(json, key, text_of(value));
        break;
    case JSON_INTEGER:
        pyro_json_int(json, key, json_integer_value(value));
        break;
    case JSON_REAL:
        pyro_json_real(json, key, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        pyro_json_bool(json, key, json_is_true(value));
        break;
    default:
        pyro_json_null(json, key);
    }
}

static void write_member(struct pyro_json_writer *json, const json_t *object, const char *key)
{
    write_value(json, key, json_object_get(object, key), 0);
}

/* ---- One finding ---- */

static const json_t *find_finding(const json_t *report, struct pyro_slice id)
{
    return find_by(json_object_get(report, "findings"), "id", id);
}

enum pyro_status pyro_stored_write_finding(const struct pyro_catalog_diagnosis *opened, const char *id,
                                           const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_output output;
    struct pyro_json_writer json;
    size_t rule = 0;
    json_t *report = pyro_stored_tree(opened, error);
    if (!report)
        return error->code;
    const json_t *finding = find_finding(report, pyro_slice_from(id));
    struct pyro_slice name = text_of(json_object_get(finding, "rule"));
    while (name.ptr && rule < pyro_rules_count() && !pyro_slice_is(name, pyro_rules[rule]->id))
        rule++;
    if (!name.ptr || rule == pyro_rules_count()) {
        json_decref(report);
        return finding ? pyro_error_lasts(error, pyro_error_set(error, PYRO_ERROR_INPUT,
                                                                "this build does not know the rule of '%.200s'", id))
                       : pyro_error_set(error, PYRO_ERROR_ARGUMENT, "this run has no finding '%.200s'", id);
    }
    pyro_output_init(&output, writer, NULL);
    pyro_json_writer_init(&json, &output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_string(&json, "schema", "pyrometer.finding/1");
    write_value(&json, "finding", finding, 0);
    pyro_json_rule(&json, rule);
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output.buffer, '\n');
    json_decref(report);
    return pyro_output_done(&output, error);
}

/* ---- Two reports ---- */

struct sides {
    const json_t *before, *after;
};

static struct sides in(struct sides sides, const char *key)
{
    return (struct sides){json_object_get(sides.before, key), json_object_get(sides.after, key)};
}

static void write_side(struct pyro_json_writer *json, const char *key, const json_t *report)
{
    static const char *const keys[] = {"id",       "name",        "attempt", "spark_version",
                                       "start_ms", "duration_ms", "status",  "outcome"};
    const json_t *app = json_object_get(report, "application");
    pyro_json_line(json);
    pyro_json_begin(json, key, '{');
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        write_member(json, app, keys[i]);
    write_member(json, json_object_get(report, "integrity"), "confidence");
    write_member(json, json_object_get(report, "source"), "path");
    pyro_json_end(json, '}');
}

static int64_t difference_of(struct sides sides)
{
    struct sides wall = in(in(sides, "accounting"), "wall");
    int64_t before = int_of(wall.before, "total_ms"), after = int_of(wall.after, "total_ms"), difference;
    return before == PYRO_NONE || after == PYRO_NONE || __builtin_sub_overflow(after, before, &difference) ? 0
                                                                                                           : difference;
}

static void write_explanation(struct pyro_json_writer *json, struct sides sides, int64_t difference)
{
    struct sides wall = in(in(sides, "accounting"), "wall");
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    pyro_strbuf_printf(&text, "The run after took %lld ms, which is %lld ms %s than the run before (%lld ms).",
                       (long long)int_of(wall.after, "total_ms"),
                       (long long)(difference < 0 ? -difference : difference), difference < 0 ? "less" : "more",
                       (long long)int_of(wall.before, "total_ms"));
    pyro_json_line(json);
    pyro_json_begin(json, "explanation", '[');
    pyro_json_text(json, NULL, pyro_strbuf_slice(&text));
    pyro_json_end(json, ']');
    json->output->buffer.failed |= text.failed;
    pyro_strbuf_done(&text);
    pyro_json_begin(json, "caveats", '[');
    pyro_json_string(json, NULL,
                     "At least one of the runs has only a stored report. The causes of the difference, and the "
                     "differences between stages, SQL executions and settings, need both logs.");
    pyro_json_end(json, ']');
    pyro_json_line(json);
    pyro_json_begin(json, "causes", '[');
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "name", "unexplained");
    pyro_json_string(json, "words", "not available: this needs both logs");
    pyro_json_int(json, "ms", difference);
    pyro_json_end(json, '}');
    pyro_json_end(json, ']');
}

static const json_t *find_part(const json_t *account, struct pyro_slice name)
{
    return find_by(json_object_get(account, "parts"), "name", name);
}

static int64_t part_of(const json_t *account, struct pyro_slice name)
{
    int64_t ms = int_of(find_part(account, name), "ms");
    return ms == PYRO_NONE ? 0 : ms;
}

static void write_part(struct pyro_json_writer *json, struct sides account, struct pyro_slice name)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_text(json, "name", name);
    pyro_json_int(json, "before_ms", part_of(account.before, name));
    pyro_json_int(json, "after_ms", part_of(account.after, name));
    pyro_json_end(json, '}');
}

static int64_t total_of(const json_t *account)
{
    int64_t total = int_of(account, "total_ms");
    return total == PYRO_NONE ? 0 : total;
}

static void write_account(struct pyro_json_writer *json, struct sides sides, const char *key)
{
    struct sides account = in(in(sides, "accounting"), key);
    size_t i;
    json_t *part;
    pyro_json_line(json);
    pyro_json_begin(json, key, '{');
    pyro_json_int(json, "before_ms", total_of(account.before));
    pyro_json_int(json, "after_ms", total_of(account.after));
    pyro_json_begin(json, "parts", '[');
    json_array_foreach(json_object_get(account.after, "parts"), i, part)
        write_part(json, account, text_of(json_object_get(part, "name")));
    json_array_foreach(json_object_get(account.before, "parts"), i, part)
    {
        struct pyro_slice name = text_of(json_object_get(part, "name"));
        if (name.ptr && !find_part(account.after, name)) /* of another version */
            write_part(json, account, name);
    }
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}

static void write_total(struct pyro_json_writer *json, const char *name, const char *unit, struct sides sides,
                        const char *key)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "name", name);
    pyro_json_string(json, "unit", unit);
    pyro_json_int(json, "before", int_of(sides.before, key));
    pyro_json_int(json, "after", int_of(sides.after, key));
    pyro_json_end(json, '}');
}

static void write_totals(struct pyro_json_writer *json, struct sides sides)
{
    static const struct {
        const char *name, *unit, *key;
    } rows[] = {
        {"task_time", "ms", "task_ms"},
        {"cpu_time", "ms", "cpu_ms"},
        {"gc_time", "ms", "gc_ms"},
        {"input", "bytes", "input_bytes"},
        {"output", "bytes", "output_bytes"},
        {"shuffle_read", "bytes", "shuffle_read_bytes"},
        {"shuffle_write", "bytes", "shuffle_write_bytes"},
        {"memory_spill", "bytes", "memory_spill_bytes"},
        {"disk_spill", "bytes", "disk_spill_bytes"},
        {"executors", "count", "executors"},
        {"cores_peak", "count", "cores_peak"},
        {"jobs", "count", "jobs"},
        {"stages", "count", "stages"},
        {"tasks", "count", "tasks"},
        {"failed_tasks", "count", "failed_tasks"},
        {"killed_tasks", "count", "killed_tasks"},
        {"failed_stages", "count", "failed_stages"},
    };
    struct sides totals = in(sides, "totals"), core = in(in(sides, "accounting"), "core");
    pyro_json_line(json);
    pyro_json_begin(json, "totals", '[');
    write_total(json, "core_time", "ms", core, "total_ms");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        write_total(json, rows[i].name, rows[i].unit, totals, rows[i].key);
    pyro_json_end(json, ']');
}

static void write_compared(struct pyro_json_writer *json, const json_t *shown, const json_t *before,
                           const json_t *after)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    write_member(json, shown, "id");
    write_member(json, shown, "rule");
    write_member(json, shown, "title");
    write_value(json, "severity_before", json_object_get(before, "severity"), 0);
    write_value(json, "severity_after", json_object_get(after, "severity"), 0);
    pyro_json_end(json, '}');
}

static void write_appeared(struct pyro_json_writer *json, const char *key, const json_t *here, const json_t *there,
                           bool later)
{
    size_t i;
    json_t *finding;
    pyro_json_line(json);
    pyro_json_begin(json, key, '[');
    json_array_foreach(json_object_get(here, "findings"), i, finding)
    {
        struct pyro_slice id = text_of(json_object_get(finding, "id"));
        if (id.ptr && !find_finding(there, id))
            write_compared(json, finding, later ? NULL : finding, later ? finding : NULL);
    }
    pyro_json_end(json, ']');
}

static void write_changed(struct pyro_json_writer *json, struct sides sides)
{
    size_t i;
    json_t *finding;
    pyro_json_line(json);
    pyro_json_begin(json, "changed", '[');
    json_array_foreach(json_object_get(sides.after, "findings"), i, finding)
    {
        struct pyro_slice id = text_of(json_object_get(finding, "id"));
        const json_t *before = id.ptr ? find_finding(sides.before, id) : NULL;
        if (before && !json_equal(json_object_get(before, "severity"), json_object_get(finding, "severity")))
            write_compared(json, finding, before, finding);
    }
    pyro_json_end(json, ']');
}

static void write_nothing(struct pyro_json_writer *json)
{
    static const char *const counts[] = {"matched", "new", "gone", "changed"};
    pyro_json_line(json);
    pyro_json_begin(json, "matched", '{');
    pyro_json_int(json, "stages", 0);
    pyro_json_null(json, "share");
    pyro_json_bool(json, "hardly", false);
    pyro_json_end(json, '}');
    pyro_json_begin(json, "stages", '[');
    pyro_json_end(json, ']');
    pyro_json_begin(json, "queries", '{');
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        pyro_json_int(json, counts[i], 0);
    pyro_json_begin(json, "differences", '[');
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
    pyro_json_begin(json, "settings", '[');
    pyro_json_end(json, ']');
}

static void write_comparison(struct pyro_json_writer *json, struct sides sides)
{
    int64_t difference = difference_of(sides);
    pyro_json_begin(json, NULL, '{');
    pyro_json_line(json);
    pyro_json_string(json, "schema", "pyrometer.comparison/1");
    write_side(json, "before", sides.before);
    write_side(json, "after", sides.after);
    pyro_json_line(json);
    pyro_json_int(json, "difference_ms", difference);
    write_explanation(json, sides, difference);
    write_account(json, sides, "wall");
    write_account(json, sides, "core");
    write_totals(json, sides);
    write_nothing(json);
    pyro_json_line(json);
    pyro_json_begin(json, "findings", '{');
    write_appeared(json, "appeared", sides.after, sides.before, true);
    write_appeared(json, "vanished", sides.before, sides.after, false);
    write_changed(json, sides);
    pyro_json_end(json, '}');
    pyro_json_end(json, '}');
}

enum pyro_status pyro_stored_write_comparison(const struct pyro_catalog_diagnosis *before,
                                              const struct pyro_catalog_diagnosis *after,
                                              const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_output output;
    struct pyro_json_writer json;
    json_t *trees[2] = {pyro_stored_tree(before, error), NULL};
    trees[1] = trees[0] ? pyro_stored_tree(after, error) : NULL;
    enum pyro_status status = trees[1] ? PYRO_OK : error->code;
    if (status == PYRO_OK) {
        pyro_output_init(&output, writer, NULL);
        pyro_json_writer_init(&json, &output);
        write_comparison(&json, (struct sides){trees[0], trees[1]});
        pyro_strbuf_add_char(&output.buffer, '\n');
        status = pyro_output_done(&output, error);
    }
    json_decref(trees[0]);
    json_decref(trees[1]);
    return status;
}
