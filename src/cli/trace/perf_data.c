#include "perf_data.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The head of a file: a magic number and sizes, then sections as offset and size: attributes, data. */
enum { MAGIC_AND_SIZES = 24, RECORD_LOST = 2, RECORD_LOST_SAMPLES = 13 };

struct record_head {
    uint32_t type;
    uint16_t misc, size;
};

/* Of a record of losses, after its head: an id and a number, or only a number. */
static uint64_t lost_in(const struct record_head *head, const char *body, size_t len)
{
    uint64_t lost = 0;
    size_t offset = head->type == RECORD_LOST ? sizeof(lost) : 0;
    if ((head->type == RECORD_LOST || head->type == RECORD_LOST_SAMPLES) && len >= offset + sizeof(lost))
        memcpy(&lost, body + offset, sizeof(lost));
    return lost;
}

bool cli_perf_lost(const char *path, uint64_t *ret)
{
    char magic[8], *body = malloc(UINT16_MAX);
    uint64_t sections[4];
    struct record_head head;
    FILE *file = body != NULL ? fopen(path, "re") : NULL;
    bool good = file != NULL && fread(magic, sizeof(magic), 1, file) == 1 && memcmp(magic, "PERFILE2", 8) == 0 &&
                fseek(file, MAGIC_AND_SIZES, SEEK_SET) == 0 && fread(sections, sizeof(sections), 1, file) == 1 &&
                sections[2] <= LONG_MAX && fseek(file, (long)sections[2], SEEK_SET) == 0;
    uint64_t left = good ? sections[3] : 0, lost = 0;
    while (left >= sizeof(head) && fread(&head, sizeof(head), 1, file) == 1 && head.size >= sizeof(head)) {
        size_t len = head.size - sizeof(head);
        if (fread(body, 1, len, file) != len)
            break;
        lost += lost_in(&head, body, len);
        left -= head.size <= left ? head.size : left;
    }
    if (file != NULL)
        fclose(file);
    free(body);
    if (good)
        *ret = lost;
    return good;
}
