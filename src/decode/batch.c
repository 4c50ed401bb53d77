#include "decode/batch.h"

#include "base/collections/hash.h"
#include "decode/eventlog/events.h"
#include "decode/eventlog/task_events.h"

void pyro_batch_init(struct pyro_batch *batch, const struct pyro_allocator *allocator, const struct pyro_scan *scan,
                     uint64_t max_record, uint32_t wanted)
{
    *batch = (struct pyro_batch){.allocator = allocator, .scan = scan, .max_record = max_record, .wanted = wanted};
    pyro_strbuf_init(&batch->metrics, allocator);
    pyro_history_batch_init(&batch->history, allocator);
}

void pyro_batch_done(struct pyro_batch *batch)
{
    pyro_vec_done(&batch->rows, batch->allocator);
    pyro_strbuf_done(&batch->metrics);
    pyro_vec_done(&batch->metric_ends, batch->allocator);
    pyro_vec_done(&batch->starts, batch->allocator);
    pyro_history_batch_done(&batch->history);
    pyro_vec_done(&batch->records, batch->allocator);
    pyro_vec_done(&batch->texts, batch->allocator);
    pyro_vec_done(&batch->counts, batch->allocator);
}

void pyro_batch_clear(struct pyro_batch *batch)
{
    batch->bytes = batch->lines = 0;
    batch->rows.count = batch->starts.count = batch->records.count = batch->texts.count = 0;
    batch->metric_ends.count = 0;
    pyro_strbuf_clear(&batch->metrics);
    pyro_history_batch_clear(&batch->history);
    batch->failed = false;
    memset(batch->buckets, 0, sizeof(batch->buckets));
    if (batch->counts.count)
        memset(batch->counts.items, 0, batch->counts.count * sizeof(*batch->counts.items));
}

uint32_t pyro_batch_text(struct pyro_batch *batch, struct pyro_slice raw)
{
    uint32_t *bucket = &batch->buckets[pyro_hash_slice(raw) % PYRO_BATCH_TEXT_BUCKETS];
    for (uint32_t row = *bucket; row; row = batch->texts.items[row - 1].next)
        if (pyro_slice_eq(batch->texts.items[row - 1].raw, raw))
            return row - 1;
    struct pyro_batch_text *text = pyro_vec_push(&batch->texts, batch->allocator);
    if (!text) {
        batch->failed = true;
        return UINT32_MAX;
    }
    text->raw = raw;
    text->next = *bucket;
    *bucket = (uint32_t)batch->texts.count;
    return *bucket - 1;
}

static void add_record(struct pyro_batch *batch, struct pyro_record record)
{
    struct pyro_record *added = pyro_vec_push(&batch->records, batch->allocator);
    if (added)
        *added = record;
    else
        batch->failed = true;
}

/* One line, as far as it is known. */
struct line {
    const char *start;
    struct pyro_record place; /* offset and line number only */
};

static struct pyro_slice line_text(const struct line *line, const char *end)
{
    const char *newline = memchr(line->start, '\n', (size_t)(end - line->start));
    return (struct pyro_slice){line->start, (size_t)((newline ? newline : end) - line->start)};
}

static const char *reject(struct pyro_batch *batch, const struct line *line, const char *end, const char *reason)
{
    struct pyro_record record = line->place;
    struct pyro_slice text = line_text(line, end);
    bool too_long = text.len > batch->max_record;
    record.kind = PYRO_RECORD_REJECT;
    record.text = too_long ? (struct pyro_slice){text.ptr, 0} : text;
    record.reason = too_long ? PYRO_REASON_LONG : reason;
    add_record(batch, record);
    return text.ptr + text.len;
}

/* Notes where the metrics of a row end. */
static bool keep_metrics(struct pyro_batch *batch, bool decoded)
{
    if (!(batch->wanted & PYRO_WANT_TASK_METRICS))
        return true;
    if (batch->metrics.failed)
        return false;
    size_t *end = decoded ? pyro_vec_push(&batch->metric_ends, batch->allocator) : NULL;
    if (end)
        *end = batch->metrics.len;
    return end || !decoded;
}

uint32_t pyro_batch_wanted_by(struct pyro_slice head)
{
    return pyro_slice_starts_with(head, "{\"Event\":\"DBCEventLoggingListenerMetadata\"") ? PYRO_BATCH_PHOTON : 0;
}

static const char *decode_task_end(struct pyro_batch *batch, const struct line *line, const char *end)
{
    if (!pyro_vec_reserve(&batch->rows, PYRO_TASK_COLUMN_COUNT, batch->allocator)) {
        batch->failed = true;
        return end;
    }
    int64_t *row = batch->rows.items + batch->rows.count;
    struct pyro_json_reader json;
    struct pyro_slice reason;
    pyro_json_reader_start(&json, line->start, end, batch->scan);
    size_t metrics = batch->metrics.len, accumulables = batch->history.accumulables.len;
    bool decoded = pyro_decode_task_end(&json, batch, row, &reason);
    if (!decoded) {
        batch->metrics.len = metrics;
        batch->history.accumulables.len = accumulables;
    }
    if (!keep_metrics(batch, decoded))
        batch->failed = true;
    if (!decoded)
        return batch->failed ? end : reject(batch, line, end, json.error);
    if (reason.ptr && !(batch->wanted & PYRO_BATCH_NO_COLUMNS)) {
        struct pyro_record record = line->place;
        record.kind = PYRO_RECORD_TASK_END_REASON;
        record.text = reason;
        record.row = (uint32_t)(batch->rows.count / PYRO_TASK_COLUMN_COUNT);
        add_record(batch, record);
    }
    batch->rows.count += PYRO_TASK_COLUMN_COUNT;
    return json.at;
}

static const char *decode_task_start(struct pyro_batch *batch, const struct line *line, const char *end)
{
    if (!pyro_vec_reserve(&batch->starts, PYRO_TASK_START_COLUMNS, batch->allocator)) {
        batch->failed = true;
        return end;
    }
    struct pyro_json_reader json;
    pyro_json_reader_start(&json, line->start, end, batch->scan);
    if (!pyro_decode_task_start(&json, batch, batch->starts.items + batch->starts.count))
        return reject(batch, line, end, json.error ? json.error : "not an object");
    batch->starts.count += PYRO_TASK_START_COLUMNS;
    if (batch->wanted & PYRO_BATCH_HISTORY)
        batch->failed |= !pyro_gather_start(&batch->history);
    return json.at;
}

/* Any other event: its grammar is checked here, so that a bad record leaves no trace but its rejection; what is kept of
 * it is decoded when the batch is applied. */
static const char *decode_other(struct pyro_batch *batch, const struct line *line, const char *end, int event)
{
    struct pyro_record record = line->place;
    record.kind = PYRO_RECORD_COLD;
    record.event = event;
    record.text = line_text(line, end);
    struct pyro_json_reader json;
    pyro_json_reader_start(&json, record.text.ptr, record.text.ptr + record.text.len, batch->scan);
    bool checked = event != PYRO_EVENT_UNKNOWN && pyro_events[event].checks_itself;
    if (!checked && (!pyro_json_skip(&json) || !pyro_json_record_end(&json)))
        return reject(batch, line, end, json.error);
    if (event != PYRO_EVENT_UNKNOWN && !pyro_events[event].decode)
        batch->counts.items[event]++;
    else
        add_record(batch, record);
    return record.text.ptr + record.text.len;
}

/* The event's name, anywhere among the record's keys; null and an error when there is none. */
static struct pyro_slice find_event_name(struct pyro_batch *batch, struct pyro_slice text, const char **ret_error)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"));
    struct pyro_slice name = PYRO_SLICE_NULL;
    struct pyro_json_reader json;
    struct pyro_json_object object;
    pyro_json_reader_start(&json, text.ptr, text.ptr + text.len, batch->scan);
    if (pyro_json_enter_object(&json, &object)) {
        for (int key; (key = PYRO_JSON_NEXT(&json, &object, keys)) != PYRO_JSON_END;) {
            if (key == EVENT && pyro_json_peek(&json) == '"')
                pyro_json_take_string(&json, &name, NULL);
            else
                pyro_json_skip(&json);
        }
    }
    if (!json.error)
        pyro_json_record_end(&json);
    *ret_error = json.error ? json.error : name.ptr ? NULL : "a record without an event's name";
    return *ret_error ? PYRO_SLICE_NULL : name;
}

/* Lines as Spark writes them begin with the event's name. */
static bool usual_event_name(const char *start, const char *end, struct pyro_slice *ret_name)
{
    static const char prefix[] = "{\"Event\":\"";
    enum { PREFIX = sizeof(prefix) - 1, LONGEST_NAME = 256 };
    if (end - start < PREFIX || memcmp(start, prefix, PREFIX) != 0)
        return false;
    const char *name = start + PREFIX;
    size_t rest = (size_t)(end - name);
    const char *quote = memchr(name, '"', rest < LONGEST_NAME ? rest : LONGEST_NAME);
    if (!quote || memchr(name, '\\', (size_t)(quote - name)))
        return false;
    *ret_name = (struct pyro_slice){name, (size_t)(quote - name)};
    return true;
}

/* Decodes one line and returns the place of its newline, or `end`. */
static const char *decode_line(struct pyro_batch *batch, const struct line *line, const char *end)
{
    struct pyro_slice name;
    if ((uint64_t)(end - line->start) > batch->max_record && !memchr(line->start, '\n', batch->max_record + 1))
        return reject(batch, line, end, PYRO_REASON_LONG);
    if (!usual_event_name(line->start, end, &name)) {
        struct pyro_slice text = line_text(line, end);
        size_t blanks = 0;
        while (blanks < text.len && strchr(" \t\r", text.ptr[blanks]) && text.ptr[blanks])
            blanks++;
        if (blanks == text.len)
            return text.ptr + text.len;
        const char *error;
        name = find_event_name(batch, text, &error);
        if (error)
            return reject(batch, line, end, error);
    }
    int event = pyro_event_find(name);
    if (event == PYRO_EVENT_TASK_END)
        return decode_task_end(batch, line, end);
    if (event == PYRO_EVENT_TASK_START)
        return decode_task_start(batch, line, end);
    const char *line_end = NULL;
    if (batch->wanted & PYRO_BATCH_HISTORY) {
        struct pyro_slice text = line_text(line, end);
        batch->failed |= !pyro_gather_event(&batch->history, name, text, batch->wanted & PYRO_BATCH_SQL);
        line_end = text.ptr + text.len;
    }
    return batch->wanted & PYRO_BATCH_NO_COLUMNS ? line_end : decode_other(batch, line, end, event);
}

bool pyro_batch_decode(struct pyro_batch *batch, const char *text, size_t len)
{
    if (!batch->counts.count) {
        if (!pyro_vec_reserve(&batch->counts, pyro_event_count, batch->allocator))
            return false;
        batch->counts.count = (size_t)pyro_event_count;
        memset(batch->counts.items, 0, batch->counts.count * sizeof(*batch->counts.items));
    }
    const char *end = len ? text + len : text; /* null + 0 is not defined */
    for (const char *at = text; at < end && !batch->failed;) {
        struct line line = {.start = at};
        line.place.offset = (uint64_t)(at - text);
        line.place.line = batch->lines;
        at = decode_line(batch, &line, end);
        batch->lines++;
        if (at < end)
            at++; /* the newline */
    }
    batch->bytes += len;
    /* A record that could not be parsed for lack of memory is not a bad one. */
    batch->failed |= batch->history.arena.failed;
    return !batch->failed;
}
