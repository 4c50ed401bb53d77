/* Headers of text lines, read by hand: this runs for every line of a log. */
#include "base/numbers/calendar.h"
#include "decode/logs/records/header.h"
#include "model/column.h"

enum { FIELDS_MOST = 8, BRACKET_MOST = 256 };

struct cursor {
    const char *at, *end;
};

static size_t left(const struct cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

static struct pyro_slice rest_of(const struct cursor *cursor)
{
    return (struct pyro_slice){cursor->at, left(cursor)};
}

static const struct {
    const char *word;
    enum pyro_log_level level;
} levels[] = {{"INFO", PYRO_LEVEL_INFO},    {"WARN", PYRO_LEVEL_WARN},      {"ERROR", PYRO_LEVEL_ERROR},
              {"DEBUG", PYRO_LEVEL_DEBUG},  {"TRACE", PYRO_LEVEL_TRACE},    {"FATAL", PYRO_LEVEL_FATAL},
              {"WARNING", PYRO_LEVEL_WARN}, {"CRITICAL", PYRO_LEVEL_FATAL}, {"SEVERE", PYRO_LEVEL_ERROR}};

enum pyro_log_level pyro_log_level_of(struct pyro_slice word)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
        if (pyro_slice_is(word, levels[i].word))
            return levels[i].level;
    return PYRO_LEVEL_NONE;
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Takes a level that ends as a word does. */
static bool take_level(struct cursor *cursor, enum pyro_log_level *ret)
{
    enum { LONGEST = 8 };
    size_t n = 0, most = left(cursor) < LONGEST ? left(cursor) : LONGEST;
    while (n < most && is_upper(cursor->at[n]))
        n++;
    if (n < 4 || (n < left(cursor) && cursor->at[n] != ' ' && cursor->at[n] != ':' && cursor->at[n] != '\t'))
        return false;
    enum pyro_log_level level = pyro_log_level_of((struct pyro_slice){cursor->at, n});
    if (level == PYRO_LEVEL_NONE)
        return false;
    cursor->at += n;
    *ret = level;
    return true;
}

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
        cursor->at++;
}

/* Blanks, and a hyphen or bar that is alone. */
static void skip_separators(struct cursor *cursor)
{
    for (skip_blanks(cursor); left(cursor) >= 2 && (*cursor->at == '-' || *cursor->at == '|') && cursor->at[1] == ' ';
         skip_blanks(cursor))
        cursor->at++;
}

static bool names_task(struct pyro_slice text)
{
    return pyro_slice_starts_with(text, "task ") && pyro_slice_find(text, " in stage ");
}

/* "[...]": a level, the name of a task, or a thread. */
static bool take_bracket(struct cursor *cursor, struct pyro_log_header *header)
{
    size_t most = left(cursor) < BRACKET_MOST ? left(cursor) : BRACKET_MOST;
    const char *close = most ? memchr(cursor->at, ']', most) : NULL;
    if (!close)
        return false;
    struct pyro_slice content = {cursor->at + 1, (size_t)(close - cursor->at) - 1};
    while (content.len > 0 && content.ptr[content.len - 1] == ' ')
        content.len--;
    enum pyro_log_level level = header->level == PYRO_LEVEL_NONE ? pyro_log_level_of(content) : PYRO_LEVEL_NONE;
    if (level != PYRO_LEVEL_NONE)
        header->level = level;
    else if (names_task(content))
        header->task_name = content;
    else if (!header->thread.ptr)
        header->thread = content;
    cursor->at = close + 1;
    return true;
}

/* Up to the level, and brackets behind it. */
static bool take_fields(struct cursor *cursor, struct pyro_log_header *header)
{
    for (unsigned n = 0; n < FIELDS_MOST; n++) {
        skip_separators(cursor);
        if (cursor->at == cursor->end)
            break;
        if (*cursor->at == '[') {
            /* Behind the level a bracket may be the message's own. */
            if (header->level != PYRO_LEVEL_NONE && header->thread.ptr && header->task_name.ptr)
                break;
            if (!take_bracket(cursor, header))
                break;
        } else if (header->level != PYRO_LEVEL_NONE) {
            break;
        } else if (!take_level(cursor, &header->level)) {
            size_t word = 0;
            while (word < left(cursor) && word < BRACKET_MOST && cursor->at[word] != ' ')
                word++;
            if (header->thread.ptr || word == 0)
                return false;
            header->thread = (struct pyro_slice){cursor->at, word}; /* "main" without brackets */
            cursor->at += word;
        }
    }
    return header->level != PYRO_LEVEL_NONE;
}

static bool is_logger_byte(char c)
{
    return (c >= 'a' && c <= 'z') || is_upper(c) || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '$' ||
           c == '-' || c == '/';
}

/* Behind a logger: "(File.java:run(12))" of YARN, "(File.java:run(12)):" of Glue, a thread in brackets. */
static void skip_behind_logger(struct cursor *cursor, struct pyro_log_header *header)
{
    struct cursor ahead = *cursor;
    skip_blanks(&ahead);
    if (ahead.at < ahead.end && *ahead.at == '(') {
        const char *close = memchr(ahead.at, ' ', left(&ahead));
        if (close && close[-1] == ':')
            close--;
        if (close && close[-1] == ')') {
            ahead.at = close;
            *cursor = ahead;
        }
    } else if (ahead.at < ahead.end && *ahead.at == '[' && !header->thread.ptr) {
        struct pyro_log_header own = *header;
        if (take_bracket(&ahead, &own) && ahead.at < ahead.end && (*ahead.at == ':' || *ahead.at == ' ')) {
            *header = own;
            *cursor = ahead;
        }
    }
}

/* "[main]: " behind "SparkContext: ": of Cloudera and Kyuubi. */
static void take_thread(struct cursor *cursor, struct pyro_log_header *header)
{
    struct pyro_log_header own = *header;
    struct cursor ahead = *cursor;
    if (header->thread.ptr || ahead.at == ahead.end || *ahead.at != '[' || !take_bracket(&ahead, &own) ||
        ahead.at == ahead.end || *ahead.at != ':')
        return;
    ahead.at++;
    if (ahead.at < ahead.end && *ahead.at == ' ')
        ahead.at++;
    *header = own;
    *cursor = ahead;
}

/* "Executor: ", "Utils:54 - ", "o.a.s.Executor - ", "Foo (Foo.java:run(12)) - "; without one the message begins. */
static void take_logger(struct cursor *cursor, struct pyro_log_header *header)
{
    struct cursor ahead = *cursor;
    if (ahead.at < ahead.end && *ahead.at == ':') /* "ERROR:root:message" */
        ahead.at++;
    const char *begin = ahead.at;
    while (ahead.at < ahead.end && is_logger_byte(*ahead.at))
        ahead.at++;
    struct pyro_slice name = {begin, (size_t)(ahead.at - begin)};
    header->message = rest_of(cursor);
    if (name.len == 0)
        return;
    if (ahead.at < ahead.end && *ahead.at == ':') {
        const char *digits = ahead.at + 1;
        while (digits < ahead.end && (unsigned char)(*digits - '0') < 10)
            digits++;
        bool line = digits > ahead.at + 1 && digits < ahead.end && *digits == ' ';
        ahead.at = line ? digits : ahead.at;
    }
    skip_behind_logger(&ahead, header);
    skip_blanks(&ahead);
    bool colon = ahead.at < ahead.end && *ahead.at == ':';
    bool hyphen = left(&ahead) >= 1 && *ahead.at == '-' && (left(&ahead) == 1 || ahead.at[1] == ' ');
    if (!colon && !hyphen)
        return;
    ahead.at++;
    if (ahead.at < ahead.end && *ahead.at == ' ')
        ahead.at++;
    if (colon)
        take_thread(&ahead, header);
    header->logger = name;
    header->message = rest_of(&ahead);
}

static bool take_time(struct cursor *cursor, struct pyro_log_header *header)
{
    bool bracket = cursor->at < cursor->end && *cursor->at == '[';
    struct pyro_slice text = {cursor->at + bracket, left(cursor) - bracket};
    size_t used = pyro_date_time_read(text, &header->time_ms, &header->zoned);
    if (used == 0 || (bracket && (used >= text.len || text.ptr[used] != ']')))
        return false;
    cursor->at = text.ptr + used + bracket;
    return cursor->at == cursor->end || *cursor->at == ' ' || *cursor->at == '\t' || *cursor->at == '[';
}

bool pyro_log_header_read(struct pyro_slice line, struct pyro_log_header *ret)
{
    enum { SHORTEST = 17 };
    struct cursor cursor = {line.ptr, line.ptr + line.len};
    if (line.len < SHORTEST)
        return false;
    char first = line.ptr[0];
    *ret = (struct pyro_log_header){.time_ms = PYRO_NONE};
    if (is_upper(first)) { /* "INFO 2024-03-01 10:15:02,123 ..." */
        if (!take_level(&cursor, &ret->level))
            return false;
        skip_blanks(&cursor);
    } else if (first != '[' && (unsigned char)(first - '0') > 9) {
        return false;
    }
    if (!take_time(&cursor, ret) || !take_fields(&cursor, ret))
        return false;
    take_logger(&cursor, ret);
    return true;
}
