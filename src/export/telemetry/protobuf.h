/* The few forms of protocol buffers that writers need: https://protobuf.dev/programming-guides/encoding/ */
#ifndef PYRO_EXPORT_TELEMETRY_PROTOBUF_H
#define PYRO_EXPORT_TELEMETRY_PROTOBUF_H

#include "base/strings/strbuf.h"

static inline void pyro_proto_varint(struct pyro_strbuf *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        pyro_strbuf_add_char(to, (char)(unsigned char)(value | 0x80));
    pyro_strbuf_add_char(to, (char)(unsigned char)value);
}

static inline void pyro_proto_number(struct pyro_strbuf *to, unsigned field, uint64_t value)
{
    pyro_proto_varint(to, (uint64_t)field << 3);
    pyro_proto_varint(to, value);
}

/* A string, or a message. */
static inline void pyro_proto_bytes(struct pyro_strbuf *to, unsigned field, struct pyro_slice bytes)
{
    pyro_proto_varint(to, (uint64_t)field << 3 | 2);
    pyro_proto_varint(to, bytes.len);
    pyro_strbuf_add_slice(to, bytes);
}

#endif
