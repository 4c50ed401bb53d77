#include "export/trace_compass/write_ctf.h"

#include <inttypes.h>

#include "base/files/temporary_file.h"
#include "base/numbers/none.h"
#include "base/numbers/saturate.h"
#include "text/escape.h"

enum { MAGIC_BYTES = 4, HEADER_BYTES = MAGIC_BYTES + 4 * 8, PACKET_BYTES = 1 << 20, NS_PER_S = 1000000000 };
#define MAGIC UINT32_C(0xC1FC1FC1)

static void put(char *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (char)(unsigned char)(value >> 8 * i);
}

static void add(struct pyro_strbuf *to, uint64_t value, size_t bytes)
{
    char text[8];
    put(text, value, bytes);
    pyro_strbuf_add(to, text, bytes);
}

void pyro_compass_init(struct pyro_compass_writer *writer, int fd, int64_t first_ns,
                       const struct pyro_allocator *allocator)
{
    *writer = (struct pyro_compass_writer){.fd = fd, .offset_s = first_ns / NS_PER_S - (first_ns % NS_PER_S < 0)};
    pyro_strbuf_init(&writer->packet, allocator);
    pyro_strbuf_init(&writer->plain, allocator);
}

void pyro_compass_done(struct pyro_compass_writer *writer)
{
    pyro_strbuf_done(&writer->packet);
    pyro_strbuf_done(&writer->plain);
}

static void write_packet(struct pyro_compass_writer *writer)
{
    struct pyro_strbuf *packet = &writer->packet;
    if (!packet->failed && packet->len > 0) {
        uint64_t bits = (uint64_t)packet->len * 8;
        put(packet->data, MAGIC, MAGIC_BYTES);
        put(packet->data + MAGIC_BYTES, writer->begin, 8);
        put(packet->data + MAGIC_BYTES + 8, writer->end, 8);
        put(packet->data + MAGIC_BYTES + 16, bits, 8); /* of content */
        put(packet->data + MAGIC_BYTES + 24, bits, 8); /* of the packet */
        if (writer->failure == 0)
            writer->failure = pyro_write_all(writer->fd, packet->data, packet->len);
    }
    pyro_strbuf_clear(packet);
}

void pyro_compass_event(struct pyro_compass_writer *writer, enum pyro_compass_event event, int64_t time_ns)
{
    static const char header[HEADER_BYTES] = {0};
    int64_t since = pyro_sub_saturating(time_ns, writer->offset_s * NS_PER_S);
    if (writer->packet.len >= PACKET_BYTES)
        write_packet(writer);
    writer->end = since < 0 || (uint64_t)since < writer->end ? writer->end : (uint64_t)since;
    if (writer->packet.len == 0) {
        pyro_strbuf_add(&writer->packet, header, sizeof(header));
        writer->begin = writer->end;
    }
    pyro_compass_byte(writer, (uint8_t)event);
    add(&writer->packet, writer->end, 8);
}

void pyro_compass_byte(struct pyro_compass_writer *writer, uint8_t value)
{
    pyro_strbuf_add_char(&writer->packet, (char)value);
}

void pyro_compass_number(struct pyro_compass_writer *writer, int64_t value)
{
    add(&writer->packet, (uint64_t)(value == PYRO_NONE ? -1 : value), 8);
}

void pyro_compass_text(struct pyro_compass_writer *writer, struct pyro_slice text)
{
    pyro_strbuf_clear(&writer->plain);
    pyro_add_plain(&writer->plain, text.len > 0 ? text : PYRO_SLICE_LITERAL("-")); /* without NUL bytes */
    writer->packet.failed |= writer->plain.failed;
    pyro_strbuf_add_slice(&writer->packet, pyro_strbuf_slice(&writer->plain));
    pyro_strbuf_add_char(&writer->packet, '\0');
}

bool pyro_compass_end(struct pyro_compass_writer *writer)
{
    write_packet(writer);
    return writer->failure == 0 && !writer->packet.failed;
}

/* ---- Metadata ---------------------------------------------------------------------------------------------------- */

/* Ids have no other characters; what is not of them would have to be escaped. */
static void add_id(struct pyro_strbuf *to, struct pyro_slice text)
{
    static const char most[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.:";
    for (size_t i = 0; i < text.len; i++)
        pyro_strbuf_add_char(to, text.ptr[i] != '\0' && strchr(most, text.ptr[i]) ? text.ptr[i] : '_');
}

void pyro_compass_add_metadata(struct pyro_strbuf *to, const struct pyro_compass_writer *writer,
                               struct pyro_slice application)
{
    static const struct {
        const char *name, *fields;
    } events[] = {
#define PYRO_COMPASS_EVENT(id, name, fields) {name, fields},
#include "export/trace_compass/events.def"
#undef PYRO_COMPASS_EVENT
    };
    pyro_strbuf_add_text(to, "/* CTF 1.8 */\n\n"
                             "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
                             "typealias integer { size = 32; align = 8; signed = false; base = hex; } := u32;\n"
                             "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
                             "typealias integer { size = 64; align = 8; signed = true; } := i64;\n\n"
                             "trace {\n"
                             "    major = 1;\n"
                             "    minor = 8;\n"
                             "    byte_order = le;\n"
                             "    packet.header := struct { u32 magic; };\n"
                             "};\n\n"
                             "env {\n"
                             "    domain = \"spark\";\n"
                             "    tracer_name = \"pyrometer\";\n"
                             "    application = \"");
    add_id(to, application);
    pyro_strbuf_printf(to,
                       "\";\n"
                       "};\n\n"
                       "clock {\n"
                       "    name = utc;\n"
                       "    description = \"Nanoseconds since 1970-01-01 UTC\";\n"
                       "    freq = %d;\n"
                       "    offset_s = %" PRId64 ";\n"
                       "    absolute = true;\n"
                       "};\n\n",
                       NS_PER_S, writer->offset_s);
    pyro_strbuf_add_text(
        to, "typealias integer { size = 64; align = 8; signed = false; map = clock.utc.value; } := time;\n\n"
            "stream {\n"
            "    packet.context := struct { time timestamp_begin; time timestamp_end; u64 content_size; "
            "u64 packet_size; };\n"
            "    event.header := struct { u8 id; time timestamp; };\n"
            "};\n");
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        pyro_strbuf_printf(to, "\nevent {\n    name = \"%s\";\n    id = %zu;\n    fields := struct { %s };\n};\n",
                           events[i].name, i, events[i].fields);
}
