/* The configurations that ran, and how their runs did. */
#include "base/collections/hash.h"
#include "base/collections/map.h"
#include "base/numbers/order.h"
#include "fleet/statistics/statistics.h"
#include "fleet/views/views.h"

enum { RUNS = 20000, DURATION = 0, CORE, INPUT, STATUS, START, FIRST_SETTING };
static const struct {
    const char *key, *name, *title;
} settings[] = {
    {"spark.dynamicAllocation.enabled", "dynamic_allocation", "Dynamic allocation"},
    {"spark.executor.instances", "executors", "Executors"},
    {"spark.executor.cores", "cores", "Cores"},
    {"spark.executor.memory", "memory", "Memory"},
    {"spark.sql.adaptive.enabled", "adaptive", "AQE"},
    {"spark.sql.shuffle.partitions", "shuffle_partitions", "Shuffle partitions"},
};
enum { SETTINGS = sizeof(settings) / sizeof(*settings), COLUMNS = SETTINGS + 7 }; /* without that of `by` */

struct configuration {
    size_t row; /* of the answer: one run that has it */
    int64_t runs, failed, last_ms;
    size_t first, count; /* its durations, behind one another */
};

static uint64_t hash_of(const struct pyro_fleet_view *view, const struct pyro_query_answer *answer, size_t row)
{
    uint64_t hash = PYRO_FNV;
    for (size_t c = 0; c < SETTINGS; c++)
        hash = pyro_fleet_hash(hash, pyro_answer_value(answer, row, FIRST_SETTING + c));
    return view->by.len ? pyro_fleet_hash(hash, pyro_fleet_by_value(view, answer, row)) : hash;
}

static enum pyro_status ask_runs(struct pyro_fleet_view *view, struct pyro_query_answer *ret, struct pyro_error *error)
{
    struct pyro_slice fields =
        PYRO_SLICE_LITERAL("\"duration_ms\",\"core_ms\",\"input_bytes\",\"status\",\"start_ms\"");
    for (size_t i = 0; i < SETTINGS; i++) {
        fields = pyro_arena_printf(view->arena, "%s,\"property.%s\"", fields.ptr, settings[i].key);
        if (!fields.ptr)
            return pyro_no_memory(error);
    }
    pyro_fleet_from(view, "runs");
    return pyro_fleet_ask(view, ret, error,
                          "\"fields\":[%s%s],"
                          "\"order\":{\"by\":\"start_ms\",\"descending\":true},\"limit\":%d",
                          fields.ptr, pyro_fleet_further_field(view, fields.ptr), RUNS);
}

/* Sorted values of the configuration's completed runs. */
static size_t gather(const struct pyro_query_answer *answer, const size_t *owner, size_t wanted, size_t column,
                     double *ret)
{
    size_t count = 0;
    for (size_t row = 0; row < answer->row_count; row++) {
        double value = pyro_answer_number(answer, row, column);
        if (owner[row] == wanted && value >= 0 && pyro_slice_is(pyro_answer_text(answer, row, STATUS), "completed"))
            ret[count++] = value;
    }
    pyro_sort_reals(ret, count);
    return count;
}

static void add_row(struct pyro_fleet_view *view, struct pyro_fleet_table *table,
                    const struct pyro_query_answer *answer, const struct configuration *configuration,
                    const size_t *owner, size_t number, double *values)
{
    for (size_t c = 0; c < SETTINGS; c++)
        pyro_fleet_add(view, table, pyro_answer_value(answer, configuration->row, FIRST_SETTING + c));
    pyro_fleet_add_int(view, table, configuration->runs);
    pyro_fleet_add_int(view, table, configuration->failed);
    size_t count = gather(answer, owner, number, DURATION, values);
    pyro_fleet_add_real(view, table, pyro_sorted_middle(values, count));
    pyro_fleet_add_real(view, table, pyro_sorted_percentile(values, count, 95));
    count = gather(answer, owner, number, CORE, values);
    pyro_fleet_add_real(view, table, pyro_sorted_middle(values, count));
    count = gather(answer, owner, number, INPUT, values);
    pyro_fleet_add_real(view, table, pyro_sorted_middle(values, count));
    pyro_fleet_add_int(view, table, configuration->last_ms);
    if (table->column_count > COLUMNS)
        pyro_fleet_add(view, table, pyro_fleet_by_value(view, answer, configuration->row));
}

struct found {
    PYRO_VEC(struct configuration) all;
    struct pyro_map known;
};

/* Which configuration each run has. False: no memory. */
static bool find(struct pyro_fleet_view *view, const struct pyro_query_answer *answer, struct found *found,
                 size_t *owner)
{
    for (size_t row = 0; row < answer->row_count; row++) {
        uint64_t *place = pyro_map_put(&found->known, hash_of(view, answer, row), NULL);
        struct configuration *added = place && !*place ? pyro_vec_push(&found->all, view->allocator) : NULL;
        if (!place || (!*place && !added))
            return false;
        if (added) {
            *added = (struct configuration){.row = row, .last_ms = pyro_answer_int(answer, row, START)};
            *place = found->all.count;
        }
        owner[row] = *place - 1;
        found->all.items[owner[row]].runs++;
        found->all.items[owner[row]].failed += pyro_slice_is(pyro_answer_text(answer, row, STATUS), "failed");
    }
    return true;
}

enum pyro_status pyro_fleet_configurations(struct pyro_fleet_view *view, struct pyro_error *error)
{
    struct pyro_query_answer answer = {0};
    struct found found = {.all = {0}};
    PYRO_TRY(ask_runs(view, &answer, error));
    size_t *owner = pyro_arena_array(view->arena, answer.row_count + 1, sizeof(*owner));
    double *values = pyro_arena_array(view->arena, answer.row_count + 1, sizeof(*values));
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", "Configurations");
    for (size_t i = 0; i < SETTINGS; i++)
        pyro_fleet_column(table, settings[i].name, settings[i].title, FLEET_TEXT);
    pyro_fleet_column(table, "runs", "Runs", FLEET_COUNT);
    pyro_fleet_column(table, "failed", "Failed", FLEET_COUNT);
    pyro_fleet_column(table, "median_ms", "Median duration", FLEET_MS);
    pyro_fleet_column(table, "p95_ms", "p95 duration", FLEET_MS);
    pyro_fleet_column(table, "median_core_ms", "Median core hours", FLEET_CORE_MS);
    pyro_fleet_column(table, "median_input_bytes", "Median input", FLEET_BYTES);
    pyro_fleet_column(table, "last_ms", "Last start", FLEET_TIME);
    pyro_fleet_keep(table, "runs median_ms failed");
    pyro_fleet_further_column(view, table);
    pyro_map_init(&found.known, view->allocator);
    bool ok = owner && values && find(view, &answer, &found, owner);
    size_t shown = found.all.count < FLEET_TABLE_ROWS ? found.all.count : FLEET_TABLE_ROWS;
    for (size_t i = 0; ok && i < shown; i++)
        add_row(view, table, &answer, &found.all.items[i], owner, i, values);
    table->left_out = found.all.count - shown;
    pyro_map_done(&found.known);
    pyro_vec_done(&found.all, view->allocator);
    if (!ok)
        return pyro_no_memory(error);
    pyro_fleet_rank(view, table, SETTINGS, FLEET_TABLE_ROWS);
    pyro_fleet_note_newest(view, &answer);
    pyro_fleet_note(view, "A setting without a value was not set: Spark's default held.");
    struct pyro_fleet_picture picture = {"points",         "Core hours by duration",
                                         "rows",           "median_ms",
                                         "median_core_ms", .series = PYRO_SLICE_LITERAL("dynamic_allocation")};
    if (view->by.len)
        picture.series = view->by;
    pyro_fleet_picture(view, &picture);
    return PYRO_OK;
}
