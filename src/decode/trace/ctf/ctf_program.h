/* Programs that read parts of packets and events: types as flat lists of operations.
 *
 *     metadata -> layouts (every field of a scope, numbered) -> what is needed of them -> programs
 *
 * A program passes over fields that no one needs, in one step where their sizes are known beforehand. Needed are the
 * fields that the caller wants, those with roles, and lengths and selectors of later fields: these go to numbered
 * registers. */
#ifndef PYRO_DECODE_TRACE_CTF_CTF_PROGRAM_H
#define PYRO_DECODE_TRACE_CTF_CTF_PROGRAM_H

#include "decode/trace/ctf/ctf.h"
#include "decode/trace/ctf/ctf_types.h"

enum {
    PYRO_CTF_NODES = 1 << 13,     /* fields of one scope */
    PYRO_CTF_ALL_NODES = 1 << 22, /* of all classes of a trace */
    PYRO_CTF_COMPARED = 1 << 28,  /* names, to find lengths and selectors */
    PYRO_CTF_SHARED = 256,        /* registers of packets and headers; the first ones are for roles */
    PYRO_CTF_REGISTERS = 1 << 12, /* the others are of one event */
    PYRO_CTF_LOOPS = 8,           /* of arrays inside arrays */
    PYRO_CTF_STEPS = 256,         /* rounds of arrays without any bits, of one event */
    PYRO_CTF_NO_REGISTER = 0xffff,
};

enum pyro_ctf_code {
    PYRO_CTF_OP_END,
    PYRO_CTF_OP_RUN, /* `bits` of known layout; the reads that follow are at `bits` from their begin */
    /* Reads inside of a run: byte by byte, little-endian. */
    PYRO_CTF_OP_READ_U8 = 8,
    PYRO_CTF_OP_READ_S8,
    PYRO_CTF_OP_READ_U16,
    PYRO_CTF_OP_READ_S16,
    PYRO_CTF_OP_READ_U32,
    PYRO_CTF_OP_READ_S32,
    PYRO_CTF_OP_READ_64,
    PYRO_CTF_OP_READ_BITS = 16, /* any other number */
    PYRO_CTF_OP_READ_TEXT,      /* `next` characters */
    PYRO_CTF_OP_READ_PLACE,     /* where it is, in bytes */
    /* What takes an unknown number of bits. */
    PYRO_CTF_OP_ALIGN = 24, /* to `bits` */
    PYRO_CTF_OP_STRING,     /* up to a character 0; `size` bytes each */
    PYRO_CTF_OP_VARINT,
    PYRO_CTF_OP_AGAIN,     /* the string or number before it, for something else */
    PYRO_CTF_OP_TEXT,      /* as many characters as register `from` says */
    PYRO_CTF_OP_ELEMENT,   /* number `next` of as many as register `from` says, `bits` apart; stays before them */
    PYRO_CTF_OP_SKIP,      /* as many times `bits` as register `from` says, `next` bits less */
    PYRO_CTF_OP_LOOP = 32, /* the next `next` operations, as often as register `from` says; without one, `bits` times */
    PYRO_CTF_OP_SWITCH, /* to the operation of the range that register `from` is in; `next`: the first of `bits` ranges
                         */
    PYRO_CTF_OP_JUMP,   /* to operation `next` */
    PYRO_CTF_OP_LOAD,   /* register `from` as a slot */
};

enum pyro_ctf_to { PYRO_CTF_TO_SLOT, PYRO_CTF_TO_REGISTER, PYRO_CTF_TO_CLOCK, PYRO_CTF_TO_NOTHING };

enum pyro_ctf_flags {
    PYRO_CTF_SIGNED = 1,
    PYRO_CTF_BIG_ENDIAN = 2,
    PYRO_CTF_REVERSED = 4,
    PYRO_CTF_FLOATING = 8,
    PYRO_CTF_TRUTH = 16, /* any number but 0 is 1 */
};

struct pyro_ctf_operation {
    uint8_t code, size, flags, to;
    uint16_t place, from;
    uint32_t next;
    uint64_t bits;
};

/* Where a value of a selector leads. */
struct pyro_ctf_case {
    uint64_t first, last; /* as of unsigned numbers: those of signed ones have their first bit flipped */
    uint32_t target;
};

/* Operations of all programs of a trace. */
struct pyro_ctf_store {
    const struct pyro_allocator *allocator;
    PYRO_VEC(struct pyro_ctf_operation) operations;
    PYRO_VEC(struct pyro_ctf_case) cases;
};

struct pyro_ctf_program {
    uint32_t first; /* operation */
    unsigned roles; /* bits of enum pyro_ctf_role: it has a field for each of them */
    bool empty;     /* it reads nothing and passes over nothing */
};

/* ---- Layouts: ctf_layout.c ------------------------------------------------------------------------------------------
 */

/* A field where it is used. Nodes are in the order of fields: inner ones follow theirs. */
struct pyro_ctf_node {
    const struct pyro_ctf_type *type;
    struct pyro_slice name;
    int32_t parent;  /* -1: the whole scope */
    int32_t end;     /* after the last inner node */
    uint16_t target; /* register that it goes to */
    uint16_t source; /* register with its length or selector */
    uint8_t role;
    bool option;         /* of a variant or an optional field */
    bool repeated;       /* it is in an array */
    bool needed;         /* it, or a node inside, is read */
    int32_t source_node; /* of `source`; with labels */
    int8_t source_scope;
};

struct pyro_ctf_layout {
    PYRO_VEC(struct pyro_ctf_node) nodes;
};

/* What is being compiled of one trace: the layouts of all scopes, the innermost being those of one event. */
struct pyro_ctf_compiler {
    const struct pyro_ctf_metadata *metadata;
    struct pyro_ctf_store *store;
    struct pyro_error *error;
    struct pyro_ctf_layout layouts[PYRO_CTF_SCOPES];
    size_t all_nodes, compared;
    unsigned shared, own, most; /* registers: the next one of packets and of events; the most that were given out */
    struct pyro_slice clock;    /* of the stream's fields; null: none yet */
};

/* Begins with the roles' registers. */
void pyro_ctf_compiler_init(struct pyro_ctf_compiler *compiler, const struct pyro_ctf_metadata *metadata,
                            struct pyro_ctf_store *store, struct pyro_error *error);
void pyro_ctf_compiler_done(struct pyro_ctf_compiler *compiler);
/* Numbers the fields of a scope, and finds what their lengths and selectors are. `type` may be NULL. */
enum pyro_status pyro_ctf_lay_out(struct pyro_ctf_compiler *compiler, enum pyro_ctf_scope scope,
                                  const struct pyro_ctf_type *type);
/* A register for a field of the scope; NO_REGISTER: there are no more. */
unsigned pyro_ctf_register(struct pyro_ctf_compiler *compiler, enum pyro_ctf_scope scope);
enum pyro_status pyro_ctf_refuse(struct pyro_ctf_compiler *compiler, unsigned line, const char *why);
/* Names are the same with and without one underscore before them. */
bool pyro_ctf_same_name(struct pyro_slice field, struct pyro_slice asked);

/* ---- What is wanted: ctf_wanted.c
 * ------------------------------------------------------------------------------------ */

/* A node that goes to a slot. */
struct pyro_ctf_pick {
    int32_t node;
    uint8_t scope, slot;
    unsigned rank;   /* the lowest of a slot counts */
    int32_t element; /* of an array; -1: the field itself */
};

struct pyro_ctf_picks {
    PYRO_VEC(struct pyro_ctf_pick) picks;
    const struct pyro_allocator *allocator;
    size_t slots; /* that are asked for */
};

/* Finds the fields in the layouts of the packet's context and of the event. False: no memory. */
bool pyro_ctf_pick(struct pyro_ctf_compiler *compiler, const struct pyro_ctf_wanted *wanted,
                   struct pyro_ctf_picks *ret);

/* ---- Programs: ctf_compile.c and ctf_run.c
 * ----------------------------------------------------------------------------- */

/* Makes the program of the scopes from `first` to `last`, one after the other. `picks` may be NULL. */
enum pyro_status pyro_ctf_compile(struct pyro_ctf_compiler *compiler, enum pyro_ctf_scope first,
                                  enum pyro_ctf_scope last, const struct pyro_ctf_picks *picks,
                                  struct pyro_ctf_program *ret);

/* Where a stream is read. */
struct pyro_ctf_run {
    const struct pyro_ctf_store *store;
    const unsigned char *data; /* places are from here; some bytes after the limit can be read */
    uint64_t at, limit;        /* bits */
    uint64_t *registers;
    uint64_t clock;
    struct pyro_ctf_value *slots;
};

enum pyro_ctf_result { PYRO_CTF_DONE, PYRO_CTF_SHORT, PYRO_CTF_WRONG };
enum { PYRO_CTF_PADDING = 16 }; /* bytes that may be read after the limit */

/* SHORT: it needs more than there is before the limit. */
enum pyro_ctf_result pyro_ctf_execute(struct pyro_ctf_run *run, const struct pyro_ctf_program *program);

#endif
