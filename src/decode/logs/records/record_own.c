/* Headers by a user's pattern in the language of log4j's PatternLayout. */
#include "base/memory/allocator.h"
#include "base/numbers/calendar.h"
#include "decode/logs/records/header.h"
#include "model/column.h"

enum { ITEMS_MOST = 64, PATTERN_MOST = 1024, FRACTION_MOST = 9 };

enum kind {
    KIND_LITERAL,
    KIND_TIME,
    KIND_LEVEL,
    KIND_LOGGER,
    KIND_THREAD,
    KIND_TASK,
    KIND_MESSAGE,
    KIND_OTHER,
    KIND_END
};

struct item {
    enum kind kind;
    struct pyro_slice text; /* of a literal, or the form of a time */
    bool padded;            /* to a width: blanks on either side */
    bool zoned;             /* a time whose zone the pattern says */
    int64_t zone_s;
};

struct pyro_log_pattern {
    const struct pyro_allocator *allocator;
    struct item items[ITEMS_MOST];
    size_t count;
    char text[PATTERN_MOST];
};

/* ---- Reading the pattern ----------------------------------------------------------------------------------------- */

struct name {
    const char *name;
    enum kind kind;
};

/* Longer names before those that they begin with. */
static const struct name names[] = {
    {"date", KIND_TIME},
    {"d", KIND_TIME},
    {"level", KIND_LEVEL},
    {"p", KIND_LEVEL},
    {"logger", KIND_LOGGER},
    {"c", KIND_LOGGER},
    {"threadName", KIND_THREAD},
    {"threadId", KIND_OTHER},
    {"threadPriority", KIND_OTHER},
    {"thread", KIND_THREAD},
    {"throwable", KIND_END},
    {"tn", KIND_THREAD},
    {"tid", KIND_OTHER},
    {"tp", KIND_OTHER},
    {"t", KIND_THREAD},
    {"T", KIND_OTHER},
    {"message", KIND_MESSAGE},
    {"msg", KIND_MESSAGE},
    {"method", KIND_OTHER},
    {"mdc", KIND_TASK},
    {"MDC", KIND_TASK},
    {"m", KIND_MESSAGE},
    {"M", KIND_OTHER},
    {"xEx", KIND_END},
    {"xThrowable", KIND_END},
    {"xException", KIND_END},
    {"x", KIND_OTHER},
    {"X", KIND_TASK},
    {"NDC", KIND_OTHER},
    {"exception", KIND_END},
    {"ex", KIND_END},
    {"rEx", KIND_END},
    {"rThrowable", KIND_END},
    {"rException", KIND_END},
    {"relative", KIND_OTHER},
    {"r", KIND_OTHER},
    {"class", KIND_OTHER},
    {"C", KIND_OTHER},
    {"file", KIND_OTHER},
    {"F", KIND_OTHER},
    {"line", KIND_OTHER},
    {"L", KIND_OTHER},
    {"location", KIND_OTHER},
    {"l", KIND_OTHER},
    {"processId", KIND_OTHER},
    {"pid", KIND_OTHER},
    {"sequenceNumber", KIND_OTHER},
    {"sn", KIND_OTHER},
    {"n", KIND_END},
};

static const struct name *find_name(const char *text)
{
    const struct name *found = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        size_t len = strlen(names[i].name);
        if (len > longest && strncmp(text, names[i].name, len) == 0) {
            found = &names[i];
            longest = len;
        }
    }
    return found;
}

static const struct {
    const char *name, *form;
} known_times[] = {
    {"", "yyyy-MM-dd HH:mm:ss,SSS"},          {"DEFAULT", "yyyy-MM-dd HH:mm:ss,SSS"},
    {"ISO8601", "yyyy-MM-dd'T'HH:mm:ss,SSS"}, {"ISO8601_BASIC", "yyyyMMdd'T'HHmmss,SSS"},
    {"COMPACT", "yyyyMMddHHmmssSSS"},         {"DATE", "dd MMM yyyy HH:mm:ss,SSS"},
};

/* The next "{...}", without it. */
static bool take_option(const char **at, struct pyro_slice *ret)
{
    const char *close = **at == '{' ? strchr(*at, '}') : NULL;
    if (!close)
        return false;
    *ret = (struct pyro_slice){*at + 1, (size_t)(close - *at) - 1};
    *at = close + 1;
    return true;
}

static enum pyro_status refuse(struct pyro_error *error, const char *why, struct pyro_slice what)
{
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the pattern %s: '%.*s'", why,
                          (int)(what.len < 40 ? what.len : 40), what.ptr);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether every run of letters is one that read_time() reads. */
static bool is_time_form(struct pyro_slice form)
{
    static const char *const runs[] = {"yyyy", "uuuu", "yy", "MMM", "MM",  "dd", "HH", "mm",
                                       "ss",   "EEE",  "X",  "XX",  "XXX", "Z",  "z"};
    for (size_t i = 0; i < form.len;) {
        if (form.ptr[i] == '\'') {
            const char *close = memchr(form.ptr + i + 1, '\'', form.len - i - 1);
            if (!close)
                return false;
            i = (size_t)(close - form.ptr) + 1;
            continue;
        }
        size_t n = 1;
        while (is_letter(form.ptr[i]) && i + n < form.len && form.ptr[i + n] == form.ptr[i])
            n++;
        struct pyro_slice run = {form.ptr + i, n};
        bool good = !is_letter(form.ptr[i]) || ((form.ptr[i] == 'S' || form.ptr[i] == 'n') && n <= FRACTION_MOST);
        for (size_t k = 0; k < sizeof(runs) / sizeof(*runs); k++)
            good |= pyro_slice_is(run, runs[k]);
        if (!good)
            return false;
        i += n;
    }
    return form.len > 0;
}

static enum pyro_status take_time_options(struct item *item, const char **at, struct pyro_error *error)
{
    struct pyro_slice form = PYRO_SLICE_LITERAL(""), zone;
    if (!take_option(at, &form) && **at == '{')
        return refuse(error, "has no '}' for this", pyro_slice_from(*at));
    item->text = form;
    for (size_t i = 0; i < sizeof(known_times) / sizeof(*known_times); i++)
        if (pyro_slice_is(form, known_times[i].name))
            item->text = pyro_slice_from(known_times[i].form);
    if (!is_time_form(item->text))
        return refuse(error, "has a form of times that pyrometer cannot read", form);
    if (!take_option(at, &zone))
        return PYRO_OK;
    item->zoned = pyro_zone_read(zone, &item->zone_s) == zone.len && zone.len > 0;
    if (!item->zoned && pyro_slice_starts_with(zone, "GMT"))
        item->zoned = pyro_zone_read((struct pyro_slice){zone.ptr + 3, zone.len - 3}, &item->zone_s) + 3 == zone.len;
    return item->zoned ? PYRO_OK : refuse(error, "has a time zone that is not UTC or an offset such as +01:00", zone);
}

static struct item *add_item(struct pyro_log_pattern *pattern, enum kind kind, struct pyro_slice text)
{
    if (pattern->count == ITEMS_MOST)
        return NULL;
    pattern->items[pattern->count] = (struct item){.kind = kind, .text = text};
    return &pattern->items[pattern->count++];
}

/* One "%...": `*at` is behind the sign. */
static enum pyro_status take_conversion(struct pyro_log_pattern *pattern, const char **at, struct pyro_error *error)
{
    const char *begin = *at;
    size_t width = strspn(begin, "-.0123456789");
    const struct name *name = find_name(begin + width);
    if (!name)
        return refuse(error, "has a conversion that pyrometer does not know", pyro_slice_from(begin - 1));
    *at = begin + width + strlen(name->name);
    struct item *item = add_item(pattern, name->kind, PYRO_SLICE_NULL);
    if (!item)
        return refuse(error, "is too long", pyro_slice_from(begin));
    item->padded = width > 0;
    if (name->kind == KIND_TIME)
        return take_time_options(item, at, error);
    struct pyro_slice option;
    for (bool first = true; take_option(at, &option); first = false)
        if (name->kind == KIND_TASK && first && !pyro_slice_is(option, "task_name") &&
            !pyro_slice_is(option, "mdc.taskName") && !pyro_slice_is(option, "taskName") &&
            !pyro_slice_is(option, "task"))
            item->kind = KIND_OTHER;
    return PYRO_OK;
}

/* Fields need something between them, and lines a header that can be recognized. */
static enum pyro_status check(const struct pyro_log_pattern *pattern, struct pyro_error *error)
{
    bool level = false, message = false;
    for (size_t i = 0; i < pattern->count; i++) {
        enum kind kind = pattern->items[i].kind;
        level |= kind == KIND_LEVEL || kind == KIND_TIME;
        message |= kind == KIND_MESSAGE;
        bool open = kind == KIND_LOGGER || kind == KIND_THREAD || kind == KIND_TASK || kind == KIND_OTHER;
        bool next = i + 1 < pattern->count && pattern->items[i + 1].kind != KIND_LITERAL &&
                    pattern->items[i + 1].kind != KIND_END;
        if (open && next)
            return refuse(error, "has two fields with nothing between them", pyro_slice_from(pattern->text));
        if (kind == KIND_END && i + 1 < pattern->count && pattern->items[i + 1].kind != KIND_END)
            return refuse(error, "must end after %n or the exception", pyro_slice_from(pattern->text));
    }
    if (!level || !message)
        return refuse(error, "needs a time (%d) or a level (%p), and the message (%m)", pyro_slice_from(pattern->text));
    return PYRO_OK;
}

static enum pyro_status compile(struct pyro_log_pattern *pattern, struct pyro_error *error)
{
    const char *at = pattern->text;
    while (*at) {
        if (*at == '%' && at[1] != '%') {
            at++;
            PYRO_TRY(take_conversion(pattern, &at, error));
            continue;
        }
        size_t len = *at == '%' ? 1 : strcspn(at, "%");
        if (!add_item(pattern, KIND_LITERAL, (struct pyro_slice){at, len}))
            return refuse(error, "is too long", pyro_slice_from(at));
        at += *at == '%' ? 2 : len;
    }
    return check(pattern, error);
}

enum pyro_status pyro_log_pattern_new(const char *text, const struct pyro_allocator *allocator,
                                      struct pyro_log_pattern **ret, struct pyro_error *error)
{
    size_t len = strlen(text);
    if (len >= PATTERN_MOST)
        return refuse(error, "is too long", pyro_slice_from(text));
    struct pyro_log_pattern *pattern = pyro_allocate(allocator, sizeof(*pattern));
    if (!pattern)
        return pyro_no_memory(error);
    *pattern = (struct pyro_log_pattern){.allocator = allocator};
    memcpy(pattern->text, text, len + 1);
    enum pyro_status status = compile(pattern, error);
    if (status == PYRO_OK)
        *ret = pattern;
    else
        pyro_log_pattern_free(pattern);
    return status;
}

void pyro_log_pattern_free(struct pyro_log_pattern *pattern)
{
    if (pattern)
        pyro_release(pattern->allocator, pattern);
}

/* ---- Reading lines ----------------------------------------------------------------------------------------------- */

struct cursor {
    const char *at, *end;
};

static size_t left(const struct cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

struct clock {
    int year, month, day, hour, minute, second;
    int64_t ms, zone_s;
    bool zoned;
};

static bool take_number(struct cursor *cursor, size_t digits, int *ret)
{
    int value = 0;
    if (left(cursor) < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        unsigned digit = (unsigned char)cursor->at[i] - '0';
        if (digit > 9)
            return false;
        value = value * 10 + (int)digit;
    }
    cursor->at += digits;
    *ret = value;
    return true;
}

static bool take_month(struct cursor *cursor, int *ret)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; left(cursor) >= 3 && i < 12; i++)
        if (memcmp(cursor->at, months + 3 * (size_t)i, 3) == 0) {
            cursor->at += 3;
            *ret = i + 1;
            return true;
        }
    return false;
}

static bool take_zone(struct cursor *cursor, struct clock *clock)
{
    size_t used = pyro_zone_read((struct pyro_slice){cursor->at, left(cursor)}, &clock->zone_s);
    cursor->at += used;
    clock->zoned = used > 0;
    return used > 0;
}

/* One run of a letter of a form. */
static bool take_part(struct cursor *cursor, char letter, size_t n, struct clock *clock)
{
    struct pyro_slice rest = {cursor->at, left(cursor) < n ? left(cursor) : n};
    switch (letter) {
    case 'y':
    case 'u':
        if (!take_number(cursor, n, &clock->year))
            return false;
        clock->year += n == 2 ? 2000 : 0;
        return true;
    case 'M':
        return n == 3 ? take_month(cursor, &clock->month) : take_number(cursor, 2, &clock->month);
    case 'd':
        return take_number(cursor, 2, &clock->day);
    case 'H':
        return take_number(cursor, 2, &clock->hour);
    case 'm':
        return take_number(cursor, 2, &clock->minute);
    case 's':
        return take_number(cursor, 2, &clock->second);
    case 'S':
    case 'n':
        cursor->at += pyro_fraction_read(rest, &clock->ms);
        return rest.len == n && cursor->at == rest.ptr + n;
    case 'E':
        cursor->at += rest.len;
        return rest.len == n;
    default:
        return take_zone(cursor, clock);
    }
}

static bool take_literal_byte(struct cursor *cursor, char byte)
{
    if (cursor->at == cursor->end || *cursor->at != byte)
        return false;
    cursor->at++;
    return true;
}

static bool take_form(struct cursor *cursor, struct pyro_slice form, struct clock *clock)
{
    bool quoted = false;
    for (size_t i = 0; i < form.len;) {
        char c = form.ptr[i];
        if (c == '\'') {
            quoted = !quoted;
            i++;
        } else if (quoted || !is_letter(c)) {
            if (!take_literal_byte(cursor, c))
                return false;
            i++;
        } else {
            size_t n = 1;
            while (i + n < form.len && form.ptr[i + n] == c)
                n++;
            if (!take_part(cursor, c, n, clock))
                return false;
            i += n;
        }
    }
    return true;
}

static bool take_time(struct cursor *cursor, const struct item *item, struct pyro_log_header *ret)
{
    struct clock clock = {.year = 1970, .month = 1, .day = 1, .zone_s = item->zone_s, .zoned = item->zoned};
    if (!take_form(cursor, item->text, &clock) || clock.month < 1 || clock.month > 12 || clock.day < 1 ||
        clock.day > 31 || clock.hour > 23 || clock.minute > 59 || clock.second > 60)
        return false;
    int64_t seconds = ((pyro_days_of(clock.year, clock.month, clock.day) * 24 + clock.hour) * 60 + clock.minute) * 60 +
                      clock.second - clock.zone_s;
    ret->time_ms = seconds * 1000 + clock.ms; /* cannot overflow: a year has four digits */
    ret->zoned = clock.zoned;
    return true;
}

/* Blanks of a literal next to a padded field stand for any number of them. */
static bool take_literal(struct cursor *cursor, struct pyro_slice text, bool padded)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == ' ' && padded) {
            while (left(cursor) > 0 && *cursor->at == ' ')
                cursor->at++;
            continue;
        }
        padded = false;
        if (!take_literal_byte(cursor, text.ptr[i]))
            return false;
    }
    return true;
}

/* What is before the next literal; the rest of the line without one. */
static bool take_open(struct cursor *cursor, const struct item *next, struct pyro_slice *ret)
{
    const char *end = cursor->end;
    if (next && next->kind == KIND_LITERAL)
        end = memmem(cursor->at, left(cursor), next->text.ptr, next->text.len);
    if (!end)
        return false;
    *ret = (struct pyro_slice){cursor->at, (size_t)(end - cursor->at)};
    cursor->at = end;
    while (ret->len > 0 && ret->ptr[ret->len - 1] == ' ')
        ret->len--;
    return true;
}

static bool take_level(struct cursor *cursor, struct pyro_log_header *ret)
{
    const char *begin = cursor->at;
    while (cursor->at < cursor->end && is_letter(*cursor->at))
        cursor->at++;
    ret->level = pyro_log_level_of((struct pyro_slice){begin, (size_t)(cursor->at - begin)});
    return ret->level != PYRO_LEVEL_NONE;
}

static bool take_item(struct cursor *cursor, const struct item *item, const struct item *next, bool padded,
                      struct pyro_log_header *ret)
{
    struct pyro_slice other;
    if (item->padded)
        while (left(cursor) > 0 && *cursor->at == ' ')
            cursor->at++;
    switch (item->kind) {
    case KIND_LITERAL:
        return take_literal(cursor, item->text, padded);
    case KIND_TIME:
        return take_time(cursor, item, ret);
    case KIND_LEVEL:
        return take_level(cursor, ret);
    case KIND_LOGGER:
        return take_open(cursor, next, &ret->logger);
    case KIND_THREAD:
        return take_open(cursor, next, &ret->thread);
    case KIND_TASK:
        return take_open(cursor, next, &ret->task_name);
    case KIND_MESSAGE:
        return take_open(cursor, next, &ret->message);
    case KIND_OTHER:
        return take_open(cursor, next, &other);
    default:
        return true;
    }
}

bool pyro_log_pattern_read(const struct pyro_log_pattern *pattern, struct pyro_slice line, struct pyro_log_header *ret)
{
    struct cursor cursor = {line.ptr, line.ptr + line.len};
    *ret = (struct pyro_log_header){.time_ms = PYRO_NONE};
    for (size_t i = 0; i < pattern->count; i++) {
        const struct item *next = i + 1 < pattern->count ? &pattern->items[i + 1] : NULL;
        if (!take_item(&cursor, &pattern->items[i], next, i > 0 && pattern->items[i - 1].padded, ret))
            return false;
    }
    if (ret->task_name.ptr && ret->task_name.len == 0)
        ret->task_name = PYRO_SLICE_NULL;
    return true;
}
