/* Ids that stay the same for the same fault in the next run of the application. */
#include <ctype.h>

#include "rules/stable_id.h"

enum { ID_LIMIT = 100 };

/* Digits after ".py:", ".scala:", ".java:" and the like are line numbers: they belong to the code, not to the run. */
static bool is_line_number(struct pyro_slice text, size_t at)
{
    if (at < 2 || text.ptr[at - 1] != ':')
        return false;
    size_t first = at - 1;
    while (first > 0 && isalpha((unsigned char)text.ptr[first - 1]))
        first--;
    return first > 0 && first < at - 1 && text.ptr[first - 1] == '.';
}

static uint32_t mix(uint32_t hash, unsigned char byte)
{
    return (hash ^ byte) * UINT32_C(16777619); /* FNV-1a */
}

/* Length of a UUID (8-4-4-4-12 hexadecimal digits) at `at`, or 0. */
static size_t uuid_at(struct pyro_slice text, size_t at)
{
    enum { UUID = 36 };
    if (text.len - at < UUID)
        return 0;
    for (size_t i = 0; i < UUID; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        unsigned char byte = (unsigned char)text.ptr[at + i];
        if (dash ? byte != '-' : !isxdigit(byte))
            return 0;
    }
    return UUID;
}

/* Writes `text` normalized to `out` (at most ID_LIMIT bytes); what is cut off goes into a hash instead. */
static size_t normalise(struct pyro_slice text, char *out)
{
    size_t len = 0;
    uint32_t rest = UINT32_C(2166136261);
    bool cut = false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        char next;
        size_t uuid = isxdigit(byte) ? uuid_at(text, i) : 0;
        if (uuid > 0) {
            next = '#';
            i += uuid - 1;
        } else if (isdigit(byte)) {
            bool keep = is_line_number(text, i);
            size_t last = i;
            while (last + 1 < text.len && isdigit((unsigned char)text.ptr[last + 1]))
                last++;
            for (; keep && i < last && len < ID_LIMIT; i++)
                out[len++] = text.ptr[i];
            next = keep ? text.ptr[i] : '#';
            i = last;
        } else {
            next = isalnum(byte) || byte == '.' || byte == ':' || byte == '_' || byte >= 0x80
                       ? (char)(byte < 0x80 ? tolower(byte) : byte)
                       : '-';
        }
        if (next == '-' && (len == 0 || out[len - 1] == '-'))
            continue;
        if (len < ID_LIMIT) {
            out[len++] = next;
        } else {
            cut = true;
            rest = mix(rest, (unsigned char)next);
        }
    }
    while (len > 0 && out[len - 1] == '-')
        len--;
    if (cut) {
        static const char hex[] = "0123456789abcdef";
        while (len > ID_LIMIT - 9 || (len > 0 && ((unsigned char)out[len] & 0xC0) == 0x80 && len < ID_LIMIT))
            len--;
        out[len++] = '-';
        for (int shift = 28; shift >= 0; shift -= 4)
            out[len++] = hex[(rest >> shift) & 15];
    }
    return len;
}

struct pyro_slice pyro_stable_place(struct pyro_arena *arena, struct pyro_slice text)
{
    char place[ID_LIMIT + 1];
    return pyro_arena_copy(arena, (struct pyro_slice){place, normalise(text, place)});
}

struct pyro_slice pyro_finding_stable_id(struct pyro_arena *arena, const struct pyro_finding *finding)
{
    char place[ID_LIMIT + 1];
    struct pyro_slice site = finding->call_site.len ? finding->call_site : finding->executor;
    size_t len = site.ptr ? normalise(site, place) : 0;
    if (len == 0)
        return pyro_arena_printf(arena, "%s", finding->rule->id);
    return pyro_arena_printf(arena, "%s:%.*s", finding->rule->id, (int)len, place);
}

bool pyro_findings_make_unique(struct pyro_arena *arena, struct pyro_finding *findings, size_t count)
{
    struct pyro_slice *bases = pyro_arena_array(arena, count + 1, sizeof(*bases));
    if (!bases)
        return false;
    for (size_t i = 0; i < count; i++) {
        unsigned same = 1;
        bases[i] = findings[i].id;
        for (size_t k = 0; k < i; k++)
            same += pyro_slice_eq(bases[k], bases[i]);
        if (same == 1)
            continue;
        findings[i].id = pyro_arena_printf(arena, "%.*s-%u", (int)bases[i].len, bases[i].ptr, same);
        if (!findings[i].id.ptr)
            return false;
    }
    return true;
}
