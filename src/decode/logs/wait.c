#include "decode/logs/wait.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/allocator.h"
#include "base/strings/pattern.h"
#include "model/column.h"

/* Only the begin of a message is read; a longer one does not state a wait. */
enum { MESSAGE_BYTES = 600, MATCH_LIMIT = 20000, HEAP_KIB = 64, DIGITS_MOST = 12, GROUPS = 3 };
#define NS_PER_MS 1e6
#define HOUR_NS   3.6e12

/* Spark's shuffle client, Hadoop's clients, tenacity and other libraries of Python, and programs in these words. */
static const char expression[] = "\\b(?:retry(?:ing)?|sleep(?:ing)?|back(?:ing)?[ -]?off)\\b[^\\n]*?"
                                 "\\b(?:after|in|for|of|sleepTime=) ?(?:delay of |another )?(\\d+(?:\\.\\d+)?) ?"
                                 "(ms|msec|millis(?:econds)?|s|secs?|seconds?|m|mins?|minutes?)\\b(?! ago)";

struct pyro_log_waits {
    const struct pyro_allocator *allocator;
    struct pyro_pattern *pattern;
    pcre2_match_data *found;
    pcre2_match_context *limits;
};

void pyro_log_waits_free(struct pyro_log_waits *waits)
{
    if (!waits)
        return;
    pyro_pattern_free(waits->pattern);
    pcre2_match_data_free(waits->found);
    pcre2_match_context_free(waits->limits);
    pyro_release(waits->allocator, waits);
}

struct pyro_log_waits *pyro_log_waits_new(const struct pyro_allocator *allocator)
{
    bool no_memory = false;
    struct pyro_log_waits *waits = pyro_allocate(allocator, sizeof(*waits));
    if (!waits)
        return NULL;
    *waits = (struct pyro_log_waits){
        .allocator = allocator,
        .pattern = pyro_pattern_new(expression, sizeof(expression) - 1, PCRE2_CASELESS, &no_memory),
        .found = pcre2_match_data_create(GROUPS, NULL),
        .limits = pcre2_match_context_create(NULL),
    };
    if (!waits->pattern || !waits->found || !waits->limits) {
        pyro_log_waits_free(waits);
        return NULL;
    }
    pcre2_set_match_limit(waits->limits, MATCH_LIMIT);
    pcre2_set_heap_limit(waits->limits, HEAP_KIB);
    return waits;
}

/* Most messages say nothing of the kind: a search for four short texts costs less than the expression. */
static bool is_possible(struct pyro_slice message)
{
    static const char *const parts[] = {"etry", "leep", "off", NULL};
    for (const char *const *part = parts; *part; part++)
        if (pyro_slice_find(message, *part))
            return true;
    return false;
}

static double unit_ms(struct pyro_slice unit)
{
    char first = (char)(unit.ptr[0] | 0x20), second = (char)(unit.len > 1 ? unit.ptr[1] | 0x20 : 0);
    if (first == 's')
        return 1000;
    if (unit.len == 1 || (second == 'i' && unit.len > 2 && (unit.ptr[2] | 0x20) == 'n'))
        return 60000; /* m, min, minutes */
    return 1;
}

int64_t pyro_log_wait_ns(struct pyro_log_waits *waits, struct pyro_slice message)
{
    char number[DIGITS_MOST + 1];
    if (message.len > MESSAGE_BYTES)
        message.len = MESSAGE_BYTES;
    if (!is_possible(message) || pcre2_match(pyro_pattern_code(waits->pattern), (PCRE2_SPTR)message.ptr, message.len, 0,
                                             0, waits->found, waits->limits) < GROUPS)
        return PYRO_NONE;
    const size_t *at = pcre2_get_ovector_pointer(waits->found);
    size_t len = at[3] - at[2];
    if (len > DIGITS_MOST)
        return PYRO_NONE;
    memcpy(number, message.ptr + at[2], len);
    number[len] = '\0';
    double ns = strtod(number, NULL) * unit_ms((struct pyro_slice){message.ptr + at[4], at[5] - at[4]}) * NS_PER_MS;
    return (int64_t)(ns < HOUR_NS ? ns : HOUR_NS);
}
