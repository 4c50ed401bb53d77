#include "decode/logs/repeats/chunks.h"

#include <stdlib.h>

#include "base/memory/allocator.h"
#include "base/memory/arena.h"
#include "base/strings/intern.h"
#include "decode/logs/repeats/cells.h"
#include "decode/logs/repeats/exact.h"
#include "decode/logs/repeats/repeated_blocks.h"
#include "decode/logs/repeats/templates.h"
#include "model/column.h"

#define NO_STAGE UINT32_MAX /* the group of records that name no stage; stages have 31 bits */

struct pyro_chunks {
    const struct pyro_allocator *allocator;
    enum pyro_chunks_by by;
    struct pyro_exact *exact; /* else the others are used */
    struct pyro_templates *templates;
    struct pyro_repeated_blocks *blocks;
    struct pyro_string_pool *names; /* of files and containers */
    struct pyro_cells cells;
    struct pyro_slice path, container; /* of the last record's file; the pool's */
    uint32_t container_number;
    uint32_t group; /* of the last record */
    uint64_t count; /* of records */
    struct pyro_arena arena;
    struct pyro_log_chunk *found;
    size_t found_count;
    struct pyro_slice *lines; /* of all chunks */
    size_t line_count;
};

static enum pyro_status no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for what a log repeats");
}

static bool make_parts(struct pyro_chunks *chunks, const struct pyro_chunks_options *options)
{
    if (options->exact) {
        chunks->exact = pyro_exact_new(chunks->allocator, options->level);
        return chunks->exact != NULL;
    }
    chunks->templates = pyro_templates_new(chunks->allocator);
    chunks->blocks = pyro_repeated_blocks_new(chunks->allocator, 0);
    chunks->names = pyro_string_pool_new(chunks->allocator);
    return chunks->templates && chunks->blocks && chunks->names;
}

enum pyro_status pyro_chunks_new(const struct pyro_allocator *allocator, const struct pyro_chunks_options *options,
                                 struct pyro_chunks **ret, struct pyro_error *error)
{
    if (options->exact && options->by != PYRO_CHUNKS_BY_NONE)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "exact chunks have no containers and no stages");
    struct pyro_chunks *chunks = pyro_allocate(allocator, sizeof(*chunks));
    if (!chunks)
        return no_memory(error);
    *chunks = (struct pyro_chunks){.allocator = allocator, .by = options->by};
    pyro_cells_init(&chunks->cells, allocator);
    pyro_arena_init(&chunks->arena, allocator);
    if (!make_parts(chunks, options)) {
        pyro_chunks_free(chunks);
        return no_memory(error);
    }
    *ret = chunks;
    return PYRO_OK;
}

void pyro_chunks_free(struct pyro_chunks *chunks)
{
    if (!chunks)
        return;
    pyro_exact_free(chunks->exact);
    pyro_templates_free(chunks->templates);
    pyro_repeated_blocks_free(chunks->blocks);
    pyro_string_pool_release(chunks->names);
    pyro_cells_done(&chunks->cells);
    pyro_arena_done(&chunks->arena);
    pyro_release(chunks->allocator, chunks);
}

/* Notes the file of a record; *ret_new: it is another one than before. False: no memory. */
static bool enter_file(struct pyro_chunks *chunks, const struct pyro_log_file *file, bool *ret_new)
{
    *ret_new = !chunks->path.ptr || !pyro_slice_eq(chunks->path, file->path) ||
               !pyro_slice_eq(chunks->container, file->container);
    if (!*ret_new)
        return true;
    uint32_t path = pyro_intern(chunks->names, file->path);
    uint32_t container = pyro_intern(chunks->names, file->container);
    if (path == UINT32_MAX || container == UINT32_MAX)
        return false;
    chunks->path = pyro_string_pool_text(chunks->names, path);
    chunks->container = pyro_string_pool_text(chunks->names, container);
    chunks->container_number = container;
    return true;
}

static uint32_t group_of(const struct pyro_chunks *chunks, int64_t stage)
{
    if (chunks->by == PYRO_CHUNKS_BY_CONTAINER)
        return chunks->container_number;
    if (chunks->by == PYRO_CHUNKS_BY_STAGE)
        return stage == PYRO_NONE ? NO_STAGE : (uint32_t)stage;
    return 0;
}

static bool add_record(struct pyro_chunks *chunks, const struct pyro_log_file *file,
                       const struct pyro_log_record *record)
{
    bool is_new_file;
    int32_t template_id = pyro_templates_id(chunks->templates, record);
    if (template_id < 0 || !enter_file(chunks, file, &is_new_file))
        return false;
    int64_t stage = pyro_templates_stage(chunks->templates);
    uint32_t group = group_of(chunks, stage), cell = pyro_cells_find(&chunks->cells, template_id, group);
    if (cell == UINT32_MAX || !pyro_cells_add(&chunks->cells, cell, record, chunks->container_number, stage))
        return false;
    bool goes_on = chunks->count == 0 || (!is_new_file && group == chunks->group);
    chunks->group = group;
    chunks->count++;
    return (goes_on || pyro_repeated_blocks_break(chunks->blocks)) && pyro_repeated_blocks_take(chunks->blocks, cell);
}

enum pyro_status pyro_chunks_take(void *context, const struct pyro_log_file *file, const struct pyro_log_record *record,
                                  struct pyro_error *error)
{
    return add_record(context, file, record) ? PYRO_OK : no_memory(error);
}

enum pyro_status pyro_chunks_take_line(struct pyro_chunks *chunks, struct pyro_slice line, struct pyro_error *error)
{
    return pyro_exact_take(chunks->exact, line) ? PYRO_OK : no_memory(error);
}

static int compare_names(const void *left, const void *right)
{
    return pyro_slice_compare(*(const struct pyro_slice *)left, *(const struct pyro_slice *)right);
}

/* Names of containers, without records that have none. */
static bool name_containers(struct pyro_chunks *chunks, const struct pyro_cell *cell, struct pyro_log_chunk *chunk)
{
    size_t count = cell->containers.numbers.count, named = 0;
    struct pyro_slice *names = pyro_arena_array(&chunks->arena, count + 1, sizeof(*names));
    if (!names)
        return false;
    for (size_t i = 0; i < count; i++)
        if (cell->containers.numbers.items[i] != 0) /* the empty text */
            names[named++] = pyro_string_pool_text(chunks->names, (uint32_t)cell->containers.numbers.items[i]);
    qsort(names, named, sizeof(*names), compare_names);
    chunk->containers = names;
    chunk->container_count = named;
    return true;
}

static bool copy_stages(struct pyro_chunks *chunks, const struct pyro_cell *cell, struct pyro_log_chunk *chunk)
{
    size_t count = cell->stages.numbers.count;
    int64_t *stages = pyro_arena_array(&chunks->arena, count + 1, sizeof(*stages));
    if (!stages)
        return false;
    if (count)
        memcpy(stages, cell->stages.numbers.items, count * sizeof(*stages));
    chunk->stages = stages;
    chunk->stage_count = count;
    return true;
}

/* Null: without `by`. */
static bool name_group(struct pyro_chunks *chunks, const struct pyro_cell *cell, struct pyro_slice *ret)
{
    *ret = chunks->by == PYRO_CHUNKS_BY_NONE ? PYRO_SLICE_NULL : PYRO_SLICE_LITERAL("");
    if (cell->template_id == PYRO_CELL_SHARED)
        return true;
    if (chunks->by == PYRO_CHUNKS_BY_CONTAINER)
        *ret = pyro_string_pool_text(chunks->names, cell->group);
    else if (chunks->by == PYRO_CHUNKS_BY_STAGE && cell->group != NO_STAGE)
        *ret = pyro_arena_printf(&chunks->arena, "%u", (unsigned)cell->group);
    return chunks->by == PYRO_CHUNKS_BY_NONE || ret->ptr;
}

static bool text_of(struct pyro_chunks *chunks, const struct pyro_cell *cell, struct pyro_slice *ret)
{
    struct pyro_template template;
    *ret = PYRO_SLICE_LITERAL("<*>");
    if (cell->template_id == PYRO_CELL_SHARED)
        return true;
    if (!pyro_templates_get(chunks->templates, cell->template_id, &template))
        return false;
    *ret = template.text;
    return true;
}

/* Adds a chunk with these counts of records of each of its cells; `all`: what its cells have together. */
static bool add_chunk(struct pyro_chunks *chunks, const struct pyro_cell *all, const uint32_t *cells, size_t length,
                      uint64_t count)
{
    const struct pyro_cell *first = &chunks->cells.items.items[cells[0]];
    struct pyro_slice *lines = chunks->lines + chunks->line_count;
    struct pyro_log_chunk *chunk = &chunks->found[chunks->found_count++];
    chunks->line_count += length;
    for (size_t i = 0; i < length; i++)
        if (!text_of(chunks, &chunks->cells.items.items[cells[i]], &lines[i]))
            return false;
    *chunk = (struct pyro_log_chunk){.count = count,
                                     .lines = lines,
                                     .line_count = length,
                                     .template_text = length == 1 ? lines[0] : PYRO_SLICE_NULL,
                                     .level = all->level,
                                     .first_ms = all->first_ms,
                                     .last_ms = all->last_ms,
                                     .share = (double)(count * length) / (double)chunks->count};
    return name_containers(chunks, all, chunk) && copy_stages(chunks, all, chunk) &&
           name_group(chunks, first, &chunk->group);
}

static bool add_block(struct pyro_chunks *chunks, const struct pyro_repeated_block *block)
{
    struct pyro_cell all = pyro_cell_empty();
    bool done = true;
    for (size_t i = 0; done && i < block->length; i++) {
        struct pyro_cell *cell = &chunks->cells.items.items[block->symbols[i]];
        cell->explained += block->count;
        done = pyro_cells_unite(&chunks->cells, &all, cell);
    }
    done = done && add_chunk(chunks, &all, block->symbols, block->length, block->count);
    pyro_cell_done(&all, chunks->allocator);
    return done;
}

/* By records, then in the order in which the chunks were made, which is that of their lines in one array. */
static int compare_chunks(const void *left, const void *right)
{
    const struct pyro_log_chunk *a = left, *b = right;
    uint64_t records_of_a = a->count * a->line_count, records_of_b = b->count * b->line_count;
    if (records_of_a != records_of_b)
        return records_of_a < records_of_b ? 1 : -1;
    return a->lines < b->lines ? -1 : a->lines > b->lines;
}

/* Blocks first: what they explain does not count for their cells. False: no memory. */
static bool make_chunks(struct pyro_chunks *chunks)
{
    const struct pyro_repeated_block *blocks;
    size_t block_count, line_count = chunks->cells.items.count;
    if (!pyro_repeated_blocks_finish(chunks->blocks, &blocks, &block_count))
        return false;
    for (size_t i = 0; i < block_count; i++)
        line_count += blocks[i].length;
    chunks->found =
        pyro_arena_array(&chunks->arena, chunks->cells.items.count + block_count + 1, sizeof(*chunks->found));
    chunks->lines = pyro_arena_array(&chunks->arena, line_count + 1, sizeof(*chunks->lines));
    if (!chunks->found || !chunks->lines)
        return false;
    for (size_t i = 0; i < block_count; i++)
        if (!add_block(chunks, &blocks[i]))
            return false;
    for (size_t i = 0; i < chunks->cells.items.count; i++) {
        const struct pyro_cell *cell = &chunks->cells.items.items[i];
        uint32_t number = (uint32_t)i;
        if (cell->count > cell->explained && !add_chunk(chunks, cell, &number, 1, cell->count - cell->explained))
            return false;
    }
    qsort(chunks->found, chunks->found_count, sizeof(*chunks->found), compare_chunks);
    return true;
}

enum pyro_status pyro_chunks_finish(struct pyro_chunks *chunks, const struct pyro_log_chunk **ret, size_t *ret_count,
                                    struct pyro_error *error)
{
    if (chunks->exact)
        return pyro_exact_finish(chunks->exact, &chunks->arena, ret, ret_count) ? PYRO_OK : no_memory(error);
    if (!make_chunks(chunks))
        return no_memory(error);
    *ret = chunks->found;
    *ret_count = chunks->found_count;
    return PYRO_OK;
}
