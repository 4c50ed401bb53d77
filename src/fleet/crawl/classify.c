#include "fleet/crawl/classify.h"

#include <string.h>

#include "base/strings/strbuf.h"

enum { CAPTURES = 32, MATCH_LIMIT = 200000, DEPTH_LIMIT = 2000, HEAP_KIB = 2048, MOST_BYTES = 4096 };

void pyro_classes_done(struct pyro_classes *classes)
{
    for (size_t i = 0; i < classes->rules.count; i++) {
        pyro_pattern_free(classes->rules.items[i].pattern);
        pyro_vec_done(&classes->rules.items[i].tags, classes->allocator);
    }
    pyro_vec_done(&classes->rules, classes->allocator);
}

/* ---- Matching ---------------------------------------------------------------------------------------------------- */

int pyro_bounded_match(const struct pyro_pattern *pattern, struct pyro_slice text, struct pyro_slice *ret, size_t count)
{
    const pcre2_code *code = pyro_pattern_code(pattern);
    pcre2_match_data *data = pcre2_match_data_create_from_pattern(code, NULL);
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    int found = 0;
    if (data && context) {
        pcre2_set_match_limit(context, MATCH_LIMIT);
        pcre2_set_depth_limit(context, DEPTH_LIMIT);
        pcre2_set_heap_limit(context, HEAP_KIB);
        found = pcre2_match(code, (PCRE2_SPTR)(text.ptr ? text.ptr : ""), text.len < MOST_BYTES ? text.len : MOST_BYTES,
                            0, 0, data, context);
    }
    if (found > 0) {
        const PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);
        found = (int)pcre2_get_ovector_count(data);
        for (size_t i = 0; ret && i < count; i++)
            ret[i] = i < (size_t)found && at[2 * i] != PCRE2_UNSET && at[2 * i + 1] >= at[2 * i]
                         ? (struct pyro_slice){text.ptr + at[2 * i], at[2 * i + 1] - at[2 * i]}
                         : PYRO_SLICE_NULL;
    }
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
    return found > 0 ? found : 0;
}

static struct pyro_slice capture_of(const struct pyro_pattern *pattern, const struct pyro_slice *captures,
                                    struct pyro_slice name)
{
    char text[40];
    bool digits = name.len > 0 && name.len < 3;
    int number = 0;
    for (size_t i = 0; i < name.len && digits; i++) {
        digits = name.ptr[i] >= '0' && name.ptr[i] <= '9';
        number = number * 10 + (name.ptr[i] - '0');
    }
    if (!digits && name.len < sizeof(text)) {
        memcpy(text, name.ptr, name.len);
        text[name.len] = '\0';
        number = pcre2_substring_number_from_name(pyro_pattern_code(pattern), (PCRE2_SPTR)text);
    }
    return number >= 0 && number < CAPTURES && captures[number].ptr ? captures[number] : PYRO_SLICE_LITERAL("");
}

/* A value with its captures in place: "$1", "${name}", "$$" for a dollar sign. A null slice: no memory. */
static struct pyro_slice expand(struct pyro_arena *arena, const struct pyro_pattern *pattern,
                                const struct pyro_slice *captures, struct pyro_slice value)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, arena->allocator);
    for (size_t i = 0; i < value.len; i++) {
        const char *at = value.ptr + i, *end = value.ptr + value.len;
        if (*at != '$' || at + 1 == end) {
            pyro_strbuf_add_char(&text, *at);
        } else if (at[1] == '{' && memchr(at, '}', (size_t)(end - at))) {
            const char *closing = memchr(at, '}', (size_t)(end - at));
            pyro_strbuf_add_slice(
                &text, capture_of(pattern, captures, (struct pyro_slice){at + 2, (size_t)(closing - at - 2)}));
            i += (size_t)(closing - at);
        } else if (at[1] >= '0' && at[1] <= '9') {
            pyro_strbuf_add_slice(&text, capture_of(pattern, captures, (struct pyro_slice){at + 1, 1}));
            i++;
        } else {
            pyro_strbuf_add_char(&text, '$');
            i += at[1] == '$';
        }
    }
    struct pyro_slice kept = text.failed ? PYRO_SLICE_NULL : pyro_arena_copy(arena, pyro_strbuf_slice(&text));
    pyro_strbuf_done(&text);
    return kept;
}

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

static struct pyro_slice pair_of(const struct pyro_run_pair *pairs, size_t count, struct pyro_slice key)
{
    for (size_t i = 0; i < count; i++)
        if (pyro_slice_eq(pairs[i].key, key))
            return pairs[i].value;
    return PYRO_SLICE_NULL;
}

static struct pyro_slice subject_of(const struct pyro_run *run, struct pyro_slice of)
{
    struct pyro_slice key = of;
    if (pyro_slice_starts_with(of, "property.")) {
        pyro_slice_drop(&key, strlen("property."));
        return pair_of(run->properties.items, run->properties.count, key);
    }
    if (pyro_slice_starts_with(of, "tag.")) {
        pyro_slice_drop(&key, strlen("tag."));
        return pair_of(run->tags.items, run->tags.count, key);
    }
    return run->name;
}

bool pyro_run_put_tag(struct pyro_run *run, struct pyro_slice key, struct pyro_slice value)
{
    for (size_t i = 0; i < run->tags.count; i++)
        if (pyro_slice_eq(run->tags.items[i].key, key)) {
            run->tags.items[i].value = value;
            return true;
        }
    struct pyro_run_pair *pair = pyro_vec_push(&run->tags, run->arena.allocator);
    if (pair)
        *pair = (struct pyro_run_pair){key, value};
    return pair != NULL;
}

static bool apply(const struct pyro_class *rule, const struct pyro_slice *captures, struct pyro_run *run)
{
    struct pyro_slice *const fields[PYRO_CLASS_FIELDS] = {&run->application, &run->type, &run->version, &run->tag};
    for (size_t i = 0; i < PYRO_CLASS_FIELDS; i++) {
        if (!rule->values[i].ptr)
            continue;
        *fields[i] = expand(&run->arena, rule->pattern, captures, rule->values[i]);
        if (!fields[i]->ptr)
            return false;
    }
    for (size_t i = 0; i < rule->tags.count; i++) {
        struct pyro_slice key = pyro_arena_copy(&run->arena, rule->tags.items[i].key),
                          value = expand(&run->arena, rule->pattern, captures, rule->tags.items[i].value);
        if (!key.ptr || !value.ptr || !pyro_run_put_tag(run, key, value))
            return false;
    }
    return true;
}

/* The parts of the name under their numbers. */
static bool tag_parts(struct pyro_run *run)
{
    enum { PARTS_MOST = 64 };
    static const char splits[] = " ;,.-%_";
    size_t number = 0;
    for (size_t from = 0, i = 0; run->name.ptr && i <= run->name.len && number < PARTS_MOST; i++) {
        if (i < run->name.len && !memchr(splits, run->name.ptr[i], sizeof(splits) - 1))
            continue;
        struct pyro_slice key = pyro_arena_printf(&run->arena, "%zu", ++number);
        if (!key.ptr || !pyro_run_put_tag(run, key, (struct pyro_slice){run->name.ptr + from, i - from}))
            return false;
        from = i + 1;
    }
    return true;
}

bool pyro_classify(const struct pyro_classes *classes, struct pyro_run *run)
{
    struct pyro_slice captures[CAPTURES];
    run->application = run->type = run->tag = run->name;
    for (size_t i = 0; i < classes->rules.count; i++) {
        const struct pyro_class *rule = &classes->rules.items[i];
        struct pyro_slice subject = subject_of(run, rule->of);
        if (subject.ptr && pyro_bounded_match(rule->pattern, subject, captures, CAPTURES) > 0)
            return apply(rule, captures, run);
    }
    return tag_parts(run);
}
