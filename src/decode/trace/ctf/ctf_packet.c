/* Packets: their headers and contexts, and what they say about losses. */
#include "base/numbers/saturate.h"
#include "decode/trace/ctf/ctf_reader.h"

enum { MAGIC = 0xc1fc1fc1 };

int64_t pyro_ctf_stream_time(const struct pyro_ctf_stream *stream, uint64_t clock)
{
    const struct pyro_ctf_stream_kind *kind = stream->kind;
    if (!kind || !kind->has_clock)
        return 0;
    return pyro_add_saturating(pyro_ctf_time(&kind->clock, clock), stream->source->shift_ns);
}

int64_t pyro_ctf_stream_now(const struct pyro_ctf_stream *stream)
{
    int64_t now = pyro_ctf_stream_time(stream, stream->run.clock);
    return stream->started && stream->last_ns > now ? stream->last_ns : now;
}

void pyro_ctf_lose(struct pyro_ctf_stream *stream, int64_t from_ns, int64_t until_ns, uint64_t events, const char *why)
{
    struct pyro_ctf_loss loss = {
        .trace = stream->source->number,
        .cpu = stream->event.cpu,
        .from_ns = from_ns,
        .until_ns = until_ns > from_ns ? until_ns : from_ns,
        .events = events,
        .why = why,
    };
    if (stream->lose)
        stream->lose(stream->context, &loss);
}

/* ---- Headers -------------------------------------------------------------------------------------------------------
 */

static const struct pyro_ctf_stream_kind *kind_of(const struct pyro_ctf_stream *stream)
{
    const struct pyro_ctf_source *source = stream->source;
    bool says = source->packet_header.roles & 1U << PYRO_CTF_STREAM_ID;
    for (size_t i = 0; i < source->kind_count; i++)
        if (!says || source->kinds[i].id == stream->run.registers[PYRO_CTF_STREAM_ID])
            return &source->kinds[i];
    return NULL;
}

/* Whether the header that was read is of this trace. */
static bool is_of_trace(const struct pyro_ctf_stream *stream)
{
    const struct pyro_ctf_source *source = stream->source;
    const uint64_t *registers = stream->run.registers;
    if (source->packet_header.roles & 1U << PYRO_CTF_MAGIC && registers[PYRO_CTF_MAGIC] != MAGIC)
        return false;
    return !(source->packet_header.roles & 1U << PYRO_CTF_UUID) || !source->metadata.has_uuid ||
           memcmp(stream->run.data + registers[PYRO_CTF_UUID], source->metadata.uuid, 16) == 0;
}

/* Runs both programs. *ret_fits false: there are not enough bytes in the window. */
static bool read_header(struct pyro_ctf_stream *stream, bool *ret_fits)
{
    enum pyro_ctf_result result = pyro_ctf_execute(&stream->run, &stream->source->packet_header);
    *ret_fits = result != PYRO_CTF_SHORT;
    if (result != PYRO_CTF_DONE || !is_of_trace(stream))
        return false;
    stream->kind = kind_of(stream);
    if (!stream->kind)
        return false;
    result = pyro_ctf_execute(&stream->run, &stream->kind->context);
    *ret_fits = result != PYRO_CTF_SHORT;
    return result == PYRO_CTF_DONE;
}

/* Sizes of the packet; false: they cannot be. */
static bool set_sizes(struct pyro_ctf_stream *stream)
{
    struct pyro_ctf_packet *packet = &stream->packet;
    const uint64_t *registers = stream->run.registers;
    unsigned roles = stream->kind->context.roles;
    uint64_t rest = (stream->size - packet->at) * 8, whole = 0;
    if (roles & 1U << PYRO_CTF_PACKET_SIZE)
        whole = registers[PYRO_CTF_PACKET_SIZE];
    packet->content = roles & 1U << PYRO_CTF_CONTENT_SIZE ? registers[PYRO_CTF_CONTENT_SIZE] : whole;
    if (packet->content == 0)
        packet->content = whole > 0 ? whole : rest;
    if (whole == 0)
        whole = rest;
    packet->cut = packet->content > rest;
    if (whole % 8 != 0 || whole > UINT64_MAX / 4 || packet->content > whole || packet->content < stream->run.at)
        return false;
    packet->end = packet->at + whole / 8;
    return true;
}

int pyro_ctf_open_packet(struct pyro_ctf_stream *stream, const struct pyro_allocator *allocator)
{
    bool fits = true, more = true;
    uint64_t clock = stream->run.clock;
    struct pyro_ctf_packet *packet = &stream->packet;
    *packet = (struct pyro_ctf_packet){.at = stream->window_at + stream->origin};
    if (packet->at >= stream->size)
        return 0;
    for (;;) {
        uint64_t from = 0;
        stream->run.at = 0;
        stream->run.clock = clock;
        pyro_ctf_set_limit(stream, UINT64_MAX);
        bool any = stream->filled > stream->origin;
        if (any && read_header(stream, &fits))
            break;
        if (any && fits)
            return -2;
        if (!pyro_ctf_fill(stream, &from, &more, allocator))
            return -1;
        if (!more)
            return -2;
    }
    if (!set_sizes(stream))
        return -2;
    unsigned roles = stream->kind->context.roles;
    const uint64_t *registers = stream->run.registers;
    packet->begin_clock = stream->run.clock;
    packet->has_end = roles & 1U << PYRO_CTF_PACKET_END;
    packet->end_clock = packet->has_end ? registers[PYRO_CTF_PACKET_END] : 0;
    uint64_t cpu = registers[PYRO_CTF_CPU];
    stream->event.cpu = roles & 1U << PYRO_CTF_CPU && cpu <= INT32_MAX ? (int32_t)cpu : -1;
    stream->in_packet = true;
    return 1;
}

/* ---- Losses --------------------------------------------------------------------------------------------------------
 */

static uint64_t lost_events(struct pyro_ctf_stream *stream)
{
    unsigned bits = stream->kind->discarded_bits;
    uint64_t now = stream->run.registers[PYRO_CTF_DISCARDED], before = stream->last_discarded;
    bool numbered = stream->kind->context.roles & 1U << PYRO_CTF_SEQUENCE_NUMBER;
    if (!(stream->kind->context.roles & 1U << PYRO_CTF_DISCARDED))
        return 0;
    stream->last_discarded = now;
    if (!stream->has_last && numbered && stream->run.registers[PYRO_CTF_SEQUENCE_NUMBER] != 0)
        return 0; /* what was lost before the recording that is read */
    uint64_t lost = now - before;
    return bits > 0 && bits < 64 ? lost & ((UINT64_C(1) << bits) - 1) : lost;
}

static bool is_packet_lost(struct pyro_ctf_stream *stream)
{
    uint64_t now = stream->run.registers[PYRO_CTF_SEQUENCE_NUMBER], before = stream->last_number;
    if (!(stream->kind->context.roles & 1U << PYRO_CTF_SEQUENCE_NUMBER))
        return false;
    stream->last_number = now;
    return stream->has_last && now > before + 1 && before != UINT64_MAX;
}

void pyro_ctf_enter_packet(struct pyro_ctf_stream *stream)
{
    struct pyro_ctf_packet *packet = &stream->packet;
    int64_t begin = pyro_ctf_stream_time(stream, packet->begin_clock);
    int64_t before = stream->has_last ? pyro_ctf_stream_time(stream, stream->last_end) : begin;
    int64_t end = packet->has_end ? pyro_ctf_stream_time(stream, packet->end_clock) : begin;
    if (is_packet_lost(stream))
        pyro_ctf_lose(stream, before, begin, 0, "packets lost");
    uint64_t events = lost_events(stream);
    if (events > 0)
        pyro_ctf_lose(stream, before, end, events, "events discarded");
    packet->entered = true;
}

void pyro_ctf_leave_packet(struct pyro_ctf_stream *stream)
{
    const struct pyro_ctf_packet *packet = &stream->packet;
    stream->last_end = packet->has_end ? packet->end_clock : stream->run.clock;
    stream->has_last = true;
    stream->in_packet = false;
    pyro_ctf_go_to(stream, packet->end);
}
