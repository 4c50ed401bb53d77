#include "model/failure_kinds.h"

#include <stdint.h>
#include <string.h>

#include "model/failure_text.h"

enum { REMOVAL_TEXTS_MAX = 12, CAUSE_TEXTS_MAX = 16 };

#define PYRO_ENDED(id) (UINT32_C(1) << PYRO_REMOVAL_##id)
static const struct {
    const char *name;
    uint32_t ends;
    const char *texts[CAUSE_TEXTS_MAX];
} log_causes[] = {
#define PYRO_LOG_CAUSE(name, ends, ...) {name, ends, {__VA_ARGS__}},
#include "model/failure_kinds.def"
#undef PYRO_LOG_CAUSE
};

enum pyro_failure_kind pyro_failure_kind(struct pyro_slice name, struct pyro_slice message)
{
    static const char *const texts[] = {
#define PYRO_FAILURE_KIND(id, text) text,
#include "model/failure_kinds.def"
#undef PYRO_FAILURE_KIND
    };
    int kind = 0;
    while (kind < PYRO_FAILURE_OTHER && !pyro_slice_find(name, texts[kind]) && !pyro_slice_find(message, texts[kind]))
        kind++;
    return (enum pyro_failure_kind)kind;
}

static bool has_any(struct pyro_slice reason, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pyro_slice_find(reason, texts[i]))
            return true;
    return false;
}

bool pyro_failure_is_consequence(struct pyro_slice reason)
{
    static const char *const texts[] = {
#define PYRO_FAILURE_CONSEQUENCE(text) text,
#include "model/failure_kinds.def"
#undef PYRO_FAILURE_CONSEQUENCE
    };
    return has_any(reason, texts, sizeof(texts) / sizeof(texts[0]));
}

bool pyro_failure_is_loss(struct pyro_slice reason)
{
    static const char *const texts[] = {
#define PYRO_FAILURE_LOSS(text) text,
#include "model/failure_kinds.def"
#undef PYRO_FAILURE_LOSS
    };
    return has_any(reason, texts, sizeof(texts) / sizeof(texts[0]));
}

enum pyro_removal_kind pyro_removal_kind(struct pyro_slice reason)
{
    static const struct {
        int code, other_code;
        const char *texts[REMOVAL_TEXTS_MAX];
    } kinds[] = {
#define PYRO_REMOVAL_KIND(id, code, other, ...) {code, other, {__VA_ARGS__}},
#include "model/failure_kinds.def"
#undef PYRO_REMOVAL_KIND
    };
    int code = pyro_exit_code(reason);
    for (int kind = 0; kind < PYRO_REMOVAL_OTHER; kind++) {
        if (code != 0 && (kinds[kind].code == code || kinds[kind].other_code == code))
            return (enum pyro_removal_kind)kind;
        for (size_t i = 0; i < REMOVAL_TEXTS_MAX && kinds[kind].texts[i]; i++)
            if (pyro_text_has(reason, kinds[kind].texts[i]))
                return (enum pyro_removal_kind)kind;
    }
    return PYRO_REMOVAL_OTHER;
}

bool pyro_removal_is_decommission(struct pyro_slice reason, bool *ret_own)
{
    *ret_own = pyro_text_has(reason, "spark scale down");
    return pyro_text_has(reason, "decommission");
}

bool pyro_removal_is_ordinary(struct pyro_slice reason)
{
    static const char *const texts[] = {
#define PYRO_REMOVAL_ORDINARY(text) text,
#include "model/failure_kinds.def"
#undef PYRO_REMOVAL_ORDINARY
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (pyro_text_has(reason, texts[i]))
            return true;
    /* YARN: by the application master, after the application's end */
    enum { KILLED_BY_APPMASTER = -105, KILLED_AFTER_APP_COMPLETION = -107 };
    int code = pyro_exit_code(reason);
    return reason.len == 0 || code == 0 || code == KILLED_BY_APPMASTER || code == KILLED_AFTER_APP_COMPLETION;
}

enum pyro_shortage pyro_shortage_of(struct pyro_slice name, struct pyro_slice message)
{
    bool spark = pyro_text_has(name, "SparkOutOfMemoryError") || pyro_text_has(message, "SparkOutOfMemoryError") ||
                 pyro_text_has(message, "bytes of memory, got");
    if (spark)
        return PYRO_SHORTAGE_EXECUTION;
    if (!pyro_text_has(name, "OutOfMemoryError") && !pyro_text_has(message, "java.lang.OutOfMemoryError"))
        return PYRO_SHORTAGE_NONE;
    if (pyro_text_has(message, "metaspace"))
        return PYRO_SHORTAGE_METASPACE;
    if (pyro_text_has(message, "direct buffer memory") || pyro_text_has(message, "direct memory"))
        return PYRO_SHORTAGE_DIRECT;
    return pyro_text_has(message, "native thread") ? PYRO_SHORTAGE_THREADS : PYRO_SHORTAGE_HEAP;
}

bool pyro_tells_an_end(struct pyro_slice text)
{
    const uint32_t telling = PYRO_ENDED(VIRTUAL_MEMORY) | PYRO_ENDED(CONTAINER_MEMORY) | PYRO_ENDED(HEAP_MEMORY) |
                             PYRO_ENDED(EVICTED) | PYRO_ENDED(PREEMPTED) | PYRO_ENDED(NODE_LOST) |
                             PYRO_ENDED(SEGFAULT) | PYRO_ENDED(KILLED) | PYRO_ENDED(TERMINATED) | PYRO_ENDED(ABORTED) |
                             PYRO_ENDED(DISK_FULL) | PYRO_ENDED(PROCESS_FAILED) | PYRO_ENDED(DEADLINE);
    /* Most lines have none of these, and searching them without regard to case takes long. */
    bool process = pyro_slice_find(text, "ontainer") || pyro_slice_find(text, "xecutor");
    bool ended = process && (pyro_slice_find(text, "xit status") || pyro_slice_find(text, "xit code") ||
                             pyro_slice_find(text, "exited with") || pyro_slice_find(text, "killed by"));
    return ended && !pyro_removal_is_ordinary(text) && (UINT32_C(1) << pyro_removal_kind(text) & telling) != 0;
}

struct pyro_slice pyro_evicted_resource(struct pyro_slice reason)
{
    static const char mark[] = "low on resource: ";
    const char *at = reason.ptr ? pyro_slice_find(reason, mark) : NULL;
    if (!at)
        return pyro_text_has(reason, "ephemeral") ? PYRO_SLICE_LITERAL("ephemeral-storage") : PYRO_SLICE_NULL;
    struct pyro_slice rest = {at + strlen(mark), reason.len - (size_t)(at - reason.ptr) - strlen(mark)};
    size_t len = 0;
    while (len < rest.len && !strchr(".,; \n", rest.ptr[len]))
        len++;
    return (struct pyro_slice){rest.ptr, len};
}

const char *pyro_log_cause(struct pyro_slice text)
{
    uint32_t ended = UINT32_C(1) << pyro_removal_kind(text);
    for (size_t row = 0; row < sizeof(log_causes) / sizeof(*log_causes); row++) {
        if (log_causes[row].ends & ended)
            return log_causes[row].name;
        for (size_t i = 0; i < CAUSE_TEXTS_MAX && log_causes[row].texts[i]; i++)
            if (pyro_slice_find(text, log_causes[row].texts[i]))
                return log_causes[row].name;
    }
    return NULL;
}
