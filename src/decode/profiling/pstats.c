/* Profiles of Python's cProfile: a marshalled dict of {(file, line, function): (primitive calls, calls, own seconds,
 * total seconds, {caller: the same four numbers})}. Only this form is read: numbers, texts, tuples and dicts, of
 * versions 0 to
 * 4. Nothing is executed. */
#include <math.h>
#include <stdlib.h>

#include "base/collections/vec.h"
#include "base/memory/allocator.h"
#include "decode/artefact_kinds.h"
#include "model/column.h"

enum {
    BYTES_MOST = 64 << 20,
    KEY_PARTS = 3, /* file, line, function */
    COUNTS = 4,    /* primitive calls, calls, own seconds, total seconds */
    FLAG_REF = 0x80
};

enum kind { KIND_OTHER, KIND_NUMBER, KIND_TEXT, KIND_KEY };

/* What a later reference may name. */
struct object {
    enum kind kind;
    double number;
    struct pyro_slice text;
    int32_t frame; /* KIND_KEY */
};

struct pstats {
    struct pyro_tracks *tracks;
    const struct pyro_allocator *allocator;
    const unsigned char *at, *end;
    PYRO_VEC(struct object) refs;         /* FLAG_REF of versions 3 and 4 */
    PYRO_VEC(struct pyro_slice) interned; /* 't' of versions 1 and 2 */
    int32_t artefact;
    uint64_t rows;
    bool no_memory;
};

bool pyro_pstats_recognise(struct pyro_slice head, bool whole)
{
    const unsigned char *at = (const unsigned char *)head.ptr;
    (void)whole;
    if (head.len < 8 || (at[0] & ~FLAG_REF) != '{')
        return false;
    unsigned tuple = at[1] & ~FLAG_REF;
    if (tuple == ')')
        return at[2] == KEY_PARTS && memchr("zZaAut", at[3] & ~FLAG_REF, 6) != NULL;
    return tuple == '(' && at[2] == KEY_PARTS && !at[3] && !at[4] && !at[5] && memchr("ust", at[6] & ~FLAG_REF, 3);
}

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

static bool take_bytes(struct pstats *file, size_t count, const unsigned char **ret)
{
    if ((size_t)(file->end - file->at) < count)
        return false;
    *ret = file->at;
    file->at += count;
    return true;
}

/* Little-endian, with its sign. */
static bool take_int(struct pstats *file, size_t bytes, int64_t *ret)
{
    const unsigned char *from;
    uint64_t value = 0;
    if (!take_bytes(file, bytes, &from))
        return false;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << (8 * i);
    *ret = bytes == 1 ? (int64_t)value : bytes == 2 ? (int16_t)value : bytes == 4 ? (int32_t)value : (int64_t)value;
    return true;
}

/* An integer of more than 31 bits: its sign and number of digits, each of 15 bits. */
static bool take_long(struct pstats *file, double *ret)
{
    int64_t count, digit;
    double value = 0, scale = 1;
    if (!take_int(file, 4, &count))
        return false;
    for (int64_t i = 0; i < llabs(count); i++, scale *= 32768) {
        if (!take_int(file, 2, &digit) || digit < 0)
            return false;
        value += (double)digit * scale;
    }
    *ret = count < 0 ? -value : value;
    return true;
}

/* A float as text of at most 255 bytes. */
static bool take_decimal(struct pstats *file, double *ret)
{
    char text[256], *end;
    int64_t len;
    const unsigned char *from;
    if (!take_int(file, 1, &len) || !take_bytes(file, (size_t)len, &from))
        return false;
    memcpy(text, from, (size_t)len);
    text[len] = '\0';
    *ret = strtod(text, &end);
    return len > 0 && end == text + len;
}

static bool take_number(struct pstats *file, unsigned type, double *ret)
{
    int64_t value = 0;
    const unsigned char *from;
    switch (type) {
    case 'i':
    case 'I':
        if (!take_int(file, type == 'i' ? 4 : 8, &value))
            return false;
        *ret = (double)value;
        return true;
    case 'l':
        return take_long(file, ret);
    case 'f':
        return take_decimal(file, ret);
    default: /* 'g': eight bytes of a double */
        if (!take_bytes(file, sizeof(*ret), &from))
            return false;
        memcpy(ret, from, sizeof(*ret));
        return true;
    }
}

static bool take_text(struct pstats *file, unsigned type, struct pyro_slice *ret)
{
    int64_t len;
    const unsigned char *from;
    if (!take_int(file, type == 'z' || type == 'Z' ? 1 : 4, &len) || len < 0 || !take_bytes(file, (size_t)len, &from))
        return false;
    *ret = (struct pyro_slice){(const char *)from, (size_t)len};
    if (type != 't')
        return true;
    struct pyro_slice *kept = pyro_vec_push(&file->interned, file->allocator);
    file->no_memory |= !kept;
    if (kept)
        *kept = *ret;
    return kept != NULL;
}

/* The place of an object among those that may be referred to; SIZE_MAX: it may not. */
static bool reserve_ref(struct pstats *file, unsigned type, size_t *ret)
{
    *ret = SIZE_MAX;
    if (!(type & FLAG_REF))
        return true;
    if (!pyro_vec_push(&file->refs, file->allocator)) {
        file->no_memory = true;
        return false;
    }
    *ret = file->refs.count - 1;
    return true;
}

static bool take_ref(struct pstats *file, struct object *ret)
{
    int64_t index;
    if (!take_int(file, 4, &index) || index < 0 || (size_t)index >= file->refs.count)
        return false;
    *ret = file->refs.items[index];
    return ret->kind != KIND_OTHER;
}

static bool take_interned(struct pstats *file, struct object *ret)
{
    int64_t index;
    if (!take_int(file, 4, &index) || index < 0 || (size_t)index >= file->interned.count)
        return false;
    *ret = (struct object){.kind = KIND_TEXT, .text = file->interned.items[index]};
    return true;
}

/* A number or a text, or a reference to anything. */
static bool take_plain(struct pstats *file, struct object *ret)
{
    int64_t type;
    size_t ref;
    if (!take_int(file, 1, &type))
        return false;
    unsigned plain = (unsigned)type & ~(unsigned)FLAG_REF;
    *ret = (struct object){.kind = KIND_NUMBER};
    if (plain == 'r')
        return take_ref(file, ret);
    if (plain == 'R')
        return take_interned(file, ret);
    if (!reserve_ref(file, (unsigned)type, &ref))
        return false;
    if (memchr("iIlfg", (int)plain, 5)) {
        if (!take_number(file, plain, &ret->number))
            return false;
    } else if (memchr("zZaAuts", (int)plain, 7)) {
        ret->kind = KIND_TEXT;
        if (!take_text(file, plain, &ret->text))
            return false;
    } else {
        return false;
    }
    if (ref != SIZE_MAX)
        file->refs.items[ref] = *ret;
    return true;
}

/* The head of a tuple of `parts`. */
static bool enter_tuple(struct pstats *file, unsigned type, int64_t parts)
{
    int64_t count;
    unsigned plain = type & ~(unsigned)FLAG_REF;
    return (plain == '(' || plain == ')') && take_int(file, plain == '(' ? 4 : 1, &count) && count == parts;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static bool add_frame(struct pstats *file, const struct object *parts, int32_t *ret)
{
    if (parts[0].kind != KIND_TEXT || parts[1].kind != KIND_NUMBER || parts[2].kind != KIND_TEXT)
        return false;
    bool known = parts[1].number > 0 && parts[1].number < INT32_MAX; /* built-in functions have line 0 */
    const struct pyro_frame_row row = {.function = parts[2].text,
                                       .file = parts[0].text,
                                       .line = known ? (int64_t)parts[1].number : PYRO_NONE,
                                       .language = PYRO_SLICE_LITERAL("python")};
    *ret = pyro_tracks_add_frame(file->tracks, &row);
    file->no_memory |= *ret < 0;
    return *ret >= 0;
}

/* (file, line, function) whose first byte is `type`, or a reference to an earlier one. */
static bool take_key(struct pstats *file, unsigned type, int32_t *ret)
{
    struct object parts[KEY_PARTS];
    size_t ref;
    if ((type & ~(unsigned)FLAG_REF) == 'r') {
        if (!take_ref(file, &parts[0]) || parts[0].kind != KIND_KEY)
            return false;
        *ret = parts[0].frame;
        return true;
    }
    if (!reserve_ref(file, type, &ref) || !enter_tuple(file, type, KEY_PARTS))
        return false;
    for (size_t i = 0; i < KEY_PARTS; i++)
        if (!take_plain(file, &parts[i]))
            return false;
    if (!add_frame(file, parts, ret))
        return false;
    if (ref != SIZE_MAX)
        file->refs.items[ref] = (struct object){.kind = KIND_KEY, .frame = *ret};
    return true;
}

static bool take_counts(struct pstats *file, double *ret)
{
    struct object count;
    for (size_t i = 0; i < COUNTS; i++) {
        if (!take_plain(file, &count) || count.kind != KIND_NUMBER || !(count.number >= 0 && count.number < 9e15))
            return false;
        ret[i] = count.number;
    }
    return true;
}

static int64_t ns_of(double seconds)
{
    return seconds < 9e9 ? (int64_t)llround(seconds * 1e9) : PYRO_NONE;
}

static bool add_row(struct pstats *file, int32_t frame, int32_t caller, const double *counts)
{
    const struct pyro_function_row row = {.artefact = file->artefact,
                                          .frame = frame,
                                          .caller = caller,
                                          .primitive_calls = (int64_t)counts[0],
                                          .calls = (int64_t)counts[1],
                                          .own_ns = ns_of(counts[2]),
                                          .total_ns = ns_of(counts[3])};
    bool added = pyro_tracks_add_function(file->tracks, &row);
    file->rows += added;
    file->no_memory |= !added;
    return added;
}

static bool enter_dict(struct pstats *file)
{
    int64_t type;
    size_t ref;
    return take_int(file, 1, &type) && (type & ~FLAG_REF) == '{' && reserve_ref(file, (unsigned)type, &ref);
}

/* The next function of a dict and the first four of the `parts` of its tuple; *ret_end: there is none. */
static bool next_function(struct pstats *file, int64_t parts, int32_t *ret_frame, double *ret_counts, bool *ret_end)
{
    int64_t type;
    size_t ref;
    if (!take_int(file, 1, &type))
        return false;
    *ret_end = type == '0';
    if (*ret_end)
        return true;
    return take_key(file, (unsigned)type, ret_frame) && take_int(file, 1, &type) &&
           reserve_ref(file, (unsigned)type, &ref) && enter_tuple(file, (unsigned)type, parts) &&
           take_counts(file, ret_counts);
}

static bool take_callers(struct pstats *file, int32_t frame)
{
    double counts[COUNTS];
    int32_t caller;
    bool end = false;
    if (!enter_dict(file))
        return false;
    while (next_function(file, COUNTS, &caller, counts, &end))
        if (end || !add_row(file, frame, caller, counts))
            break;
    return end;
}

/* False: it ends here, since it is damaged or there is no memory. */
static bool take_functions(struct pstats *file)
{
    double counts[COUNTS];
    int32_t frame;
    bool end = false;
    if (!enter_dict(file))
        return false;
    while (next_function(file, COUNTS + 1, &frame, counts, &end))
        if (end || !add_row(file, frame, -1, counts) || !take_callers(file, frame))
            break;
    return end;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static enum pyro_status read_bytes(struct pyro_reader *reader, unsigned char *bytes, size_t *ret,
                                   struct pyro_error *error)
{
    size_t got = 1;
    *ret = 0;
    while (got > 0 && *ret < BYTES_MOST) {
        PYRO_TRY(pyro_reader_read(reader, bytes + *ret, BYTES_MOST - *ret, &got, error));
        *ret += got;
    }
    return PYRO_OK;
}

static enum pyro_status complete(struct pstats *file, size_t bytes, const char *problem, struct pyro_error *error)
{
    struct pyro_artefact_row *row = pyro_tracks_artefact_edit(file->tracks, file->artefact);
    row->bytes = (int64_t)bytes;
    row->rows = (int64_t)file->rows;
    if (problem)
        row->problems = pyro_tracks_text(file->tracks, pyro_slice_from(problem));
    return problem && !row->problems.ptr ? pyro_no_memory(error) : PYRO_OK;
}

static enum pyro_status decode(struct pstats *file, const unsigned char *bytes, size_t len, const char *damage,
                               struct pyro_error *error)
{
    file->at = bytes;
    file->end = bytes + len;
    bool whole = take_functions(file);
    pyro_vec_done(&file->refs, file->allocator);
    pyro_vec_done(&file->interned, file->allocator);
    if (file->no_memory)
        return pyro_no_memory(error);
    const char *problem = damage ? damage : len == BYTES_MOST ? "is longer than 64 MiB" : "is damaged or ends early";
    return complete(file, len, whole ? NULL : problem, error);
}

enum pyro_status pyro_pstats_artefact(struct pyro_artefact_reading *reading, const struct pyro_artefact_source *source,
                                      struct pyro_reader *reader, struct pyro_error *error)
{
    struct pstats file = {.tracks = reading->tracks, .allocator = reading->allocator};
    const struct pyro_artefact_row row = {.kind = PYRO_SLICE_LITERAL("pstats"),
                                          .path = source->path,
                                          .host = source->host,
                                          .executor = source->executor,
                                          .clock = -1,
                                          .first_ns = PYRO_NONE,
                                          .last_ns = PYRO_NONE};
    size_t len = 0;
    unsigned char *bytes = pyro_allocate(reading->allocator, BYTES_MOST);
    file.artefact = bytes ? pyro_tracks_add_artefact(reading->tracks, &row) : -1;
    enum pyro_status status = file.artefact >= 0 ? read_bytes(reader, bytes, &len, error) : pyro_no_memory(error);
    if (status == PYRO_OK)
        status = decode(&file, bytes, len, pyro_reader_damage(reader), error);
    pyro_release(reading->allocator, bytes);
    return status;
}
