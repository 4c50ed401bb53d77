#include "decode/rest/plan_details.h"

#include "base/strings/strbuf.h"
#include "text/json_compact.h"

/* How many operators of the description the drawn plan may leave out in a row: query stages, adapters. */
enum { LEFT_OUT = 6, MOST_NUMBER = 100000, MOST_OPERATORS = 100000 };

/* Of one description: what is read of it, how much its paragraphs may be read over and over, and what one operator's
 * text may have. */
enum { MOST_TEXT_BYTES = 8 << 20, MOST_BYTES_READ = 64 << 20, MOST_DETAIL_BYTES = 16 << 10 };

/* A line of the description, without the escaped newline at its end. */
struct line {
    struct pyro_slice text;
    size_t begin;
};

static bool next_line(struct pyro_slice text, size_t *at, struct line *ret)
{
    if (*at >= text.len)
        return false;
    size_t end = *at;
    while (end + 1 < text.len && !(text.ptr[end] == '\\' && text.ptr[end + 1] == 'n'))
        end += text.ptr[end] == '\\' ? 2 : 1;
    bool newline = end + 1 < text.len;
    end = newline ? end : text.len;
    *ret = (struct line){{text.ptr + *at, end - *at}, *at};
    *at = newline ? end + 2 : text.len;
    return true;
}

/* The longest beginning of at most `limit` bytes that cuts no escape and no character in two. */
static struct pyro_slice cut(struct pyro_slice text, size_t limit)
{
    size_t at = 0, step;
    for (; at < text.len; at += step) {
        step = 1;
        if (text.ptr[at] == '\\')
            step = at + 1 < text.len && text.ptr[at + 1] == 'u' ? 6 : 2;
        else
            while (at + step < text.len && ((unsigned char)text.ptr[at + step] & 0xc0) == 0x80)
                step++;
        if (step > text.len - at || at + step > limit)
            break;
    }
    return (struct pyro_slice){text.ptr, at};
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static int64_t read_number(struct pyro_slice text, size_t at, size_t *ret_end)
{
    int64_t number = 0;
    size_t i = at;
    for (; i < text.len && is_digit(text.ptr[i]) && number < MOST_NUMBER; i++)
        number = number * 10 + (text.ptr[i] - '0');
    *ret_end = i;
    return i > at && number < MOST_NUMBER ? number : -1;
}

/* The tree's lines begin with these. */
static size_t indentation(struct pyro_slice line)
{
    size_t at = 0;
    while (at < line.len && strchr(" :+-|", line.ptr[at]))
        at++;
    return at;
}

/* "* SortMergeJoin Inner (12)", "Scan csv  (1)", "ShuffleQueryStage (5), Statistics(...)", and, in descriptions that
 * are not formatted, "*(3) Sort [a#1 ASC], false, 0". */
static bool keep_operator(struct pyro_rest_details *details, struct pyro_slice text)
{
    if (text.len > 0 && text.ptr[0] == '*') {
        size_t skip = 1, end;
        if (text.len > 3 && text.ptr[1] == '(' && read_number(text, 2, &end) >= 0 && end < text.len)
            skip = end + 1;
        while (skip < text.len && text.ptr[skip] == ' ')
            skip++;
        text = (struct pyro_slice){text.ptr + skip, text.len - skip};
    }
    if (text.len == 0)
        return true;
    struct pyro_rest_operator *found = pyro_vec_push(&details->operators, details->allocator);
    if (!found)
        return false;
    *found = (struct pyro_rest_operator){text, -1};
    for (size_t i = 0; i + 2 < text.len; i++) {
        size_t end;
        if (text.ptr[i] != ' ' || text.ptr[i + 1] != '(')
            continue;
        int64_t number = read_number(text, i + 2, &end);
        if (number < 0 || end >= text.len || text.ptr[end] != ')' || (end + 1 < text.len && text.ptr[end + 1] != ','))
            continue;
        found->number = number;
        found->name.len = i;
        break;
    }
    return true;
}

/* The tree under "== Physical Plan =="; of an adaptive plan the final one. */
static bool read_tree(struct pyro_rest_details *details)
{
    const char *head = pyro_slice_find(details->text, "== Physical Plan ==");
    size_t at = head ? (size_t)(head - details->text.ptr) : details->text.len, skipped_from = SIZE_MAX;
    struct line line;
    if (!next_line(details->text, &at, &line))
        return true;
    while (next_line(details->text, &at, &line) && line.text.len > 0 && details->operators.count < MOST_OPERATORS) {
        size_t indent = indentation(line.text);
        struct pyro_slice rest = {line.text.ptr + indent, line.text.len - indent};
        if (indent >= skipped_from)
            continue;
        skipped_from = SIZE_MAX;
        if (pyro_slice_starts_with(rest, "== Initial Plan"))
            skipped_from = indent;
        else if (!pyro_slice_starts_with(rest, "== ") && !keep_operator(details, rest))
            return false;
    }
    return true;
}

/* "(12) SortMergeJoin [codegen id : 5]" begins a paragraph. */
static bool read_paragraphs(struct pyro_rest_details *details)
{
    size_t at = 0;
    struct line line;
    while (next_line(details->text, &at, &line)) {
        size_t end;
        int64_t number = line.text.len > 3 && line.text.ptr[0] == '(' ? read_number(line.text, 1, &end) : -1;
        if (number < 0 || end >= line.text.len || line.text.ptr[end] != ')')
            continue;
        while (details->paragraphs.count <= (size_t)number)
            if (!pyro_vec_push(&details->paragraphs, details->allocator))
                return false;
        if (details->paragraphs.items[number] == 0)
            details->paragraphs.items[number] = at + 1;
    }
    return true;
}

bool pyro_rest_details_open(struct pyro_rest_details *details, struct pyro_slice text,
                            const struct pyro_allocator *allocator)
{
    *details = (struct pyro_rest_details){.allocator = allocator, .left = MOST_BYTES_READ};
    details->text = text.ptr ? cut(text, MOST_TEXT_BYTES) : text;
    pyro_arena_init(&details->arena, allocator);
    return !text.ptr || (read_tree(details) && read_paragraphs(details));
}

void pyro_rest_details_done(struct pyro_rest_details *details)
{
    pyro_vec_done(&details->operators, details->allocator);
    pyro_vec_done(&details->paragraphs, details->allocator);
    pyro_arena_done(&details->arena);
}

/* ---- Paragraphs -------------------------------------------------------------------------------------------------- */

/* "Left keys [1]: [a#1]" and "Condition : a > 3" are members "Left keys" and "Condition". */
static bool split_member(struct pyro_slice line, struct pyro_slice *key, struct pyro_slice *value)
{
    const char *colon = pyro_slice_find(line, ": ");
    if (!colon)
        return false;
    *value = (struct pyro_slice){colon + 2, line.len - (size_t)(colon + 2 - line.ptr)};
    *key = (struct pyro_slice){line.ptr, (size_t)(colon - line.ptr)};
    const char *bracket = memchr(key->ptr, '[', key->len);
    if (bracket)
        key->len = (size_t)(bracket - key->ptr);
    while (key->len > 0 && key->ptr[key->len - 1] == ' ')
        key->len--;
    return key->len > 0;
}

/* False at the paragraph's end. */
static bool next_member(struct pyro_rest_details *details, size_t *at, struct line *line)
{
    if (details->left == 0 || !next_line(details->text, at, line) || line->text.len == 0)
        return false;
    details->left -= line->text.len < details->left ? line->text.len : details->left;
    return true;
}

static struct pyro_slice member(struct pyro_rest_details *details, size_t paragraph, const char *name)
{
    struct line line;
    struct pyro_slice key, value;
    while (next_member(details, &paragraph, &line))
        if (split_member(line.text, &key, &value) && pyro_slice_is(key, name))
            return value;
    return PYRO_SLICE_NULL;
}

static struct pyro_slice or_empty(struct pyro_slice text, const char *empty)
{
    return text.ptr ? text : pyro_slice_from(empty);
}

/* "Scan csv db.t" is shown as "FileScan csv db.t[columns] Batched: false, Location: ..., ReadSchema: ...". */
static void add_scan(struct pyro_strbuf *text, struct pyro_rest_details *details, size_t paragraph,
                     struct pyro_slice name)
{
    struct line line;
    struct pyro_slice key, value;
    bool any = false;
    pyro_strbuf_add_text(text, "File");
    pyro_strbuf_add_slice(text, name);
    pyro_strbuf_add_char(text, ' ');
    pyro_strbuf_add_slice(text, or_empty(member(details, paragraph, "Output"), "[]"));
    while (next_member(details, &paragraph, &line)) {
        if (!split_member(line.text, &key, &value) || pyro_slice_is(key, "Output"))
            continue;
        pyro_strbuf_add_text(text, any ? ", " : " ");
        pyro_strbuf_add_slice(text, key);
        pyro_strbuf_add_text(text, ": ");
        pyro_strbuf_add_slice(text, value);
        any = true;
    }
}

static void add_metadata(struct pyro_strbuf *text, struct pyro_rest_details *details, size_t paragraph)
{
    struct line line;
    struct pyro_slice key, value;
    while (next_member(details, &paragraph, &line)) {
        if (!split_member(line.text, &key, &value) || pyro_slice_is(key, "Output"))
            continue;
        pyro_compact_name_as_written(text, key);
        pyro_compact_as_written(text, NULL, cut(value, MOST_DETAIL_BYTES / 4));
    }
}

static bool is_file_scan(struct pyro_rest_details *details, size_t paragraph, struct pyro_slice name)
{
    return pyro_slice_starts_with(name, "Scan ") && member(details, paragraph, "ReadSchema").ptr;
}

/* What the tree says behind the operator's name, "Inner BuildRight" as ", Inner, BuildRight". */
static void add_join(struct pyro_strbuf *text, struct pyro_rest_details *details, size_t paragraph,
                     struct pyro_slice name, struct pyro_slice in_tree)
{
    struct pyro_slice left = member(details, paragraph, "Left keys"), right = member(details, paragraph, "Right keys");
    struct pyro_slice condition = member(details, paragraph, "Join condition");
    pyro_strbuf_add_slice(text, name);
    if (left.ptr) {
        pyro_strbuf_add_char(text, ' ');
        pyro_strbuf_add_slice(text, left);
        pyro_strbuf_add_text(text, ", ");
        pyro_strbuf_add_slice(text, or_empty(right, "[]"));
    }
    for (size_t i = name.len; i < in_tree.len; i++) {
        if (in_tree.ptr[i] == ' ' && (left.ptr || i > name.len))
            pyro_strbuf_add_text(text, ", ");
        else
            pyro_strbuf_add_char(text, in_tree.ptr[i]);
    }
    if (condition.ptr && !pyro_slice_is(condition, "None")) {
        pyro_strbuf_add_text(text, ", ");
        pyro_strbuf_add_slice(text, condition);
    }
}

static void add_words(struct pyro_strbuf *text, struct pyro_rest_details *details, size_t paragraph,
                      const struct pyro_rest_operator *found, struct pyro_slice name)
{
    struct pyro_slice arguments = member(details, paragraph, "Arguments");
    if (is_file_scan(details, paragraph, name)) {
        add_scan(text, details, paragraph, name);
    } else if (pyro_slice_find(name, "Join")) {
        add_join(text, details, paragraph, name, found->name);
    } else if (pyro_slice_ends_with(name, "Aggregate")) {
        pyro_strbuf_add_slice(text, name);
        pyro_strbuf_add_text(text, "(keys=");
        pyro_strbuf_add_slice(text, or_empty(member(details, paragraph, "Keys"), "[]"));
        pyro_strbuf_add_text(text, ", functions=");
        pyro_strbuf_add_slice(text, or_empty(member(details, paragraph, "Functions"), "[]"));
        pyro_strbuf_add_char(text, ')');
    } else if (arguments.ptr && pyro_slice_starts_with(arguments, "Range (")) {
        pyro_strbuf_add_slice(text, arguments);
    } else {
        struct pyro_slice rest = pyro_slice_is(name, "Filter") ? member(details, paragraph, "Condition") : arguments;
        pyro_strbuf_add_slice(text, name);
        pyro_strbuf_add_char(text, ' ');
        pyro_strbuf_add_slice(text, or_empty(rest.ptr ? rest : member(details, paragraph, "Output"), ""));
    }
}

static struct pyro_slice keep(struct pyro_rest_details *details, struct pyro_strbuf *text)
{
    struct pyro_slice kept = text->failed ? PYRO_SLICE_NULL : pyro_arena_copy(&details->arena, pyro_strbuf_slice(text));
    pyro_strbuf_done(text);
    return kept;
}

static struct pyro_rest_detail describe(struct pyro_rest_details *details, const struct pyro_rest_operator *found,
                                        struct pyro_slice name)
{
    struct pyro_rest_detail ret = {PYRO_SLICE_NULL, PYRO_SLICE_NULL};
    if (found->number < 0)
        return (struct pyro_rest_detail){cut(found->name, MOST_DETAIL_BYTES), PYRO_SLICE_NULL};
    size_t paragraph = (size_t)found->number < details->paragraphs.count ? details->paragraphs.items[found->number] : 0;
    struct pyro_strbuf text;
    if (paragraph == 0 || details->arena.reserved > MOST_TEXT_BYTES)
        return ret;
    pyro_strbuf_init(&text, details->allocator);
    add_words(&text, details, paragraph - 1, found, name);
    text.len = cut(pyro_strbuf_slice(&text), MOST_DETAIL_BYTES).len;
    ret.text = keep(details, &text);
    if (is_file_scan(details, paragraph - 1, name)) {
        add_metadata(&text, details, paragraph - 1);
        ret.metadata = keep(details, &text);
    }
    return ret;
}

struct pyro_rest_detail pyro_rest_details_next(struct pyro_rest_details *details, struct pyro_slice name)
{
    for (size_t i = 0; i < LEFT_OUT && details->next + i < details->operators.count; i++) {
        const struct pyro_rest_operator *found = &details->operators.items[details->next + i];
        char behind = found->name.len > name.len ? found->name.ptr[name.len] : ' ';
        if (name.len == 0 || found->name.len < name.len || memcmp(found->name.ptr, name.ptr, name.len) != 0 ||
            (behind != ' ' && behind != '(' && behind != '['))
            continue;
        details->next += i + 1;
        return describe(details, found, name);
    }
    return (struct pyro_rest_detail){PYRO_SLICE_NULL, PYRO_SLICE_NULL};
}
