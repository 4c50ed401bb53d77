/* Files of one place -> logs: the parts of rolling logs and of Databricks' logs are joined by their names. */
#include <stdlib.h>

#include "source/discovery/discovery.h"

/* Files that sort together form one log. */
static int group_rank(const struct pyro_found *file)
{
    switch (file->name.kind) {
    case PYRO_NAME_STATUS:
    case PYRO_NAME_PART:
        return 1;
    case PYRO_NAME_DATABRICKS:
        return 2;
    default:
        return 0;
    }
}

static int compare_groups(const struct pyro_found *a, const struct pyro_found *b)
{
    int order = pyro_natural_compare(pyro_folder_name(a->label), pyro_folder_name(b->label));
    if (order == 0)
        order = group_rank(a) - group_rank(b);
    if (order == 0)
        order = pyro_natural_compare(a->name.key, b->name.key);
    return order;
}

/* Inside a rolling log: the status file, then parts by number, a compacted one behind the part of its number, as Spark
 * sorts them. Inside a Databricks log: by time, which is the order of the names, `eventlog` last. */
static int compare_found(const void *left, const void *right)
{
    const struct pyro_found *a = left, *b = right;
    int order = compare_groups(a, b);
    if (order == 0)
        order = (a->name.kind == PYRO_NAME_PART) - (b->name.kind == PYRO_NAME_PART);
    if (order == 0)
        order = (a->name.number > b->name.number) - (a->name.number < b->name.number);
    if (order == 0)
        order = a->name.compacted - b->name.compacted;
    if (order == 0)
        order = a->name.newest - b->name.newest;
    if (order == 0)
        order = pyro_natural_compare(a->label, b->label);
    return order;
}

static struct pyro_log_part part_of(const struct pyro_discovery *discovery, const struct pyro_found *file)
{
    return (struct pyro_log_part){.path = file->path,
                                  .member = file->member,
                                  .compacted = file->name.compacted,
                                  .place = file->place,
                                  .unpacked = file->unpacked,
                                  .most_bytes = file->most_bytes,
                                  .inside = discovery->inside,
                                  .limit_option = file->limit_option};
}

static struct pyro_log *add_log(struct pyro_discovery *discovery, size_t part_count)
{
    struct pyro_log_part *parts = pyro_arena_array(discovery->arena, part_count, sizeof(*parts));
    struct pyro_log *log = parts ? pyro_vec_push(&discovery->logs, discovery->allocator) : NULL;
    if (log)
        log->parts = parts;
    return log;
}

static enum pyro_status say_empty(struct pyro_discovery *discovery, struct pyro_slice path)
{
    return pyro_add_unreadable(discovery, path,
                               PYRO_SLICE_LITERAL("is empty: the application has not written an event yet, or the copy "
                                                  "failed; copy it again"));
}

static enum pyro_status add_single(struct pyro_discovery *discovery, const struct pyro_found *file)
{
    if (file->empty)
        return say_empty(discovery, file->label);
    struct pyro_log *log = add_log(discovery, 1);
    if (!log)
        return PYRO_ERROR_MEMORY;
    log->path = file->label;
    log->layout = PYRO_LAYOUT_SINGLE;
    log->parts[log->part_count++] = part_of(discovery, file);
    log->in_progress = file->name.in_progress;
    log->compacted = file->name.compacted;
    return PYRO_OK;
}

static bool all_empty(const struct pyro_found *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!files[i].empty)
            return false;
    }
    return true;
}

/* The folder as a report calls it: DIR, ARCHIVE!DIR, or ARCHIVE for what is at an archive's root. */
static struct pyro_slice folder_label(const struct pyro_found *file)
{
    if (!file->member.ptr)
        return pyro_folder_name(file->label);
    struct pyro_slice inside = pyro_folder_name(file->member);
    if (!inside.ptr)
        return file->path;
    return (struct pyro_slice){file->label.ptr, file->path.len + 1 + inside.len};
}

/* The folder, where it is the one Spark made for this log; else the first part, which distinguishes it from others in
 * the folder. */
static struct pyro_slice rolling_path(const struct pyro_found *first)
{
    struct pyro_slice base = pyro_base_name(pyro_folder_name(first->member.ptr ? first->member : first->path));
    size_t prefix = strlen("eventlog_v2_");
    if (pyro_slice_starts_with(base, "eventlog_v2_") &&
        pyro_slice_eq((struct pyro_slice){base.ptr + prefix, base.len - prefix}, first->name.key))
        return folder_label(first);
    return first->label;
}

static enum pyro_status say_repeated(struct pyro_discovery *discovery, const struct pyro_found *file,
                                     const struct pyro_found *taken)
{
    struct pyro_slice base = pyro_base_name(taken->label);
    return pyro_add_unreadable(discovery, file->label,
                               pyro_arena_printf(discovery->arena,
                                                 "has the same part number as %.*s, which was read instead: remove one",
                                                 (int)base.len, base.ptr));
}

/* `files` are the parts from the newest compacted one on, in order. */
static enum pyro_status fill_rolling(struct pyro_discovery *discovery, struct pyro_log *log,
                                     const struct pyro_found *files, size_t count)
{
    uint64_t expected = files[0].name.compacted ? files[0].name.number : 1;
    const struct pyro_found *last = NULL;
    for (size_t i = 0; i < count; i++) {
        if (last && last->name.number == files[i].name.number) {
            PYRO_TRY(say_repeated(discovery, &files[i], last));
            continue;
        }
        last = &files[i];
        log->parts[log->part_count++] = part_of(discovery, last);
        log->compacted |= last->name.compacted;
        if (last->name.number > expected)
            log->missing_parts += last->name.number - expected;
        expected = last->name.number + 1;
    }
    return PYRO_OK;
}

static enum pyro_status add_rolling(struct pyro_discovery *discovery, const struct pyro_found *files, size_t count)
{
    bool running = false, finished = false;
    while (count > 0 && files[0].name.kind == PYRO_NAME_STATUS) {
        running |= files[0].name.in_progress;
        finished |= !files[0].name.in_progress;
        files++;
        count--;
    }
    if (count == 0) {
        struct pyro_slice folder = pyro_folder_name(files[-1].label);
        return pyro_add_unreadable(
            discovery, folder.ptr ? folder : files[-1].label,
            PYRO_SLICE_LITERAL(
                "has the status file of a rolling log, but none of its events_* parts: copy the whole folder"));
    }
    /* A compacted part stands for every part up to its number. */
    for (size_t i = count; i-- > 0;) {
        if (files[i].name.compacted) {
            files += i;
            count -= i;
            break;
        }
    }
    if (all_empty(files, count))
        return say_empty(discovery, rolling_path(&files[0]));
    struct pyro_log *log = add_log(discovery, count);
    if (!log)
        return PYRO_ERROR_MEMORY;
    log->path = rolling_path(&files[0]);
    log->layout = PYRO_LAYOUT_ROLLING;
    log->in_progress = running && !finished;
    return fill_rolling(discovery, log, files, count);
}

static enum pyro_status add_databricks(struct pyro_discovery *discovery, const struct pyro_found *files, size_t count)
{
    struct pyro_slice path = count > 1 ? folder_label(&files[0]) : files[0].label;
    if (all_empty(files, count))
        return say_empty(discovery, path);
    struct pyro_log *log = add_log(discovery, count);
    if (!log)
        return PYRO_ERROR_MEMORY;
    log->path = path;
    log->layout = PYRO_LAYOUT_DATABRICKS;
    for (size_t i = 0; i < count; i++)
        log->parts[log->part_count++] = part_of(discovery, &files[i]);
    return PYRO_OK;
}

/* Folders cut out of a label are not NUL-terminated, but the paths of logs are promised to be. */
static enum pyro_status terminate_path(struct pyro_discovery *discovery, struct pyro_slice *path)
{
    *path = pyro_arena_copy(discovery->arena, *path);
    return path->ptr ? PYRO_OK : PYRO_ERROR_MEMORY;
}

enum pyro_status pyro_group_found(struct pyro_discovery *discovery, struct pyro_found *found, size_t count)
{
    if (count > 1)
        qsort(found, count, sizeof(*found), compare_found);
    for (size_t start = 0, end; start < count; start = end) {
        size_t logs_before = discovery->logs.count;
        end = start + 1;
        if (group_rank(&found[start]) == 0) {
            PYRO_TRY(add_single(discovery, &found[start]));
        } else {
            while (end < count && compare_groups(&found[start], &found[end]) == 0)
                end++;
            if (group_rank(&found[start]) == 1)
                PYRO_TRY(add_rolling(discovery, found + start, end - start));
            else
                PYRO_TRY(add_databricks(discovery, found + start, end - start));
        }
        if (discovery->logs.count > logs_before)
            PYRO_TRY(terminate_path(discovery, &discovery->logs.items[logs_before].path));
    }
    return PYRO_OK;
}
