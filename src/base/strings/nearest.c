/* "Did you mean": the candidate that a word was probably meant to be. */
#include <string.h>

#include "pyrometer.h"

enum { WORD_LIMIT = 64 };

/* Number of letters to insert, delete, replace or swap with their neighbour to make `left` `right`. */
static size_t distance(const char *left, const char *right)
{
    size_t rows[3][WORD_LIMIT + 1];
    size_t left_len = strlen(left), right_len = strlen(right);
    if (left_len > WORD_LIMIT || right_len > WORD_LIMIT)
        return WORD_LIMIT;
    for (size_t j = 0; j <= right_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= left_len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= right_len; j++) {
            size_t best = above[j - 1] + (left[i - 1] != right[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] &&
                above2[j - 2] + 1 < best)
                best = above2[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[left_len % 3][right_len];
}

const char *pyro_nearest(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t len = strlen(word);
    size_t limit = len < 3 ? 1 : len < 6 ? 2 : 3, best = limit + 1;
    for (size_t i = 0; i < count; i++) {
        size_t steps = distance(word, candidates[i]);
        if (len >= 3 && strncmp(word, candidates[i], len) == 0)
            steps = steps < 1 ? steps : 1; /* a beginning of it */
        if (steps < best) {
            best = steps;
            nearest = candidates[i];
        }
    }
    return nearest;
}
