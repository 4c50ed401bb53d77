#include "decode/logs/repeats/templates.h"

#include "base/collections/hash.h"
#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/memory/allocator.h"
#include "base/memory/arena.h"
#include "decode/logs/repeats/mask.h"
#include "model/column.h"

enum {
    MOST_FIRST_TOKENS = 100, /* of one logger and number of tokens; the others share a place */
    MOST_IN_LEAF = 100,
    MOST_SIMILAR = 8,   /* templates that differ in some words only; then one takes the others */
    LEAST_SIMILAR = 60, /* percent */
    CACHE_SLOTS = 1 << 15,
    LEAST_FILTERED = 16, /* entries of a leaf from which a filter pays */
    FILTER_BITS = 1 << 14
};

/* Stands for a token that differs among the messages of a template. */
#define ANY UINT64_MAX

/* A masked text as tokens. */
struct tokens {
    uint64_t hashes[PYRO_MASK_TOKENS];
    uint64_t words; /* bit i: token i of the head is a word */
    size_t count;
    size_t head;                      /* how many tokens decide */
    uint8_t prints[PYRO_MASK_TOKENS]; /* a byte of each hash */
};

struct entry {
    struct pyro_slice masked; /* of its first message */
    struct pyro_slice text;   /* with later changes; made when it is asked for */
    struct pyro_slice logger;
    uint64_t *hashes;                       /* of the tokens of `masked`, or ANY */
    uint64_t words;                         /* without those that became ANY */
    uint32_t token_count, head, word_count; /* of the first message */
    enum pyro_log_level level;
    bool takes_similar; /* whose words differ too */
    bool takes_all;
    bool tail_varies; /* messages have more or fewer tokens behind the head */
    uint64_t count;
    int64_t first_ms, last_ms;
};

/* What a search needs to know of an entry to pass over it, as most entries of a leaf are. */
struct mark {
    uint64_t words;  /* those of the entry */
    uint32_t number; /* + 1 */
    uint8_t most;    /* its word_count */
    bool must_look;  /* it may fit without equal words */
    uint8_t prints[PYRO_MASK_TOKENS];
};

struct leaf {
    PYRO_VEC(struct mark) marks; /* in the order in which the entries came */
    size_t must_look;            /* the first of those that must be looked at; or how many there are */
    uint64_t *filter;            /* bits of the words at each place in all entries; NULL: not made yet */
};

/* Direct-mapped: a text replaces another one in its slot. */
struct cache_slot {
    uint64_t hash;
    uint64_t entry; /* number + 1; 0: free */
};

struct pyro_templates {
    const struct pyro_allocator *allocator;
    struct pyro_arena arena; /* texts and hashes */
    PYRO_VEC(struct entry) entries;
    struct pyro_map branches;  /* logger and number of tokens -> number of its leaves */
    struct pyro_map leaf_rows; /* branch and first token -> row of `leaves` + 1 */
    PYRO_VEC(struct leaf) leaves;
    uint32_t others[PYRO_LEVELS]; /* number + 1 of what is beyond the limit */
    size_t other_count;           /* of these */
    struct pyro_masked masked;    /* of the last record */
    int64_t stage;                /* of the last record */
    struct cache_slot cache[CACHE_SLOTS];
};

struct pyro_templates *pyro_templates_new(const struct pyro_allocator *allocator)
{
    struct pyro_templates *templates = pyro_allocate(allocator, sizeof(*templates));
    if (!templates)
        return NULL;
    memset(templates, 0, sizeof(*templates));
    templates->allocator = allocator;
    templates->stage = PYRO_NONE;
    pyro_arena_init(&templates->arena, allocator);
    pyro_map_init(&templates->branches, allocator);
    pyro_map_init(&templates->leaf_rows, allocator);
    return templates;
}

static void leaf_done(struct leaf *leaf, const struct pyro_allocator *allocator)
{
    pyro_vec_done(&leaf->marks, allocator);
    pyro_release(allocator, leaf->filter);
}

void pyro_templates_free(struct pyro_templates *templates)
{
    if (!templates)
        return;
    pyro_arena_done(&templates->arena);
    pyro_vec_done(&templates->entries, templates->allocator);
    pyro_map_done(&templates->branches);
    pyro_map_done(&templates->leaf_rows);
    for (size_t i = 0; i < templates->leaves.count; i++)
        leaf_done(&templates->leaves.items[i], templates->allocator);
    pyro_vec_done(&templates->leaves, templates->allocator);
    pyro_release(templates->allocator, templates);
}

/* What a byte may be in a word. */
enum {
    SMALL = 1,    /* a letter, of ASCII or not */
    CAPITAL = 2,  /* only at the start of a part */
    QUOTE = 4,    /* anywhere */
    HYPHEN = 8,   /* between parts */
    BEFORE = 16,  /* punctuation in front of the word */
    BEHIND = 32,  /* punctuation after it */
    OPENING = 64, /* one more bracket */
    CLOSING = 128 /* one less */
};

/* clang-format off */
#define SMALL_16 SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL
#define CAPITAL_8 CAPITAL, CAPITAL, CAPITAL, CAPITAL, CAPITAL, CAPITAL, CAPITAL, CAPITAL
#define SMALL_8 SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL
static const uint8_t classes[256] = {
    ['!'] = BEHIND, ['\''] = QUOTE, [','] = BEHIND, ['-'] = HYPHEN, ['.'] = BEHIND, [':'] = BEHIND, [';'] = BEHIND,
    ['='] = BEFORE | BEHIND, ['?'] = BEHIND, ['<'] = BEFORE, ['>'] = BEHIND, ['|'] = BEFORE | BEHIND,
    ['('] = BEFORE | OPENING, ['['] = BEFORE | OPENING, ['{'] = BEFORE | OPENING,
    [')'] = BEHIND | CLOSING, [']'] = BEHIND | CLOSING, ['}'] = BEHIND | CLOSING,
    ['A'] = CAPITAL_8, CAPITAL_8, CAPITAL_8, CAPITAL, CAPITAL,
    ['a'] = SMALL_8, SMALL_8, SMALL_8, SMALL, SMALL,
    [0x80] = SMALL_16, SMALL_16, SMALL_16, SMALL_16, SMALL_16, SMALL_16, SMALL_16, SMALL_16,
};
/* clang-format on */

static unsigned class_of(char byte)
{
    return classes[(unsigned char)byte];
}

/* Letters, of which only the first may be a capital, with punctuation around them; parts may be joined by hyphens. The
 * words of a statement look so, and most names that it is given do not. */
static bool is_word(struct pyro_slice token)
{
    const char *p = token.ptr, *end = p + token.len;
    while (p < end && class_of(*p) & BEFORE)
        p++;
    while (end > p && class_of(end[-1]) & BEHIND)
        end--;
    unsigned allowed = SMALL | QUOTE | HYPHEN | CAPITAL, seen = 0;
    for (; p < end; p++) {
        unsigned class = class_of(*p);
        if (!(class & allowed))
            return false;
        seen |= class;
        allowed = class & HYPHEN ? SMALL | QUOTE | HYPHEN | CAPITAL : SMALL | QUOTE | HYPHEN;
    }
    return (seen & (SMALL | CAPITAL)) != 0;
}

/* The token that starts at `p`; the last one that fits has all that follows. */
static struct pyro_slice token_at(const char *p, const char *end, size_t number)
{
    const char *space = number + 1 < PYRO_MASK_TOKENS ? memchr(p, ' ', (size_t)(end - p)) : NULL;
    return (struct pyro_slice){p, (size_t)((space ? space : end) - p)};
}

static unsigned bits(uint64_t set)
{
    return (unsigned)__builtin_popcountll(set);
}

/* How much deeper in brackets a text is behind the token. */
static int depth_change(struct pyro_slice token)
{
    int change = 0;
    for (size_t i = 0; i < token.len; i++) {
        unsigned class = class_of(token.ptr[i]);
        change += (class & OPENING) != 0;
        change -= (class & CLOSING) != 0;
    }
    return change;
}

/* The head ends with a colon outside brackets behind at least two words; what follows is free text. Without such a
 * colon it is all. */
static void cut_tokens(struct pyro_slice masked, struct tokens *ret)
{
    const char *p = masked.ptr, *end = p + masked.len;
    int depth = 0;
    ret->count = ret->head = 0;
    ret->words = 0;
    while (p < end) {
        struct pyro_slice token = token_at(p, end, ret->count);
        ret->hashes[ret->count] = pyro_hash_slice(token) >> 1; /* never ANY */
        ret->prints[ret->count] = (uint8_t)ret->hashes[ret->count];
        if (!ret->head) {
            ret->words |= (uint64_t)is_word(token) << ret->count;
            depth += depth_change(token);
            if (depth <= 0 && token.len > 0 && token.ptr[token.len - 1] == ':' && bits(ret->words) >= 2)
                ret->head = ret->count + 1;
        }
        ret->count++;
        p = token.ptr + token.len + 1;
    }
    if (!ret->head)
        ret->head = ret->count;
}

/* How many words of the head are equal; *ret_unlike: there are others. A word may be in the place of something else:
 * "executor driver" and "executor 1". */
static unsigned count_equal(const struct entry *entry, const struct tokens *tokens, bool *ret_unlike)
{
    unsigned equal = 0;
    *ret_unlike = false;
    for (uint64_t rest = entry->words & tokens->words; rest; rest &= rest - 1) {
        int i = __builtin_ctzll(rest);
        if (entry->hashes[i] == tokens->hashes[i])
            equal++;
        else
            *ret_unlike = true;
    }
    return equal;
}

static bool is_similar(const struct entry *entry, const struct tokens *tokens, unsigned equal)
{
    unsigned words = bits(tokens->words);
    if (entry->word_count > words)
        words = entry->word_count;
    if (words)
        return 100 * equal >= LEAST_SIMILAR * words;
    for (size_t i = 0; i < tokens->head; i++)
        equal += entry->hashes[i] == tokens->hashes[i];
    return 100 * equal >= LEAST_SIMILAR * tokens->head;
}

static void merge(struct entry *entry, const struct tokens *tokens)
{
    bool is_as_long = entry->token_count == tokens->count;
    for (size_t i = 0; i < (is_as_long ? entry->token_count : entry->head); i++) {
        if (entry->hashes[i] == tokens->hashes[i] || entry->hashes[i] == ANY)
            continue;
        entry->hashes[i] = ANY;
        entry->words &= ~(1ULL << i);
        entry->text = PYRO_SLICE_NULL;
    }
    if (!is_as_long && !entry->tail_varies) {
        entry->tail_varies = true;
        entry->text = PYRO_SLICE_NULL;
    }
}

/* NULL: no memory. */
static struct entry *add_entry(struct pyro_templates *templates, const struct tokens *tokens, struct pyro_slice masked,
                               struct pyro_slice logger)
{
    struct pyro_slice text = pyro_arena_copy(&templates->arena, masked);
    struct pyro_slice name = pyro_arena_copy(&templates->arena, logger);
    uint64_t *hashes = pyro_arena_array(&templates->arena, tokens->count ? tokens->count : 1, sizeof(*hashes));
    if (!text.ptr || (logger.ptr && !name.ptr) || !hashes)
        return NULL;
    memcpy(hashes, tokens->hashes, tokens->count * sizeof(*hashes));
    struct entry *entry = pyro_vec_push(&templates->entries, templates->allocator);
    if (!entry)
        return NULL;
    *entry = (struct entry){.masked = text,
                            .logger = name,
                            .hashes = hashes,
                            .words = tokens->words,
                            .token_count = (uint32_t)tokens->count,
                            .head = (uint32_t)tokens->head,
                            .word_count = bits(tokens->words),
                            .first_ms = PYRO_NONE,
                            .last_ms = PYRO_NONE};
    return entry;
}

/* Number + 1 of what takes the messages beyond the limit; 0: no memory. */
static uint32_t other(struct pyro_templates *templates, enum pyro_log_level level)
{
    if (!templates->others[level]) {
        struct tokens none = {.count = 0};
        if (!add_entry(templates, &none, PYRO_SLICE_LITERAL(PYRO_MASK), PYRO_SLICE_NULL))
            return 0;
        templates->others[level] = (uint32_t)templates->entries.count;
        templates->other_count++;
    }
    return templates->others[level];
}

/* The key of the leaf where the tokens belong, which may not exist yet. */
static uint64_t leaf_key(const struct pyro_templates *templates, const struct tokens *tokens, uint64_t branch)
{
    uint64_t key = pyro_hash_mix(branch ^ (tokens->words & 1 ? tokens->hashes[0] : ANY));
    if (pyro_map_get(&templates->leaf_rows, key))
        return key;
    const uint64_t *count = pyro_map_get(&templates->branches, branch);
    return count && *count >= MOST_FIRST_TOKENS ? pyro_hash_mix(branch ^ ANY) : key;
}

/* What a search of a leaf found. */
struct search {
    struct mark *best; /* of the most similar entry; NULL: none is similar enough */
    unsigned best_equal;
    size_t similar_count;
};

/* Entries whose words are all equal first, then one that takes similar ones, then one that takes all. */
static void consider(struct search *search, struct mark *mark, const struct entry *entry, const struct tokens *tokens)
{
    bool is_unlike;
    unsigned equal = count_equal(entry, tokens, &is_unlike);
    bool similar = is_similar(entry, tokens, equal);
    search->similar_count += similar;
    if (similar && !is_unlike && !entry->takes_all)
        equal += PYRO_MASK_TOKENS; /* before all others */
    else if (entry->takes_all)
        equal = 0;
    else if (!similar || !entry->takes_similar)
        return;
    if (search->best && equal <= search->best_equal)
        return;
    search->best = mark;
    search->best_equal = equal;
}

/* Whether any byte of two rows of bytes is equal where `wanted` has a bit. */
static bool has_equal(const uint8_t *a, const uint8_t *b, uint64_t wanted)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    for (; wanted; wanted >>= 8, a += 8, b += 8) {
        uint64_t x, y;
        memcpy(&x, a, sizeof(x));
        memcpy(&y, b, sizeof(y));
        x ^= y;
        uint64_t equal = ~(((x & low) + low) | x | low); /* the highest bit of each byte that is 0 */
        if (!equal)
            continue;
        for (int i = 0; i < 8; i++)
            if ((wanted >> i & 1) && a[i] == b[i])
                return true;
    }
    return false;
}

static uint64_t filter_bit(uint64_t hash, unsigned place)
{
    return pyro_hash_mix(hash + place) % FILTER_BITS;
}

/* False: no entry of the leaf has enough words of the tokens. Of n words, 60 % must be equal; so one of any 40 % and
 * one more must be. */
static bool may_have_similar(const struct leaf *leaf, const struct tokens *tokens)
{
    unsigned words = bits(tokens->words), wanted = (LEAST_SIMILAR * words + 99) / 100;
    uint64_t rest = tokens->words;
    for (unsigned i = wanted; i <= words; i++, rest &= rest - 1) {
        unsigned place = (unsigned)__builtin_ctzll(rest);
        uint64_t bit = filter_bit(tokens->hashes[place], place);
        if (leaf->filter[bit / 64] >> (bit % 64) & 1)
            return true;
    }
    return false;
}

static struct search search_leaf(const struct pyro_templates *templates, struct leaf *leaf, const struct tokens *tokens)
{
    struct search search = {0};
    bool none = leaf && leaf->filter && tokens->words && !may_have_similar(leaf, tokens);
    for (size_t i = none ? leaf->must_look : 0; leaf && i < leaf->marks.count; i++) {
        struct mark *mark = &leaf->marks.items[i];
        bool has_words = mark->most > 0 || tokens->words;
        if (has_words && !mark->must_look && !has_equal(mark->prints, tokens->prints, mark->words & tokens->words))
            continue;
        const struct entry *entry = &templates->entries.items[mark->number - 1];
        if (entry->head == tokens->head) /* unlike ones have the same key only by chance */
            consider(&search, mark, entry, tokens);
    }
    return search;
}

static void add_to_filter(struct leaf *leaf, const struct entry *entry)
{
    for (uint64_t rest = entry->words; rest; rest &= rest - 1) {
        unsigned place = (unsigned)__builtin_ctzll(rest);
        uint64_t bit = filter_bit(entry->hashes[place], place);
        leaf->filter[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
}

static bool make_filter(const struct pyro_templates *templates, struct leaf *leaf)
{
    leaf->filter = pyro_allocate(templates->allocator, FILTER_BITS / 8);
    if (!leaf->filter)
        return false;
    memset(leaf->filter, 0, FILTER_BITS / 8);
    for (size_t i = 0; i < leaf->marks.count; i++)
        add_to_filter(leaf, &templates->entries.items[leaf->marks.items[i].number - 1]);
    return true;
}

/* The leaf with that key, or a new one; NULL: no memory. */
static struct leaf *make_leaf(struct pyro_templates *templates, uint64_t branch, uint64_t key)
{
    uint64_t *row = pyro_map_put(&templates->leaf_rows, key, NULL);
    if (!row)
        return NULL;
    if (*row)
        return &templates->leaves.items[*row - 1];
    uint64_t *count = pyro_map_put(&templates->branches, branch, NULL);
    struct leaf *leaf = count ? pyro_vec_push(&templates->leaves, templates->allocator) : NULL;
    if (!leaf)
        return NULL;
    *count += 1;
    *row = templates->leaves.count;
    return leaf;
}

/* Adds the newest entry to its leaf. False: no memory. */
static bool hang(struct pyro_templates *templates, uint64_t branch, uint64_t key, const struct tokens *tokens)
{
    const struct entry *entry = &templates->entries.items[templates->entries.count - 1];
    struct leaf *leaf = make_leaf(templates, branch, key);
    struct mark *mark = leaf ? pyro_vec_push(&leaf->marks, templates->allocator) : NULL;
    if (!mark)
        return false;
    *mark = (struct mark){.words = entry->words,
                          .number = (uint32_t)templates->entries.count,
                          .most = (uint8_t)entry->word_count,
                          .must_look = entry->takes_all};
    memcpy(mark->prints, tokens->prints, tokens->count);
    if (leaf->must_look + 1 == leaf->marks.count)
        leaf->must_look += !mark->must_look;
    if (leaf->filter)
        add_to_filter(leaf, entry);
    return leaf->filter || leaf->marks.count < LEAST_FILTERED || make_filter(templates, leaf);
}

/* Number + 1 of the template of a text that the cache does not have; 0: no memory. */
static uint32_t search_tree(struct pyro_templates *templates, struct pyro_slice masked, struct pyro_slice logger,
                            uint64_t logger_hash, enum pyro_log_level level)
{
    struct tokens tokens = {.count = 0};
    cut_tokens(masked, &tokens);
    uint64_t length = 2 * tokens.head + (tokens.head < tokens.count || pyro_slice_ends_with(masked, ":"));
    uint64_t branch = pyro_hash_mix(logger_hash + length), key = leaf_key(templates, &tokens, branch);
    const uint64_t *row = pyro_map_get(&templates->leaf_rows, key);
    struct leaf *leaf = row ? &templates->leaves.items[*row - 1] : NULL;
    struct search search = search_leaf(templates, leaf, &tokens);
    if (search.best) {
        struct entry *best = &templates->entries.items[search.best->number - 1];
        merge(best, &tokens);
        search.best->words = best->words;
        return search.best->number;
    }
    if (templates->entries.count - templates->other_count >= PYRO_TEMPLATES_MOST)
        return other(templates, level);
    struct entry *entry = add_entry(templates, &tokens, masked, logger);
    if (!entry)
        return 0;
    entry->takes_similar = search.similar_count >= MOST_SIMILAR;
    entry->takes_all = leaf && leaf->marks.count >= MOST_IN_LEAF;
    for (size_t i = 1; entry->takes_all && i < tokens.count; i++)
        entry->hashes[i] = ANY;
    uint32_t number = (uint32_t)templates->entries.count;
    return hang(templates, branch, key, &tokens) ? number : 0;
}

/* "Executor" of "org.apache.spark.executor.Executor": the patterns of a cluster's logs may differ. */
static struct pyro_slice simple_name(struct pyro_slice logger)
{
    const char *dot = logger.len ? memrchr(logger.ptr, '.', logger.len) : NULL;
    if (!dot || dot + 1 == logger.ptr + logger.len)
        return logger;
    return (struct pyro_slice){dot + 1, logger.len - (size_t)(dot + 1 - logger.ptr)};
}

/* Number + 1; 0: no memory. */
static uint32_t find_entry(struct pyro_templates *templates, const struct pyro_log_record *record)
{
    struct pyro_slice masked = {templates->masked.text, templates->masked.len};
    uint64_t logger_hash = pyro_hash_slice(simple_name(record->logger));
    uint64_t hash = pyro_hash_mix(pyro_hash_slice(masked) + 3 * logger_hash);
    struct cache_slot *slot = &templates->cache[hash % CACHE_SLOTS];
    if (slot->entry && slot->hash == hash)
        return (uint32_t)slot->entry;
    uint32_t number = search_tree(templates, masked, record->logger, logger_hash, record->level);
    if (number && number != templates->others[record->level])
        *slot = (struct cache_slot){hash, number};
    return number;
}

int32_t pyro_templates_id(struct pyro_templates *templates, const struct pyro_log_record *record)
{
    pyro_mask(record->message, &templates->masked);
    templates->stage = pyro_mask_stage(record->task_name);
    if (templates->stage == PYRO_NONE)
        templates->stage = templates->masked.stage;
    uint32_t number = find_entry(templates, record);
    if (!number)
        return -1;
    struct entry *entry = &templates->entries.items[number - 1];
    entry->count++;
    if (record->level > entry->level)
        entry->level = record->level;
    if (record->time_ms != PYRO_NONE) {
        if (entry->first_ms == PYRO_NONE || record->time_ms < entry->first_ms)
            entry->first_ms = record->time_ms;
        if (record->time_ms > entry->last_ms)
            entry->last_ms = record->time_ms;
    }
    return (int32_t)(number - 1);
}

int64_t pyro_templates_stage(const struct pyro_templates *templates)
{
    return templates->stage;
}

size_t pyro_templates_count(const struct pyro_templates *templates)
{
    return templates->entries.count;
}

/* The masked text with <*> for tokens that differ; as it was where none does. A null slice: no memory. */
static struct pyro_slice make_text(struct pyro_templates *templates, const struct entry *entry)
{
    char text[PYRO_MASK_BYTES + (PYRO_MASK_TOKENS + 1) * sizeof(PYRO_MASK)];
    const char *p = entry->masked.ptr, *end = p + entry->masked.len;
    size_t len = 0;
    for (size_t i = 0; i < (entry->tail_varies ? entry->head : entry->token_count); i++) {
        struct pyro_slice token = token_at(p, end, i);
        p = token.ptr + token.len + 1;
        if (entry->hashes[i] == ANY)
            token = PYRO_SLICE_LITERAL(PYRO_MASK);
        if (i)
            text[len++] = ' ';
        memcpy(text + len, token.ptr, token.len);
        len += token.len;
    }
    if (entry->tail_varies) {
        memcpy(text + len, " " PYRO_MASK, sizeof(PYRO_MASK));
        len += sizeof(PYRO_MASK);
    }
    return pyro_arena_copy(&templates->arena, (struct pyro_slice){text, len});
}

bool pyro_templates_get(struct pyro_templates *templates, int32_t id, struct pyro_template *ret)
{
    struct entry *entry = &templates->entries.items[id];
    if (!entry->text.ptr)
        entry->text = entry->token_count ? make_text(templates, entry) : entry->masked;
    *ret = (struct pyro_template){.text = entry->text,
                                  .logger = entry->logger,
                                  .level = entry->level,
                                  .count = entry->count,
                                  .first_ms = entry->first_ms,
                                  .last_ms = entry->last_ms};
    return entry->text.ptr != NULL;
}
