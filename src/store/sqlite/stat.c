/* What takes the space of a store. */
#include <stdio.h>

#include "store/sqlite/sqlite.h"

/* Views, and the tables behind them. */
static const struct {
    const char *view, *tables[3];
} parts[] = {
    {"runs", {"run", "run_access", "run_redaction"}},
    {"reports", {"run_report"}},
    {"raw", {"run_raw"}},
    {"aggregates", {"aggregate", "aggregate_name"}},
    {"properties", {"property", "property_name"}},
    {"tags", {"run_tag", "tag_name"}},
    {"findings", {"run_finding"}},
    {"allocations", {"run_allocation"}},
    {"usage", {"run_usage"}},
    {"advice", {"run_advice"}},
    {"days", {"run_day"}},
    {"errors", {"error"}},
    {"suggestions", {"suggestion"}},
    {"feedback", {"verdict"}},
    {"baselines", {"baseline"}},
    {"work", {"work", "work_source"}},
    {"cluster", {"cluster"}},
};

enum { PARTS = sizeof(parts) / sizeof(*parts), TABLES = sizeof(parts[0].tables) / sizeof(*parts[0].tables) };

static int64_t rows_of(struct pyro_sqlite *store, const char *table)
{
    char text[64];
    snprintf(text, sizeof(text), "SELECT count(*) FROM %s", table);
    return pyro_database_number(store->db, text);
}

/* Bytes of a table's pages and those of its indexes. */
static int64_t page_bytes(struct pyro_sqlite *store, const char *table)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(
        store, "SELECT sum(pgsize) FROM dbstat WHERE aggregate = 1 AND name IN (SELECT name FROM sqlite_schema WHERE"
               " tbl_name = ? AND rootpage > 0)");
    if (s)
        pyro_sqlite_bind_text(s, 1, table);
    int64_t bytes = s && sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : -1;
    sqlite3_finalize(s);
    return bytes;
}

/* Bytes of a table's values, where SQLite was built without what knows pages: those of its indexes are left out. */
static int64_t value_bytes(struct pyro_sqlite *store, const char *table)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, store->allocator);
    sqlite3_stmt *s = pyro_sqlite_prepare(store, "SELECT name FROM pragma_table_info(?)");
    if (s)
        pyro_sqlite_bind_text(s, 1, table);
    pyro_strbuf_add_text(&text, "SELECT ifnull(sum(4");
    while (s && sqlite3_step(s) == SQLITE_ROW)
        pyro_strbuf_printf(&text,
                           " + CASE typeof(%1$s) WHEN 'text' THEN 2 + length(CAST(%1$s AS BLOB)) WHEN 'real' THEN 9"
                           " WHEN 'integer' THEN 5 ELSE 1 END",
                           (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    pyro_strbuf_printf(&text, "), 0) FROM %s", table);
    int64_t bytes = text.failed ? -1 : pyro_database_number(store->db, text.data);
    pyro_strbuf_done(&text);
    return bytes;
}

static bool stat_part(struct pyro_sqlite *store, size_t part, bool knows_pages, struct pyro_store_table *ret)
{
    *ret = (struct pyro_store_table){.name = parts[part].view, .rows = rows_of(store, parts[part].tables[0])};
    for (size_t i = 0; i < TABLES && parts[part].tables[i] && ret->bytes >= 0; i++) {
        int64_t bytes = (knows_pages ? page_bytes : value_bytes)(store, parts[part].tables[i]);
        ret->bytes = bytes < 0 ? -1 : ret->bytes + bytes;
    }
    return ret->rows >= 0 && ret->bytes >= 0;
}

/* PYRO_NONE: no run has one. */
static int64_t start_of(struct pyro_sqlite *store, const char *text)
{
    int64_t start_ms = pyro_database_number(store->db, text);
    return start_ms < 0 ? PYRO_NONE : start_ms;
}

enum pyro_status pyro_sqlite_stat(void *state, struct pyro_arena *arena, struct pyro_store_stat *ret,
                                  struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    struct pyro_store_table *tables = pyro_arena_array(arena, PARTS, sizeof(*tables));
    int64_t page = pyro_database_number(store->db, "PRAGMA page_size");
    struct pyro_store_stat stat = {
        .bytes = pyro_database_number(store->db, "PRAGMA page_count") * page,
        .free_bytes = pyro_database_number(store->db, "PRAGMA freelist_count") * page,
        .runs = rows_of(store, "run"),
        .first_ms = start_of(store, "SELECT min(start_ms) FROM run WHERE start_ms IS NOT NULL HAVING count(*)"),
        .last_ms = start_of(store, "SELECT max(start_ms) FROM run WHERE start_ms IS NOT NULL HAVING count(*)"),
        .tables = tables,
        .table_count = PARTS,
    };
    bool knows_pages = pyro_database_number(store->db, "SELECT count(*) FROM dbstat WHERE name = 'sqlite_schema'") >= 0;
    bool ok = page > 0 && stat.runs >= 0;
    if (!tables)
        return pyro_no_memory(error);
    for (size_t i = 0; i < PARTS && ok; i++)
        ok = stat_part(store, i, knows_pages, &tables[i]);
    if (!ok)
        return pyro_sqlite_fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    *ret = stat;
    return PYRO_OK;
}
