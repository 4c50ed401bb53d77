#include "decode/logs/templates.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "decode/logs/mask.h"
#include "model/column.h"

enum {
    MOST_FIRST_TOKENS = 100, /* of one logger and number of tokens; the others share a place */
    MOST_IN_LEAF = 100,
    LEAST_SIMILAR = 60, /* percent */
    CACHE_SLOTS = 1 << 15
};

/* Stands for a token that differs among the messages of a template. */
#define ANY UINT64_MAX

/* A masked text as tokens. */
struct tokens {
    uint64_t hashes[PYRO_MASK_TOKENS];
    uint64_t literals; /* bit i: token i has letters */
    size_t count;
};

struct entry {
    struct pyro_slice masked; /* of its first message */
    struct pyro_slice text;   /* with later changes; made when it is asked for */
    struct pyro_slice logger;
    uint64_t *hashes; /* of the tokens of `masked`, or ANY */
    uint64_t literals;
    uint32_t token_count, literal_count; /* of the first message */
    uint32_t next;                       /* number + 1 of the next one in its leaf */
    enum pyro_log_level level;
    bool takes_all;
    uint64_t count;
    int64_t first_ms, last_ms;
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
    struct pyro_map branches;     /* logger and number of tokens -> number of its leaves */
    struct pyro_map leaves;       /* branch and first token -> number + 1 of the first entry */
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
    pyro_map_init(&templates->leaves, allocator);
    return templates;
}

void pyro_templates_free(struct pyro_templates *templates)
{
    if (!templates)
        return;
    pyro_arena_done(&templates->arena);
    pyro_vec_done(&templates->entries, templates->allocator);
    pyro_map_done(&templates->branches);
    pyro_map_done(&templates->leaves);
    pyro_release(templates->allocator, templates);
}

static bool has_letter(struct pyro_slice token)
{
    for (size_t i = 0; i < token.len; i++) {
        unsigned char byte = (unsigned char)token.ptr[i];
        if (byte >= 0x80 || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'))
            return true;
    }
    return false;
}

/* The token that starts at `p`; the last one that fits has all that follows. */
static struct pyro_slice token_at(const char *p, const char *end, size_t number)
{
    const char *space = number + 1 < PYRO_MASK_TOKENS ? memchr(p, ' ', (size_t)(end - p)) : NULL;
    return (struct pyro_slice){p, (size_t)((space ? space : end) - p)};
}

static void cut_tokens(struct pyro_slice masked, struct tokens *ret)
{
    const char *p = masked.ptr, *end = p + masked.len;
    ret->count = 0;
    ret->literals = 0;
    while (p < end) {
        struct pyro_slice token = token_at(p, end, ret->count);
        ret->hashes[ret->count] = pyro_hash_slice(token) >> 1; /* never ANY */
        ret->literals |= (uint64_t)has_letter(token) << ret->count;
        ret->count++;
        p = token.ptr + token.len + 1;
    }
}

static unsigned bits(uint64_t set)
{
    return (unsigned)__builtin_popcountll(set);
}

/* Whether the tokens are similar enough to the template, and how much: the number of equal tokens with letters. */
static bool is_similar(const struct entry *entry, const struct tokens *tokens, unsigned *ret_equal)
{
    unsigned all = bits(tokens->literals), equal = 0;
    if (entry->literal_count > all)
        all = entry->literal_count;
    for (uint64_t rest = entry->literals & tokens->literals; rest; rest &= rest - 1) {
        int i = __builtin_ctzll(rest);
        equal += entry->hashes[i] == tokens->hashes[i];
    }
    *ret_equal = equal;
    return 100 * equal >= LEAST_SIMILAR * all;
}

static void merge(struct entry *entry, const struct tokens *tokens)
{
    for (size_t i = 0; i < entry->token_count; i++) {
        if (entry->hashes[i] == tokens->hashes[i] || entry->hashes[i] == ANY)
            continue;
        entry->hashes[i] = ANY;
        entry->literals &= ~(1ULL << i);
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
                            .literals = tokens->literals,
                            .token_count = (uint32_t)tokens->count,
                            .literal_count = bits(tokens->literals),
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
    uint64_t key = pyro_hash_mix(branch ^ (tokens->literals & 1 ? tokens->hashes[0] : ANY));
    if (pyro_map_get(&templates->leaves, key))
        return key;
    const uint64_t *count = pyro_map_get(&templates->branches, branch);
    return count && *count >= MOST_FIRST_TOKENS ? pyro_hash_mix(branch ^ ANY) : key;
}

/* Number + 1 of the most similar entry of a leaf, 0 if none is similar enough. */
static uint32_t search_leaf(const struct pyro_templates *templates, uint64_t leaf, const struct tokens *tokens,
                            uint32_t *ret_last, size_t *ret_count)
{
    uint32_t best = 0;
    unsigned best_equal = 0;
    *ret_last = 0;
    *ret_count = 0;
    for (uint32_t number = (uint32_t)leaf; number; number = templates->entries.items[number - 1].next) {
        const struct entry *entry = &templates->entries.items[number - 1];
        unsigned equal = 0;
        bool is_better = entry->takes_all ? !best : is_similar(entry, tokens, &equal) && (!best || equal > best_equal);
        if (is_better && entry->token_count == tokens->count) { /* unlike ones have the same key only by chance */
            best = number;
            best_equal = equal;
        }
        *ret_last = number;
        *ret_count += 1;
    }
    return best;
}

/* Hangs the newest entry behind the last one of its leaf, or into a new leaf. False: no memory. */
static bool hang(struct pyro_templates *templates, uint64_t branch, uint64_t key, uint32_t last)
{
    uint32_t number = (uint32_t)templates->entries.count;
    if (last) {
        templates->entries.items[last - 1].next = number;
        return true;
    }
    uint64_t *count = pyro_map_put(&templates->branches, branch, NULL);
    uint64_t *leaf = count ? pyro_map_put(&templates->leaves, key, NULL) : NULL;
    if (!leaf)
        return false;
    *count += 1;
    *leaf = number;
    return true;
}

/* Number + 1 of the template of a text that the cache does not have; 0: no memory. */
static uint32_t search_tree(struct pyro_templates *templates, struct pyro_slice masked, struct pyro_slice logger,
                            uint64_t logger_hash, enum pyro_log_level level)
{
    struct tokens tokens;
    uint32_t last;
    size_t in_leaf;
    cut_tokens(masked, &tokens);
    uint64_t branch = pyro_hash_mix(logger_hash + tokens.count), key = leaf_key(templates, &tokens, branch);
    const uint64_t *leaf = pyro_map_get(&templates->leaves, key);
    uint32_t found = search_leaf(templates, leaf ? *leaf : 0, &tokens, &last, &in_leaf);
    if (found) {
        merge(&templates->entries.items[found - 1], &tokens);
        return found;
    }
    if (templates->entries.count - templates->other_count >= PYRO_TEMPLATES_MOST)
        return other(templates, level);
    struct entry *entry = add_entry(templates, &tokens, masked, logger);
    if (!entry)
        return 0;
    entry->takes_all = in_leaf >= MOST_IN_LEAF;
    for (size_t i = 1; entry->takes_all && i < tokens.count; i++)
        entry->hashes[i] = ANY;
    found = (uint32_t)templates->entries.count;
    return hang(templates, branch, key, last) ? found : 0;
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
    char text[PYRO_MASK_BYTES + PYRO_MASK_TOKENS * sizeof(PYRO_MASK)];
    const char *p = entry->masked.ptr, *end = p + entry->masked.len;
    size_t len = 0;
    for (size_t i = 0; i < entry->token_count; i++) {
        struct pyro_slice token = token_at(p, end, i);
        p = token.ptr + token.len + 1;
        if (entry->hashes[i] == ANY)
            token = PYRO_SLICE_LITERAL(PYRO_MASK);
        if (i)
            text[len++] = ' ';
        memcpy(text + len, token.ptr, token.len);
        len += token.len;
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
