#include "decode/logs/named_task.h"

#include "model/column.h"

enum { LOOKED_AT = 1024 };

size_t pyro_log_number_read(struct pyro_slice text, int64_t *ret)
{
    enum { DIGITS_MOST = 18 };
    int64_t value = 0;
    size_t n = 0;
    for (; n < text.len && (unsigned char)(text.ptr[n] - '0') < 10; n++) {
        if (n == DIGITS_MOST)
            return 0;
        value = value * 10 + (text.ptr[n] - '0');
    }
    if (n > 0)
        *ret = value;
    return n;
}

static struct pyro_slice beginning(struct pyro_slice text)
{
    return (struct pyro_slice){text.ptr, text.len < LOOKED_AT ? text.len : LOOKED_AT};
}

/* "0.1": both numbers; "3": the second is 0. */
static size_t read_pair(struct pyro_slice text, int64_t *first, int64_t *second)
{
    size_t n = pyro_log_number_read(text, first);
    *second = 0;
    if (n == 0 || n + 1 >= text.len || text.ptr[n] != '.')
        return n;
    size_t more = pyro_log_number_read((struct pyro_slice){text.ptr + n + 1, text.len - n - 1}, second);
    return more ? n + 1 + more : n;
}

/* Behind " in stage ": "3.0 (TID 12". */
static bool read_stage(struct pyro_slice text, size_t at, struct pyro_log_task *ret)
{
    static const char mark[] = " (TID ";
    size_t n = read_pair((struct pyro_slice){text.ptr + at, text.len - at}, &ret->stage, &ret->stage_attempt);
    at += n;
    if (n == 0 || text.len - at < sizeof(mark) || memcmp(text.ptr + at, mark, sizeof(mark) - 1) != 0)
        return false;
    at += sizeof(mark) - 1;
    n = pyro_log_number_read((struct pyro_slice){text.ptr + at, text.len - at}, &ret->tid);
    ret->end = at + n;
    return n > 0;
}

bool pyro_log_task_read(struct pyro_slice text, struct pyro_log_task *ret)
{
    static const char mark[] = " in stage ";
    struct pyro_slice rest = beginning(text);
    const char *found;
    while ((found = pyro_slice_find(rest, mark)) != NULL) {
        const char *begin = found;
        while (begin > text.ptr && (begin[-1] == '.' || (unsigned char)(begin[-1] - '0') < 10))
            begin--;
        size_t n = read_pair((struct pyro_slice){begin, (size_t)(found - begin)}, &ret->index, &ret->attempt);
        if (n > 0 && begin - text.ptr >= 5 && memcmp(begin - 4, "ask ", 4) == 0 &&
            read_stage(text, (size_t)(found - text.ptr) + sizeof(mark) - 1, ret))
            return true;
        size_t used = (size_t)(found - rest.ptr) + sizeof(mark) - 1;
        rest = (struct pyro_slice){rest.ptr + used, rest.len - used};
    }
    return false;
}

bool pyro_log_mdc_read(struct pyro_slice text, struct pyro_log_task *ret)
{
    if (pyro_log_task_read(text, ret))
        return true;
    int64_t tid;
    if (text.len == 0 || pyro_log_number_read(text, &tid) != text.len)
        return false;
    *ret = (struct pyro_log_task){.index = PYRO_NONE,
                                  .attempt = PYRO_NONE,
                                  .stage = PYRO_NONE,
                                  .stage_attempt = PYRO_NONE,
                                  .tid = tid,
                                  .end = text.len};
    return true;
}

bool pyro_log_task_of(const struct pyro_log_record *record, struct pyro_log_task *ret)
{
    return pyro_log_mdc_read(record->task_name, ret) || pyro_log_task_read(record->thread, ret) ||
           pyro_log_task_read(record->message, ret);
}

/* The number behind a word that names a stage. */
static int64_t stage_in(struct pyro_slice text)
{
    static const char *const words[] = {"tage ", "askSet ", "task set "};
    text = beginning(text);
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        struct pyro_slice rest = text;
        const char *found;
        while ((found = pyro_slice_find(rest, words[i])) != NULL) {
            int64_t stage;
            size_t used = (size_t)(found - rest.ptr) + strlen(words[i]);
            rest = (struct pyro_slice){rest.ptr + used, rest.len - used};
            if (pyro_log_number_read(rest, &stage) > 0)
                return stage;
        }
    }
    return PYRO_NONE;
}

int64_t pyro_log_stage_of(const struct pyro_log_record *record)
{
    struct pyro_log_task task;
    return pyro_log_task_of(record, &task) && task.stage != PYRO_NONE ? task.stage : stage_in(record->message);
}
