#include "model/failure_text.h"

#include <ctype.h>
#include <strings.h>

#include "base/collections/hash.h"
#include "base/numbers/units.h"
#include "model/column.h"

bool pyro_text_has(struct pyro_slice text, const char *word)
{
    size_t n = strlen(word);
    const char first[] = {(char)tolower((unsigned char)word[0]), (char)toupper((unsigned char)word[0])};
    for (size_t i = 0; text.ptr && i + n <= text.len; i++)
        if ((text.ptr[i] == first[0] || text.ptr[i] == first[1]) && strncasecmp(text.ptr + i, word, n) == 0)
            return true;
    return false;
}

static char text_before(struct pyro_slice text, size_t at)
{
    return at > 0 ? text.ptr[at - 1] : '\0';
}

int pyro_exit_code(struct pyro_slice reason)
{
    enum { WORDS = 28, DIGITS = 9 };
    for (size_t i = 0; i + 4 <= reason.len; i++) {
        if (strncasecmp(reason.ptr + i, "exit", 4) != 0)
            continue;
        size_t at = i + 4, end = reason.len - at > WORDS ? at + WORDS : reason.len;
        while (at < end && !isdigit((unsigned char)reason.ptr[at]))
            at++;
        int code = 0;
        size_t first = at;
        bool negative = text_before(reason, at) == '-';
        while (at < reason.len && at - first < DIGITS && isdigit((unsigned char)reason.ptr[at]))
            code = code * 10 + (reason.ptr[at++] - '0');
        if (first < end && at > first && !(negative && code == 1)) /* -1: Kubernetes did not say it */
            return negative ? -code : code;
    }
    return -1;
}

/* Takes a size of two words ("5.5 GB", as Hadoop writes it) off the end of a text. */
static bool take_size_back(struct pyro_slice *text, double *ret_bytes)
{
    size_t first = text->len;
    for (int words = 0; words < 2; words++) {
        while (first > 0 && text->ptr[first - 1] == ' ')
            first--;
        while (first > 0 && !isspace((unsigned char)text->ptr[first - 1]))
            first--;
    }
    struct pyro_slice number = {text->ptr + first, 0}, unit = {text->ptr + first, text->len - first};
    while (number.len < unit.len && number.ptr[number.len] != ' ')
        number.len++;
    pyro_slice_drop(&unit, number.len);
    int64_t scale = pyro_size_suffix(pyro_trim(unit));
    if (scale <= 0 || !pyro_decimal_read(number, ret_bytes))
        return false;
    *ret_bytes *= (double)scale;
    text->len = first;
    return true;
}

bool pyro_container_memory(struct pyro_slice reason, double *ret_used_bytes, double *ret_limit_bytes)
{
    const char *at = reason.ptr ? pyro_slice_find(reason, " physical memory used") : NULL;
    struct pyro_slice text = {reason.ptr, at ? (size_t)(at - reason.ptr) : 0};
    if (!at || !take_size_back(&text, ret_limit_bytes) || !pyro_slice_ends_with(text, " of "))
        return false;
    text.len -= strlen(" of ");
    return take_size_back(&text, ret_used_bytes);
}

int64_t pyro_failure_number(struct pyro_slice text)
{
    int64_t value = 0;
    enum { DIGITS_MAX = 18 };
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || i >= DIGITS_MAX)
            return PYRO_NONE;
        value = value * 10 + (text.ptr[i] - '0');
    }
    return text.len > 0 ? value : PYRO_NONE;
}

bool pyro_next_line(struct pyro_slice *text, struct pyro_slice *line)
{
    if (!text->ptr || text->len == 0)
        return false;
    size_t end = 0;
    while (end < text->len && text->ptr[end] != '\n')
        end++;
    size_t used = end < text->len ? end + 1 : end;
    *line = (struct pyro_slice){text->ptr, end};
    if (line->len > 0 && line->ptr[line->len - 1] == '\r')
        line->len--;
    pyro_slice_drop(text, used);
    return true;
}

static struct pyro_slice without(struct pyro_slice text, size_t head)
{
    return text.ptr ? (struct pyro_slice){text.ptr + head, text.len - head} : text;
}

static struct pyro_slice trim(struct pyro_slice text)
{
    while (text.len > 0 && isspace((unsigned char)text.ptr[0]))
        text = without(text, 1);
    while (text.len > 0 && isspace((unsigned char)text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* What follows the first (or last) place of `mark`; the whole text where it is not there. */
static struct pyro_slice after(struct pyro_slice text, const char *mark)
{
    const char *at = text.ptr ? pyro_slice_find(text, mark) : NULL;
    return at ? without(text, (size_t)(at - text.ptr) + strlen(mark)) : text;
}

static struct pyro_slice before(struct pyro_slice text, const char *mark)
{
    const char *at = text.ptr ? pyro_slice_find(text, mark) : NULL;
    return at ? (struct pyro_slice){text.ptr, (size_t)(at - text.ptr)} : text;
}

struct pyro_slice pyro_telling_line(struct pyro_slice text)
{
    struct pyro_slice told = PYRO_SLICE_NULL, line;
    bool traceback = text.ptr && pyro_slice_find(text, "Traceback (most recent call last)");
    while (pyro_next_line(&text, &line)) {
        if (line.len == 0 || line.ptr[0] == ' ' || line.ptr[0] == '\t' || pyro_slice_starts_with(line, "Traceback"))
            continue;
        told = line;
        if (!traceback)
            break;
    }
    return told;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Takes the word at *at off a text. Whether it names one thing of many: it has a digit, or is a group of a UUID, which
 * may be letters only ("3f2a-beef-..."). */
static bool take_word(struct pyro_slice text, size_t *at)
{
    size_t first = *at;
    bool digit = false, hexadecimal = true;
    for (; *at < text.len && is_word(text.ptr[*at]); (*at)++) {
        digit |= isdigit((unsigned char)text.ptr[*at]) != 0;
        hexadecimal &= isxdigit((unsigned char)text.ptr[*at]) != 0;
    }
    size_t len = *at - first;
    bool hyphen = (first > 0 && text.ptr[first - 1] == '-') || (*at < text.len && text.ptr[*at] == '-');
    return digit || (hexadecimal && hyphen && (len == 4 || len == 8 || len == 12));
}

bool pyro_same_message(struct pyro_slice a, struct pyro_slice b)
{
    size_t i = 0, k = 0;
    while (i < a.len && k < b.len && i < PYRO_CAUSE_BYTES) {
        if (is_word(a.ptr[i]) && is_word(b.ptr[k])) {
            struct pyro_slice one = {a.ptr + i, i}, other = {b.ptr + k, k};
            bool any = take_word(a, &i), like = take_word(b, &k);
            one.len = i - one.len;
            other.len = k - other.len;
            if (!(any && like) && !pyro_slice_eq(one, other))
                return false;
        } else if (a.ptr[i++] != b.ptr[k++]) {
            return false;
        }
    }
    bool end_a = i >= a.len || i >= PYRO_CAUSE_BYTES;
    bool end_b = k >= b.len || k >= PYRO_CAUSE_BYTES;
    return end_a && end_b;
}

uint64_t pyro_message_hash(struct pyro_slice message)
{
    uint64_t hash = 0;
    size_t used = 0; /* of what is hashed, so that long ids do not move the cut */
    for (size_t i = 0; i < message.len && used < PYRO_CAUSE_BYTES;) {
        struct pyro_slice part = {message.ptr + i, 1};
        if (is_word(*part.ptr)) {
            size_t begin = i;
            bool any = take_word(message, &i);
            part = any ? PYRO_SLICE_LITERAL("#") : (struct pyro_slice){part.ptr, i - begin};
        } else {
            i++;
        }
        used += part.len;
        hash = pyro_hash_mix(hash ^ pyro_hash_slice(part));
    }
    return hash;
}

size_t pyro_exception_name_length(struct pyro_slice line)
{
    size_t n = 0;
    bool dotted = false;
    while (n < line.len && (isalnum((unsigned char)line.ptr[n]) || strchr("._$", line.ptr[n]))) {
        dotted |= line.ptr[n] == '.';
        n++;
    }
    struct pyro_slice name = {line.ptr, n};
    bool ends = n == line.len || line.ptr[n] == ':';
    bool called = pyro_slice_ends_with(name, "Error") || pyro_slice_ends_with(name, "Exception") ||
                  pyro_slice_ends_with(name, "Failure") || pyro_slice_ends_with(name, "Interrupt");
    return n > 0 && ends && (called || (dotted && n < line.len)) && !isdigit((unsigned char)line.ptr[0]) ? n : 0;
}

bool pyro_is_library_frame(struct pyro_slice frame)
{
    static const char *const packages[] = {"java.",       "javax.",      "jdk.",         "sun.",     "scala.",
                                           "kotlin.",     "py4j.",       "io.netty",     "com.sun.", "com.fasterxml.",
                                           "org.apache.", "com.google.", "org.codehaus."};
    if (!frame.ptr)
        return false;
    const char *slash = memchr(frame.ptr, '/', frame.len); /* "java.base/java.lang..." */
    const char *open = memchr(frame.ptr, '(', frame.len);
    const char *dollar = memchr(frame.ptr, '$', frame.len); /* "...Plan$$Lambda$17/0x0001.apply(" */
    if (slash && open && slash < open && !(dollar && dollar < slash))
        frame = without(frame, (size_t)(slash - frame.ptr) + 1);
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
        if (pyro_slice_starts_with(frame, packages[i]))
            return true;
    return false;
}

struct pyro_slice pyro_python_frame(struct pyro_slice line)
{
    struct pyro_slice path = after(trim(line), "File \"");
    if (path.len == trim(line).len || pyro_slice_find(path, "/pyspark/") || pyro_slice_find(path, "pyspark.zip") ||
        pyro_slice_find(path, "/lib/python") || pyro_slice_find(path, "py4j"))
        return PYRO_SLICE_NULL;
    size_t quote = 0, from = 0;
    while (quote < path.len && path.ptr[quote] != '"') {
        if (path.ptr[quote] == '/' || path.ptr[quote] == '\\')
            from = quote + 1;
        quote++;
    }
    return without(path, from);
}

static void take_block(struct pyro_root_cause *cause, struct pyro_slice line)
{
    size_t n = pyro_exception_name_length(line);
    cause->name = n > 0 ? (struct pyro_slice){line.ptr, n} : PYRO_SLICE_NULL;
    cause->message = n > 0 ? trim(without(line, n < line.len ? n + 1 : n)) : trim(line);
    cause->frame = PYRO_SLICE_NULL;
}

/* "org.apache.spark.api.python.PythonException: Traceback (most recent call last):" and its lines: the exception is
 * the last line that is not indented, the place the last file that is the user's. */
static void take_python(struct pyro_root_cause *cause, struct pyro_slice text)
{
    struct pyro_slice line;
    while (pyro_next_line(&text, &line)) {
        if (pyro_slice_starts_with(line, "\tat "))
            break;
        if (line.len == 0 || pyro_slice_starts_with(line, "Traceback") || pyro_slice_starts_with(line, "During"))
            continue;
        struct pyro_slice frame = pyro_python_frame(line);
        if (frame.ptr)
            cause->frame = frame;
        size_t n = line.ptr[0] == ' ' || line.ptr[0] == '\t' ? 0 : pyro_exception_name_length(line);
        if (n > 0) {
            cause->name = (struct pyro_slice){line.ptr, n};
            cause->message = trim(without(line, n < line.len ? n + 1 : n));
        }
    }
}

struct pyro_root_cause pyro_root_cause(struct pyro_slice text)
{
    struct pyro_root_cause cause = {.message = PYRO_SLICE_NULL};
    if (!text.ptr)
        return cause;
    /* "... most recent failure: Lost task 3.3 in stage 1.0 (TID 9) (host executor 2): what happened" */
    struct pyro_slice rest = after(text, "most recent failure: ");
    if (rest.len < text.len && pyro_slice_starts_with(rest, "Lost task"))
        rest = after(rest, "): ");
    rest = before(after(rest, "Job aborted due to stage failure: "), "Driver stacktrace:");
    if (pyro_slice_starts_with(rest, "ExecutorLostFailure")) {
        take_block(&cause, trim(after(before(rest, "\n"), "Reason: ")));
        cause.name = PYRO_SLICE_LITERAL("ExecutorLostFailure");
        return cause;
    }
    struct pyro_slice line;
    for (bool first = true; pyro_next_line(&rest, &line);) {
        bool chained = pyro_slice_starts_with(line, "Caused by: ");
        if (chained)
            line = after(line, "Caused by: ");
        if (first || chained) {
            if (trim(line).len == 0)
                continue;
            take_block(&cause, line);
            if (first)
                cause.wrapper = cause.name;
            first = false;
            if (pyro_slice_find(line, "Traceback (most recent call last)"))
                take_python(&cause, rest);
        } else if (!cause.frame.ptr && pyro_slice_starts_with(line, "\tat ") &&
                   !pyro_is_library_frame(without(line, 4))) {
            cause.frame = without(line, 4);
        }
    }
    if (pyro_slice_eq(cause.wrapper, cause.name))
        cause.wrapper = PYRO_SLICE_NULL;
    return cause;
}

struct pyro_frame pyro_split_frame(struct pyro_slice frame)
{
    static const char mark[] = "\", line ";
    const char *at = pyro_slice_find(frame, mark);
    return at ? (struct pyro_frame){before(frame, mark), after(frame, mark)}
              : (struct pyro_frame){frame, PYRO_SLICE_NULL};
}
