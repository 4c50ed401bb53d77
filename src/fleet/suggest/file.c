/* Reads, edits and replaces files of Spark settings. */
#include "fleet/suggest/file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/replace_file.h"
#include "base/files/whole_file.h"

/* The key of a line of a properties file, as java.util.Properties separates it; empty for comments and blank lines. */
static struct pyro_slice key_of(struct pyro_slice line)
{
    size_t from = 0, to;
    while (from < line.len && strchr(" \t\f", line.ptr[from]) && line.ptr[from])
        from++;
    if (from == line.len || line.ptr[from] == '#' || line.ptr[from] == '!')
        return PYRO_SLICE_LITERAL("");
    for (to = from; to < line.len && line.ptr[to] && !strchr(" \t\f=:\r", line.ptr[to]);)
        to++;
    return (struct pyro_slice){line.ptr + from, to - from};
}

/* Bytes of the first line of a text, with its end: \n, \r or \r\n. `ret_ended`: it has one. */
static size_t natural_line(struct pyro_slice text, size_t *ret_content, bool *ret_ended)
{
    size_t len = 0;
    while (len < text.len && text.ptr[len] != '\n' && text.ptr[len] != '\r')
        len++;
    *ret_content = len;
    *ret_ended = len < text.len;
    if (*ret_ended)
        len += text.ptr[len] == '\r' && len + 1 < text.len && text.ptr[len + 1] == '\n' ? 2 : 1;
    return len;
}

/* Whether an odd number of backslashes ends these bytes. */
static bool goes_on(const char *bytes, size_t len)
{
    size_t count = 0;
    while (count < len && bytes[len - 1 - count] == '\\')
        count++;
    return count % 2 == 1;
}

/* A line as java.util.Properties has it: with those that it goes on in. Comments and blank lines do not go on.
 * `ret_open`: the text ends where the line would go on. May be NULL. */
static bool next_line(struct pyro_slice *rest, struct pyro_slice *ret, bool *ret_open)
{
    size_t len = 0, content = 0;
    bool ended = false, open = false;
    if (rest->len == 0)
        return false;
    do {
        struct pyro_slice left = {rest->ptr + len, rest->len - len};
        size_t more = natural_line(left, &content, &ended);
        open = goes_on(left.ptr, content) && (len > 0 || key_of((struct pyro_slice){left.ptr, content}).len > 0);
        len += more;
    } while (open && ended && len < rest->len);
    if (ret_open)
        *ret_open = open;
    *ret = (struct pyro_slice){rest->ptr, len};
    *rest = (struct pyro_slice){rest->ptr + len, rest->len - len};
    return true;
}

/* The setting whose key the line has, or `count`. */
static size_t setting_of(struct pyro_slice line, const struct pyro_suggest_setting *settings, size_t count)
{
    struct pyro_slice key = key_of(line);
    size_t i = 0;
    while (i < count && !(key.len > 0 && pyro_slice_eq(settings[i].key, key)))
        i++;
    return i;
}

static bool has_later_line(struct pyro_slice rest, const struct pyro_suggest_setting *setting)
{
    struct pyro_slice line;
    while (next_line(&rest, &line, NULL))
        if (setting_of(line, setting, 1) == 0)
            return true;
    return false;
}

static void add_setting(struct pyro_strbuf *text, const struct pyro_suggest_setting *setting)
{
    pyro_strbuf_add_slice(text, setting->key);
    pyro_strbuf_add_char(text, ' ');
    pyro_strbuf_add_slice(text, setting->value);
    pyro_strbuf_add_char(text, '\n');
}

bool pyro_defaults_file_edit(struct pyro_slice text, const struct pyro_suggest_setting *settings, size_t count,
                             struct pyro_strbuf *ret)
{
    struct pyro_slice rest = text, line;
    bool open = false;
    while (next_line(&rest, &line, &open)) {
        size_t i = setting_of(line, settings, count);
        bool stays = i == count || (settings[i].value.ptr && has_later_line(rest, &settings[i]));
        if (stays)
            pyro_strbuf_add_slice(ret, line);
        else if (settings[i].value.ptr)
            add_setting(ret, &settings[i]);
        open = open && stays;
    }
    for (size_t i = 0; i < count; i++) {
        if (!settings[i].value.ptr || has_later_line(text, &settings[i]))
            continue;
        if (ret->len > 0 && ret->data[ret->len - 1] != '\n' && ret->data[ret->len - 1] != '\r')
            pyro_strbuf_add_char(ret, '\n');
        if (open) /* a blank line is what the last one goes on in */
            pyro_strbuf_add_char(ret, '\n');
        open = false;
        add_setting(ret, &settings[i]);
    }
    return !ret->failed;
}

static enum pyro_status fail(struct pyro_error *error, enum pyro_status code, const char *path, const char *why)
{
    pyro_error_describe(error, code, "%s", why);
    pyro_error_at(error, path, UINT64_MAX);
    return code;
}

enum pyro_status pyro_defaults_file_read(const char *path, struct pyro_arena *arena, struct pyro_slice *ret,
                                         bool *ret_exists, struct pyro_error *error)
{
    struct stat found;
    struct pyro_strbuf text;
    *ret_exists = stat(path, &found) == 0;
    *ret = PYRO_SLICE_LITERAL("");
    if (!*ret_exists)
        return errno == ENOENT ? PYRO_OK : fail(error, PYRO_ERROR_INPUT, path, strerror(errno));
    if (!S_ISREG(found.st_mode))
        return fail(error, PYRO_ERROR_INPUT, path, "it is not a file of settings");
    pyro_strbuf_init(&text, arena->allocator);
    enum pyro_status status = pyro_read_whole(path, PYRO_DEFAULTS_FILE_BYTES, &text, error);
    if (status == PYRO_OK) {
        *ret = pyro_arena_copy(arena, pyro_strbuf_slice(&text));
        status = ret->ptr ? PYRO_OK : pyro_no_memory(error);
    }
    pyro_strbuf_done(&text);
    return status;
}

struct pyro_slice pyro_defaults_file_copy(struct pyro_arena *arena, struct pyro_slice path, struct pyro_slice id)
{
    return pyro_arena_printf(arena, "%s.before-%s", path.ptr, id.ptr);
}

enum pyro_status pyro_defaults_file_write(const char *path, const char *like, struct pyro_slice former,
                                          struct pyro_slice text, struct pyro_error *error)
{
    const struct pyro_replacement how = {
        .access = PYRO_NEW_FILE_BY_UMASK, .like = like, .lasts = true, .former = &former};
    int failure = pyro_replace_file(path, text, &how);
    if (failure == ESTALE)
        return fail(error, PYRO_ERROR_OUTPUT, path,
                    "another program changed it meanwhile, and it stays so; look at it, then try again");
    return failure ? fail(error, PYRO_ERROR_OUTPUT, path, strerror(failure)) : PYRO_OK;
}

enum pyro_status pyro_defaults_file_lock(const char *path, int *ret, struct pyro_error *error)
{
    enum { WAIT_MS = 30000 };
    *ret = pyro_lock_folder_of(path, WAIT_MS);
    if (*ret == -EWOULDBLOCK)
        return fail(error, PYRO_ERROR_OUTPUT, path,
                    "another process has been changing files of its folder for 30 s; try again");
    /* Where folders have no locks, what is compared before the file is replaced is all there is. */
    return PYRO_OK;
}

void pyro_defaults_file_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}
