/* The types that a chunk's metadata event describes, and programs that read values of them.
 *
 * A program is the flat list of a type's fields, those of inner types included, so that reading needs no recursion. The
 * fields that a caller wants go into numbered slots; all others are skipped. */
#ifndef PYRO_DECODE_PROFILING_JFR_TYPES_H
#define PYRO_DECODE_PROFILING_JFR_TYPES_H

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/memory/arena.h"
#include "decode/profiling/jfr/cursor.h"

enum {
    PYRO_JFR_SLOTS = 12,
    PYRO_JFR_LEVELS = 8,          /* of types inside types */
    PYRO_JFR_LOOPS = 4,           /* of arrays inside arrays */
    PYRO_JFR_OPERATIONS = 4096,   /* of one program */
    PYRO_JFR_METADATA = 16 << 20, /* bytes of a metadata event; real ones have some 200 KiB */
    PYRO_JFR_TYPES = 10000,       /* real ones have some 300 */
    PYRO_JFR_NAMES = 1 << 20,
};

/* Of a time or a duration. */
enum pyro_jfr_unit {
    PYRO_JFR_NO_UNIT,
    PYRO_JFR_TICKS,
    PYRO_JFR_NANOSECONDS,
    PYRO_JFR_MICROSECONDS,
    PYRO_JFR_MILLISECONDS,
    PYRO_JFR_SECONDS,
    PYRO_JFR_EPOCH_NANOSECONDS,
    PYRO_JFR_EPOCH_MILLISECONDS
};

enum pyro_jfr_operation_kind {
    PYRO_JFR_BYTE,
    PYRO_JFR_SHORT,
    PYRO_JFR_CHAR,
    PYRO_JFR_INT,
    PYRO_JFR_LONG,
    PYRO_JFR_FLOAT,
    PYRO_JFR_DOUBLE,
    PYRO_JFR_STRING,
    PYRO_JFR_CONSTANT, /* a key of the pool of type `type` */
    PYRO_JFR_ARRAY,    /* a count; the next `body` operations for each element */
};

struct pyro_jfr_operation {
    uint8_t kind, unit;
    int16_t slot; /* -1: skipped */
    uint16_t body;
    uint32_t type; /* row of `types` */
};

struct pyro_jfr_program {
    bool made, usable;
    PYRO_VEC(struct pyro_jfr_operation) operations;
};

struct pyro_jfr_field {
    struct pyro_slice name;
    int64_t type;
    bool constant, array;
    uint8_t unit;
    int64_t unit_type; /* id of the annotation that gave the unit */
};

struct pyro_jfr_type {
    struct pyro_slice name;
    int64_t id;
    size_t first_field, field_count;
    struct pyro_jfr_program skip;  /* no slots; made when needed */
    struct pyro_jfr_program text;  /* its first string; the same */
    struct pyro_jfr_program named; /* its field "name"; the same */
    struct pyro_map constants;     /* key -> offset in the chunk + 1, of this type's pool */
};

struct pyro_jfr_types {
    const struct pyro_allocator *allocator;
    struct pyro_arena arena; /* names */
    PYRO_VEC(struct pyro_jfr_type) types;
    PYRO_VEC(struct pyro_jfr_field) fields;
    struct pyro_map by_id; /* id -> row + 1 */
};

void pyro_jfr_types_init(struct pyro_jfr_types *types, const struct pyro_allocator *allocator);
void pyro_jfr_types_done(struct pyro_jfr_types *types);

/* Replaces all types by those of a metadata event; the cursor is after its type. 1: done; 0: the event is damaged and
 * there are no types; -1: no memory. */
int pyro_jfr_read_types(struct pyro_jfr_types *types, struct pyro_jfr_cursor cursor);
struct pyro_jfr_type *pyro_jfr_type_by_id(const struct pyro_jfr_types *types, int64_t id);
struct pyro_jfr_type *pyro_jfr_type_by_name(const struct pyro_jfr_types *types, const char *name);

/* What a slot got. */
struct pyro_jfr_value {
    bool set, constant;
    uint8_t unit;
    int64_t number; /* of integers, booleans and constants */
    double real;
    struct pyro_jfr_text text;
    uint32_t type; /* of constants: row of `types` */
};

/* Makes the program of a type; `slots` are paths such as "heapSpace.committedSize", NULL for none of a number; "*" is
 * the first string. False: no memory. A type that cannot be read gets a program that is not usable. */
bool pyro_jfr_compile(const struct pyro_jfr_types *types, const struct pyro_jfr_type *type, const char *const *slots,
                      size_t slot_count, struct pyro_jfr_program *ret);
void pyro_jfr_program_done(struct pyro_jfr_program *program, const struct pyro_allocator *allocator);

/* Reads one value. `each` (may be NULL) is called behind each element of an outermost array; false from it ends the
 * reading. False: it ended, or the value is damaged (cursor->failed). */
bool pyro_jfr_run(const struct pyro_jfr_program *program, struct pyro_jfr_cursor *cursor, struct pyro_jfr_value *values,
                  bool (*each)(void *context, struct pyro_jfr_value *values), void *context);

#endif
