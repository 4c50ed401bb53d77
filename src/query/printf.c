/* printf() and format(), as SQLite's own, but that a width or a precision longer than a value may be is an error.
 * SQLite counts such a precision of %c down one by one, which nothing can stop. */
#include <stdio.h>

#include "query/calls.h"

struct arguments {
    sqlite3_value **values;
    int count, next;
};

static sqlite3_value *take(struct arguments *arguments)
{
    return arguments->next < arguments->count ? arguments->values[arguments->next++] : NULL;
}

static sqlite3_int64 take_int(struct arguments *arguments)
{
    sqlite3_value *value = take(arguments);
    return value ? sqlite3_value_int64(value) : 0;
}

static double take_real(struct arguments *arguments)
{
    sqlite3_value *value = take(arguments);
    return value ? sqlite3_value_double(value) : 0;
}

/* NULL for SQL's NULL and where there is none. */
static const char *take_text(struct arguments *arguments)
{
    sqlite3_value *value = take(arguments);
    return value ? (const char *)sqlite3_value_text(value) : NULL;
}

/* One conversion without its letter: "%-08.3". */
struct conversion {
    char text[48];
    size_t len;
    bool too_long;
};

static void add(struct conversion *conversion, char byte)
{
    if (conversion->len + 4 < sizeof(conversion->text)) /* room for "ll", a letter and NUL */
        conversion->text[conversion->len++] = byte;
    else
        conversion->too_long = true;
}

/* Digits or '*'; what it says goes to the conversion. */
static const char *read_number(const char *at, struct arguments *arguments, sqlite3_int64 limit,
                               struct conversion *conversion, bool width)
{
    char digits[24];
    sqlite3_int64 number = 0;
    bool given = *at == '*';
    if (*at == '*') {
        number = take_int(arguments);
        at++;
    }
    for (; *at >= '0' && *at <= '9'; at++, given = true)
        number = number > limit ? number : number * 10 + (*at - '0');
    if (number < 0 && width)
        add(conversion, '-');
    if (number > limit || number < -limit) {
        conversion->too_long = true;
        return at;
    }
    if (!given && width)
        return at;
    snprintf(digits, sizeof(digits), "%lld", (long long)(number < 0 ? -number : number));
    for (const char *digit = digits; *digit; digit++)
        add(conversion, *digit);
    return at;
}

/* From behind the '%' to the letter. */
static const char *read_conversion(const char *at, struct arguments *arguments, sqlite3_int64 limit,
                                   struct conversion *conversion)
{
    const char *flags = "-+ 0#,!";
    *conversion = (struct conversion){.text = "%", .len = 1};
    for (unsigned seen = 0; *at && strchr(flags, *at); at++) {
        unsigned bit = 1u << (strchr(flags, *at) - flags);
        if (!(seen & bit))
            add(conversion, *at);
        seen |= bit;
    }
    at = read_number(at, arguments, limit, conversion, true);
    if (*at == '.') {
        add(conversion, '.');
        at = read_number(at + 1, arguments, limit, conversion, false);
    }
    while (*at == 'l')
        at++;
    return at;
}

static void finish(struct conversion *conversion, const char *letters)
{
    memcpy(conversion->text + conversion->len, letters, strlen(letters) + 1); /* there is room for three */
}

/* False: there is no such conversion, and the text ends there. */
static bool convert(char letter, struct conversion *conversion, struct arguments *arguments, sqlite3_str *out)
{
    char letters[4] = {'l', 'l', letter, '\0'};
    switch (letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
    case 'r':
        finish(conversion, letters);
        sqlite3_str_appendf(out, conversion->text, take_int(arguments));
        return true;
    case 'p':
        finish(conversion, letters + 2);
        sqlite3_str_appendf(out, conversion->text, (void *)(intptr_t)take_int(arguments));
        return true;
    case 'f':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
        finish(conversion, letters + 2);
        sqlite3_str_appendf(out, conversion->text, take_real(arguments));
        return true;
    case 'z':
        letters[2] = 's'; /* the text is not ours to free */
        /* fall through */
    case 's':
    case 'q':
    case 'Q':
    case 'w':
        finish(conversion, letters + 2);
        sqlite3_str_appendf(out, conversion->text, take_text(arguments));
        return true;
    case 'c': {
        const char *text = take_text(arguments);
        size_t len;
        finish(conversion, letters + 2);
        sqlite3_str_appendf(out, conversion->text,
                            (int)(text && *text ? pyro_sql_character(text, text + strlen(text), &len) : 0));
        return true;
    }
    case '%':
        sqlite3_str_appendchar(out, 1, '%');
        return true;
    case 'n':
        return true;
    default:
        return false;
    }
}

void pyro_sql_printf(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct arguments arguments = {values, count, 1};
    const char *at = count ? (const char *)sqlite3_value_text(values[0]) : NULL, *percent;
    sqlite3 *db = sqlite3_context_db_handle(context);
    sqlite3_int64 limit = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
    if (!at)
        return;
    sqlite3_str *out = sqlite3_str_new(db); /* knows the longest value */
    struct conversion conversion = {.len = 0};
    for (; (percent = strchr(at, '%')) && !sqlite3_str_errcode(out); at++) {
        sqlite3_str_append(out, at, (int)(percent - at));
        at = percent + 1;
        if (!*at) {
            sqlite3_str_appendchar(out, 1, '%');
            break;
        }
        at = read_conversion(at, &arguments, limit, &conversion);
        if (conversion.too_long || !convert(*at, &conversion, &arguments, out)) {
            at = "";
            break;
        }
    }
    if (!percent)
        sqlite3_str_appendall(out, at);
    int failure = conversion.too_long ? SQLITE_TOOBIG : sqlite3_str_errcode(out), len = sqlite3_str_length(out);
    char *result = sqlite3_str_finish(out);
    if (failure)
        sqlite3_result_error_code(context, failure);
    else
        sqlite3_result_text(context, result ? result : "", len, SQLITE_TRANSIENT);
    sqlite3_free(result);
}
