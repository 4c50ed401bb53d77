#include "source/discovery/names.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct pyro_slice from(struct pyro_slice text, size_t start)
{
    return (struct pyro_slice){text.ptr + start, text.len - start};
}

static struct pyro_slice up_to_dot(struct pyro_slice text)
{
    const char *dot = text.len ? memchr(text.ptr, '.', text.len) : NULL;
    return (struct pyro_slice){text.ptr, dot ? (size_t)(dot - text.ptr) : text.len};
}

/* Spark keeps the codec's suffix before ".compact"; the other order is accepted too. */
static bool has_suffix(struct pyro_slice base, const char *suffix)
{
    const char *dot = base.len ? memchr(base.ptr, '.', base.len) : NULL;
    const char *found = dot ? pyro_slice_find(from(base, (size_t)(dot - base.ptr)), suffix) : NULL;
    if (!found)
        return false;
    const char *end = found + strlen(suffix);
    return end == base.ptr + base.len || *end == '.';
}

/* "events_" was seen. A number too large to count is not a number. */
static bool parse_part(struct pyro_slice rest, struct pyro_name *name)
{
    size_t i = 0;
    uint64_t number = 0;
    for (; i < rest.len && is_digit(rest.ptr[i]); i++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(rest.ptr[i] - '0'), &number))
            return false;
    }
    if (i == 0 || i + 1 >= rest.len || rest.ptr[i] != '_')
        return false;
    name->kind = PYRO_NAME_PART;
    name->number = number;
    name->key = up_to_dot(from(rest, i + 1));
    return true;
}

static bool is_databricks_time(struct pyro_slice rest)
{
    static const char PATTERN[] = "-0000-00-00--00-00"; /* 0: any digit */
    size_t len = sizeof(PATTERN) - 1;
    if (rest.len < len || (rest.len > len && rest.ptr[len] != '.' && rest.ptr[len] != '-'))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (PATTERN[i] == '0' ? !is_digit(rest.ptr[i]) : rest.ptr[i] != PATTERN[i])
            return false;
    }
    return true;
}

struct pyro_name pyro_name_of(struct pyro_slice base)
{
    struct pyro_name name = {.kind = PYRO_NAME_SINGLE, .key = base};
    if (base.len == 0 || base.ptr[0] == '.' || base.ptr[0] == '_' || pyro_slice_ends_with(base, ".crc")) {
        name.kind = PYRO_NAME_IGNORED;
        return name;
    }
    name.compacted = has_suffix(base, ".compact");
    name.in_progress = has_suffix(base, ".inprogress");
    if (pyro_slice_starts_with(base, "events_")) {
        parse_part(from(base, strlen("events_")), &name);
    } else if (pyro_slice_starts_with(base, "appstatus_")) {
        name.kind = PYRO_NAME_STATUS;
        name.key = up_to_dot(from(base, strlen("appstatus_")));
    } else if (pyro_slice_starts_with(base, "eventlog")) {
        name.newest = pyro_slice_is(base, "eventlog");
        if (name.newest || is_databricks_time(from(base, strlen("eventlog")))) {
            name.kind = PYRO_NAME_DATABRICKS;
            name.key = PYRO_SLICE_NULL;
        }
    }
    return name;
}

static size_t digits_at(struct pyro_slice text, size_t at)
{
    size_t end = at;
    while (end < text.len && is_digit(text.ptr[end]))
        end++;
    return end - at;
}

static size_t skip_zeros(struct pyro_slice text, size_t at, size_t *digits)
{
    while (*digits > 1 && text.ptr[at] == '0') {
        at++;
        (*digits)--;
    }
    return at;
}

/* Where both begin to differ, or the number in which they do begins: names of one folder have most of their bytes in
 * common. */
static size_t common_prefix(struct pyro_slice a, struct pyro_slice b)
{
    size_t most = a.len < b.len ? a.len : b.len, i = 0;
    uint64_t x, y;
    while (i + sizeof(x) <= most && (memcpy(&x, a.ptr + i, sizeof(x)), memcpy(&y, b.ptr + i, sizeof(y)), x == y))
        i += sizeof(x);
    while (i < most && a.ptr[i] == b.ptr[i])
        i++;
    while (i > 0 && is_digit(a.ptr[i - 1]))
        i--;
    return i;
}

int pyro_natural_compare(struct pyro_slice a, struct pyro_slice b)
{
    size_t i = common_prefix(a, b), j = i;
    while (i < a.len && j < b.len) {
        size_t m = digits_at(a, i), n = digits_at(b, j);
        if (m == 0 || n == 0) {
            unsigned char x = (unsigned char)a.ptr[i++], y = (unsigned char)b.ptr[j++];
            if (x != y)
                return x < y ? -1 : 1;
            continue;
        }
        i = skip_zeros(a, i, &m);
        j = skip_zeros(b, j, &n);
        if (m != n)
            return m < n ? -1 : 1;
        int order = memcmp(a.ptr + i, b.ptr + j, m);
        if (order != 0)
            return order;
        i += m;
        j += n;
    }
    if ((i < a.len) != (j < b.len))
        return i < a.len ? 1 : -1;
    return pyro_slice_compare(a, b);
}

struct pyro_slice pyro_base_name(struct pyro_slice path)
{
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    return slash ? from(path, (size_t)(slash - path.ptr) + 1) : path;
}

struct pyro_slice pyro_folder_name(struct pyro_slice path)
{
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    return slash ? (struct pyro_slice){path.ptr, (size_t)(slash - path.ptr)} : PYRO_SLICE_NULL;
}
