/* The events of one stream, packet by packet. */
#include "decode/trace/ctf/ctf_reader.h"

static struct pyro_ctf_reading *class_of(struct pyro_ctf_stream *stream)
{
    const struct pyro_ctf_stream_kind *kind = stream->kind;
    uint64_t id = kind->header.roles & 1U << PYRO_CTF_EVENT_ID ? stream->run.registers[PYRO_CTF_EVENT_ID] : 0;
    uint64_t row = 0;
    if (id < kind->by_id.count) {
        row = kind->by_id.items[id];
    } else {
        const uint64_t *large = pyro_map_get(&kind->by_large_id, id);
        row = large ? *large : 0;
    }
    return row > 0 ? &stream->source->classes[row - 1] : NULL;
}

/* Reads the event at the run's place. *ret: its class; NULL: it is of no known one. */
static enum pyro_ctf_result read_event(struct pyro_ctf_stream *stream, struct pyro_ctf_reading **ret)
{
    struct pyro_ctf_run *run = &stream->run;
    uint64_t from = run->at;
    enum pyro_ctf_result result = PYRO_CTF_DONE;
    if (!stream->kind->header.empty)
        result = pyro_ctf_execute(run, &stream->kind->header);
    if (result != PYRO_CTF_DONE)
        return result;
    struct pyro_ctf_reading *class = class_of(stream);
    if (!class)
        return PYRO_CTF_WRONG;
    unsigned slots = class->slots > stream->used_slots ? class->slots : stream->used_slots;
    for (unsigned i = 0; i < slots; i++)
        run->slots[i] = (struct pyro_ctf_value){false, 0, {NULL, 0}};
    stream->used_slots = class->slots;
    *ret = class;
    if (!class->program.empty || class->slots > 0)
        result = pyro_ctf_execute(run, &class->program);
    return result == PYRO_CTF_DONE && run->at == from ? PYRO_CTF_WRONG : result;
}

static void take_event(struct pyro_ctf_stream *stream, const struct pyro_ctf_reading *class)
{
    struct pyro_ctf_event *event = &stream->event;
    event->kind = class->kind;
    event->name = class->name;
    event->time_ns = pyro_ctf_stream_time(stream, stream->run.clock);
    if (stream->started && event->time_ns < stream->last_ns)
        event->time_ns = stream->last_ns;
    stream->last_ns = event->time_ns;
    stream->started = true;
}

/* The rest of the packet cannot be read. False: the stream has no more packets. */
static bool give_up_packet(struct pyro_ctf_stream *stream)
{
    const struct pyro_ctf_packet *packet = &stream->packet;
    int64_t now = pyro_ctf_stream_now(stream);
    bool more = !packet->cut && packet->end < stream->size;
    bool known = more && packet->has_end;
    pyro_ctf_lose(stream, now, known ? pyro_ctf_stream_time(stream, packet->end_clock) : INT64_MAX, 0,
                  packet->cut ? "stream cut" : "packet damaged");
    if (more)
        pyro_ctf_leave_packet(stream);
    stream->ended = !more;
    return more;
}

/* The next packet. 1: there is one; 0: no more; -1: no memory. */
static int next_packet(struct pyro_ctf_stream *stream, const struct pyro_allocator *allocator)
{
    int64_t now = pyro_ctf_stream_now(stream);
    int opened = pyro_ctf_open_packet(stream, allocator);
    if (opened == -2) {
        pyro_ctf_lose(stream, now, INT64_MAX, 0, "stream cut");
        opened = 0;
    }
    stream->ended = opened == 0;
    return opened;
}

/* Goes on after a read that did not fit. 1: try again, or the next packet; 0: no more; -1: no memory. */
static int go_on(struct pyro_ctf_stream *stream, bool by_window, uint64_t from, const struct pyro_allocator *allocator)
{
    bool more = false;
    if (by_window && !pyro_ctf_fill(stream, &from, &more, allocator))
        return -1;
    stream->run.at = from;
    return more || give_up_packet(stream);
}

int pyro_ctf_stream_next(struct pyro_ctf_stream *stream, const struct pyro_allocator *allocator)
{
    struct pyro_ctf_run *run = &stream->run;
    run->slots = stream->event.slots;
    while (!stream->ended) {
        if (!stream->in_packet) {
            int opened = next_packet(stream, allocator);
            if (opened <= 0)
                return opened;
        }
        if (!stream->packet.entered)
            pyro_ctf_enter_packet(stream);
        bool by_window = pyro_ctf_set_limit(stream, stream->packet.content);
        uint64_t from = run->at, clock = run->clock;
        struct pyro_ctf_reading *class = NULL;
        enum pyro_ctf_result result = PYRO_CTF_DONE;
        while (run->at < run->limit) {
            from = run->at;
            clock = run->clock;
            result = read_event(stream, &class);
            if (result != PYRO_CTF_DONE)
                break;
            class->count++;
            if (class->kind < 0)
                continue;
            take_event(stream, class);
            return 1;
        }
        if (result == PYRO_CTF_DONE && !by_window) {
            pyro_ctf_leave_packet(stream);
            continue;
        }
        run->clock = clock;
        int went =
            go_on(stream, by_window && result != PYRO_CTF_WRONG, result == PYRO_CTF_DONE ? run->at : from, allocator);
        if (went < 0)
            return went;
    }
    return 0;
}
