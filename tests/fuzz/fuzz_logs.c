/* Text logs: whatever the lines are, they become records whose texts lie in the input, errors, and a timeline. */
#include "decode/logs/errors.h"
#include "decode/logs/layout.h"
#include "decode/logs/records/records.h"
#include "decode/logs/timeline/timeline.h"
#include "fuzz_kit.h"
#include "model/column.h"

struct state {
    struct pyro_log_errors *errors;
    struct pyro_line_timeline *timeline;
    uint64_t lines;
};

static enum pyro_status take(void *context, const struct pyro_log_file *file, const struct pyro_log_record *record,
                             struct pyro_error *error)
{
    struct state *state = context;
    FUZZ_CHECK(record->text.ptr && record->message.ptr && record->lines > 0);
    state->lines += record->lines;
    PYRO_TRY(pyro_log_errors_take(state->errors, file, record, error));
    return pyro_line_timeline_take(state->timeline, file, record, error);
}

/* `copies`: as lines with prefixes are read. */
static void read_lines(const char *text, size_t size, bool copies, const struct pyro_log_pattern *pattern,
                       struct state *state)
{
    struct pyro_log_assembler assembler;
    struct pyro_log_counts counts = {0};
    struct pyro_log_file file = pyro_log_file_of(PYRO_SLICE_LITERAL("work/app-20240301101500-0000/3/stderr"));
    uint64_t number = 0;
    pyro_log_file_look(&file, (struct pyro_slice){text, size});
    pyro_log_assembler_init(&assembler, NULL);
    assembler.take = take;
    assembler.context = state;
    assembler.counts = &counts;
    assembler.file = &file;
    assembler.copies = copies;
    assembler.pattern = pattern;
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(text + at, '\n', size - at);
        struct pyro_slice line = {text + at, newline ? (size_t)(newline - text) - at : size - at};
        struct pyro_cri_line cri;
        struct pyro_yarn_frame frame;
        pyro_cri_line_read(line, &cri);
        pyro_yarn_line_read(line, &frame);
        FUZZ_CHECK(pyro_log_assembler_line(&assembler, line, (int64_t)at, ++number, PYRO_NONE, NULL) == PYRO_OK);
        at += line.len + 1;
    }
    FUZZ_CHECK(pyro_log_assembler_end_file(&assembler, NULL) == PYRO_OK);
    pyro_log_assembler_done(&assembler);
    FUZZ_CHECK(state->lines <= number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct state state = {0};
    const struct pyro_log_error *errors;
    struct pyro_line_result result;
    const struct pyro_line_filter filter = {.stage = PYRO_NONE};
    struct pyro_log_pattern *pattern = NULL;
    size_t count;
    uint64_t other;
    if (size > FUZZ_TEXT_LIMIT)
        return 0;
    char *text = fuzz_guarded_copy(data, size, '"');
    FUZZ_CHECK(pyro_log_errors_new(NULL, PYRO_REDACT_WIDE, &state.errors, NULL) == PYRO_OK);
    FUZZ_CHECK(pyro_line_timeline_new(NULL, PYRO_REDACT_WIDE, &state.timeline, NULL) == PYRO_OK);
    FUZZ_CHECK(pyro_log_pattern_new("%-5p|%d{dd MMM yy HH:mm:ss.SSSXX}|%t|%c: %m%n", NULL, &pattern, NULL) == PYRO_OK);
    pyro_log_content_of((struct pyro_slice){text, size}, pattern);
    read_lines(text, size, size % 2 != 0, pattern, &state);
    FUZZ_CHECK(pyro_log_errors_finish(state.errors, &errors, &count, &other, NULL) == PYRO_OK);
    FUZZ_CHECK(pyro_line_timeline_finish(state.timeline, &filter, &result, NULL) == PYRO_OK);
    for (size_t i = 0; i < result.active_count; i++)
        FUZZ_CHECK(result.active[i].tasks >= 0 && (i == 0 || result.active[i].time_ms > result.active[i - 1].time_ms));
    pyro_log_pattern_free(pattern);
    pyro_log_errors_free(state.errors);
    pyro_line_timeline_free(state.timeline);
    /* A pattern that anybody gave. */
    char own[200];
    size_t len = size < sizeof(own) - 1 ? size : sizeof(own) - 1;
    memcpy(own, text, len);
    own[len] = '\0';
    if (pyro_log_pattern_new(own, NULL, &pattern, NULL) == PYRO_OK) {
        struct pyro_log_header header;
        pyro_log_pattern_read(pattern, (struct pyro_slice){text, size}, &header);
        pyro_log_pattern_free(pattern);
    }
    return 0;
}
