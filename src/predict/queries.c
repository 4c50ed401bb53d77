/* What the plans of queries say of their stages: files that scans read, joins that sort. */
#include <math.h>

#include "analyze/row_index.h"
#include "analyze/scratch.h"
#include "predict/cut_tasks.h"

/* Stages before one that may have read the same files. */
enum { SCANS_LOOKED_AT = 256 };

/* Of each query. */
struct query {
    double files, file_bytes, read_bytes, sort_ms; /* read_bytes: of the stages that read files */
    double written, folders;                       /* files of its write, and folders of partitionBy() */
    double commit_ms, shuffled_ms;                 /* to store a stream's state; run time of what reads shuffles */
    bool columns;                                  /* that are Parquet or ORC */
    size_t writer;                                 /* row of the stage that wrote most, + 1; 0: none */
    float byte_ms;
    bool sorts, python; /* has a SortMergeJoin; an operator that Python runs */
};

static struct query *query_of(const struct pyro_index *ids, struct query *queries, int64_t sql)
{
    size_t entry;
    return sql != PYRO_NONE && pyro_index_find(ids, sql, &entry) > 0 ? &queries[ids->entries[entry].row] : NULL;
}

/* Processor time that reading and decoding a byte of a file takes, ms, by its format: text that is split into lines;
 * into fields as well; compressed columns. Measured on scans of the TPC-H tables in corpus/whatif. */
static float format_ms(struct pyro_slice scan)
{
    static const struct {
        const char *name;
        float ms;
    } formats[] = {{"text", 6e-6F}, {"csv", 20e-6F}, {"json", 20e-6F}, {"parquet", 50e-6F}, {"orc", 50e-6F}};
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (pyro_slice_find(scan, formats[i].name))
            return formats[i].ms;
    return 0;
}

static void read_plans(const struct pyro_app *app, const struct pyro_index *ids, struct query *queries)
{
    for (size_t i = 0; i < app->sql_nodes.count; i++) {
        struct query *query = query_of(ids, queries, app->sql_nodes.items[i].sql);
        if (query && pyro_slice_starts_with(app->sql_nodes.items[i].name, "SortMergeJoin"))
            query->sorts = true;
        if (query && pyro_slice_starts_with(app->sql_nodes.items[i].name, "Scan "))
            query->byte_ms = fmaxf(query->byte_ms, format_ms(app->sql_nodes.items[i].name));
        struct pyro_slice detail = app->sql_nodes.items[i].detail;
        if (query && pyro_slice_find(app->sql_nodes.items[i].name, "InsertIntoHadoopFs"))
            query->columns = pyro_slice_find(detail, "Parquet") || pyro_slice_find(detail, "ORC");
        if (query && pyro_slice_find(app->sql_nodes.items[i].name, "Python"))
            query->python = true;
    }
    for (size_t i = 0; i < app->sql_metrics.count; i++) {
        const struct pyro_sql_metric *metric = &app->sql_metrics.items[i];
        struct query *query = metric->value > 0 ? query_of(ids, queries, metric->sql) : NULL;
        if (!query)
            continue;
        if (pyro_slice_is(metric->name, "number of files read"))
            query->files += (double)metric->value;
        else if (pyro_slice_is(metric->name, "size of files read"))
            query->file_bytes += (double)metric->value;
        else if (pyro_slice_is(metric->name, "number of written files"))
            query->written += (double)metric->value;
        else if (pyro_slice_is(metric->name, "number of dynamic part"))
            query->folders += (double)metric->value;
        else if (pyro_slice_is(metric->name, "time to commit changes"))
            query->commit_ms += (double)metric->value;
        else if (pyro_slice_is(metric->name, "sort time"))
            query->sort_ms += (double)metric->value / (pyro_slice_is(metric->type, "nsTiming") ? 1e6 : 1);
    }
}

static void set_sides(const struct pyro_app *app, struct pyro_stage_facts *facts, size_t row, const size_t *rows)
{
    int64_t one = app->stages.items[rows[0]].shuffle_write_bytes,
            other = app->stages.items[rows[1]].shuffle_write_bytes;
    facts->sides = one > 0 && other > 0;
    facts->larger = (uint32_t)rows[other > one];
    facts->smaller = (uint32_t)rows[other <= one];
    facts->smaller_bytes = (double)(other > one ? one : other);
    double read = (double)app->stages.items[row].shuffle_read_bytes;
    facts->extra_bytes = read - (double)one - (double)other;
}

/* The parents of a join. With adaptive execution they ran as jobs of their own under other ids: then they are the two
 * stages of the query before it whose output is what it read, or a little less. */
static void find_sides(const struct pyro_app *app, const struct pyro_index *stages, size_t row,
                       struct pyro_stage_facts *facts)
{
    enum { LOOKED_AT = 24 };
    const struct pyro_stage *stage = &app->stages.items[row];
    size_t rows[2] = {0, 0}, writers[LOOKED_AT], count = 0, found = 0;
    for (unsigned p = 0; p < 2; p++) {
        size_t entry;
        if (pyro_index_find(stages, stage->parent_ids[p], &entry) == 0)
            break;
        rows[p] = stages->entries[entry].row;
        found += app->stages.items[rows[p]].shuffle_write_bytes > 0;
    }
    if (found == 2) {
        set_sides(app, facts, row, rows);
        return;
    }
    for (size_t i = row; i-- > 0 && row - i <= LOOKED_AT;)
        if (app->stages.items[i].sql == stage->sql && app->stages.items[i].shuffle_write_bytes > 0 && count < LOOKED_AT)
            writers[count++] = i;
    int64_t least = stage->shuffle_read_bytes / 4;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            int64_t one = app->stages.items[writers[i]].shuffle_write_bytes,
                    other = app->stages.items[writers[k]].shuffle_write_bytes, read = stage->shuffle_read_bytes;
            if (one > read || other > read - one || read - one - other >= least)
                continue;
            least = read - one - other;
            set_sides(app, facts, row, (const size_t[]){writers[i], writers[k]});
        }
}

/* A DataFrame that became an RDD has no query, but its scan is cut by the same settings: a stage of as many tasks that
 * reads as much as one with a query reads the same files. */
static void find_other_scans(struct pyro_predicted_run *run)
{
    const struct pyro_app *app = run->app;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (stage->sql != PYRO_NONE || run->stages[i].source != PYRO_SOURCE_FILES)
            continue;
        for (size_t k = i; k-- > 0 && i - k <= SCANS_LOOKED_AT && !(run->stages[i].file_bytes > 0);) {
            const struct pyro_stage *other = &app->stages.items[k];
            if (other->partitions == stage->partitions && other->input_bytes == stage->input_bytes) {
                run->stages[i].files = run->stages[k].files;
                run->stages[i].file_bytes = run->stages[k].file_bytes;
                run->stages[i].byte_ms = run->stages[k].byte_ms;
            }
        }
    }
}

/* DataFrames that became RDDs: their scans are cut as any other, but no query says how large their files are. */
static bool mark_frame_scans(struct pyro_predicted_run *run)
{
    const struct pyro_app *app = run->app;
    struct pyro_index rdds = {.allocator = app->allocator};
    if (!pyro_index_rdds(&rdds, app))
        return false;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        for (uint32_t k = 0; k < stage->rdd_count && stage->sql == PYRO_NONE && stage->input_bytes > 0; k++) {
            size_t entry;
            run->stages[i].frame_scan |= pyro_index_find(&rdds, stage->rdd_ids[k], &entry) > 0 &&
                                         pyro_slice_is(app->rdds.items[rdds.entries[entry].row].name, "FileScanRDD");
        }
    }
    pyro_index_done(&rdds);
    return true;
}

/* RDDs that Python computes name the first stage that has them. */
static void mark_python(struct pyro_predicted_run *run, const struct pyro_index *stages)
{
    const struct pyro_app *app = run->app;
    for (size_t i = 0; i < app->rdds.count; i++) {
        size_t entry;
        if (pyro_slice_is(app->rdds.items[i].name, "PythonRDD") &&
            pyro_index_find(stages, app->rdds.items[i].stage, &entry) > 0)
            run->stages[stages->entries[entry].row].python = true;
    }
}

bool pyro_predict_take_queries(struct pyro_predicted_run *run)
{
    const struct pyro_app *app = run->app;
    struct pyro_index ids = {.allocator = app->allocator}, stages = {.allocator = app->allocator};
    struct query *queries = pyro_scratch(app, app->sql.count, sizeof(*queries));
    bool by_sql = queries && pyro_index_sql(&ids, app), by_id = by_sql && pyro_index_stages(&stages, app);
    if (by_id) {
        read_plans(app, &ids, queries);
        for (size_t i = 0; i < app->stages.count; i++) {
            struct query *query = query_of(&ids, queries, app->stages.items[i].sql);
            if (query && run->stages[i].source == PYRO_SOURCE_FILES)
                query->read_bytes += (double)app->stages.items[i].input_bytes;
            if (query && app->stages.items[i].shuffle_read_bytes > 0)
                query->shuffled_ms += fmax((double)app->stages.items[i].run_ms, 0);
            int64_t most = query && query->writer > 0 ? app->stages.items[query->writer - 1].output_bytes : 0;
            if (query && app->stages.items[i].output_bytes > most)
                query->writer = i + 1;
        }
        for (size_t i = 0; i < app->stages.count; i++) {
            const struct pyro_stage *stage = &app->stages.items[i];
            const struct query *query = query_of(&ids, queries, stage->sql);
            struct pyro_stage_facts *facts = &run->stages[i];
            if (!query)
                continue;
            facts->python = query->python;
            /* Stages that keep state are behind shuffles. */
            if (stage->shuffle_read_bytes > 0 && stage->run_ms > 0 && stage->tasks > 0)
                facts->commit_ms = query->commit_ms * (double)stage->run_ms / query->shuffled_ms / (double)stage->tasks;
            if (query->writer == i + 1) {
                facts->written = query->written;
                facts->folders = query->folders;
                facts->columns = query->columns;
                facts->written_rows = (double)(stage->output_records > 0 ? stage->output_records : 0);
            }
            /* Several scans in one query share its files as they share the bytes read. */
            double part = query->read_bytes > 0 ? (double)stage->input_bytes / query->read_bytes : 0;
            if (facts->source == PYRO_SOURCE_FILES) {
                facts->files = query->files * part;
                facts->file_bytes = query->file_bytes * part;
                facts->byte_ms = query->byte_ms;
            }
            if (query->sorts && stage->parent_count == 2) {
                facts->sort_ms = query->sort_ms;
                find_sides(app, &stages, i, facts);
            }
        }
    }
    if (by_id) {
        find_other_scans(run);
        mark_python(run, &stages);
        by_id = mark_frame_scans(run);
        pyro_index_done(&stages);
    }
    if (by_sql)
        pyro_index_done(&ids);
    pyro_release(app->allocator, queries);
    return by_id;
}
