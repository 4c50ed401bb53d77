#include "decode/logs/repeats/mask.h"

#include <stdbool.h>

#include "model/column.h"

enum {
    SPACE = 1, /* also control characters */
    BREAK = 2, /* is between words */
    DIGIT = 4,
    LETTER = 8, /* also every byte of other alphabets */
    COLON = 16,
    SLASH = 32, /* either way */
    AT = 64,
    OTHER = 128 /* part of a word */
};

/* clang-format off */
#define S SPACE
#define B BREAK
#define D DIGIT
#define L LETTER
#define C COLON
#define H SLASH
#define A AT
#define O OTHER
#define L16 L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L
static const unsigned char classes[256] = {
    S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S,
    S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S,
    S, O, B, O, O, O, O, B, B, B, O, O, B, O, O, H, /* space ! " # $ % & ' ( ) * + , - . / */
    D, D, D, D, D, D, D, D, D, D, C, B, B, B, B, O, /* : ; < = > ? */
    A, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    L, L, L, L, L, L, L, L, L, L, L, B, H, B, O, O, /* [ \ ] ^ _ */
    B, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, /* ` */
    L, L, L, L, L, L, L, L, L, L, L, B, B, B, O, S, /* { | } ~ */
    L16, L16, L16, L16, L16, L16, L16, L16,
};
#undef S
#undef B
#undef D
#undef L
#undef C
#undef H
#undef A
#undef O
#undef L16
/* clang-format on */

static inline unsigned class_of(char byte)
{
    return classes[(unsigned char)byte];
}

enum { MASK_LEN = sizeof(PYRO_MASK) - 1 };

struct masker {
    const char *begin, *end; /* the line */
    const char *p;
    const char *kept; /* the text from here to `p` is kept as it is, and not written yet */
    const char *word; /* the last one */
    bool is_full;
    struct pyro_masked *ret;
};

static void put(struct masker *m, const char *text, size_t len)
{
    size_t room = PYRO_MASK_BYTES - m->ret->len;
    if (len > room) {
        len = room;
        m->is_full = true;
    }
    memcpy(m->ret->text + m->ret->len, text, len);
    m->ret->len += len;
}

/* Writes what is kept up to `to`, and goes on at `next`. */
static void keep_until(struct masker *m, const char *to, const char *next)
{
    put(m, m->kept, (size_t)(to - m->kept));
    m->kept = m->p = next;
}

static bool ends_with_mask(const struct pyro_masked *masked)
{
    return masked->len >= MASK_LEN && memcmp(masked->text + masked->len - MASK_LEN, PYRO_MASK, MASK_LEN) == 0;
}

/* Where a call site such as "collect at job.py:12" starts, of which `from` to `to` is the place; else `from`. */
static const char *call_start(const struct masker *m, const char *from, const char *to)
{
    if (from - m->kept < 5 || from[-2] != 't' || memcmp(from - 4, " at ", 4) != 0)
        return from;
    const char *p = from - 4, *colon = memrchr(from, ':', (size_t)(to - from));
    if (!colon || colon + 1 == to || !memchr(from, '.', (size_t)(colon - from)))
        return from;
    for (const char *digit = colon + 1; digit < to; digit++)
        if (!(class_of(*digit) & DIGIT))
            return from;
    while (p > m->kept && (class_of(p[-1]) & LETTER))
        p--;
    return p < from - 4 ? p : from;
}

/* Masks the text between; with a value right before it, or one and a comma, both are one. */
static void mask(struct masker *m, const char *from, const char *to)
{
    size_t gap = (size_t)(from - m->kept);
    bool goes_on = gap == 0 || (gap <= 2 && m->kept[0] == ',' && (gap == 1 || m->kept[1] == ' '));
    if (goes_on && ends_with_mask(m->ret)) {
        m->kept = m->p = to;
        return;
    }
    keep_until(m, from, to);
    put(m, PYRO_MASK, MASK_LEN);
}

static int64_t parse_number(const char *p, const char *end)
{
    int64_t number = 0;
    if (p == end || !(class_of(*p) & DIGIT))
        return PYRO_NONE;
    for (; p < end && (class_of(*p) & DIGIT) && number <= INT32_MAX; p++)
        number = 10 * number + (*p - '0');
    return number <= INT32_MAX ? number : PYRO_NONE;
}

/* Takes a stage's number that starts at `from`, if the words before it say so. */
static void note_stage(struct masker *m, const char *from)
{
    size_t before = (size_t)(from - m->begin);
    if (m->ret->stage != PYRO_NONE || before < 6 || from[-1] != ' ' || (from[-2] != 'e' && from[-2] != 't'))
        return;
    static const char *const names[] = {"stage ", "Stage ", "TaskSet ", "task set "};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (pyro_slice_ends_with((struct pyro_slice){m->begin, before}, names[i]))
            m->ret->stage = parse_number(from, m->end);
}

int64_t pyro_mask_stage(struct pyro_slice text)
{
    static const char name[] = "stage ";
    const char *found = text.ptr ? pyro_slice_find(text, name) : NULL;
    return found ? parse_number(found + (sizeof(name) - 1), text.ptr + text.len) : PYRO_NONE;
}

static bool is_unit(struct pyro_slice word)
{
    static const struct pyro_slice units[] = {{"B", 1},  {"KiB", 3}, {"MiB", 3}, {"GiB", 3}, {"TiB", 3}, {"KB", 2},
                                              {"MB", 2}, {"GB", 2},  {"TB", 2},  {"ms", 2},  {"s", 1},   {"m", 1},
                                              {"h", 1},  {"us", 2},  {"ns", 2},  {"min", 3}};
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (pyro_slice_eq(word, units[i]))
            return true;
    return false;
}

/* Behind the unit of a number that ends at `p`, or `p`. */
static const char *skip_unit(const char *p, const char *end)
{
    enum { LONGEST = 3 };
    const char *unit = p + 1, *after = unit;
    if (end - p < 2 || *p != ' ')
        return p;
    while (after < end && after - unit <= LONGEST && (class_of(*after) & LETTER))
        after++;
    if (after < end && !(class_of(*after) & (SPACE | BREAK)) && *after != '.')
        return p;
    return is_unit((struct pyro_slice){unit, (size_t)(after - unit)}) ? after : p;
}

/* Letters with at most two digits among them, such as log4j; or several of these with dots between them. */
static bool is_name(const char *p, const char *end)
{
    while (p < end) {
        const char *part = p;
        unsigned digits = 0;
        if (!(class_of(*p) & LETTER))
            return false;
        for (; p < end && *p != '.'; p++) {
            unsigned class = class_of(*p);
            if (!(class & (LETTER | DIGIT)))
                return false;
            digits += class == DIGIT;
        }
        if (p == part || !(class_of(p[-1]) & LETTER) || digits > 2)
            return false;
        p += p < end;
    }
    return true;
}

/* "localhost:7077", but not "memory:8192" in a list of members. */
static bool is_port(const struct masker *m, const char *word, const char *colon, const char *end)
{
    size_t digits = (size_t)(end - colon) - 1;
    if (digits < 4 || digits > 5 || (word > m->begin && memchr("<{,", word[-1], 3)))
        return false;
    for (const char *p = word; p < colon; p++)
        if (*p < 'a' || *p > 'z')
            return false;
    for (const char *p = colon + 1; p < end; p++)
        if (!(class_of(*p) & DIGIT))
            return false;
    return true;
}

/* Where the value in a word with a digit starts: behind "key:", else at the word. */
static const char *value_start(const struct masker *m, const char *word, const char *end)
{
    const char *colon = memchr(word, ':', (size_t)(end - word));
    if (!colon || is_port(m, word, colon, end))
        return word;
    for (const char *p = word; p < colon; p++)
        if (!(class_of(*p) & LETTER) && *p != '_')
            return word;
    return colon + 1;
}

static bool is_path(struct pyro_slice word, unsigned seen)
{
    unsigned slashes = 0;
    for (size_t i = 0; i < word.len && slashes < 2; i++)
        slashes += (class_of(word.ptr[i]) & SLASH) != 0;
    return word.len > 1 &&
           ((seen & DIGIT) || slashes > 1 || (class_of(word.ptr[0]) & SLASH) || pyro_slice_starts_with(word, "~/") ||
            pyro_slice_starts_with(word, "./") || pyro_slice_find(word, ":/"));
}

/* Behind a path or an address, to which members such as "day=1" belong. */
static const char *path_end(const char *p, const char *end)
{
    while (p < end && (*p == '=' || !(class_of(*p) & (SPACE | BREAK))))
        p++;
    return p;
}

static const char *before_punctuation(const char *word, const char *end)
{
    while (end > word + 1 && !(class_of(end[-1]) & (LETTER | DIGIT)) && memchr(".:!?", end[-1], 4))
        end--;
    return end;
}

static bool is_exception(struct pyro_slice word)
{
    return (word.len > 10 && pyro_slice_ends_with(word, "Exception:")) ||
           (word.len > 6 && pyro_slice_ends_with(word, "Error:"));
}

static void take_digits(struct masker *m, const char *word, const char *end, unsigned seen)
{
    const char *from = seen & COLON ? value_start(m, word, end) : word;
    if (from == end || is_name(from, end))
        return;
    note_stage(m, from);
    bool is_number = from == word && end == m->p && !(seen & (LETTER | COLON | SLASH | AT));
    mask(m, call_start(m, from, end), is_number ? skip_unit(end, m->end) : end);
}

static void take_word(struct masker *m)
{
    const char *word = m->p, *p = word;
    unsigned seen = 0, class;
    while (p < m->end && !((class = class_of(*p)) & (SPACE | BREAK))) {
        seen |= class;
        p++;
    }
    m->word = word;
    m->p = p;
    if (!(seen & (DIGIT | SLASH | AT | COLON)))
        return;
    const char *end = before_punctuation(word, p);
    const char *at = seen & AT ? memchr(word, '@', (size_t)(end - word)) : NULL;
    if (at && at > word && at + 1 < end) {
        mask(m, word, end);
    } else if ((seen & SLASH) && is_path((struct pyro_slice){word, (size_t)(end - word)}, seen)) {
        end = before_punctuation(word, path_end(p, m->end));
        mask(m, call_start(m, word, end), end);
    } else if (seen & DIGIT) {
        take_digits(m, word, end, seen);
    } else if (p < m->end && is_exception((struct pyro_slice){word, (size_t)(p - word)})) {
        keep_until(m, p, p);
        put(m, " " PYRO_MASK, 1 + MASK_LEN);
        m->kept = m->p = m->end;
    }
}

static bool is_collection(struct pyro_slice word)
{
    static const struct pyro_slice names[] = {{"List", 4},        {"Vector", 6},  {"Set", 3},     {"Map", 3},
                                              {"Seq", 3},         {"Array", 5},   {"Buffer", 6},  {"ArrayBuffer", 11},
                                              {"ListBuffer", 10}, {"HashSet", 7}, {"HashMap", 7}, {"WrappedArray", 12},
                                              {"ArraySeq", 8}};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (pyro_slice_eq(word, names[i]))
            return true;
    return false;
}

/* The parenthesis that closes the one before `p`, or the end. */
static const char *closing(const char *p, const char *end)
{
    size_t depth = 1;
    for (; p < end; p++) {
        depth += *p == '(';
        depth -= *p == ')';
        if (!depth)
            break;
    }
    return p;
}

static bool opens_quote(const struct masker *m)
{
    char byte = *m->p;
    return (byte == '"' || byte == '\'' || byte == '`') &&
           (m->p == m->begin || !(class_of(m->p[-1]) & (LETTER | DIGIT)));
}

static void take_break(struct masker *m)
{
    const char *p = m->p;
    if (opens_quote(m)) {
        const char *close = memchr(p + 1, *p, (size_t)(m->end - p) - 1);
        if (close) {
            mask(m, p, close + 1);
            return;
        }
    }
    m->p++;
    if (*p == '(' && m->word && is_collection((struct pyro_slice){m->word, (size_t)(p - m->word)}))
        mask(m, p + 1, closing(p + 1, m->end));
}

static void take_blanks(struct masker *m)
{
    const char *p = m->p, *after = p;
    while (after < m->end && (class_of(*after) & SPACE))
        after++;
    m->p = after;
    if (*p != ' ' || after - p != 1) {
        keep_until(m, p, after);
        put(m, " ", 1);
    }
}

/* The first line that is not empty, without blanks around it. */
static struct pyro_slice first_line(struct pyro_slice message)
{
    const char *p = message.ptr, *end = p + message.len;
    while (p < end && (class_of(*p) & SPACE))
        p++;
    const char *stop = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    if (stop)
        end = stop;
    while (end > p && (class_of(end[-1]) & SPACE))
        end--;
    return (struct pyro_slice){p, (size_t)(end - p)};
}

/* Ends a text that was cut, not inside a character. */
static void cut(struct pyro_masked *masked)
{
    while (masked->len > 0 && ((unsigned char)masked->text[masked->len - 1] & 0xc0) == 0x80)
        masked->len--;
    if (masked->len > 0 && (unsigned char)masked->text[masked->len - 1] >= 0xc0)
        masked->len--;
    if (ends_with_mask(masked))
        return;
    memcpy(masked->text + masked->len, PYRO_MASK, MASK_LEN);
    masked->len += MASK_LEN;
}

void pyro_mask(struct pyro_slice message, struct pyro_masked *ret)
{
    ret->len = 0;
    ret->stage = PYRO_NONE;
    if (message.len == 0)
        return;
    struct pyro_slice line = first_line(message);
    struct masker m = {.begin = line.ptr, .end = line.ptr + line.len, .p = line.ptr, .kept = line.ptr, .ret = ret};
    bool is_cut = line.len > PYRO_MASK_LINE;
    if (is_cut)
        m.end = line.ptr + PYRO_MASK_LINE;
    while (m.p < m.end && !m.is_full) {
        unsigned class = class_of(*m.p);
        if (*m.p == ' ' && !(class_of(m.p[1]) & SPACE)) /* the line does not end with a blank */
            m.p++;
        else if (class & SPACE)
            take_blanks(&m);
        else if (class & BREAK)
            take_break(&m);
        else
            take_word(&m);
    }
    keep_until(&m, m.p, m.p);
    if (is_cut || m.is_full)
        cut(ret);
}
