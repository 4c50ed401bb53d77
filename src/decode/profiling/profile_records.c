#include "decode/profiling/profile_records.h"

#include <string.h>

#include "base/json/unescape.h"

struct pyro_slice pyro_profile_take_text(struct pyro_profile_records *records, struct pyro_json_reader *json)
{
    enum { COUNT = sizeof(records->scratch) / sizeof(*records->scratch) };
    struct pyro_slice text = PYRO_SLICE_NULL;
    bool plain = true;
    if (!pyro_json_take_string(json, &text, &plain) || !text.ptr || plain)
        return text;
    if (records->scratch_used == COUNT) /* a key that is given again and again */
        return PYRO_SLICE_NULL;
    struct pyro_strbuf *scratch = &records->scratch[records->scratch_used++];
    pyro_strbuf_clear(scratch);
    pyro_text_decode(scratch, text, NULL);
    records->no_memory |= scratch->failed;
    return pyro_strbuf_slice(scratch);
}

void pyro_profile_take_number(struct pyro_json_reader *json, double *value)
{
    struct pyro_slice text;
    if (pyro_json_peek(json) == '"')
        pyro_json_take_string(json, &text, NULL);
    else
        pyro_json_take_double(json, value);
}

int64_t pyro_profile_pid_of_name(struct pyro_slice name)
{
    int64_t pid = 0;
    size_t i = 0;
    for (; i < name.len && i < 18 && name.ptr[i] >= '0' && name.ptr[i] <= '9'; i++)
        pid = pid * 10 + (name.ptr[i] - '0');
    return i > 0 && i < name.len && name.ptr[i] == '@' ? pid : PYRO_NONE;
}

/* ---- Which record it is ------------------------------------------------------------------------------------------ */

typedef void take_record(struct pyro_profile_records *records, struct pyro_json_reader *json);

/* By a key that only this kind of record has, quotes and colon included. The first one counts. */
static const struct {
    const char *key;
    take_record *take;
} record_kinds[] = {
    {"\"stacktrace\":", pyro_profile_stack_record},     {"\"heapMemoryTotalUsed\":", pyro_profile_memory_record},
    {"\"pmem_rss\":", pyro_profile_worker_record},      {"\"self\":", pyro_profile_process_record},
    {"\"agentVersion\":", pyro_profile_process_record},
};

static take_record *kind_of(struct pyro_slice record)
{
    for (size_t i = 0; i < sizeof(record_kinds) / sizeof(*record_kinds); i++)
        if (pyro_slice_find(record, record_kinds[i].key))
            return record_kinds[i].take;
    return NULL;
}

/* The JSON object of a line: it begins the line, or follows what the console reporter writes before it. */
static struct pyro_slice object_of(struct pyro_slice line)
{
    size_t skipped = 0;
    if (line.len == 0 || line.ptr[0] != '{') {
        const char *reporter = pyro_slice_find(line, "ConsoleOutputReporter - ");
        const char *open = reporter ? memchr(reporter, '{', (size_t)(line.ptr + line.len - reporter)) : NULL;
        if (!open)
            return PYRO_SLICE_NULL;
        skipped = (size_t)(open - line.ptr);
    }
    return (struct pyro_slice){line.ptr + skipped, line.len - skipped};
}

static bool take_line(void *context, struct pyro_slice line)
{
    struct pyro_profile_records *records = context;
    struct pyro_profile_facts *facts = records->reading->facts;
    struct pyro_slice object = object_of(line);
    if (!object.ptr) /* other output of the process */
        return true;
    take_record *take = kind_of(object);
    if (!take) {
        facts->other++;
        return true;
    }
    struct pyro_json_reader json;
    records->scratch_used = 0;
    pyro_json_reader_start(&json, object.ptr, object.ptr + object.len, records->scan);
    take(records, &json);
    if (json.error)
        facts->rejected++;
    else
        facts->records++;
    return !records->no_memory;
}

enum pyro_status pyro_profile_decode_records(struct pyro_profile_reading *reading)
{
    enum { SCRATCH = sizeof(((struct pyro_profile_records *)0)->scratch) / sizeof(struct pyro_strbuf) };
    struct pyro_profile_records records = {.reading = reading, .scan = pyro_scan_best()};
    for (unsigned i = 0; i < SCRATCH; i++)
        pyro_strbuf_init(&records.scratch[i], reading->allocator);
    records.known = pyro_string_pool_new(reading->allocator);
    enum pyro_status status =
        records.known ? pyro_profile_lines(reading, take_line, &records) : pyro_no_memory(reading->error);
    pyro_string_pool_release(records.known);
    pyro_vec_done(&records.stacks, reading->allocator);
    pyro_vec_done(&records.frames, reading->allocator);
    for (unsigned i = 0; i < SCRATCH; i++)
        pyro_strbuf_done(&records.scratch[i]);
    return status;
}
