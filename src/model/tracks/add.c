/* Adding rows: those of small tables are kept once, those that come in millions go into packed columns. */
#include <assert.h>

#include "base/collections/hash.h"
#include "model/tracks/track_tables.h"

struct pyro_slice pyro_tracks_text(struct pyro_tracks *tracks, struct pyro_slice text)
{
    return pyro_intern_slice(tracks->strings, text);
}

/* Interns a text in its place; false when there is no memory. */
static bool keep(struct pyro_tracks *tracks, struct pyro_slice *text)
{
    if (!text->ptr)
        return true;
    *text = pyro_intern_slice(tracks->strings, *text);
    return text->ptr != NULL;
}

/* ---- Rows that are kept once ------------------------------------------------------------------------------------- */

enum once { ONCE_THREAD = 1, ONCE_SERIES, ONCE_FRAME, ONCE_STACK };

enum { KEY_WORDS = 9 };

/* What makes a row the same as another: its fields, interned texts by their address. */
struct key {
    uint64_t words[KEY_WORDS];
};

static uint64_t text_word(struct pyro_slice text)
{
    return (uint64_t)(uintptr_t)text.ptr;
}

static struct key thread_key(const struct pyro_thread_row *row)
{
    uint64_t parent = (uint64_t)(uint32_t)row->parent << 32 | (uint32_t)row->clock;
    return (struct key){{ONCE_THREAD, parent, (uint64_t)row->pid, (uint64_t)row->tid, text_word(row->host),
                         text_word(row->executor), text_word(row->role), text_word(row->name)}};
}

static struct key series_key(const struct pyro_series_row *row)
{
    return (struct key){{ONCE_SERIES, (uint64_t)(uint32_t)row->thread, (uint64_t)row->type, text_word(row->name),
                         text_word(row->unit), text_word(row->labels)}};
}

static struct key frame_key(const struct pyro_frame_row *row)
{
    return (struct key){
        {ONCE_FRAME, (uint64_t)row->line, text_word(row->function), text_word(row->file), text_word(row->language)}};
}

static struct key stack_key(const struct pyro_stack_row *row)
{
    return (struct key){{ONCE_STACK, (uint64_t)(uint32_t)row->parent, (uint64_t)(uint32_t)row->frame}};
}

/* Of a row that is kept. */
static struct key key_of(const struct pyro_tracks *tracks, enum once kind, uint32_t row)
{
    switch (kind) {
    case ONCE_THREAD:
        return thread_key(&tracks->threads.items[row]);
    case ONCE_SERIES:
        return series_key(&tracks->series.items[row]);
    case ONCE_FRAME:
        return frame_key(&tracks->frames.items[row]);
    default:
        return stack_key(&tracks->stacks.items[row]);
    }
}

static uint64_t hash_of(const struct key *key)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < KEY_WORDS; i++)
        hash = pyro_hash_mix(hash * 31 + key->words[i]);
    return hash;
}

/* Place of kind and number of a row with this key; 0 there: the caller adds one. NULL: no memory. */
static uint64_t *look_up(struct pyro_tracks *tracks, const struct key *key)
{
    for (uint64_t hash = hash_of(key);; hash = pyro_hash_mix(hash + 1)) {
        uint64_t *place = pyro_map_put(&tracks->known, hash, NULL);
        if (!place || *place == 0)
            return place;
        struct key other = key_of(tracks, (enum once)(*place >> 32), (uint32_t)*place);
        if (memcmp(other.words, key->words, sizeof(key->words)) == 0)
            return place;
    }
}

/* Appends `row` to a vector unless it has a row with this key; its number, or -1: no memory. */
#define ADD_ONCE(tracks, vector, row_key, row)                                                                         \
    do {                                                                                                               \
        const struct key key_of_row = (row_key);                                                                       \
        assert(!(tracks)->sealed);                                                                                     \
        uint64_t *place = look_up(tracks, &key_of_row);                                                                \
        if (!place || (*place == 0 && ((tracks)->vector.count >= INT32_MAX ||                                          \
                                       !pyro_vec_reserve(&(tracks)->vector, 1, (tracks)->allocator))))                 \
            return -1;                                                                                                 \
        if (*place == 0) {                                                                                             \
            *place = key_of_row.words[0] << 32 | (tracks)->vector.count;                                               \
            (tracks)->vector.items[(tracks)->vector.count++] = (row);                                                  \
        }                                                                                                              \
        return (int32_t)(uint32_t)*place;                                                                              \
    } while (0)

int32_t pyro_tracks_add_thread(struct pyro_tracks *tracks, const struct pyro_thread_row *row)
{
    struct pyro_thread_row thread = *row;
    if (!keep(tracks, &thread.host) || !keep(tracks, &thread.executor) || !keep(tracks, &thread.role) ||
        !keep(tracks, &thread.name))
        return -1;
    ADD_ONCE(tracks, threads, thread_key(&thread), thread);
}

int32_t pyro_tracks_add_series(struct pyro_tracks *tracks, const struct pyro_series_row *row)
{
    struct pyro_series_row series = *row;
    if (!keep(tracks, &series.name) || !keep(tracks, &series.unit) || !keep(tracks, &series.labels))
        return -1;
    ADD_ONCE(tracks, series, series_key(&series), series);
}

int32_t pyro_tracks_add_frame(struct pyro_tracks *tracks, const struct pyro_frame_row *row)
{
    struct pyro_frame_row frame = *row;
    if (!keep(tracks, &frame.function) || !keep(tracks, &frame.file) || !keep(tracks, &frame.language))
        return -1;
    ADD_ONCE(tracks, frames, frame_key(&frame), frame);
}

int32_t pyro_tracks_add_stack(struct pyro_tracks *tracks, int32_t parent, int32_t frame)
{
    const struct pyro_stack_row stack = {parent, frame};
    ADD_ONCE(tracks, stacks, stack_key(&stack), stack);
}

/* ---- Rows that are few ------------------------------------------------------------------------------------------- */

int32_t pyro_tracks_add_artefact(struct pyro_tracks *tracks, const struct pyro_artefact_row *row)
{
    struct pyro_artefact_row artefact = *row;
    if (!keep(tracks, &artefact.kind) || !keep(tracks, &artefact.path) || !keep(tracks, &artefact.host) ||
        !keep(tracks, &artefact.executor) || !keep(tracks, &artefact.problems))
        return -1;
    struct pyro_artefact_row *added = pyro_vec_push(&tracks->artefacts, tracks->allocator);
    if (!added)
        return -1;
    *added = artefact;
    return (int32_t)(tracks->artefacts.count - 1);
}

struct pyro_artefact_row *pyro_tracks_artefact_edit(struct pyro_tracks *tracks, int32_t artefact)
{
    assert(!tracks->sealed);
    return &tracks->artefacts.items[artefact];
}

int32_t pyro_tracks_add_clock(struct pyro_tracks *tracks, const struct pyro_clock_row *row)
{
    struct pyro_clock_row clock = *row;
    if (!keep(tracks, &clock.host) || !keep(tracks, &clock.source) || !keep(tracks, &clock.base) ||
        !keep(tracks, &clock.zone) || !keep(tracks, &clock.method))
        return -1;
    struct pyro_clock_row *added = pyro_vec_push(&tracks->clocks, tracks->allocator);
    if (!added)
        return -1;
    *added = clock;
    return (int32_t)(tracks->clocks.count - 1);
}

struct pyro_clock_row *pyro_tracks_clock_edit(struct pyro_tracks *tracks, int32_t clock)
{
    assert(!tracks->sealed);
    return &tracks->clocks.items[clock];
}

int32_t pyro_tracks_add_template(struct pyro_tracks *tracks, const struct pyro_template_row *row)
{
    struct pyro_template_row message_template = *row;
    if (!keep(tracks, &message_template.text) || !keep(tracks, &message_template.level) ||
        !keep(tracks, &message_template.logger))
        return -1;
    struct pyro_template_row *added = pyro_vec_push(&tracks->templates, tracks->allocator);
    if (!added)
        return -1;
    *added = message_template;
    return (int32_t)(tracks->templates.count - 1);
}

/* ---- Rows that come in millions ---------------------------------------------------------------------------------- */

bool pyro_tracks_append(struct pyro_tracks *tracks, enum pyro_track_table table, const int64_t *values)
{
    assert(!tracks->sealed);
    if (tracks->rows[table].count >= PYRO_TRACK_ROWS_MAX) {
        tracks->dropped[table]++;
        return true;
    }
    return pyro_row_table_append(&tracks->rows[table], values);
}

bool pyro_tracks_number(struct pyro_tracks *tracks, struct pyro_slice text, int64_t *ret)
{
    uint32_t number = text.ptr ? pyro_intern(tracks->strings, text) : 0;
    *ret = text.ptr ? (int64_t)number : -1;
    return number != UINT32_MAX;
}

static bool owner_values(struct pyro_tracks *tracks, const struct pyro_owner_row *row, int64_t *values)
{
    int64_t method;
    if (!pyro_tracks_number(tracks, row->method, &method))
        return false;
    const int64_t own[] = {
        row->thread, row->start_ns,      row->end_ns, row->task,
        row->stage,  row->stage_attempt, method,      (int64_t)(row->confidence * PYRO_CONFIDENCE_SCALE)};
    memcpy(values, own, sizeof(own));
    return true;
}

bool pyro_tracks_add_owner(struct pyro_tracks *tracks, const struct pyro_owner_row *row)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    return owner_values(tracks, row, values) && pyro_tracks_append(tracks, PYRO_TRACK_OWNERS, values);
}

static bool copy_owners(const struct pyro_row_table *from, struct pyro_row_table *to)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    for (size_t i = 0; i < from->count; i++) {
        for (unsigned c = 0; c < from->columns; c++)
            values[c] = pyro_row_table_get(from, c, i);
        if (!pyro_row_table_append(to, values))
            return false;
    }
    return true;
}

bool pyro_tracks_add_owners(struct pyro_tracks *tracks, const struct pyro_owner_row *rows, size_t count)
{
    struct pyro_row_table *owners = &tracks->rows[PYRO_TRACK_OWNERS], all;
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    size_t room = owners->count < PYRO_TRACK_ROWS_MAX ? PYRO_TRACK_ROWS_MAX - owners->count : 0;
    size_t added = count < room ? count : room;
    assert(tracks->sealed);
    if (count == 0)
        return true;
    pyro_row_table_init(&all, owners->columns, tracks->allocator);
    bool done = copy_owners(owners, &all);
    for (size_t i = 0; i < added && done; i++)
        done = owner_values(tracks, &rows[i], values) && pyro_row_table_append(&all, values);
    if (!done || !pyro_tracks_sort_owners(&all)) {
        pyro_row_table_done(&all);
        return false;
    }
    pyro_row_table_done(owners);
    *owners = all;
    tracks->dropped[PYRO_TRACK_OWNERS] += count - added;
    return true;
}

bool pyro_tracks_add_span(struct pyro_tracks *tracks, const struct pyro_span_row *row)
{
    int64_t name;
    if (!pyro_tracks_number(tracks, row->name, &name))
        return false;
    const int64_t values[] = {row->thread,   row->parent,      (int64_t)row->kind, name,
                              row->start_ns, row->duration_ns, row->value};
    return pyro_tracks_append(tracks, PYRO_TRACK_SPANS, values);
}

bool pyro_tracks_add_point(struct pyro_tracks *tracks, const struct pyro_point_row *row)
{
    int64_t values[] = {row->series, row->time_ns, 0};
    memcpy(&values[2], &row->value, sizeof(row->value));
    return pyro_tracks_append(tracks, PYRO_TRACK_POINTS, values);
}

bool pyro_tracks_add_sample(struct pyro_tracks *tracks, const struct pyro_sample_row *row)
{
    const int64_t values[] = {row->thread,         row->time_ns,        row->stack,
                              (int64_t)row->event, (int64_t)row->state, row->weight};
    return pyro_tracks_append(tracks, PYRO_TRACK_SAMPLES, values);
}

bool pyro_tracks_add_message(struct pyro_tracks *tracks, const struct pyro_message_row *row)
{
    const int64_t values[] = {row->time_ns, row->thread, row->message_template, row->artefact, row->level, row->place};
    return pyro_tracks_append(tracks, PYRO_TRACK_MESSAGES, values);
}

bool pyro_tracks_add_function(struct pyro_tracks *tracks, const struct pyro_function_row *row)
{
    const int64_t values[] = {row->artefact,        row->frame,  row->caller,  row->calls,
                              row->primitive_calls, row->own_ns, row->total_ns};
    return pyro_tracks_append(tracks, PYRO_TRACK_FUNCTIONS, values);
}
