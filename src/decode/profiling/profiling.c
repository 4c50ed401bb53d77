#include "decode/profiling/profiling.h"

#include <stdio.h>
#include <string.h>

#include "decode/profiling/profile_reading.h"

/* ---- Kinds ------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum pyro_status (*decode)(struct pyro_profile_reading *reading);
} kinds[PYRO_PROFILE_KINDS] = {
#define PYRO_PROFILE_KIND(constant, name, prefix, decode) {name, pyro_profile_decode_##decode},
#include "decode/profiling/kinds.def"
#undef PYRO_PROFILE_KIND
};

/* Takes the next line off the front. *ret_whole: it has its end. */
static struct pyro_slice take_line(struct pyro_slice *text, bool *ret_whole)
{
    const char *end = memchr(text->ptr, '\n', text->len);
    struct pyro_slice line = {text->ptr, end ? (size_t)(end - text->ptr) : text->len};
    *ret_whole = end != NULL;
    pyro_slice_drop(text, line.len + (end ? 1 : 0));
    return line;
}

static bool has(struct pyro_slice line, const char *text)
{
    return pyro_slice_find(line, text) != NULL;
}

/* The kind of a JSON object by its content as far as it was read. */
static enum pyro_profile_kind kind_of_record(struct pyro_slice record)
{
    if (has(record, "\"pmem_rss\":"))
        return PYRO_PROFILE_PYSPARK;
    if (has(record, "\"stacktrace\":") && !has(record, "\"level\":")) /* else a line of a JSON log, with an exception */
        return has(record, ".py:") || has(record, "\"i_d\":") ? PYRO_PROFILE_PYSPARK : PYRO_PROFILE_UBER;
    if (has(record, "\"nonHeapMemoryTotalUsed\":") || has(record, "\"heapMemoryTotalUsed\":") ||
        has(record, "\"agentVersion\":") || (has(record, "\"self\":") && has(record, "\"rchar\":")))
        return PYRO_PROFILE_UBER;
    return PYRO_PROFILE_KINDS;
}

static enum pyro_profile_kind find_record(struct pyro_slice head)
{
    enum pyro_profile_kind kind = PYRO_PROFILE_KINDS;
    bool whole;
    while (head.len > 0 && kind == PYRO_PROFILE_KINDS) {
        struct pyro_slice line = take_line(&head, &whole);
        if ((line.len > 0 && line.ptr[0] == '{') || has(line, "ConsoleOutputReporter - "))
            kind = kind_of_record(line);
    }
    return kind;
}

/* Whether the line is FRAMES COUNT; frames may be missing, as in what has no stack. */
static bool is_folded_line(struct pyro_slice line)
{
    size_t digits = 0;
    while (digits < line.len && line.ptr[line.len - 1 - digits] >= '0' && line.ptr[line.len - 1 - digits] <= '9')
        digits++;
    return digits > 0 && digits < line.len && line.ptr[line.len - 1 - digits] == ' ';
}

/* All lines are, and one has more than one frame. */
static bool is_folded(struct pyro_slice head, bool whole)
{
    bool deep = false, complete, any = false;
    while (head.len > 0) {
        struct pyro_slice line = take_line(&head, &complete);
        if (line.len > 0 && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (!complete && !whole) /* cut by the end of the head */
            break;
        if (line.len > 0 && !is_folded_line(line))
            return false;
        any |= line.len > 0;
        deep |= line.len > 0 && memchr(line.ptr, ';', line.len) != NULL;
    }
    return any && deep;
}

/* A log in which a dump is among other lines stays a log. */
static bool is_dump(struct pyro_slice head)
{
    enum { WITHIN = 4096 };
    head.len = head.len < WITHIN ? head.len : WITHIN;
    return pyro_slice_find(head, "Full thread dump ") != NULL;
}

/* An array of threads. */
static bool is_threads(struct pyro_slice head)
{
    enum { WITHIN = 4096 };
    static const char begin[] = "[{";
    size_t at = 0, found = 0;
    head.len = head.len < WITHIN ? head.len : WITHIN;
    for (; at < head.len && found < 2; at++) {
        if (head.ptr[at] == begin[found])
            found++;
        else if (head.ptr[at] != ' ' && head.ptr[at] != '\n' && head.ptr[at] != '\r')
            return false;
    }
    return found == 2 && has(head, "\"threadId\"") && has(head, "\"threadState\"");
}

enum pyro_profile_kind pyro_profile_recognise(struct pyro_slice head, bool whole)
{
    if (head.len >= 4 && memcmp(head.ptr, "FLR\0", 4) == 0)
        return PYRO_PROFILE_JFR;
    if (head.len == 0 || memchr(head.ptr, '\0', head.len) || pyro_slice_starts_with(head, "{\"Event\":"))
        return PYRO_PROFILE_KINDS;
    if (is_dump(head))
        return PYRO_PROFILE_JSTACK;
    if (is_threads(head))
        return PYRO_PROFILE_SPARK_THREADS;
    enum pyro_profile_kind kind = find_record(head);
    return kind == PYRO_PROFILE_KINDS && is_folded(head, whole) ? PYRO_PROFILE_FOLDED : kind;
}

bool pyro_profile_is_kind(struct pyro_slice name)
{
    for (size_t i = 0; i < PYRO_PROFILE_KINDS; i++)
        if (pyro_slice_is(name, kinds[i].name))
            return true;
    return false;
}

/* ---- Order of stacks --------------------------------------------------------------------------------------------- */

void pyro_profile_order_init(struct pyro_profile_order *order, const struct pyro_allocator *allocator)
{
    memset(order, 0, sizeof(*order));
    pyro_map_init(&order->seen, allocator);
}

void pyro_profile_order_done(struct pyro_profile_order *order, const struct pyro_allocator *allocator)
{
    pyro_vec_done(&order->stacks, allocator);
    pyro_map_done(&order->seen);
}

/* ---- One file ---------------------------------------------------------------------------------------------------- */

static bool begin(struct pyro_profile_reading *reading, enum pyro_profile_kind kind)
{
    const struct pyro_clock_row clock = {
        .host = reading->source->host,
        .source = pyro_slice_from(kinds[kind].name),
        .base = PYRO_SLICE_LITERAL("utc"),
        .method = PYRO_SLICE_LITERAL("record"),
    };
    reading->clock = pyro_tracks_add_clock(reading->tracks, &clock);
    const struct pyro_artefact_row artefact = {
        .kind = pyro_slice_from(kinds[kind].name),
        .path = reading->source->path,
        .host = reading->source->host,
        .executor = reading->source->executor,
        .first_ns = PYRO_NONE,
        .last_ns = PYRO_NONE,
        .clock = reading->clock,
    };
    reading->facts->artefact = reading->clock < 0 ? -1 : pyro_tracks_add_artefact(reading->tracks, &artefact);
    reading->texts = pyro_string_pool_new(reading->allocator);
    return reading->facts->artefact >= 0 && reading->texts;
}

static bool add_owners(struct pyro_profile_reading *reading)
{
    for (size_t i = 0; i < reading->owners.count; i++) {
        const struct pyro_profile_owner *owner = &reading->owners.items[i];
        const struct pyro_owner_row row = {
            .thread = owner->thread,
            .start_ns = owner->start_ns,
            .end_ns = owner->end_ns,
            .task = owner->of.task,
            .stage = owner->of.stage,
            .stage_attempt = owner->of.stage_attempt,
            .method = pyro_slice_from(owner->of.method),
            .confidence = 1,
        };
        if (!pyro_tracks_add_owner(reading->tracks, &row))
            return false;
    }
    return true;
}

static void add_problem(struct pyro_strbuf *text, uint64_t count, const char *what)
{
    if (count == 0)
        return;
    if (text->len)
        pyro_strbuf_add_text(text, "; ");
    pyro_strbuf_printf(text, "%llu %s", (unsigned long long)count, what);
}

static void add_unread(struct pyro_strbuf *text, const struct pyro_unread_samples *unread)
{
    char what[100];
    snprintf(what, sizeof(what), "samples that are not read (%s)", unread->name);
    add_problem(text, unread->count, what);
}

static bool finish(struct pyro_profile_reading *reading)
{
    const struct pyro_profile_facts *facts = reading->facts;
    struct pyro_strbuf problems;
    pyro_strbuf_init(&problems, reading->allocator);
    if (facts->problem)
        pyro_strbuf_add_text(&problems, facts->problem);
    add_problem(&problems, facts->rejected, "damaged records");
    add_problem(&problems, facts->unknown, "references that lead nowhere");
    add_problem(&problems, facts->lines_cut, "lines that are too long");
    add_problem(&problems, facts->stacks_cut, "stacks that are too deep");
    add_problem(&problems, facts->lost, "CPU-time samples that the JVM lost");
    for (size_t i = 0; i < facts->unread_count; i++)
        add_unread(&problems, &facts->unread[i]);
    struct pyro_artefact_row *row = pyro_tracks_artefact_edit(reading->tracks, facts->artefact);
    row->bytes = (int64_t)reading->bytes;
    row->rows = (int64_t)reading->rows;
    row->first_ns = reading->first_ns;
    row->last_ns = reading->last_ns;
    row->problems = problems.len ? pyro_tracks_text(reading->tracks, pyro_strbuf_slice(&problems)) : PYRO_SLICE_NULL;
    bool done = !problems.failed && (row->problems.ptr || row->problems.len == 0) && add_owners(reading);
    pyro_strbuf_done(&problems);
    return done;
}

enum pyro_status pyro_profile_decode(struct pyro_tracks *tracks, enum pyro_profile_kind kind,
                                     const struct pyro_artefact_source *source, struct pyro_reader *reader,
                                     const struct pyro_allocator *allocator, struct pyro_profile_order *order,
                                     struct pyro_profile_facts *ret, struct pyro_error *error)
{
    *ret = (struct pyro_profile_facts){.artefact = -1};
    if (kind >= PYRO_PROFILE_KINDS)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "is not a profile");
    struct pyro_profile_reading reading = {
        .tracks = tracks,
        .allocator = allocator,
        .source = source,
        .reader = reader,
        .order = order,
        .facts = ret,
        .error = error,
        .first_ns = PYRO_NONE,
        .last_ns = PYRO_NONE,
    };
    pyro_map_init(&reading.series, allocator);
    pyro_map_init(&reading.owner_of, allocator);
    enum pyro_status status = begin(&reading, kind) ? kinds[kind].decode(&reading) : pyro_no_memory(error);
    const char *damage = status == PYRO_OK ? pyro_reader_damage(reader) : NULL;
    if (damage && !ret->problem)
        ret->problem = damage;
    if (status == PYRO_OK && !finish(&reading))
        status = pyro_no_memory(error);
    pyro_string_pool_release(reading.texts);
    pyro_map_done(&reading.series);
    pyro_map_done(&reading.owner_of);
    pyro_vec_done(&reading.owners, allocator);
    return status;
}

/* ---- For decode/artefact_kinds.def
 * ------------------------------------------------------------------------------------ */

static enum pyro_status decode_artefact(struct pyro_artefact_reading *files, enum pyro_profile_kind kind,
                                        const struct pyro_artefact_source *source, struct pyro_reader *reader,
                                        struct pyro_error *error)
{
    struct pyro_profile_facts facts;
    return pyro_profile_decode(files->tracks, kind, source, reader, files->allocator, NULL, &facts, error);
}

#define PYRO_PROFILE_KIND(constant, name, prefix, decode)                                                              \
    bool pyro_##prefix##_recognise(struct pyro_slice head, bool whole)                                                 \
    {                                                                                                                  \
        return pyro_profile_recognise(head, whole) == PYRO_PROFILE_##constant;                                         \
    }                                                                                                                  \
    enum pyro_status pyro_##prefix##_artefact(struct pyro_artefact_reading *files,                                     \
                                              const struct pyro_artefact_source *source, struct pyro_reader *reader,   \
                                              struct pyro_error *error)                                                \
    {                                                                                                                  \
        return decode_artefact(files, PYRO_PROFILE_##constant, source, reader, error);                                 \
    }
#include "decode/profiling/kinds.def"
#undef PYRO_PROFILE_KIND
