/* Messages of any bytes, one a line: masked texts stay within their limits and valid UTF-8, the same message has the
 * same template, and chunks account for each record once; the exact form for each line with a level. */
#include "decode/logs/repeats/chunks.h"
#include "decode/logs/repeats/mask.h"
#include "decode/logs/repeats/templates.h"
#include "fuzz_kit.h"
#include "model/column.h"

static void check_mask(struct pyro_slice message)
{
    struct pyro_masked masked;
    pyro_mask(message, &masked);
    FUZZ_CHECK(masked.len <= PYRO_MASK_BYTES + strlen(PYRO_MASK));
    FUZZ_CHECK(masked.stage == PYRO_NONE || (masked.stage >= 0 && masked.stage <= INT32_MAX));
    if (fuzz_is_utf8(message.ptr, message.len))
        FUZZ_CHECK(fuzz_is_utf8(masked.text, masked.len));
}

static void check_template(struct pyro_templates *templates, const struct pyro_log_record *record)
{
    struct pyro_template template;
    int32_t id = pyro_templates_id(templates, record);
    FUZZ_CHECK(id >= 0 && (size_t)id < pyro_templates_count(templates));
    FUZZ_CHECK(pyro_templates_id(templates, record) == id);
    FUZZ_CHECK(pyro_templates_get(templates, id, &template) && template.count >= 2);
}

/* How many lines or records the chunks account for. */
static uint64_t count_of(struct pyro_chunks *chunks)
{
    const struct pyro_log_chunk *found;
    size_t count;
    uint64_t sum = 0;
    double share = 0;
    FUZZ_CHECK(pyro_chunks_finish(chunks, &found, &count, NULL) == PYRO_OK);
    for (size_t i = 0; i < count; i++) {
        sum += found[i].count * found[i].line_count;
        share += found[i].share;
        for (size_t k = 0; k < found[i].line_count; k++)
            FUZZ_CHECK(found[i].lines[k].ptr);
    }
    FUZZ_CHECK(share < 1.000001 && (sum == 0 || share > 0.999999));
    pyro_chunks_free(chunks);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > FUZZ_TEXT_LIMIT)
        return 0;
    const char *p = fuzz_guarded_copy(data, size, 'x'), *end = p + size;
    struct pyro_templates *templates = pyro_templates_new(NULL);
    struct pyro_chunks *mined, *exact;
    struct pyro_chunks_options options = {.exact = true}, none = {.by = PYRO_CHUNKS_BY_STAGE};
    FUZZ_CHECK(templates && pyro_chunks_new(NULL, &none, &mined, NULL) == PYRO_OK);
    FUZZ_CHECK(pyro_chunks_new(NULL, &options, &exact, NULL) == PYRO_OK);
    struct pyro_log_file file = {.path = PYRO_SLICE_LITERAL("stderr")};
    uint64_t lines = 0;
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline ? newline : end;
        struct pyro_slice line = {p, (size_t)(stop - p)};
        struct pyro_log_record record = {
            .time_ms = PYRO_NONE, .logger = {p, line.len < 3 ? line.len : 3}, .task_name = line, .message = line};
        check_mask(line);
        check_template(templates, &record);
        FUZZ_CHECK(pyro_chunks_take(mined, &file, &record, NULL) == PYRO_OK);
        FUZZ_CHECK(pyro_chunks_take_line(exact, line, NULL) == PYRO_OK);
        lines++;
        p = newline ? newline + 1 : end;
    }
    FUZZ_CHECK(count_of(mined) == lines);
    FUZZ_CHECK(count_of(exact) <= lines);
    pyro_templates_free(templates);
    return 0;
}
