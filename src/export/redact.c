#include "export/redact.h"

#include <arpa/inet.h>
#include <stdlib.h>

static const char *const vocabulary[] = {
#define PYRO_WORD(word) word,
#include "export/vocabulary.def"
#undef PYRO_WORD
};

static const char *const packages[] = {
#define PYRO_PACKAGE(name) name,
#include "export/public_packages.def"
#undef PYRO_PACKAGE
};

enum { WORD_MAX = 64, WORDS_MAX = 4000000 };

bool pyro_redactor_init(struct pyro_redactor *redactor, const struct pyro_allocator *allocator)
{
    redactor->words = pyro_string_pool_new(allocator);
    redactor->hosts = pyro_string_pool_new(allocator);
    redactor->numbers = pyro_string_pool_new(allocator);
    return redactor->words && redactor->hosts && redactor->numbers;
}

void pyro_redactor_done(struct pyro_redactor *redactor)
{
    if (redactor->words)
        pyro_string_pool_release(redactor->words);
    if (redactor->hosts)
        pyro_string_pool_release(redactor->hosts);
    if (redactor->numbers)
        pyro_string_pool_release(redactor->numbers);
}

static int compare_word(const void *key, const void *row)
{
    return strcmp(key, *(const char *const *)row);
}

static bool is_among(struct pyro_slice word, const char *const *words, size_t count)
{
    char lower[WORD_MAX];
    if (word.len >= sizeof(lower))
        return false;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        if ((unsigned char)c >= 0x80 || c == '\\')
            return false;
        lower[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
    lower[word.len] = '\0';
    return bsearch(lower, words, count, sizeof(*words), compare_word) != NULL;
}

bool pyro_is_known_word(struct pyro_slice word)
{
    return is_among(word, vocabulary, sizeof(vocabulary) / sizeof(vocabulary[0]));
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

/* Length of what a word may hold at `p`: a letter, a digit, or \uXXXX, which may be a letter too. */
static size_t word_step(const char *p, const char *end)
{
    if (is_letter(*p) || is_digit(*p))
        return 1;
    if (*p != '\\' || end - p < 6 || p[1] != 'u')
        return 0;
    for (int i = 2; i < 6; i++)
        if (!is_digit(p[i]) && !((p[i] | 0x20) >= 'a' && (p[i] | 0x20) <= 'f'))
            return 0;
    return 6;
}

/* Appends the replacement of a text: its prefix and its number in the pool. */
static bool replace(struct pyro_string_pool *pool, const char *prefix, struct pyro_slice text, struct pyro_strbuf *out)
{
    if (pyro_string_pool_count(pool) >= WORDS_MAX) { /* memory stays bounded; distinct names fall together */
        pyro_strbuf_add_text(out, prefix);
        return true;
    }
    uint32_t number = pyro_intern(pool, text);
    if (number == UINT32_MAX)
        return false;
    pyro_strbuf_add_text(out, prefix);
    pyro_strbuf_add_int(out, number);
    return true;
}

/* ---- Names of public code ---------------------------------------------------------------------------------------- */

/* Packages whose names are public: frames of stack traces and class names are kept whole. */
static const char *const public_packages[] = {
    "org.apache.spark.",
    "org.apache.hadoop.",
    "org.apache.parquet.",
    "org.apache.hive.",
    "org.sparkproject.",
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "scala.",
    "py4j.",
    "io.netty.",
    "io.delta.",
};

/* Whether all packages of the dotted name are public ones: people put classes of their own below Spark's. A part in
 * lower case, last or before another part, is a package or a function of one. */
static bool has_public_packages(const char *p, const char *end)
{
    while (p < end) {
        const char *dot = p;
        while (dot < end && *dot != '.' && *dot != '$')
            dot++;
        struct pyro_slice part = {p, (size_t)(dot - p)};
        bool package = part.len > 0 && part.ptr[0] >= 'a' && part.ptr[0] <= 'z';
        if (!package) /* a class, whose members are its own */
            return true;
        if (!is_among(part, packages, sizeof(packages) / sizeof(packages[0])) && !pyro_is_known_word(part))
            return false;
        p = dot + 1;
    }
    return true;
}

/* End of the dotted name of public code that begins at `p`, with the "(File.scala:12)" behind it; `p` if none does. */
static const char *public_name_end(const char *p, const char *end)
{
    struct pyro_slice rest = {p, (size_t)(end - p)};
    const char *start = p, *below = NULL;
    for (size_t i = 0; i < sizeof(public_packages) / sizeof(public_packages[0]) && !below; i++)
        if (pyro_slice_starts_with(rest, public_packages[i]))
            below = p + strlen(public_packages[i]);
    if (!below)
        return p;
    while (p < end && ((is_letter(*p) && (unsigned char)*p < 0x80) || is_digit(*p) || *p == '.' || *p == '$'))
        p++;
    if (!has_public_packages(below, p))
        return start;
    if (p == end || *p != '(')
        return p;
    const char *q = p + 1;
    while (q < end && q - p < 80 &&
           ((is_letter(*q) && (unsigned char)*q < 0x80) || is_digit(*q) || *q == '.' || *q == ':' || *q == ' '))
        q++;
    return q < end && *q == ')' ? q + 1 : p;
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* A whole value that is a number, perhaps with a unit: "512m", "0.6", "-1", "10 s"; or numbers: "1,2". With more dots
 * it is a version or an address. */
static bool is_plain_number(struct pyro_slice text)
{
    size_t i = text.len > 0 && text.ptr[0] == '-', from = i;
    unsigned dots = 0;
    for (; i < text.len && (is_digit(text.ptr[i]) || text.ptr[i] == '.' || (i > from && text.ptr[i] == ',')); i++) {
        dots = text.ptr[i] == ',' ? 0 : dots + (text.ptr[i] == '.');
        if (dots > 1)
            return false;
    }
    if (i == from || !is_digit(text.ptr[from]))
        return false;
    i += i < text.len && text.ptr[i] == ' ';
    struct pyro_slice unit = {text.ptr + i, text.len - i};
    if (unit.len == 0)
        return true;
    for (size_t k = 0; k < unit.len; k++)
        if (!is_letter(unit.ptr[k]))
            return false;
    return unit.len <= 3 && pyro_is_known_word(unit);
}

struct number {
    const char *end;
    unsigned groups; /* separated by single dots */
    size_t longest;  /* group */
};

static struct number take_number(const char *p, const char *end)
{
    struct number number = {p, 0, 0};
    while (p < end && is_digit(*p)) {
        const char *from = p;
        while (p < end && is_digit(*p))
            p++;
        number.groups++;
        number.longest = (size_t)(p - from) > number.longest ? (size_t)(p - from) : number.longest;
        number.end = p;
        if (end - p < 2 || *p != '.' || !is_digit(p[1]))
            break;
        p++;
    }
    return number;
}

enum { COUNT_DIGITS = 7, WHOLE_DIGITS = 4 };

/* Numbers that say how a plan is built: expression ids, node numbers, numbers of partitions, which are the last
 * argument of a partitioning. */
static bool is_structural(const char *from, const char *to, const char *start, const char *end, bool partitioning)
{
    char before = from > start ? from[-1] : '\0';
    if (before == '#')
        return to - from <= COUNT_DIGITS;
    if (to == end || *to != ')')
        return false;
    return (before == '(' && to - from <= WHOLE_DIGITS) || (partitioning && to - from <= COUNT_DIGITS);
}

/* Whether the ':' before the number follows a host: a word, or an address in brackets. Line numbers follow the name of
 * a source file. */
static bool is_port(const char *from, const char *start)
{
    static const char *const sources[] = {".scala", ".java", ".py", ".kt", ".sc", ".sql", ".R", ".r", ".ipynb"};
    const char *end = from - 1, *p = end;
    while (p > start && (word_step(p - 1, end) > 0 || p[-1] == '.' || p[-1] == '-'))
        p--;
    if (p == end)
        return end > start && end[-1] == ']';
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if (pyro_slice_ends_with((struct pyro_slice){p, (size_t)(end - p)}, sources[i]))
            return false;
    return true;
}

static bool keeps_number(enum pyro_redact_kind kind, const struct number *number, const char *from, const char *start,
                         const char *end, bool partitioning)
{
    if (kind == PYRO_REDACT_SCOPE || is_structural(from, number->end, start, end, partitioning))
        return true;
    if (kind == PYRO_REDACT_QUERY || kind == PYRO_REDACT_PORT)
        return false;
    char before = from > start ? from[-1] : ' ';
    if (before == ':' && is_port(from, start))
        return false;
    if (!strchr(" ([=,:\"/", before) || number->groups > 3)
        return false;
    if (number->end < end && (*number->end == '-' || *number->end == '_' || *number->end == '.') &&
        number->end + 1 < end && (is_digit(number->end[1]) || is_letter(number->end[1])))
        return false; /* dates, parts of names and of addresses */
    if ((from - start >= 2 && before == ' ' && is_digit(from[-2])) ||
        (end - number->end >= 2 && *number->end == ' ' && is_digit(number->end[1])))
        return false; /* a telephone or card number in groups */
    return number->longest <= (before == ':' ? 5 : 3) && before != '/';
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

struct redacting {
    struct pyro_redactor *redactor;
    enum pyro_redact_kind kind;
    const char *start, *end;
    struct pyro_strbuf *out;
    unsigned partitioning; /* depth of parentheses in hashpartitioning(...), whose own is 2; 0: outside */
};

static bool put_word(struct redacting *state, const char *from, const char *to)
{
    struct pyro_slice word = {from, (size_t)(to - from)};
    bool known = pyro_is_known_word(word);
    if (!known)
        return replace(state->redactor->words, "n", word, state->out);
    pyro_strbuf_add_slice(state->out, word);
    if (pyro_slice_ends_with(word, "artitioning") && to < state->end && *to == '(')
        state->partitioning = 1;
    return true;
}

/* A number with the unit that may directly follow it. */
static bool put_number(struct redacting *state, const char *from, const char **ret_to)
{
    struct number number = take_number(from, state->end);
    const char *to = number.end;
    if (number.groups == 4) {
        *ret_to = to;
        return replace(state->redactor->hosts, "host-", (struct pyro_slice){from, (size_t)(to - from)}, state->out);
    }
    while (to < state->end && word_step(to, state->end) > 0)
        to += word_step(to, state->end);
    struct pyro_slice unit = {number.end, (size_t)(to - number.end)};
    /* Ids of expressions carry the type of a long: "#12L". */
    bool id = from > state->start && from[-1] == '#' && unit.len == 1;
    bool plain = id || unit.len == 0 || (unit.len <= 3 && pyro_is_known_word(unit));
    *ret_to = to;
    if (!plain) /* a name that begins with a digit */
        return replace(state->redactor->words, "n", (struct pyro_slice){from, (size_t)(to - from)}, state->out);
    bool keep = keeps_number(state->kind, &number, from, state->start, state->end, state->partitioning == 2);
    /* Another number for each, so that what differed still differs: filters, partitions of a path. */
    if (!keep &&
        !replace(state->redactor->numbers, "", (struct pyro_slice){from, (size_t)(number.end - from)}, state->out))
        return false;
    pyro_strbuf_add(state->out, keep ? from : number.end, (size_t)(to - (keep ? from : number.end)));
    return true;
}

static void track_parentheses(struct redacting *state, char c)
{
    if (!state->partitioning)
        return;
    if (c == '(')
        state->partitioning++;
    if (c == ')')
        state->partitioning = state->partitioning > 2 ? state->partitioning - 1 : 0;
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

static bool is_hex(char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* 00:1b:44:11:3a:b7, 00-1b-... */
static bool is_mac(struct pyro_slice text)
{
    if (text.len != 17 || (text.ptr[2] != ':' && text.ptr[2] != '-'))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (i % 3 == 2 ? text.ptr[i] != text.ptr[2] : !is_hex(text.ptr[i]))
            return false;
    return true;
}

static bool is_ipv6(struct pyro_slice text)
{
    char copy[INET6_ADDRSTRLEN];
    struct in6_addr ignored;
    if (text.len < 2 || text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return inet_pton(AF_INET6, copy, &ignored) == 1;
}

/* End of the IPv6 or hardware address that begins at `p`, where a word may; `p` if none does. */
static const char *address_end(const char *p, const char *start, const char *end)
{
    const char *to = p;
    size_t colons = 0, dashes = 0;
    if (p > start && (word_step(p - 1, end) > 0 || p[-1] == ':'))
        return p;
    for (; to < end && (is_hex(*to) || *to == ':' || *to == '.' || *to == '-'); to++) {
        colons += *to == ':';
        dashes += *to == '-';
    }
    if (colons < 2 && dashes < 5)
        return p;
    while (to > p && (to[-1] == '.' || to[-1] == '-' || (to[-1] == ':' && (to - p < 2 || to[-2] != ':'))))
        to--; /* what ends a sentence */
    struct pyro_slice text = {p, (size_t)(to - p)};
    if ((to < end && word_step(to, end) > 0) || (!is_mac(text) && !is_ipv6(text)))
        return p;
    return to;
}

bool pyro_redact(struct pyro_redactor *redactor, enum pyro_redact_kind kind, struct pyro_slice text,
                 struct pyro_strbuf *out)
{
    if (kind == PYRO_REDACT_HOST && text.len > 0)
        return replace(redactor->hosts, "host-", text, out);
    if (kind != PYRO_REDACT_PORT && is_plain_number(text)) {
        pyro_strbuf_add_slice(out, text);
        return !out->failed;
    }
    struct redacting state = {redactor, kind, text.ptr, text.ptr + text.len, out, 0};
    const char *p = state.start;
    while (p < state.end) {
        char before = p > state.start ? p[-1] : '\0';
        const char *to = p;
        const char *address = is_hex(*p) || *p == ':' ? address_end(p, state.start, state.end) : p;
        if (address > p) {
            if (!replace(redactor->hosts, "host-", (struct pyro_slice){p, (size_t)(address - p)}, out))
                return false;
            to = address;
        } else if (is_digit(*p)) {
            if (!put_number(&state, p, &to))
                return false;
        } else if (word_step(p, state.end) > 0) {
            to = before != '.' && before != '$' ? public_name_end(p, state.end) : p;
            if (to > p) {
                pyro_strbuf_add(out, p, (size_t)(to - p));
            } else {
                while (to < state.end && word_step(to, state.end) > 0)
                    to += word_step(to, state.end);
                if (!put_word(&state, p, to))
                    return false;
            }
        } else {
            to = p + (*p == '\\' && p + 1 < state.end ? 2 : 1);
            track_parentheses(&state, *p);
            pyro_strbuf_add(out, p, (size_t)(to - p));
        }
        p = to;
    }
    return !out->failed;
}
