/* The model's tables as SQLite virtual tables, without a copy.
 *
 * An equality on a column is answered from an index of that column: row numbers sorted by its values, made when a
 * query first looks something up and kept for the query. So joins cost what they would over real tables. SQLite checks
 * every row again, therefore an index may offer too much but must never miss a row: whatever it cannot compare exactly
 * (a text against a number, say) becomes a scan.
 *
 * A range of times is answered in the same way, for the columns by whose times rows are sorted: their index costs one
 * pass, or little more where clocks differ. Of other columns, it would cost more than the scan that it saves. */
#include <math.h>

#include "base/memory/allocator.h"
#include "query/sql_query.h"

/* Below this many rows a scan is as fast as a look-up. */
enum { INDEX_LEAST_ROWS = 16 };

/* In the number of a plan, next to column + 1: its values are bounds. */
enum { PLAN_LEAST = 1 << 16, PLAN_MOST = 1 << 17, PLAN_COLUMN = PLAN_LEAST - 1 };

struct table {
    sqlite3_vtab base; /* first: SQLite sees only this */
    const struct pyro_sql_source *source;
    const struct pyro_app *app; /* its */
    enum pyro_table_id id;
    const struct pyro_table_schema *schema;
    size_t rows;
    uint32_t **indexes; /* one a column, NULL until it is needed */
};

struct cursor {
    sqlite3_vtab_cursor base;
    const uint32_t *picked; /* NULL: every row */
    size_t at, end;
};

static int table_disconnect(sqlite3_vtab *base)
{
    struct table *table = (struct table *)base;
    for (size_t c = 0; table->indexes && c < table->schema->column_count; c++)
        sqlite3_free(table->indexes[c]);
    sqlite3_free(table->indexes);
    sqlite3_free(table);
    return SQLITE_OK;
}

/* "CREATE TABLE x("id" INTEGER, ...)": names quoted, for some are keywords ("index"). */
static char *declaration(const struct pyro_table_schema *schema)
{
    static const char *const types[] = {"INTEGER", "REAL", "TEXT"};
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "CREATE TABLE x(");
    for (size_t c = 0; c < schema->column_count; c++)
        sqlite3_str_appendf(text, "%s\"%w\" %s", c ? ", " : "", schema->columns[c].name,
                            types[schema->columns[c].type]);
    sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

static int table_connect(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **ret,
                         char **message)
{
    /* argv: module, schema, table. */
    (void)message;
    if (argc < 3)
        return SQLITE_ERROR;
    size_t id = 0;
    while (id < PYRO_TABLE_COUNT && strcmp(pyro_table_schemas[id].name, argv[2]) != 0)
        id++;
    if (id == PYRO_TABLE_COUNT)
        return SQLITE_ERROR;
    struct table *table = sqlite3_malloc64(sizeof(*table));
    char *sql = declaration(&pyro_table_schemas[id]);
    int status = table && sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (status != SQLITE_OK) {
        sqlite3_free(table);
        return status;
    }
    const struct pyro_sql_source *source = context;
    *table = (struct table){
        .source = source, .app = source->app, .id = (enum pyro_table_id)id, .schema = &pyro_table_schemas[id]};
    table->rows = pyro_app_row_count(table->app, table->id);
    *ret = &table->base;
    return SQLITE_OK;
}

/* ---- Choosing a plan --------------------------------------------------------------------------------------------- */

/* Rows that one value of a column finds, as far as the schema tells. */
static double rows_of_value(const struct table *table, size_t column)
{
    const char *name = table->schema->columns[column].name;
    double rows = (double)table->rows;
    size_t groups = 0;
    if (!strcmp(name, "id"))
        return 1;
    if (!strcmp(name, "stage") || !strcmp(name, "stage_attempt"))
        groups = table->app->stages.count;
    else if (!strcmp(name, "job"))
        groups = table->app->jobs.count;
    else if (!strcmp(name, "sql"))
        groups = table->app->sql.count;
    else if (!strcmp(name, "executor") || !strcmp(name, "host"))
        groups = table->app->executors.count;
    if (!groups)
        return rows / 10 + 1;
    return rows / (double)groups + 1;
}

static bool can_look_up(const struct table *table, sqlite3_index_info *info, int i)
{
    const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
    if (!constraint->usable || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ || constraint->iColumn < 0)
        return false;
    enum pyro_type type = table->schema->columns[constraint->iColumn].type;
    if (type == PYRO_TYPE_TEXT)
        return sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
    return type == PYRO_TYPE_INT;
}

/* Constraints that bound a column; -1: nothing does. */
struct range {
    int column, least, most;
};

static bool has_times(const struct table *table, int column)
{
    const char *name = column < 0 ? "" : table->schema->columns[column].name;
    return strcmp(name, "start_ns") == 0 || strcmp(name, "time_ns") == 0;
}

static struct range find_range(const struct table *table, const sqlite3_index_info *info)
{
    struct range range = {-1, -1, -1};
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        bool is_least = constraint->op == SQLITE_INDEX_CONSTRAINT_GT || constraint->op == SQLITE_INDEX_CONSTRAINT_GE;
        bool is_most = constraint->op == SQLITE_INDEX_CONSTRAINT_LT || constraint->op == SQLITE_INDEX_CONSTRAINT_LE;
        if (!constraint->usable || !(is_least || is_most) || !has_times(table, constraint->iColumn) ||
            (range.column >= 0 && range.column != constraint->iColumn))
            continue;
        range.column = constraint->iColumn;
        if (is_least && range.least < 0)
            range.least = i;
        if (is_most && range.most < 0)
            range.most = i;
    }
    return range;
}

static void use_range(struct sqlite3_index_info *info, const struct range *range, double rows, double all)
{
    int number = 0;
    if (range->least >= 0)
        info->aConstraintUsage[range->least].argvIndex = ++number;
    if (range->most >= 0)
        info->aConstraintUsage[range->most].argvIndex = ++number;
    info->idxNum = (range->column + 1) | (range->least >= 0 ? PLAN_LEAST : 0) | (range->most >= 0 ? PLAN_MOST : 0);
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = rows + log2(all);
}

static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct table *table = (struct table *)base;
    int best = -1;
    double best_rows = 0;
    bool has_index = table->rows >= INDEX_LEAST_ROWS && table->rows < UINT32_MAX;
    struct range range = find_range(table, info);
    /* As SQLite takes it of columns that it knows nothing of. */
    double share = range.least >= 0 && range.most >= 0 ? 16 : 4, range_rows = (double)table->rows / share + 1;
    for (int i = 0; i < info->nConstraint && has_index; i++) {
        if (!can_look_up(table, info, i))
            continue;
        double rows = rows_of_value(table, (size_t)info->aConstraint[i].iColumn);
        if (best < 0 || rows < best_rows) {
            best = i;
            best_rows = rows;
        }
    }
    if (has_index && range.column >= 0 && (best < 0 || range_rows < best_rows)) {
        use_range(info, &range, range_rows, (double)table->rows);
        return SQLITE_OK;
    }
    if (best < 0) {
        info->estimatedRows = (sqlite3_int64)table->rows;
        info->estimatedCost = (double)table->rows + 1;
        return SQLITE_OK;
    }
    info->aConstraintUsage[best].argvIndex = 1;
    info->idxNum = info->aConstraint[best].iColumn + 1;
    info->estimatedRows = (sqlite3_int64)best_rows;
    info->estimatedCost = best_rows + log2((double)table->rows);
    return SQLITE_OK;
}

/* ---- Indexes ----------------------------------------------------------------------------------------------------- */

/* Unknown first, then by value. */
static int compare_values(const struct pyro_value *a, const struct pyro_value *b)
{
    if (a->type == PYRO_TYPE_TEXT) {
        if (!a->text.ptr || !b->text.ptr)
            return (a->text.ptr != NULL) - (b->text.ptr != NULL);
        return pyro_slice_compare(a->text, b->text);
    }
    return (a->integer > b->integer) - (a->integer < b->integer); /* PYRO_NONE is the least integer */
}

enum { ROWS_BETWEEN_LOOKS = 1 << 16 };

static bool is_stopped(const struct table *table, size_t row)
{
    return row % ROWS_BETWEEN_LOOKS == 0 && table->source->stopped(table->source->context);
}

static bool in_order(const struct table *table, size_t column, uint32_t before, uint32_t after)
{
    struct pyro_value a = pyro_app_value(table->app, table->id, before, column);
    struct pyro_value b = pyro_app_value(table->app, table->id, after, column);
    return compare_values(&a, &b) <= 0;
}

/* Merges the runs [at, middle) and [middle, end) of `from` into `to`. False: stopped. */
static bool merge(const struct table *table, size_t column, const uint32_t *from, uint32_t *to, size_t at,
                  size_t middle, size_t end)
{
    size_t left = at, right = middle;
    for (; at < end; at++) {
        bool take_left = right == end || (left < middle && in_order(table, column, from[left], from[right]));
        to[at] = from[take_left ? left++ : right++];
        if (is_stopped(table, at))
            return false;
    }
    return true;
}

/* One pass: runs of `width` rows become runs of twice that. False: stopped. */
static bool merge_all(const struct table *table, size_t column, const uint32_t *from, uint32_t *to, size_t width)
{
    size_t rows = table->rows;
    for (size_t at = 0; at < rows; at += 2 * width) {
        size_t middle = at + width < rows ? at + width : rows, end = middle + width < rows ? middle + width : rows;
        if (middle == end || in_order(table, column, from[middle - 1], from[middle]))
            memcpy(to + at, from + at, (end - at) * sizeof(*from)); /* many columns are in order */
        else if (!merge(table, column, from, to, at, middle, end))
            return false;
    }
    return !is_stopped(table, 0);
}

/* Sorts `rows` by a column, with `other` as room: in memory that SQLite counts, and so that it can be stopped; qsort()
 * is neither. Equal values stay in the order of rows. The result is one of both, the other one is freed; NULL: stopped,
 * and both are. */
static uint32_t *sort(const struct table *table, size_t column, uint32_t *rows, uint32_t *other)
{
    bool done = true;
    for (size_t width = 1; done && width < table->rows; width *= 2) {
        done = merge_all(table, column, rows, other, width);
        uint32_t *sorted = other;
        other = rows;
        rows = sorted;
    }
    sqlite3_free(other);
    if (done)
        return rows;
    sqlite3_free(rows);
    return NULL;
}

/* NULL: no memory, or stopped. */
static const uint32_t *index_of(struct table *table, size_t column)
{
    size_t columns = table->schema->column_count;
    if (!table->indexes) {
        table->indexes = sqlite3_malloc64(columns * sizeof(*table->indexes));
        if (!table->indexes)
            return NULL;
        memset(table->indexes, 0, columns * sizeof(*table->indexes));
    }
    if (table->indexes[column])
        return table->indexes[column];
    uint32_t *rows = sqlite3_malloc64(table->rows * sizeof(*rows));
    uint32_t *other = sqlite3_malloc64(table->rows * sizeof(*other));
    if (!rows || !other) {
        sqlite3_free(rows);
        sqlite3_free(other);
        return NULL;
    }
    for (size_t row = 0; row < table->rows; row++)
        rows[row] = (uint32_t)row;
    return table->indexes[column] = sort(table, column, rows, other);
}

/* First place in the index whose value is not less than `wanted`, or (`after`) greater. */
static size_t bound(const struct table *table, size_t column, const uint32_t *index, const struct pyro_value *wanted,
                    bool after)
{
    size_t low = 0, high = table->rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct pyro_value value = pyro_app_value(table->app, table->id, index[middle], column);
        int order = compare_values(&value, wanted);
        if (order < 0 || (after && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Cursors ----------------------------------------------------------------------------------------------------- */

static int cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
    (void)base;
    struct cursor *cursor = sqlite3_malloc64(sizeof(*cursor));
    if (!cursor)
        return SQLITE_NOMEM;
    *cursor = (struct cursor){.at = 0};
    *ret = &cursor->base;
    return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

/* What to look for in a column of `type`; false when only a scan can tell. */
static bool wanted_value(sqlite3_value *given, enum pyro_type type, struct pyro_value *ret)
{
    *ret = (struct pyro_value){.type = type};
    if (type == PYRO_TYPE_INT && sqlite3_value_type(given) == SQLITE_INTEGER) {
        ret->integer = sqlite3_value_int64(given);
        return ret->integer != PYRO_NONE;
    }
    if (type == PYRO_TYPE_TEXT && sqlite3_value_type(given) == SQLITE_TEXT) {
        const char *text = (const char *)sqlite3_value_text(given);
        ret->text = (struct pyro_slice){text, (size_t)sqlite3_value_bytes(given)};
        return text != NULL;
    }
    return false;
}

/* The bound as a whole number that leaves out no row; false when only a scan can tell. */
static bool wanted_bound(sqlite3_value *given, bool is_least, struct pyro_value *ret)
{
    const double most = 9e18;
    *ret = (struct pyro_value){.type = PYRO_TYPE_INT};
    if (sqlite3_value_type(given) == SQLITE_INTEGER) {
        ret->integer = sqlite3_value_int64(given);
        return true;
    }
    double value = sqlite3_value_type(given) == SQLITE_FLOAT ? sqlite3_value_double(given) : NAN;
    if (!(value > -most && value < most))
        return false;
    ret->integer = (int64_t)(is_least ? floor(value) : ceil(value));
    return true;
}

/* Rows whose time lies in a range; those without one do not. */
static int filter_range(struct cursor *cursor, struct table *table, int plan, int argc, sqlite3_value **argv)
{
    size_t column = (size_t)(plan & PLAN_COLUMN) - 1;
    bool has_least = (plan & PLAN_LEAST) != 0, has_most = (plan & PLAN_MOST) != 0;
    struct pyro_value least = {.type = PYRO_TYPE_INT, .integer = INT64_MIN}, most = least;
    for (int i = 0; i < argc; i++) {
        bool is_least = has_least && i == 0;
        if (sqlite3_value_type(argv[i]) == SQLITE_NULL) {
            cursor->end = 0; /* nothing is less than NULL, or more */
            return SQLITE_OK;
        }
        if (!wanted_bound(argv[i], is_least, is_least ? &least : &most))
            return SQLITE_OK;
    }
    const uint32_t *index = index_of(table, column);
    if (!index)
        return SQLITE_NOMEM;
    cursor->picked = index;
    if (least.integer == PYRO_NONE)
        least.integer++;
    cursor->at = bound(table, column, index, &least, false);
    if (has_most)
        cursor->end = bound(table, column, index, &most, true);
    return SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv)
{
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = (struct table *)base->pVtab;
    struct pyro_value wanted;
    (void)text;
    *cursor = (struct cursor){.base = cursor->base, .end = table->rows};
    if (number <= 0 || argc < 1)
        return SQLITE_OK;
    if (number > PLAN_COLUMN)
        return filter_range(cursor, table, number, argc, argv);
    size_t column = (size_t)number - 1;
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL) {
        cursor->end = 0; /* nothing equals NULL */
        return SQLITE_OK;
    }
    if (!wanted_value(argv[0], table->schema->columns[column].type, &wanted))
        return SQLITE_OK;
    const uint32_t *index = index_of(table, column);
    if (!index)
        return SQLITE_NOMEM;
    cursor->picked = index;
    cursor->at = bound(table, column, index, &wanted, false);
    cursor->end = bound(table, column, index, &wanted, true);
    return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
    ((struct cursor *)base)->at++;
    return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (const struct cursor *)base;
    return cursor->at >= cursor->end;
}

static size_t cursor_row(const struct cursor *cursor)
{
    return cursor->picked ? cursor->picked[cursor->at] : cursor->at;
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct table *table = (const struct table *)base->pVtab;
    size_t row = cursor_row((const struct cursor *)base);
    struct pyro_value value = pyro_app_value(table->app, table->id, row, (size_t)column);
    if (value.type == PYRO_TYPE_INT && value.integer != PYRO_NONE)
        sqlite3_result_int64(context, value.integer);
    else if (value.type == PYRO_TYPE_REAL && !isnan(value.real))
        sqlite3_result_double(context, value.real);
    else if (value.type == PYRO_TYPE_TEXT && value.text.ptr)
        /* The application outlives the statement: no copy. */
        sqlite3_result_text64(context, value.text.ptr, value.text.len, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_result_null(context);
    return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)cursor_row((const struct cursor *)base) + 1;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xCreate = table_connect,
    .xConnect = table_connect,
    .xBestIndex = table_best_index,
    .xDisconnect = table_disconnect,
    .xDestroy = table_disconnect,
    .xOpen = cursor_open,
    .xClose = cursor_close,
    .xFilter = cursor_filter,
    .xNext = cursor_next,
    .xEof = cursor_eof,
    .xColumn = cursor_column,
    .xRowid = cursor_rowid,
};

int pyro_sql_add_tables(sqlite3 *db, const struct pyro_sql_source *source)
{
    /* SQLite takes the context as plain void; it is only read. */
    int status = sqlite3_create_module_v2(db, "pyrometer", &module, pyro_unconst(source), NULL);
    for (size_t id = 0; id < PYRO_TABLE_COUNT && status == SQLITE_OK; id++) {
        char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING pyrometer", pyro_table_schemas[id].name);
        status = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
    }
    return status;
}
