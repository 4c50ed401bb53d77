/* pyrometer.configuration/1: properties as they were beside those that this run recommends, ready to be pasted. */
#include "analyze/settings/spark_settings.h"
#include "report/views/views.h"
#include "text/escape.h"

/* ---- Texts to paste ---- */

/* Values come from rules and from the log: control characters have no place in any of the texts. */
static bool is_pasteable(const struct pyro_setting *setting)
{
    for (size_t i = 0; i < setting->key.len; i++)
        if ((unsigned char)setting->key.ptr[i] <= ' ' || setting->key.ptr[i] == '=' || setting->key.ptr[i] == '\'' ||
            (unsigned char)setting->key.ptr[i] >= 0x7f)
            return false;
    for (size_t i = 0; i < setting->value.len; i++)
        if ((unsigned char)setting->value.ptr[i] < ' ' || setting->value.ptr[i] == 0x7f)
            return false;
    return setting->key.len > 0 && setting->value.ptr;
}

static bool needs_quotes(struct pyro_slice text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+:/@%,=";
    for (size_t i = 0; i < text.len; i++)
        if (!strchr(safe, text.ptr[i]))
            return true;
    return text.len == 0;
}

/* A word for a POSIX shell: KEY=VALUE. */
static void add_shell(struct pyro_strbuf *text, const struct pyro_setting *setting)
{
    bool quoted = needs_quotes(setting->value);
    if (text->len)
        pyro_strbuf_add_text(text, " \\\n");
    pyro_strbuf_add_text(text, "--conf ");
    if (quoted)
        pyro_strbuf_add_char(text, '\'');
    pyro_strbuf_add_slice(text, setting->key);
    pyro_strbuf_add_char(text, '=');
    for (size_t i = 0; i < setting->value.len; i++) {
        if (setting->value.ptr[i] == '\'')
            pyro_strbuf_add_text(text, "'\\''");
        else
            pyro_strbuf_add_char(text, setting->value.ptr[i]);
    }
    if (quoted)
        pyro_strbuf_add_char(text, '\'');
}

/* A line of a Java properties file, which spark-defaults.conf is. */
static void add_defaults(struct pyro_strbuf *text, const struct pyro_setting *setting)
{
    pyro_strbuf_add_slice(text, setting->key);
    pyro_strbuf_add_char(text, ' ');
    for (size_t i = 0; i < setting->value.len; i++) {
        if (setting->value.ptr[i] == '\\')
            pyro_strbuf_add_char(text, '\\');
        pyro_strbuf_add_char(text, setting->value.ptr[i]);
    }
    pyro_strbuf_add_char(text, '\n');
}

static void add_python_string(struct pyro_strbuf *text, struct pyro_slice value)
{
    pyro_strbuf_add_char(text, '"');
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '"' || value.ptr[i] == '\\')
            pyro_strbuf_add_char(text, '\\');
        pyro_strbuf_add_char(text, value.ptr[i]);
    }
    pyro_strbuf_add_char(text, '"');
}

static void add_python(struct pyro_strbuf *text, const struct pyro_setting *setting)
{
    pyro_strbuf_add_text(text, "    .config(");
    add_python_string(text, setting->key);
    pyro_strbuf_add_text(text, ", ");
    add_python_string(text, setting->value);
    pyro_strbuf_add_text(text, ")\n");
}

typedef void add_setting(struct pyro_strbuf *text, const struct pyro_setting *setting);

static void write_text(struct pyro_json_writer *json, const char *key, const struct pyro_diagnosis *diagnosis,
                       const char *head, const char *tail, add_setting *add)
{
    struct pyro_strbuf text, settings;
    size_t count = 0;
    pyro_strbuf_init(&text, diagnosis->arena.allocator);
    pyro_strbuf_init(&settings, diagnosis->arena.allocator);
    for (size_t i = 0; i < diagnosis->config_change_count; i++) {
        if (!is_pasteable(&diagnosis->config_changes[i]))
            continue;
        add(&settings, &diagnosis->config_changes[i]);
        count++;
    }
    if (count) {
        pyro_strbuf_add_text(&text, head);
        pyro_strbuf_add_slice(&text, pyro_strbuf_slice(&settings));
        pyro_strbuf_add_text(&text, tail);
    }
    if ((text.failed || settings.failed) && json->output->status == PYRO_OK)
        json->output->status = PYRO_ERROR_MEMORY;
    pyro_json_line(json);
    pyro_json_text(json, key, pyro_strbuf_slice(&text));
    pyro_strbuf_done(&text);
    pyro_strbuf_done(&settings);
}

/* ---- Rows ---- */

/* Ids of the findings that advise this property; the one that its value comes from is the first. */
static void write_findings(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis,
                           const struct pyro_configured *row)
{
    pyro_json_begin(json, "findings", '[');
    if (row->finding.ptr)
        pyro_json_text(json, NULL, row->finding);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        bool advised = false;
        for (size_t k = 0; k < finding->advice_count; k++)
            for (size_t s = 0; s < finding->advice[k].setting_count; s++)
                advised |= pyro_slice_eq(finding->advice[k].settings[s].key, row->key);
        if (advised && !pyro_slice_eq(finding->id, row->finding))
            pyro_json_text(json, NULL, finding->id);
    }
    pyro_json_end(json, ']');
}

static void write_row(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis,
                      const struct pyro_configured *row)
{
    const struct pyro_setting_row *known = pyro_setting_find(row->key);
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_text(json, "key", row->key);
    pyro_json_text(json, "actual", row->current);
    pyro_json_text(json, "default", known ? pyro_setting_default(diagnosis->app, known) : PYRO_SLICE_NULL);
    pyro_json_text(json, "recommended", row->recommended);
    write_findings(json, diagnosis, row);
    pyro_json_text(json, "why", row->reason);
    pyro_json_text(json, "verify", row->verify);
    pyro_json_string(json, "applies", row->applies);
    pyro_json_string(json, "note", row->note);
    pyro_json_end(json, '}');
}

static void write_rows(struct pyro_json_writer *json, const char *key, const struct pyro_diagnosis *diagnosis,
                       bool changes)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '[');
    for (size_t i = 0; i < diagnosis->configuration_count; i++)
        if ((diagnosis->configuration[i].finding.ptr != NULL) == changes)
            write_row(json, diagnosis, &diagnosis->configuration[i]);
    pyro_json_end(json, ']');
}

enum pyro_status pyro_view_configuration(struct pyro_json_writer *json, const struct pyro_view_request *request,
                                         struct pyro_error *error)
{
    const struct pyro_diagnosis *diagnosis = request->diagnosis;
    (void)error;
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "schema", "pyrometer.configuration/1");
    pyro_json_string(json, "platform", pyro_platform_name(pyro_app_platform(diagnosis->app)));
    write_rows(json, "changes", diagnosis, true);
    write_rows(json, "unchanged", diagnosis, false);
    write_text(json, "spark_submit", diagnosis, "", "", add_shell);
    write_text(json, "spark_defaults", diagnosis, "", "", add_defaults);
    write_text(json, "python", diagnosis, "spark = (\n    SparkSession.builder\n", "    .getOrCreate()\n)\n",
               add_python);
    pyro_json_end(json, '}');
    return PYRO_OK;
}
