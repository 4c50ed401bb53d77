/* What a store forgets: by which limits, and as JSON; and how large it is. */
#include "base/numbers/saturate.h"
#include "base/options.h"
#include "store/handle.h"
#include "text/json_write.h"

int64_t pyro_prune_plan(const struct pyro_ages *ages, int64_t used, struct pyro_prune *prune)
{
    int64_t rest = (used - ages->text_bytes) / (int64_t)(ages->runs.count + 1), gone = 0;
    int64_t excess = prune->most_bytes == PYRO_NONE ? INT64_MIN : used - prune->most_bytes;
    for (size_t i = 0; i < ages->runs.count; i++) {
        const struct pyro_age *run = &ages->runs.items[i];
        bool details = run->time_ms < prune->details_before_ms,
             texts = details || run->time_ms < prune->texts_before_ms;
        gone += (details ? rest : 0) + (texts ? run->text_bytes : 0);
    }
    for (size_t i = 0; i < ages->runs.count && gone < excess; i++) {
        const struct pyro_age *run = &ages->runs.items[i];
        if (run->time_ms < prune->texts_before_ms || run->time_ms < prune->details_before_ms)
            continue;
        gone += run->text_bytes;
        if (i + 1 == ages->runs.count || ages->runs.items[i + 1].time_ms > run->time_ms || gone >= excess)
            prune->texts_before_ms = pyro_add_saturating(run->time_ms, 1);
    }
    for (size_t i = 0; i < ages->runs.count && gone < excess; i++) {
        if (ages->runs.items[i].time_ms < prune->details_before_ms)
            continue;
        gone += rest;
        prune->details_before_ms = pyro_add_saturating(ages->runs.items[i].time_ms, 1);
    }
    return gone < used ? gone : used;
}

static void write_limit(struct pyro_json_writer *json, const char *name, int64_t before_ms, int64_t runs)
{
    pyro_json_line(json);
    pyro_json_begin(json, name, '{');
    pyro_json_int(json, "before_ms", before_ms);
    pyro_json_int(json, "runs", runs);
    pyro_json_end(json, '}');
}

static enum pyro_status write_pruned(const struct pyro_pruned *pruned, bool dry_run, const struct pyro_writer *writer,
                                     const struct pyro_allocator *allocator, struct pyro_error *error)
{
    struct pyro_output output;
    struct pyro_json_writer json;
    pyro_output_init(&output, writer, allocator);
    pyro_json_writer_init(&json, &output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_string(&json, "schema", "pyrometer.store_prune/1");
    pyro_json_bool(&json, "dry_run", dry_run);
    write_limit(&json, "reports", pruned->texts_before_ms, pruned->texts);
    write_limit(&json, "aggregates", pruned->details_before_ms, pruned->details);
    pyro_json_line(&json);
    pyro_json_int(&json, "errors", pruned->errors);
    pyro_json_int(&json, "cluster", pruned->cluster);
    pyro_json_line(&json);
    pyro_json_int(&json, "bytes_before", pruned->bytes_before);
    pyro_json_int(&json, "bytes_after", pruned->bytes_after);
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output.buffer, '\n');
    return pyro_output_done(&output, error);
}

/* The time before which things are too old. */
static int64_t limit_of(int64_t keep_ms)
{
    return keep_ms ? pyro_sub_saturating(pyro_store_now_ms(), keep_ms) : PYRO_NONE;
}

enum pyro_status pyro_store_prune(pyro_store *store, const struct pyro_prune_options *options,
                                  const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_prune_options how = {.size = sizeof(how)};
    struct pyro_pruned pruned;
    pyro_error_clear(error);
    PYRO_TRY(PYRO_TAKE(&how, options, error));
    if (!store || !writer || how.keep_ms < 0 || how.keep_aggregates_ms < 0 || how.most_bytes < 0)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the store or the writer is missing, or a limit is negative");
    const struct pyro_prune prune = {.texts_before_ms = limit_of(how.keep_ms),
                                     .details_before_ms = limit_of(how.keep_aggregates_ms),
                                     .most_bytes = how.most_bytes ? how.most_bytes : PYRO_NONE,
                                     .dry_run = how.dry_run != 0};
    PYRO_TRY(store->backend->prune(store->state, &prune, &pruned, error));
    return write_pruned(&pruned, prune.dry_run, writer, store->allocator, error);
}

static enum pyro_status write_stat(const struct pyro_store_stat *stat, const struct pyro_writer *writer,
                                   const struct pyro_allocator *allocator, struct pyro_error *error)
{
    struct pyro_output output;
    struct pyro_json_writer json;
    double runs = stat->runs ? (double)stat->runs : 1;
    pyro_output_init(&output, writer, allocator);
    pyro_json_writer_init(&json, &output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_string(&json, "schema", "pyrometer.store_stat/1");
    pyro_json_line(&json);
    pyro_json_int(&json, "bytes", stat->bytes);
    pyro_json_int(&json, "free_bytes", stat->free_bytes);
    pyro_json_int(&json, "runs", stat->runs);
    pyro_json_real(&json, "bytes_per_run", (double)pyro_sub_saturating(stat->bytes, stat->free_bytes) / runs);
    pyro_json_int(&json, "first_ms", stat->first_ms);
    pyro_json_int(&json, "last_ms", stat->last_ms);
    pyro_json_line(&json);
    pyro_json_begin(&json, "tables", '[');
    for (size_t i = 0; i < stat->table_count; i++) {
        pyro_json_line(&json);
        pyro_json_begin(&json, NULL, '{');
        pyro_json_string(&json, "name", stat->tables[i].name);
        pyro_json_int(&json, "rows", stat->tables[i].rows);
        pyro_json_int(&json, "bytes", stat->tables[i].bytes);
        pyro_json_real(&json, "bytes_per_run", (double)stat->tables[i].bytes / runs);
        pyro_json_end(&json, '}');
    }
    pyro_json_end(&json, ']');
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output.buffer, '\n');
    return pyro_output_done(&output, error);
}

enum pyro_status pyro_store_stat(pyro_store *store, const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_arena arena;
    struct pyro_store_stat stat;
    pyro_error_clear(error);
    if (!store || !writer)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the store or the writer is missing");
    pyro_arena_init(&arena, store->allocator);
    enum pyro_status status = store->backend->stat(store->state, &arena, &stat, error);
    if (status == PYRO_OK)
        status = write_stat(&stat, writer, store->allocator, error);
    pyro_arena_done(&arena);
    return status;
}
