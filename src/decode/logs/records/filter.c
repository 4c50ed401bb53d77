#include "decode/logs/records/filter.h"

#include <stdio.h>

#include "base/numbers/calendar.h"
#include "decode/logs/named_task.h"
#include "model/column.h"
#include "model/exception_chain.h"

enum { MATCH_LIMIT = 200000, HEAP_KIB = 4096, EXPRESSION_BYTES = 4096 };

void pyro_log_filter_init(struct pyro_log_filter *filter)
{
    *filter = (struct pyro_log_filter){.since_ms = PYRO_NONE, .until_ms = PYRO_NONE, .stage = PYRO_NONE};
}

void pyro_log_filter_done(struct pyro_log_filter *filter)
{
    pyro_pattern_free(filter->pattern);
    pcre2_match_data_free(filter->found);
    pcre2_match_context_free(filter->limits);
}

enum pyro_status pyro_log_filter_grep(struct pyro_log_filter *filter, const char *expression, struct pyro_error *error)
{
    bool no_memory = false;
    size_t len = strlen(expression);
    if (len > EXPRESSION_BYTES)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the regular expression is longer than %d bytes",
                              EXPRESSION_BYTES);
    filter->pattern = pyro_pattern_new(expression, len, PCRE2_MULTILINE, &no_memory);
    filter->found = pcre2_match_data_create(1, NULL);
    filter->limits = pcre2_match_context_create(NULL);
    if (no_memory || !filter->found || !filter->limits)
        return pyro_no_memory(error);
    if (!filter->pattern)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "'%s' is not a regular expression", expression);
    pcre2_set_match_limit(filter->limits, MATCH_LIMIT);
    pcre2_set_heap_limit(filter->limits, HEAP_KIB);
    return PYRO_OK;
}

static bool matches(struct pyro_log_filter *filter, struct pyro_slice text)
{
    int result = pcre2_match(pyro_pattern_code(filter->pattern), (PCRE2_SPTR)text.ptr, text.len, 0, 0, filter->found,
                             filter->limits);
    filter->undecided += result < 0 && result != PCRE2_ERROR_NOMATCH;
    return result >= 0;
}

bool pyro_log_filter_passes(struct pyro_log_filter *filter, const struct pyro_log_file *file,
                            const struct pyro_log_record *record)
{
    enum pyro_log_level level = record->level;
    if (filter->level != PYRO_LEVEL_NONE && level == PYRO_LEVEL_NONE && pyro_begins_exception(record->message))
        level = PYRO_LEVEL_ERROR;
    if (level < filter->level)
        return false;
    if (filter->since_ms != PYRO_NONE && (record->time_ms == PYRO_NONE || record->time_ms < filter->since_ms))
        return false;
    if (filter->until_ms != PYRO_NONE && (record->time_ms == PYRO_NONE || record->time_ms > filter->until_ms))
        return false;
    if (!filter->whole_runs) {
        if (filter->executor.ptr && !pyro_slice_eq(filter->executor, file->executor))
            return false;
        if (filter->stage != PYRO_NONE && pyro_log_stage_of(record) != filter->stage)
            return false;
    }
    return !filter->pattern || matches(filter, record->text);
}

bool pyro_log_filter_time(const char *text, int64_t offset_s, int64_t *ret_ms)
{
    enum { DAY = 10, MINUTE = 16 };
    char whole[64];
    size_t len = strlen(text);
    bool zoned;
    /* A day begins at midnight, a minute at its first second. */
    const char *rest = len == DAY ? " 00:00:00" : len == MINUTE ? ":00" : "";
    int made = snprintf(whole, sizeof(whole), "%s%s", text, rest);
    if (made < 0 || (size_t)made >= sizeof(whole))
        return false;
    size_t used = pyro_date_time_read(pyro_slice_from(whole), ret_ms, &zoned);
    if (used == 0 || used != strlen(whole))
        return false;
    *ret_ms -= zoned ? 0 : offset_s * 1000; /* cannot overflow: a day of some year below 10,000 */
    return true;
}
