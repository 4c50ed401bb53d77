/* Pairing rows of two runs by keys. */
#include <ctype.h>
#include <stdlib.h>

#include "base/collections/hash.h"
#include "base/memory/allocator.h"
#include "compare/comparing.h"

bool pyro_match_init(struct pyro_match *match, const struct pyro_allocator *allocator, size_t before, size_t after)
{
    *match = (struct pyro_match){.allocator = allocator, .count = {before, after}};
    bool good = true;
    for (int side = 0; side < 2; side++) {
        match->mate[side] = pyro_allocate(allocator, (match->count[side] + 1) * sizeof(ptrdiff_t));
        good = good && match->mate[side];
        for (size_t i = 0; match->mate[side] && i < match->count[side]; i++)
            match->mate[side][i] = -1;
    }
    return good;
}

void pyro_match_done(struct pyro_match *match)
{
    pyro_release(match->allocator, match->mate[0]);
    pyro_release(match->allocator, match->mate[1]);
}

struct keyed {
    uint64_t key;
    size_t row;
};

static int compare_keyed(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static size_t collect(const struct pyro_match *match, int side, const uint64_t *keys, struct keyed *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < match->count[side]; i++)
        if (match->mate[side][i] < 0 && keys[i] != 0)
            rows[count++] = (struct keyed){keys[i], i};
    qsort(rows, count, sizeof(*rows), compare_keyed);
    return count;
}

static size_t run_length(const struct keyed *rows, size_t count, size_t from)
{
    size_t len = 1;
    while (from + len < count && rows[from + len].key == rows[from].key)
        len++;
    return len;
}

bool pyro_match_by(struct pyro_match *match, const uint64_t *const keys[2])
{
    struct keyed *rows[2];
    size_t count[2] = {0}, at[2] = {0};
    for (int side = 0; side < 2; side++)
        rows[side] = pyro_allocate(match->allocator, (match->count[side] + 1) * sizeof(struct keyed));
    bool good = rows[0] && rows[1];
    for (int side = 0; good && side < 2; side++)
        count[side] = collect(match, side, keys[side], rows[side]);
    while (at[0] < count[0] && at[1] < count[1]) {
        struct keyed *left = &rows[0][at[0]], *right = &rows[1][at[1]];
        if (left->key != right->key) {
            at[left->key > right->key]++;
            continue;
        }
        size_t lefts = run_length(rows[0], count[0], at[0]), rights = run_length(rows[1], count[1], at[1]);
        for (size_t i = 0; i < lefts && i < rights; i++) {
            match->mate[0][left[i].row] = (ptrdiff_t)right[i].row;
            match->mate[1][right[i].row] = (ptrdiff_t)left[i].row;
        }
        at[0] += lefts;
        at[1] += rights;
    }
    pyro_release(match->allocator, rows[0]);
    pyro_release(match->allocator, rows[1]);
    return good;
}

uint64_t pyro_match_text(struct pyro_slice text, bool lines)
{
    uint64_t hash = PYRO_FNV;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (isdigit(byte)) {
            /* "job.py:27": the digits are code; elsewhere they are of the run. */
            bool line = i > 0 && text.ptr[i - 1] == ':';
            size_t end = i;
            while (end < text.len && isdigit((unsigned char)text.ptr[end]))
                end++;
            if (!line || !lines)
                hash = pyro_fnv_byte(hash, '#');
            else
                hash = pyro_fnv(hash, text.ptr + i, end - i);
            i = end - 1;
            continue;
        }
        hash = pyro_fnv_byte(hash, (unsigned char)tolower(byte));
    }
    return hash;
}
