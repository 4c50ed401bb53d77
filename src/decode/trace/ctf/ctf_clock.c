/* Clocks: cycles to nanoseconds, at the ends of 64 bits too. */
#include "base/numbers/saturate.h"
#include "decode/trace/ctf/ctf_reader.h"

enum { SECOND = 1000000000 };

/* Cycles as nanoseconds, at most INT64_MAX. */
static int64_t nanoseconds(uint64_t cycles, uint64_t frequency)
{
    uint64_t whole, ns;
    if (frequency == SECOND)
        return cycles > INT64_MAX ? INT64_MAX : (int64_t)cycles;
    if (__builtin_mul_overflow(cycles / frequency, (uint64_t)SECOND, &whole))
        return INT64_MAX;
    uint64_t rest = cycles % frequency;
    uint64_t part = frequency <= UINT64_MAX / SECOND ? rest * SECOND / frequency
                                                     : (uint64_t)((unsigned __int128)rest * SECOND / frequency);
    if (__builtin_add_overflow(whole, part, &ns) || ns > INT64_MAX)
        return INT64_MAX;
    return (int64_t)ns;
}

int64_t pyro_ctf_time(const struct pyro_ctf_clock *clock, uint64_t value)
{
    return pyro_add_saturating(clock->base_ns, nanoseconds(value, clock->frequency));
}

struct pyro_ctf_clock pyro_ctf_clock_of(const struct pyro_ctf_clock_class *class)
{
    struct pyro_ctf_clock clock = {0, class->frequency > 0 ? class->frequency : SECOND};
    int64_t seconds;
    if (__builtin_mul_overflow(class->offset_s, (int64_t)SECOND, &seconds))
        seconds = class->offset_s < 0 ? INT64_MIN : INT64_MAX;
    uint64_t cycles = class->offset < 0 ? 0 - (uint64_t) class->offset : (uint64_t) class->offset;
    int64_t offset = nanoseconds(cycles, clock.frequency);
    clock.base_ns = class->offset < 0 ? pyro_sub_saturating(seconds, offset) : pyro_add_saturating(seconds, offset);
    return clock;
}
