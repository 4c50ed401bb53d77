/* Which functions a statement may call, and own code for those of SQLite that a hostile argument keeps busy for hours.
 * One call is one step: nothing can stop it, so its time must grow with the length of its arguments only. */
#include "base/memory/allocator.h"
#include "query/calls.h"

static const char *const allowed[] = {
#define SQL_FUNCTION(name) name,
#include "query/functions.def"
#undef SQL_FUNCTION
};

bool pyro_sql_may_call(const char *function)
{
    for (size_t i = 0; function && i < sizeof(allowed) / sizeof(*allowed); i++)
        if (sqlite3_stricmp(function, allowed[i]) == 0)
            return true;
    return false;
}

struct pyro_slice pyro_sql_bytes_of(sqlite3_value *value, bool blob)
{
    const char *bytes = blob ? sqlite3_value_blob(value) : (const char *)sqlite3_value_text(value);
    return (struct pyro_slice){bytes ? bytes : "", (size_t)sqlite3_value_bytes(value)};
}

bool pyro_sql_any_null(int count, sqlite3_value **values)
{
    for (int i = 0; i < count; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL)
            return true;
    return false;
}

static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* instr(X, Y): where Y is first in X, in characters, of blobs in bytes, from 1; 0: nowhere. */
static void find(sqlite3_context *context, int count, sqlite3_value **values)
{
    if (pyro_sql_any_null(count, values))
        return;
    bool blobs = sqlite3_value_type(values[0]) == SQLITE_BLOB && sqlite3_value_type(values[1]) == SQLITE_BLOB;
    struct pyro_slice text = pyro_sql_bytes_of(values[0], blobs), wanted = pyro_sql_bytes_of(values[1], blobs);
    const char *found = memmem(text.ptr, text.len, wanted.ptr, wanted.len);
    sqlite3_int64 place = found ? 1 : 0;
    for (const char *at = text.ptr; found && at < found; at++)
        place += blobs || !is_inside(*at);
    sqlite3_result_int64(context, place);
}

/* Where `wanted` is next, which is not empty; NULL: nowhere. One byte needs no more than memchr(), of which the address
 * sanitizer looks only at what was read: it looks at all of the text for each memmem(). */
static const char *find_next(const char *at, const char *end, struct pyro_slice wanted)
{
    size_t rest = (size_t)(end - at);
    return wanted.len == 1 ? memchr(at, wanted.ptr[0], rest) : memmem(at, rest, wanted.ptr, wanted.len);
}

static size_t count_in(struct pyro_slice text, struct pyro_slice wanted)
{
    const char *at = text.ptr, *end = text.ptr + text.len;
    size_t count = 0;
    while ((at = find_next(at, end, wanted))) {
        at += wanted.len;
        count++;
    }
    return count;
}

/* replace(X, Y, Z): X with Z for every Y. */
static void replace(sqlite3_context *context, int count, sqlite3_value **values)
{
    if (pyro_sql_any_null(count, values))
        return;
    struct pyro_slice text = pyro_sql_bytes_of(values[0], false), old = pyro_sql_bytes_of(values[1], false),
                      new = pyro_sql_bytes_of(values[2], false);
    size_t places = old.len ? count_in(text, old) : 0;
    uint64_t len = text.len - places * old.len + (uint64_t)places * new.len;
    if (places == 0 || len > (uint64_t)sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1)) {
        if (places == 0)
            sqlite3_result_text(context, text.ptr, (int)text.len, SQLITE_TRANSIENT);
        else
            sqlite3_result_error_toobig(context);
        return;
    }
    char *result = sqlite3_malloc64(len + 1), *out = result;
    if (!result) {
        sqlite3_result_error_nomem(context);
        return;
    }
    const char *end = text.ptr + text.len, *found;
    while ((found = find_next(text.ptr, end, old))) {
        out = mempcpy(out, text.ptr, (size_t)(found - text.ptr));
        out = mempcpy(out, new.ptr, new.len);
        text.ptr = found + old.len;
    }
    mempcpy(out, text.ptr, (size_t)(end - text.ptr));
    sqlite3_result_text(context, result, (int)len, sqlite3_free);
}

/* ---- trim(X, Y): without the characters of Y at its ends --------------------------------------------------------- */

enum { TRIM_LEFT = 1, TRIM_RIGHT = 2 };

uint32_t pyro_sql_character(const char *at, const char *end, size_t *ret_len)
{
    uint32_t code = (unsigned char)*at;
    size_t len = 1;
    code = code >= 0xF0 ? code & 7 : code >= 0xE0 ? code & 15 : code >= 0xC0 ? code & 31 : code;
    for (; at + len < end && is_inside(at[len]); len++)
        code = (code << 6 | ((unsigned char)at[len] & 63)) & PYRO_SQL_LAST_CHARACTER;
    *ret_len = len;
    return code;
}

struct characters {
    uint64_t first[2];   /* bits of those below 128 */
    unsigned char *rest; /* bits of all; NULL: there are no others */
};

static bool has(const struct characters *set, uint32_t code)
{
    return code < 128 ? set->first[code / 64] >> (code % 64) & 1 : set->rest && (set->rest[code / 8] >> (code % 8) & 1);
}

/* False: no memory. */
static bool collect(struct pyro_slice text, struct characters *set)
{
    const char *end = text.ptr + text.len;
    size_t len;
    for (const char *at = text.ptr; at < end; at += len) {
        uint32_t code = pyro_sql_character(at, end, &len);
        if (code < 128) {
            set->first[code / 64] |= UINT64_C(1) << (code % 64);
            continue;
        }
        if (!set->rest && (set->rest = sqlite3_malloc((PYRO_SQL_LAST_CHARACTER + 1) / 8)))
            memset(set->rest, 0, (PYRO_SQL_LAST_CHARACTER + 1) / 8);
        if (!set->rest)
            return false;
        set->rest[code / 8] |= (unsigned char)(1 << (code % 8));
    }
    return true;
}

static struct pyro_slice cut_ends(struct pyro_slice text, const struct characters *set, int sides)
{
    const char *at = text.ptr, *end = text.ptr + text.len;
    size_t len;
    while ((sides & TRIM_LEFT) && at < end && has(set, pyro_sql_character(at, end, &len)))
        at += len;
    while ((sides & TRIM_RIGHT) && at < end) {
        const char *last = end - 1;
        while (last > at && is_inside(*last))
            last--;
        if (!has(set, pyro_sql_character(last, end, &len)) || last + len != end)
            break;
        end = last;
    }
    return (struct pyro_slice){at, (size_t)(end - at)};
}

static void trim(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct characters set = {.first = {0}};
    if (pyro_sql_any_null(count, values))
        return;
    struct pyro_slice text = pyro_sql_bytes_of(values[0], false);
    int sides = (int)(intptr_t)sqlite3_user_data(context);
    if (collect(count == 2 ? pyro_sql_bytes_of(values[1], false) : PYRO_SLICE_LITERAL(" "), &set)) {
        text = cut_ends(text, &set, sides);
        sqlite3_result_text(context, text.ptr, (int)text.len, SQLITE_TRANSIENT);
    } else {
        sqlite3_result_error_nomem(context);
    }
    sqlite3_free(set.rest);
}

int pyro_sql_add_functions(sqlite3 *db, struct pyro_sql_source *source)
{
    static const struct {
        const char *name;
        int arguments, sides;
        pyro_sql_call *call;
    } functions[] = {
        {"format", -1, 0, pyro_sql_printf},
        {"glob", 2, 0, pyro_sql_glob},
        {"instr", 2, 0, find},
        {"like", 2, 0, pyro_sql_like},
        {"like", 3, 0, pyro_sql_like},
        {"ltrim", 1, TRIM_LEFT, trim},
        {"ltrim", 2, TRIM_LEFT, trim},
        {"printf", -1, 0, pyro_sql_printf},
        {"replace", 3, 0, replace},
        {"rtrim", 1, TRIM_RIGHT, trim},
        {"rtrim", 2, TRIM_RIGHT, trim},
        {"trim", 1, TRIM_LEFT | TRIM_RIGHT, trim},
        {"trim", 2, TRIM_LEFT | TRIM_RIGHT, trim},
    };
    int status = SQLITE_OK;
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions) && status == SQLITE_OK; i++) {
        void *context = functions[i].sides ? (void *)(intptr_t)functions[i].sides : (void *)source;
        status = sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments,
                                            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, context,
                                            functions[i].call, NULL, NULL, NULL);
    }
    return status;
}
