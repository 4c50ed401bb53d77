#include "base/strings/slice.h"

int pyro_slice_compare(struct pyro_slice a, struct pyro_slice b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.ptr, b.ptr, common) : 0;
    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

const char *pyro_slice_find(struct pyro_slice hay, const char *needle)
{
    return hay.ptr ? memmem(hay.ptr, hay.len, needle, strlen(needle)) : NULL;
}
