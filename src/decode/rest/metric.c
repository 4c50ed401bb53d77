/* SQL metrics as the UI shows them: "1,234", "12.3 MiB", or
 * "total (min, med, max (stageId: taskId))\n2.6 s (250 ms, 327 ms, 417 ms (stage 1.0: task 15))". */
#include "decode/rest/rest_reading.h"

#include <math.h>

static const struct {
    const char *name;
    const char *type;
    double factor;
} units[] = {
    {"B", "size", 1},        {"KiB", "size", 0x1p10}, {"MiB", "size", 0x1p20},  {"GiB", "size", 0x1p30},
    {"TiB", "size", 0x1p40}, {"PiB", "size", 0x1p50}, {"EiB", "size", 0x1p60},  {"KB", "size", 0x1p10},
    {"MB", "size", 0x1p20},  {"GB", "size", 0x1p30},  {"TB", "size", 0x1p40},   {"ms", "timing", 1},
    {"s", "timing", 1000},   {"m", "timing", 60000},  {"h", "timing", 3600000},
};

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Thousands have commas; after a point comes the rest of the unit. Returns the place after the number. */
static size_t read_number(struct pyro_slice text, double *ret)
{
    size_t at = 0;
    double value = 0, scale = 1;
    bool behind_point = false;
    for (; at < text.len && (is_digit(text.ptr[at]) || text.ptr[at] == ',' || text.ptr[at] == '.'); at++) {
        if (text.ptr[at] == '.') {
            behind_point = true;
        } else if (text.ptr[at] != ',') {
            scale = behind_point ? scale / 10 : scale;
            value = behind_point ? value + scale * (text.ptr[at] - '0') : value * 10 + (text.ptr[at] - '0');
        }
    }
    *ret = value;
    return at;
}

static int64_t read_id(struct pyro_slice text, size_t *at)
{
    int64_t id = 0;
    size_t begin = *at;
    for (; *at < text.len && is_digit(text.ptr[*at]) && *at - begin < 18; ++*at)
        id = id * 10 + (text.ptr[*at] - '0');
    return *at > begin ? id : PYRO_NONE;
}

static void read_stage(struct pyro_slice text, struct pyro_rest_metric_value *ret)
{
    static const char head[] = "(stage ";
    const char *found = pyro_slice_find(text, head);
    if (!found)
        return;
    size_t at = (size_t)(found - text.ptr) + sizeof(head) - 1;
    int64_t stage = read_id(text, &at), attempt = 0;
    if (at < text.len && text.ptr[at] == '.') {
        at++;
        attempt = read_id(text, &at);
    }
    if (stage == PYRO_NONE || attempt == PYRO_NONE)
        return;
    ret->stage = stage;
    ret->attempt = attempt;
}

struct pyro_rest_metric_value pyro_rest_read_metric(struct pyro_slice value)
{
    struct pyro_rest_metric_value found = {.value = PYRO_NONE, .stage = PYRO_NONE, .attempt = PYRO_NONE};
    struct pyro_slice text = pyro_rest_string(value);
    const char *newline = text.ptr ? pyro_slice_find(text, "\\n") : NULL;
    if (newline) {
        text.len -= (size_t)(newline + 2 - text.ptr);
        text.ptr = newline + 2;
    }
    double number;
    size_t at = text.ptr ? read_number(text, &number) : 0;
    if (at == 0)
        return found; /* an average has no total */
    double factor = 1;
    found.type = "sum";
    size_t begin = at + (at < text.len && text.ptr[at] == ' '), end = begin;
    while (end < text.len && text.ptr[end] != ' ' && text.ptr[end] != '(')
        end++;
    struct pyro_slice unit = {text.ptr + begin, end - begin};
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (pyro_slice_is(unit, units[i].name)) {
            found.type = units[i].type;
            factor = units[i].factor;
        }
    number = floor(number * factor + 0.5);
    found.value = number < 0x1p62 ? (int64_t)number : INT64_MAX;
    read_stage(text, &found);
    return found;
}
