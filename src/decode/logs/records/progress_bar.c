#include "decode/logs/records/progress_bar.h"

#include <string.h>

struct pyro_slice pyro_behind_blanks(struct pyro_slice line)
{
    while (line.len > 0 && (*line.ptr == ' ' || *line.ptr == '\t'))
        line = (struct pyro_slice){line.ptr + 1, line.len - 1};
    return line;
}

bool pyro_begins_progress_bar(struct pyro_slice line)
{
    static const char word[] = "[Stage ";
    size_t at = sizeof(word) - 1;
    if (!pyro_slice_starts_with(line, word))
        return false;
    while (at < line.len && (unsigned char)(line.ptr[at] - '0') < 10)
        at++;
    return at < line.len && line.ptr[at] == ':';
}

struct pyro_slice pyro_behind_progress_bars(struct pyro_slice line)
{
    while (pyro_begins_progress_bar(line)) {
        const char *close = memchr(line.ptr, ']', line.len);
        line = close ? (struct pyro_slice){close + 1, line.len - (size_t)(close + 1 - line.ptr)}
                     : (struct pyro_slice){line.ptr + line.len, 0};
        line = pyro_behind_blanks(line);
    }
    return line;
}
