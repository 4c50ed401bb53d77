/* Reading the metadata of version 2: fragments of JSON, and the classes of fields in them. */
#ifndef PYRO_DECODE_TRACE_CTF_CTF2_H
#define PYRO_DECODE_TRACE_CTF_CTF2_H

#include "base/collections/map.h"
#include "base/json/json_read.h"
#include "decode/trace/ctf/ctf_types.h"

struct ctf2_alias {
    struct pyro_slice name;
    const struct pyro_ctf_type *type;
};

struct ctf2 {
    struct pyro_ctf_metadata *metadata;
    struct pyro_json_reader json;
    const char *counted; /* up to where there are `line` lines */
    unsigned line, levels;
    bool no_memory;
    PYRO_VEC(struct ctf2_alias) aliases;
    struct pyro_map by_hash; /* name of an alias -> row of `aliases` + 1 */
};

/* ctf2_values.c: values that are read often. Each returns false after an error, which is in `json` or `no_memory`. */
bool pyro_ctf2_fail(struct ctf2 *ctf2, const char *why);
bool pyro_ctf2_no_memory(struct ctf2 *ctf2);
/* The text lasts as long as the metadata. */
bool pyro_ctf2_take_text(struct ctf2 *ctf2, struct pyro_slice *ret);
/* A number of 64 bits with or without a sign, as bits. */
bool pyro_ctf2_take_bits(struct ctf2 *ctf2, uint64_t *ret);
bool pyro_ctf2_take_uuid(struct ctf2 *ctf2, unsigned char uuid[16]);
/* A list of [first, last]. */
bool pyro_ctf2_take_ranges(struct ctf2 *ctf2, const struct pyro_ctf_range **ret, size_t *ret_count);
bool pyro_ctf2_take_location(struct ctf2 *ctf2, struct pyro_ctf_location *ret);
/* Copies an array that a vector has into the arena; NULL: no memory. */
void *pyro_ctf2_keep(struct ctf2 *ctf2, const void *items, size_t count, size_t size);
unsigned pyro_ctf2_line(struct ctf2 *ctf2);

/* ctf2_fields.c. A class of fields, or the name of an alias. NULL: it cannot be read. */
const struct pyro_ctf_type *pyro_ctf2_take_type(struct ctf2 *ctf2);

#endif
