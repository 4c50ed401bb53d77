#include "decode/logs/records/envelope.h"

#include "base/json/json_read.h"
#include "base/json/unescape.h"
#include "base/numbers/calendar.h"
#include "decode/logs/layout.h"
#include "decode/logs/records/logger_record.h"
#include "model/column.h"
#include "model/failure_text.h"

enum {
    LINES_MOST = 400,      /* of a head that are looked at */
    PREFIX_MOST = 300,     /* bytes in front of a header */
    SHAPES_MOST = 8,       /* different ones that are counted */
    JSON_HEAD = 4096,      /* longer lines of JSON are not looked at when the envelope is looked for */
    NESTED_LEAST = 3,      /* lines of a nested prefix, if they are not most of them */
    DOCKER_PART = 16 << 10 /* Docker cuts lines there */
};

/* ---- Prefixes ---------------------------------------------------------------------------------------------------- */

struct shape {
    char text[PYRO_PREFIX_SHAPE];
    size_t len;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Signs of names, times and paths. */
static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (unsigned char)c >= 0x80 ||
           (c != '\0' && strchr("._-/:+,@%", c) != NULL);
}

static bool shape_of(struct pyro_slice prefix, struct shape *ret)
{
    size_t words = 0;
    ret->len = 0;
    for (size_t i = 0; i < prefix.len;) {
        char c = prefix.ptr[i];
        if (ret->len == PYRO_PREFIX_SHAPE)
            return false;
        if (is_word(c)) {
            while (i < prefix.len && is_word(prefix.ptr[i]))
                i++;
            c = 'w';
            if (++words > PYRO_PREFIX_WORDS)
                return false;
        } else if (is_blank(c)) {
            while (i < prefix.len && is_blank(prefix.ptr[i]))
                i++;
            c = ' ';
        } else {
            i++;
        }
        ret->text[ret->len++] = c;
    }
    return words > 0;
}

/* Takes a prefix of this shape off a line, but only one of the blanks at its end: others belong to the text. A line may
 * end where only blanks are missing. Returns the prefix's length, SIZE_MAX: the line has another shape. */
static size_t match_shape(struct pyro_slice line, const char *shape, size_t shape_len, struct pyro_slice *ret_words)
{
    size_t at = 0, words = 0;
    for (size_t i = 0; i < shape_len; i++) {
        size_t from = at;
        if (at == line.len)
            return shape[i] == ' ' && i + 1 == shape_len ? at : SIZE_MAX;
        if (shape[i] == 'w') {
            while (at < line.len && is_word(line.ptr[at]))
                at++;
            ret_words[words++] = (struct pyro_slice){line.ptr + from, at - from};
        } else if (shape[i] == ' ') {
            while (at < line.len && is_blank(line.ptr[at]) && (at == from || i + 1 < shape_len))
                at++;
        } else {
            at += line.ptr[at] == shape[i];
        }
        if (at == from)
            return SIZE_MAX;
    }
    return at;
}

static bool reads_header(struct pyro_slice text, const struct pyro_log_pattern *own)
{
    struct pyro_log_header header;
    return pyro_slice_starts_with(text, "{\"ts\":") || (own && pyro_log_pattern_read(own, text, &header)) ||
           pyro_log_header_read(text, &header);
}

/* The last place behind the beginning of a line where a header begins, or 0. */
static size_t inner_header(struct pyro_slice line, const struct pyro_log_pattern *own)
{
    size_t found = 0, most = line.len < PREFIX_MOST ? line.len : PREFIX_MOST;
    for (size_t at = 1; at < most; at++) {
        char before = line.ptr[at - 1], c = line.ptr[at];
        bool begins = (c >= '0' && c <= '9') || c == '{' || c == '[';
        if (begins && (is_blank(before) || before == '|' || before == ']') &&
            reads_header((struct pyro_slice){line.ptr + at, line.len - at}, own))
            found = at;
    }
    return found;
}

struct vote {
    struct shape shape;
    unsigned lines, nested;
};

/* Counts the shapes in front of headers. Returns how many lines have a header anywhere. */
static unsigned count_shapes(struct pyro_slice head, const struct pyro_log_pattern *own, struct vote *votes,
                             size_t *ret_count)
{
    struct pyro_slice line;
    struct shape shape;
    unsigned headed = 0;
    *ret_count = 0;
    for (unsigned n = 0; n < LINES_MOST && pyro_next_line(&head, &line); n++) {
        bool outer = reads_header(line, own);
        size_t at = inner_header(line, own), i = 0;
        headed += outer || at > 0;
        if (at == 0 || !shape_of((struct pyro_slice){line.ptr, at}, &shape))
            continue;
        while (i < *ret_count &&
               (votes[i].shape.len != shape.len || memcmp(votes[i].shape.text, shape.text, shape.len) != 0))
            i++;
        if (i == *ret_count && i == SHAPES_MOST)
            continue;
        if (i == *ret_count)
            votes[(*ret_count)++] = (struct vote){.shape = shape};
        votes[i].lines++;
        votes[i].nested += outer;
    }
    return headed;
}

/* Keeps the words that all lines of a nested prefix have alike. */
static void fix_words(struct pyro_log_envelope *envelope, struct pyro_slice head, const struct pyro_log_pattern *own)
{
    struct pyro_slice line, words[PYRO_PREFIX_WORDS];
    bool first = true;
    for (unsigned n = 0; n < LINES_MOST && pyro_next_line(&head, &line); n++) {
        size_t at = inner_header(line, own), word = 0;
        if (at == 0 || match_shape(line, envelope->shape, envelope->shape_len, words) != at)
            continue;
        for (size_t i = 0; i < envelope->shape_len; i++) {
            if (envelope->shape[i] != 'w')
                continue;
            char *fixed = envelope->fixed[word];
            struct pyro_slice own_word = words[word++];
            if (first && own_word.len < PYRO_PREFIX_FIXED)
                memcpy(fixed, own_word.ptr, own_word.len);
            else if (!first && !pyro_slice_is(own_word, fixed))
                *fixed = '\0';
        }
        first = false;
    }
}

static bool find_prefix(struct pyro_log_envelope *envelope, struct pyro_slice head, const struct pyro_log_pattern *own)
{
    struct vote votes[SHAPES_MOST];
    size_t count, best = 0;
    unsigned headed = count_shapes(head, own, votes, &count);
    for (size_t i = 1; i < count; i++)
        if (votes[i].lines > votes[best].lines)
            best = i;
    if (count == 0)
        return false;
    bool nested = votes[best].nested * 2 > votes[best].lines;
    bool most = votes[best].lines * 3 >= headed * 2;
    if (!most && !(nested && votes[best].lines >= NESTED_LEAST && votes[best].lines * 10 >= headed))
        return false;
    memcpy(envelope->shape, votes[best].shape.text, votes[best].shape.len);
    envelope->shape_len = votes[best].shape.len;
    envelope->nested = nested;
    if (nested)
        fix_words(envelope, head, own);
    return true;
}

/* Which words of known prefixes are the container and the host, counted from 1. */
static const struct {
    const char *shape;
    uint8_t container, host;
} known_prefixes[] = {
    {"w | ", 1, 0},           /* docker-compose: "spark-worker-1  | " */
    {"[w] ", 1, 0},           /* kubectl logs --prefix: "[pod/etl-driver/spark-kubernetes-driver] " */
    {"[w] w ", 1, 0},         /* the same with --timestamps */
    {"w w ", 1, 0},           /* stern: "etl-driver spark-kubernetes-driver " */
    {"w w w w w[w]w ", 0, 4}, /* journald: "Mar 01 10:15:00 node-7 spark-submit[4711]: " */
    {"w w w[w]w ", 0, 2},     /* the same with ISO times */
};

/* "pod/NAME/CONTAINER": the pod. */
static struct pyro_slice pod_of(struct pyro_slice word)
{
    if (!pyro_slice_starts_with(word, "pod/"))
        return word;
    word = (struct pyro_slice){word.ptr + 4, word.len - 4};
    const char *slash = memchr(word.ptr, '/', word.len);
    return slash ? (struct pyro_slice){word.ptr, (size_t)(slash - word.ptr)} : word;
}

static void read_words(const struct pyro_log_envelope *envelope, const struct pyro_slice *words, size_t count,
                       struct pyro_enveloped_line *ret)
{
    for (size_t i = 0; i < count && ret->time_ms == PYRO_NONE; i++) {
        int64_t time_ms;
        bool zoned;
        if (pyro_date_time_read(words[i], &time_ms, &zoned) == words[i].len && zoned)
            ret->time_ms = time_ms;
    }
    for (size_t i = 0; i < sizeof(known_prefixes) / sizeof(*known_prefixes); i++) {
        size_t container = known_prefixes[i].container, host = known_prefixes[i].host;
        if (!pyro_slice_is((struct pyro_slice){envelope->shape, envelope->shape_len}, known_prefixes[i].shape))
            continue;
        if (container && container <= count)
            ret->container = pod_of(words[container - 1]);
        if (host && host <= count)
            ret->host = words[host - 1];
    }
}

static bool open_prefix(const struct pyro_log_envelope *envelope, struct pyro_slice line,
                        struct pyro_enveloped_line *ret)
{
    struct pyro_slice words[PYRO_PREFIX_WORDS];
    size_t count = 0, used = match_shape(line, envelope->shape, envelope->shape_len, words);
    if (used == SIZE_MAX)
        return false;
    for (size_t i = 0; i < envelope->shape_len; i++)
        count += envelope->shape[i] == 'w';
    for (size_t i = 0; i < count && envelope->nested; i++)
        if (envelope->fixed[i][0] && !pyro_slice_is(words[i], envelope->fixed[i]))
            return false;
    ret->text = (struct pyro_slice){line.ptr + used, line.len - used};
    read_words(envelope, words, count, ret);
    return true;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* Values as written between their quotes; null where they are missing. */
struct json_line {
    struct pyro_slice text, time, stream, pod, host;
};

static bool take_text(struct pyro_json_reader *at, struct pyro_slice *ret)
{
    if (pyro_json_peek(at) == '"')
        return pyro_json_take_string(at, ret, NULL);
    pyro_json_skip(at);
    return false;
}

/* ,"kubernetes":{"pod_name":"etl-driver","host":"node-7"} of Fluent Bit */
static void read_kubernetes(struct pyro_json_reader *at, struct json_line *ret)
{
    PYRO_JSON_KEYS(pod, (POD_NAME, "pod_name"), (POD_HOST, "host"));
    struct pyro_json_object object;
    if (pyro_json_peek(at) != '{') {
        pyro_json_skip(at);
        return;
    }
    if (!pyro_json_enter_object(at, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(at, &object, pod)) != PYRO_JSON_END;)
        take_text(at, key == POD_NAME ? &ret->pod : &ret->host);
}

/* False: not an object with a text of a log. */
static bool read_json(const struct pyro_scan *scan, struct pyro_slice line, struct json_line *ret)
{
    PYRO_JSON_KEYS(members, (MEMBER_LOG, "log"), (MEMBER_STREAM, "stream"), (MEMBER_TIME, "time"),
                   (MEMBER_JOURNAL, "MESSAGE"), (MEMBER_MESSAGE, "message"), (MEMBER_PAYLOAD, "textPayload"),
                   (MEMBER_STAMP, "@timestamp"), (MEMBER_TIMESTAMP, "timestamp"), (MEMBER_HOST, "_HOSTNAME"),
                   (MEMBER_KUBERNETES, "kubernetes"));
    struct pyro_json_reader at;
    struct pyro_json_object object;
    *ret = (struct json_line){.text = PYRO_SLICE_NULL};
    if (line.len == 0 || *line.ptr != '{')
        return false;
    pyro_json_reader_start(&at, line.ptr, line.ptr + line.len, scan);
    if (!pyro_json_enter_object(&at, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(&at, &object, members)) != PYRO_JSON_END;) {
        if (key == MEMBER_KUBERNETES)
            read_kubernetes(&at, ret);
        else if (key == MEMBER_STREAM)
            take_text(&at, &ret->stream);
        else if (key == MEMBER_HOST)
            take_text(&at, &ret->host);
        else if (key == MEMBER_TIME || key == MEMBER_STAMP || key == MEMBER_TIMESTAMP)
            take_text(&at, &ret->time);
        else
            take_text(&at, &ret->text);
    }
    return !at.error && ret->text.ptr;
}

/* Whether the lines of a head are JSON around lines of a log. */
static bool find_json(const struct pyro_scan *scan, struct pyro_slice head, const struct pyro_log_pattern *own)
{
    char line_copy[JSON_HEAD + PYRO_SCAN_PADDING], text[JSON_HEAD];
    struct pyro_slice line;
    unsigned wrapped = 0, others = 0;
    bool headed = false;
    for (unsigned n = 0; n < LINES_MOST && pyro_next_line(&head, &line); n++) {
        struct json_line parts;
        if (line.len == 0 || line.len > JSON_HEAD)
            continue;
        memcpy(line_copy, line.ptr, line.len);
        memset(line_copy + line.len, 0, PYRO_SCAN_PADDING);
        bool json = read_json(scan, (struct pyro_slice){line_copy, line.len}, &parts);
        wrapped += json;
        others += !json;
        if (json && !headed) {
            size_t len = pyro_text_decode_into(parts.text, text, sizeof(text));
            headed = reads_header((struct pyro_slice){text, len < sizeof(text) ? len : sizeof(text)}, own);
        }
    }
    return headed && wrapped > others;
}

static bool open_json(struct pyro_log_envelope *envelope, struct pyro_slice line, struct pyro_enveloped_line *ret)
{
    struct json_line parts;
    bool zoned;
    if (!read_json(envelope->scan, line, &parts))
        return false;
    pyro_strbuf_clear(&envelope->text);
    pyro_text_decode(&envelope->text, parts.text, NULL);
    struct pyro_slice text = pyro_strbuf_slice(&envelope->text);
    bool whole = text.len > 0 && text.ptr[text.len - 1] == '\n';
    ret->partial = !whole && text.len >= DOCKER_PART;
    while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    ret->text = text;
    ret->error_stream = pyro_slice_is(parts.stream, "stderr");
    ret->container = parts.pod;
    ret->host = parts.host;
    if (parts.time.ptr && (pyro_date_time_read(parts.time, &ret->time_ms, &zoned) == 0 || !zoned))
        ret->time_ms = PYRO_NONE;
    return true;
}

/* ---- Records of loggers ------------------------------------------------------------------------------------------ */

/* One line of a head, or one record of it, with the padding that readers of JSON need. */
struct head_line {
    char text[JSON_HEAD + PYRO_SCAN_PADDING];
};

static void copy_line(struct head_line *ret, struct pyro_slice line)
{
    memcpy(ret->text, line.ptr, line.len);
    memset(ret->text + line.len, 0, PYRO_SCAN_PADDING);
}

static bool is_record(const struct pyro_scan *scan, struct pyro_slice line, bool *ret_object)
{
    char buffer[JSON_HEAD];
    struct pyro_logger_record record;
    *ret_object = pyro_logger_record_read(scan, line, buffer, sizeof(buffer), &record);
    return *ret_object && pyro_logger_record_is_log(&record);
}

/* Whether the lines of a head are records of loggers as JSON, among them metrics and events of the same stream. */
static bool find_records(const struct pyro_scan *scan, struct pyro_slice head)
{
    struct head_line copy;
    struct pyro_json_reader batch;
    struct pyro_slice line, element;
    unsigned records = 0, objects = 0, others = 0;
    for (unsigned n = 0; n < LINES_MOST && pyro_next_line(&head, &line); n++) {
        bool object = false, first = true;
        if (line.len == 0 || (*line.ptr != '{' && *line.ptr != '[')) {
            others += line.len > 1; /* not "]" */
            continue;
        }
        line.len = line.len < JSON_HEAD ? line.len : JSON_HEAD;
        copy_line(&copy, line);
        line.ptr = copy.text;
        if (pyro_logger_batch_begin(scan, line, &batch)) {
            while (pyro_logger_batch_next(&batch, &first, &element)) {
                records += is_record(scan, element, &object);
                objects += object;
            }
        } else {
            records += is_record(scan, line, &object);
            objects += object;
        }
    }
    return records > 0 && objects > others;
}

bool pyro_log_envelope_is_batch(const struct pyro_log_envelope *envelope, struct pyro_slice line,
                                struct pyro_json_reader *ret)
{
    return envelope->kind == PYRO_ENVELOPE_RECORD && pyro_logger_batch_begin(envelope->scan, line, ret);
}

/* "application_1772600000000_0001/driver": streams hold the records of many processes. */
static struct pyro_slice name_source(struct pyro_log_envelope *envelope, const struct pyro_logger_record *record,
                                     struct pyro_enveloped_line *ret)
{
    const struct pyro_slice *application = &record->parts[PYRO_PART_APPLICATION];
    const struct pyro_slice *executor = &record->parts[PYRO_PART_EXECUTOR];
    struct pyro_strbuf *out = &envelope->source;
    pyro_strbuf_clear(out);
    pyro_text_decode(out, *application, NULL);
    size_t len = out->len;
    if (len > 0 && executor->len > 0)
        pyro_strbuf_add_char(out, '/');
    size_t from = out->len;
    pyro_text_decode(out, *executor, NULL);
    struct pyro_slice all = pyro_strbuf_slice(out);
    if (len > 0)
        ret->application = (struct pyro_slice){all.ptr, len};
    if (executor->len > 0 && all.len > from)
        ret->executor = (struct pyro_slice){all.ptr + from, all.len - from};
    return executor->len > 0 ? all : PYRO_SLICE_NULL;
}

static bool open_record(struct pyro_log_envelope *envelope, struct pyro_slice line, struct pyro_enveloped_line *ret)
{
    struct pyro_logger_record record;
    size_t room = line.len + PYRO_SCAN_PADDING;
    if (line.len == 0 || (*line.ptr != '{' && *line.ptr != ']')) /* "]" ends an array of lines */
        return false;
    pyro_strbuf_clear(&envelope->inner);
    pyro_strbuf_clear(&envelope->text);
    if (!pyro_strbuf_reserve(&envelope->inner, room)) {
        envelope->text.failed = true;
        return false;
    }
    ret->left_out = !pyro_logger_record_read(envelope->scan, line, envelope->inner.data, room, &record) ||
                    !pyro_logger_record_is_log(&record);
    if (ret->left_out)
        return true;
    pyro_logger_record_write(&record, &envelope->text);
    ret->text = pyro_strbuf_slice(&envelope->text);
    ret->container = name_source(envelope, &record, ret);
    ret->host = record.parts[PYRO_PART_HOST];
    envelope->text.failed |= envelope->source.failed;
    return true;
}

/* ---- Envelopes --------------------------------------------------------------------------------------------------- */

void pyro_log_envelope_init(struct pyro_log_envelope *envelope, const struct pyro_allocator *allocator)
{
    *envelope = (struct pyro_log_envelope){.kind = PYRO_ENVELOPE_NONE, .scan = pyro_scan_best()};
    pyro_strbuf_init(&envelope->text, allocator);
    pyro_strbuf_init(&envelope->inner, allocator);
    pyro_strbuf_init(&envelope->source, allocator);
}

void pyro_log_envelope_done(struct pyro_log_envelope *envelope)
{
    pyro_strbuf_done(&envelope->text);
    pyro_strbuf_done(&envelope->inner);
    pyro_strbuf_done(&envelope->source);
}

static bool open_cri(struct pyro_slice line, struct pyro_enveloped_line *ret)
{
    struct pyro_cri_line cri;
    if (!pyro_cri_line_read(line, &cri))
        return false;
    *ret = (struct pyro_enveloped_line){
        .time_ms = cri.time_ms, .error_stream = cri.error_stream, .partial = cri.partial, .text = cri.text};
    return true;
}

enum pyro_envelope_kind pyro_log_envelope_find(struct pyro_log_envelope *envelope, struct pyro_slice head,
                                               const struct pyro_log_pattern *own)
{
    const struct pyro_scan *scan = pyro_scan_best();
    struct pyro_slice rest = head, first = PYRO_SLICE_LITERAL("");
    struct pyro_enveloped_line line;
    while (first.len == 0 && pyro_next_line(&rest, &first))
        continue;
    envelope->nested = false;
    memset(envelope->fixed, 0, sizeof(envelope->fixed));
    if (open_cri(first, &line))
        envelope->kind = PYRO_ENVELOPE_CRI;
    else if (find_json(scan, head, own))
        envelope->kind = PYRO_ENVELOPE_JSON;
    else if (find_records(scan, head))
        envelope->kind = PYRO_ENVELOPE_RECORD;
    else
        envelope->kind = find_prefix(envelope, head, own) ? PYRO_ENVELOPE_PREFIX : PYRO_ENVELOPE_NONE;
    return envelope->kind;
}

bool pyro_log_envelope_open(struct pyro_log_envelope *envelope, struct pyro_slice line, struct pyro_enveloped_line *ret)
{
    *ret = (struct pyro_enveloped_line){.time_ms = PYRO_NONE, .text = line};
    switch (envelope->kind) {
    case PYRO_ENVELOPE_CRI:
        return open_cri(line, ret);
    case PYRO_ENVELOPE_JSON:
        return open_json(envelope, line, ret);
    case PYRO_ENVELOPE_RECORD:
        return open_record(envelope, line, ret);
    case PYRO_ENVELOPE_PREFIX:
        return open_prefix(envelope, line, ret);
    default:
        return false;
    }
}
