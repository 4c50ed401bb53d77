#include "base/collections/memo.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/collections/hash.h"
#include "base/collections/vec.h"
#include "base/memory/allocator.h"

struct entry {
    uint64_t hash, used; /* when it was asked for last, counted in calls */
    size_t key_bytes, value_bytes;
    char *bytes; /* the key, then the value */
};

struct pyro_memo {
    pthread_mutex_t mutex; /* guards what follows */
    size_t most_bytes, bytes;
    uint64_t clock;
    PYRO_VEC(struct entry) entries;
};

struct pyro_memo *pyro_memo_new(size_t most_bytes)
{
    struct pyro_memo *memo = pyro_allocate(NULL, sizeof(*memo));
    if (!memo)
        return NULL;
    *memo = (struct pyro_memo){.most_bytes = most_bytes};
    pthread_mutex_init(&memo->mutex, NULL);
    return memo;
}

void pyro_memo_free(struct pyro_memo *memo)
{
    if (!memo)
        return;
    for (size_t i = 0; i < memo->entries.count; i++)
        pyro_release(NULL, memo->entries.items[i].bytes);
    pyro_vec_done(&memo->entries, NULL);
    pthread_mutex_destroy(&memo->mutex);
    pyro_release(NULL, memo);
}

/* The vector grows to twice what is in it: both halves are counted. */
static size_t cost_of(size_t key_bytes, size_t value_bytes)
{
    return key_bytes + value_bytes + 2 * sizeof(struct entry);
}

static struct entry *find(struct pyro_memo *memo, struct pyro_slice key, uint64_t hash)
{
    for (size_t i = 0; i < memo->entries.count; i++) {
        struct entry *entry = &memo->entries.items[i];
        if (entry->hash == hash && entry->key_bytes == key.len && memcmp(entry->bytes, key.ptr, key.len) == 0)
            return entry;
    }
    return NULL;
}

static void remove_entry(struct pyro_memo *memo, struct entry *entry)
{
    memo->bytes -= cost_of(entry->key_bytes, entry->value_bytes);
    pyro_release(NULL, entry->bytes);
    *entry = memo->entries.items[--memo->entries.count];
}

static void make_room(struct pyro_memo *memo, size_t cost)
{
    while (memo->bytes + cost > memo->most_bytes) {
        struct entry *oldest = &memo->entries.items[0];
        for (size_t i = 1; i < memo->entries.count; i++)
            if (memo->entries.items[i].used < oldest->used)
                oldest = &memo->entries.items[i];
        remove_entry(memo, oldest);
    }
}

bool pyro_memo_get(struct pyro_memo *memo, struct pyro_slice key, void *value, size_t size)
{
    if (!memo)
        return false;
    uint64_t hash = pyro_hash_slice(key);
    pthread_mutex_lock(&memo->mutex);
    struct entry *entry = find(memo, key, hash);
    bool found = entry && entry->value_bytes == size;
    if (found) {
        entry->used = ++memo->clock;
        memcpy(value, entry->bytes + key.len, size);
    }
    pthread_mutex_unlock(&memo->mutex);
    return found;
}

void pyro_memo_put(struct pyro_memo *memo, struct pyro_slice key, struct pyro_slice value)
{
    size_t cost = cost_of(key.len, value.len);
    if (!memo || cost > memo->most_bytes)
        return;
    struct entry made = {pyro_hash_slice(key), 0, key.len, value.len, pyro_allocate(NULL, key.len + value.len)};
    if (!made.bytes)
        return;
    memcpy(made.bytes, key.ptr, key.len);
    memcpy(made.bytes + key.len, value.ptr, value.len);
    pthread_mutex_lock(&memo->mutex);
    struct entry *same = find(memo, key, made.hash);
    if (same)
        remove_entry(memo, same);
    make_room(memo, cost);
    struct entry *place = pyro_vec_push(&memo->entries, NULL);
    if (place) {
        made.used = ++memo->clock;
        *place = made;
        memo->bytes += cost;
    }
    pthread_mutex_unlock(&memo->mutex);
    if (!place)
        pyro_release(NULL, made.bytes);
}
