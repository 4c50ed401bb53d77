/* pyro_export_anonymized(): a log that may be shared. Every record is written again with its structure, its numbers and
 * Spark's own words; every other word is replaced. Records that are not events of Spark are left out, since their
 * content is not known. */
#include "base/error.h"
#include "base/json/json_read.h"
#include "base/memory/allocator.h"
#include "base/options.h"
#include "export/redact.h"
#include "load/load.h"
#include "load/remote/remote.h"
#include "report/report.h"
#include "source/source.h"

enum { READ_BYTES = 1 << 20, DEPTH_MAX = PYRO_JSON_DEPTH + 1 };

struct exporting {
    struct pyro_load_settings options;
    struct pyro_redactor redactor;
    struct pyro_output output;
    struct pyro_strbuf line; /* with the scan's padding behind it while a record is looked at */
    bool skipping;           /* the rest of a record that is too long */
    uint64_t done;
    struct pyro_export_counts counts;
};

/* ---- One record -------------------------------------------------------------------------------------------------- */

/* Strings under these keys are hosts as a whole. */
static bool is_host_key(struct pyro_slice key)
{
    return pyro_slice_is(key, "Host") || pyro_slice_is(key, "host") || pyro_slice_is(key, "hostId") ||
           pyro_slice_is(key, "spark.driver.host") || pyro_slice_is(key, "spark.driver.bindAddress");
}

static bool is_port_key(struct pyro_slice key)
{
    return pyro_slice_ends_with(key, "Port") || pyro_slice_ends_with(key, ".port");
}

static enum pyro_redact_kind kind_of(struct pyro_slice key)
{
    static const char *const queries[] = {"physicalPlanDescription", "simpleString",          "description",
                                          "statementText",           "spark.job.description", "PartitionFilters",
                                          "PushedFilters",           "DataFilters",           "sqlText"};
    if (is_host_key(key))
        return PYRO_REDACT_HOST;
    if (is_port_key(key))
        return PYRO_REDACT_PORT;
    if (pyro_slice_is(key, "Scope") || pyro_slice_is(key, "spark.rdd.scope"))
        return PYRO_REDACT_SCOPE;
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
        if (pyro_slice_is(key, queries[i]))
            return PYRO_REDACT_QUERY;
    return PYRO_REDACT_TEXT;
}

/* 2026-01-31T12:00:00.000Z: when a trigger of a streaming query started. Times that are numbers stay too. */
static bool is_trigger_time(struct pyro_slice key, struct pyro_slice text)
{
    static const char form[] = "0000-00-00T00:00:00.000Z";
    if (!pyro_slice_is(key, "timestamp") || text.len != strlen(form))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (form[i] == '0' ? text.ptr[i] < '0' || text.ptr[i] > '9' : text.ptr[i] != form[i])
            return false;
    return true;
}

static const char *string_end(const char *p)
{
    while (*p != '"')
        p += *p == '\\' ? 2 : 1;
    return p;
}

static bool is_spark_event(struct pyro_slice name)
{
    size_t dot = name.len;
    while (dot > 0 && name.ptr[dot - 1] != '.' && name.ptr[dot - 1] != '$')
        dot--;
    return pyro_is_known_word((struct pyro_slice){name.ptr + dot, name.len - dot});
}

/* Writes a well-formed record again. False: no memory. *ret_ours false: it is not an event of Spark, drop what came
 * out.
 */
static bool rewrite(struct exporting *state, const char *p, const char *end, bool *ret_ours)
{
    struct pyro_strbuf *out = &state->output.buffer;
    struct pyro_slice keys[DEPTH_MAX + 1];
    bool object[DEPTH_MAX + 1];
    unsigned depth = 0;
    bool key_next = false;
    object[0] = false;
    keys[0] = PYRO_SLICE_NULL;
    *ret_ours = false;
    while (p < end) {
        if (*p == '"') {
            const char *to = string_end(p + 1);
            struct pyro_slice text = {p + 1, (size_t)(to - p - 1)};
            pyro_strbuf_add_char(out, '"');
            if (key_next)
                keys[depth] = text;
            else if (depth == 1 && pyro_slice_is(keys[1], "Event"))
                *ret_ours = is_spark_event(text);
            if (!key_next && is_trigger_time(keys[depth], text))
                pyro_strbuf_add_slice(out, text);
            else if (!pyro_redact(&state->redactor, key_next ? PYRO_REDACT_TEXT : kind_of(keys[depth]), text, out))
                return false;
            pyro_strbuf_add_char(out, '"');
            key_next = false;
            p = to + 1;
            continue;
        }
        if (*p == '{' || *p == '[') {
            if (depth == DEPTH_MAX)
                return true; /* cannot be: the grammar was checked */
            keys[depth + 1] = *p == '[' ? keys[depth] : PYRO_SLICE_NULL;
            object[++depth] = *p == '{';
            key_next = *p == '{';
        } else if ((*p == '}' || *p == ']') && depth > 0) {
            depth--;
            key_next = false;
        } else if (*p == ',') {
            key_next = object[depth];
        }
        if (*p >= '0' && *p <= '9' && !key_next && is_port_key(keys[depth])) {
            const char *to = p;
            while (to < end && *to >= '0' && *to <= '9')
                to++;
            if (!pyro_redact(&state->redactor, PYRO_REDACT_PORT, (struct pyro_slice){p, (size_t)(to - p)}, out))
                return false;
            p = to;
            continue;
        }
        pyro_strbuf_add_char(out, *p++);
    }
    return !out->failed;
}

/* `line` has PYRO_SCAN_PADDING bytes behind it. */
static bool export_record(struct exporting *state, const char *line, size_t len)
{
    struct pyro_json_reader json;
    struct pyro_strbuf *out = &state->output.buffer;
    size_t before = out->len;
    bool ours = false;
    while (len > 0 && (line[len - 1] == '\r' || line[len - 1] == ' '))
        len--;
    if (len == 0)
        return true;
    pyro_json_reader_start(&json, line, line + len, pyro_scan_best());
    bool whole = line[0] == '{' && pyro_json_skip(&json) && json.at == line + len;
    if (whole && !rewrite(state, line, line + len, &ours))
        return false;
    if (!ours) {
        if (out->len > before)
            out->len = before;
        state->counts.left_out++;
        return true;
    }
    state->counts.records++;
    pyro_strbuf_add_char(out, '\n');
    pyro_output_flush(&state->output, false);
    return state->output.status == PYRO_OK;
}

/* ---- The log ----------------------------------------------------------------------------------------------------- */

static bool end_line(struct exporting *state)
{
    size_t len = state->line.len;
    bool ok = true;
    if (state->skipping) {
        state->counts.left_out++;
    } else if (len > 0) {
        ok = pyro_strbuf_reserve(&state->line, PYRO_SCAN_PADDING + 1);
        if (ok && state->line.data) {
            memset(state->line.data + len, 0, PYRO_SCAN_PADDING);
            ok = export_record(state, state->line.data, len);
        }
    }
    state->skipping = false;
    pyro_strbuf_clear(&state->line);
    return ok;
}

static bool take_bytes(struct exporting *state, const char *bytes, size_t len)
{
    while (len > 0) {
        const char *newline = memchr(bytes, '\n', len);
        size_t piece = newline ? (size_t)(newline - bytes) : len;
        if (state->line.len + piece > state->options.max_record_bytes)
            state->skipping = true;
        if (!state->skipping)
            pyro_strbuf_add(&state->line, bytes, piece);
        if (state->line.failed || (newline && !end_line(state)))
            return false;
        bytes += piece + (newline != NULL);
        len -= piece + (newline != NULL);
    }
    return true;
}

static enum pyro_status give_up(const struct exporting *state, struct pyro_error *error)
{
    if (state->output.status == PYRO_ERROR_OUTPUT)
        return pyro_error_set(error, PYRO_ERROR_OUTPUT, "the output could not be written");
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for an export");
}

static enum pyro_status export_part(struct exporting *state, const struct pyro_log *log,
                                    const struct pyro_log_part *part, char *buffer, struct pyro_error *error)
{
    struct pyro_reader *reader = NULL;
    size_t got = 0;
    enum pyro_status status = pyro_reader_open(part, state->options.allocator, &reader, error);
    do {
        if (status == PYRO_OK)
            status = pyro_reader_read(reader, buffer, READ_BYTES, &got, error);
        if (status == PYRO_OK && got > 0 && !take_bytes(state, buffer, got))
            status = give_up(state, error);
        state->done += got;
        struct pyro_progress progress = {.size = sizeof(progress), .path = log->path.ptr, .bytes_done = state->done};
        if (status == PYRO_OK && state->options.progress &&
            state->options.progress(state->options.progress_context, &progress) != 0)
            status = pyro_error_set(error, PYRO_ERROR_CANCELLED, "the export was stopped");
    } while (status == PYRO_OK && got > 0);
    pyro_reader_close(reader);
    /* A last line without its newline counts; where the log is cut the record is not whole, and left out. */
    if (status == PYRO_OK && !end_line(state))
        status = give_up(state, error);
    return status;
}

enum pyro_status pyro_export_anonymized(const pyro_inputs *inputs, size_t index, const struct pyro_load_options *load,
                                        const struct pyro_options *options, const struct pyro_writer *writer,
                                        struct pyro_export_counts *ret_counts, struct pyro_error *error)
{
    struct exporting state = {0};
    pyro_error_clear(error);
    PYRO_TRY(pyro_load_resolve(load, options, &state.options, error));
    if (ret_counts && PYRO_GIVE(ret_counts, &state.counts) != PYRO_OK)
        return pyro_struct_refused("ret_counts", error);
    const struct pyro_log *log = inputs ? pyro_inputs_log(inputs, index) : NULL;
    struct pyro_fetched fetched;
    if (!log || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the log or the writer is missing");
    PYRO_TRY(pyro_fetch(log, &state.options, &fetched, error));
    log = fetched.log;
    const struct pyro_allocator *allocator = state.options.allocator;
    char *buffer = pyro_allocate(allocator, READ_BYTES);
    pyro_strbuf_init(&state.line, allocator);
    pyro_output_init(&state.output, writer, allocator);
    bool ready = pyro_redactor_init(&state.redactor, allocator) && buffer;
    enum pyro_status status = ready ? PYRO_OK : give_up(&state, error);
    for (size_t i = 0; buffer && i < log->part_count && status == PYRO_OK; i++)
        status = export_part(&state, log, &log->parts[i], buffer, error);
    enum pyro_status written = pyro_output_done(&state.output, status == PYRO_OK ? error : NULL);
    if (status == PYRO_OK)
        status = written;
    if (status == PYRO_OK && state.counts.records == 0)
        status = pyro_error_set(error, PYRO_ERROR_INPUT, "it has no Spark event");
    if (status != PYRO_OK)
        pyro_error_at(error, log->path.ptr, UINT64_MAX);
    if (ret_counts)
        pyro_ignore_status(PYRO_GIVE(ret_counts, &state.counts), "its size was looked at first");
    pyro_fetched_done(&fetched);
    pyro_redactor_done(&state.redactor);
    pyro_strbuf_done(&state.line);
    pyro_release(allocator, buffer);
    return status;
}
