/* Views: what the runs of a store say together. A view asks the store by its query form and nothing else
 * (view_questions.c), and makes one document of tables, pictures and notes (view_document.c), which all formats write
 * alike (write_view.c).
 *
 * The document names every question that was asked, so that each number of a picture can be asked for again. */
#ifndef PYRO_FLEET_VIEWS_VIEWS_H
#define PYRO_FLEET_VIEWS_VIEWS_H

#include "base/collections/vec.h"
#include "base/memory/arena.h"
#include "report/report.h"
#include "store/answer.h"
#include "store/store.h"

enum {
    FLEET_MARKS = 5000,     /* of one picture; also the runs whose rows a view reads, newest first */
    FLEET_TABLE_ROWS = 500, /* of a table without picture */
    FLEET_SERIES = 8,       /* of one picture; what is beyond is summed up as "(other)" */
    FLEET_COLUMNS = 24,
    FLEET_TABLES = 3,
    FLEET_PICTURES = 4,
    FLEET_QUESTIONS = 80,
    FLEET_NOTES = 16
};

enum pyro_fleet_unit {
    FLEET_TEXT,
    FLEET_COUNT,
    FLEET_MS,
    FLEET_BYTES,
    FLEET_TIME,    /* epoch milliseconds */
    FLEET_SHARE,   /* 0 to 1, of a whole */
    FLEET_CORE_MS, /* shown as core hours */
    FLEET_MIB_MS,  /* shown as GiB hours */
    FLEET_RATIO,   /* any number without a unit */
    FLEET_FLAG,
    FLEET_OF_ROW /* what the row's column "unit" names */
};

struct pyro_fleet_column {
    struct pyro_slice name;
    const char *title;
    enum pyro_fleet_unit unit;
    unsigned
        spare; /* as in grid.h, among those that the view is about; 0: it is left out before these, later ones first */
};

struct pyro_fleet_table {
    const char *name, *title; /* the first one is called "rows" */
    struct pyro_fleet_column columns[FLEET_COLUMNS];
    size_t column_count;
    PYRO_VEC(struct pyro_query_value) values; /* row by row */
    size_t left_out;                          /* rows */
    bool drawn_only;                          /* the last table, left out of text and Markdown: a picture needs it */
};

/* How a table is drawn; columns by their names, NULL: none. */
struct pyro_fleet_picture {
    const char *kind; /* "area", "bars", "histogram" or "points" */
    const char *title, *table, *x, *y;
    const char *mark;         /* flag: marks with emphasis */
    const char *size;         /* of marks */
    struct pyro_slice series; /* a column: one line, area or color for each of its values; null: none */
    const char *only;         /* a column: the rows whose value is ... */
    struct pyro_slice value;  /* ... this */
};

struct pyro_fleet_view {
    const char *name;
    const struct pyro_fleet_info *info;
    pyro_store *store;
    const struct pyro_query_viewer *viewer;
    const struct pyro_options *work; /* progress, for who wants to stop it; may be NULL */
    const struct pyro_fleet_options *options;
    int64_t since_ms, until_ms, at_ms; /* PYRO_NONE: not said */
    struct pyro_slice by;              /* a field of questions; empty: none */
    struct pyro_slice by_json;         /* as a JSON string */
    struct pyro_arena *arena;
    const struct pyro_allocator *allocator;
    struct pyro_strbuf question; /* the one that is being written */
    struct pyro_slice questions[FLEET_QUESTIONS];
    size_t question_count;
    struct pyro_fleet_table tables[FLEET_TABLES];
    size_t table_count;
    struct pyro_fleet_picture pictures[FLEET_PICTURES];
    size_t picture_count;
    struct pyro_slice notes[FLEET_NOTES];
    size_t note_count;
    bool failed; /* no memory */
};

struct pyro_fleet_info {
    const char *name, *title, *options, *by, *meaning; /* options: separated by blanks */
    enum pyro_status (*make)(struct pyro_fleet_view *view, struct pyro_error *error);
};
#define FLEET_VIEW(name, title, options, by, meaning)                                                                  \
    enum pyro_status pyro_fleet_##name(struct pyro_fleet_view *view, struct pyro_error *error);
#include "fleet/views/views.def"
#undef FLEET_VIEW
/* A row of views.def; NULL: there are no more. */
const struct pyro_fleet_info *pyro_fleet_view_info(size_t index);

/* pyro_fleet_view() for a user who may not see every run. `viewer` NULL: all runs. */
enum pyro_status pyro_fleet_view_for(pyro_store *store, const char *name, const struct pyro_query_viewer *viewer,
                                     const struct pyro_fleet_options *wanted, enum pyro_format format,
                                     const struct pyro_report_options *report, const struct pyro_options *options,
                                     const struct pyro_writer *writer, struct pyro_error *error);

/* ---- Questions (view_questions.c) ---- */

/* Begins one about "runs", "usage", ... with the filters that the user gave. */
void pyro_fleet_from(struct pyro_fleet_view *view, const char *from);
/* Further conditions. */
void pyro_fleet_where(struct pyro_fleet_view *view, const char *field, const char *op, struct pyro_slice value);
/* Whether it is known. */
void pyro_fleet_where_known(struct pyro_fleet_view *view, const char *field, bool known);
void pyro_fleet_where_number(struct pyro_fleet_view *view, const char *field, const char *op, double value);
/* Runs whose log has its end: numbers that are measured up to the end (summary.*, executors.*, stages.*) say nothing of
 * the others. */
void pyro_fleet_where_ended(struct pyro_fleet_view *view);
/* Says how many runs pyro_fleet_where_ended() leaves out; it asks for them. */
enum pyro_status pyro_fleet_note_not_ended(struct pyro_fleet_view *view, struct pyro_error *error);
/* field in values; none of them is null. */
void pyro_fleet_where_in(struct pyro_fleet_view *view, struct pyro_slice field, const struct pyro_query_value *values,
                         size_t count);
/* Asks it, with `format` for the members behind "where"; *ret is in the view's arena. */
enum pyro_status pyro_fleet_ask(struct pyro_fleet_view *view, struct pyro_query_answer *ret, struct pyro_error *error,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What the view sums by, as the next one of `fields`; "" where it is one of them, or there is none. */
const char *pyro_fleet_further_field(struct pyro_fleet_view *view, const char *fields);

/* Of what the view sums by, which pyro_fleet_further_field() asked for. */
const struct pyro_query_value *pyro_fleet_by_value(const struct pyro_fleet_view *view,
                                                   const struct pyro_query_answer *answer, size_t row);
/* The row whose first column has this value, SIZE_MAX: none; `from` is where the last one was. */
size_t pyro_fleet_row_of(const struct pyro_query_answer *answer, const struct pyro_query_value *key, size_t from);
uint64_t pyro_fleet_hash(uint64_t hash, const struct pyro_query_value *value); /* mixed into `hash` */
bool pyro_fleet_same(const struct pyro_query_value *a, const struct pyro_query_value *b);

/* ---- Documents (view_document.c) ---- */

struct pyro_fleet_table *pyro_fleet_table(struct pyro_fleet_view *view, const char *name, const char *title);
void pyro_fleet_column(struct pyro_fleet_table *table, const char *name, const char *title, enum pyro_fleet_unit unit);
/* What the table is about: names separated by blanks, the most important first. A narrow text leaves out other columns
 * before these. */
void pyro_fleet_keep(struct pyro_fleet_table *table, const char *names);
/* The column of what the view sums by. */
void pyro_fleet_by_column(struct pyro_fleet_view *view, struct pyro_fleet_table *table);
/* The same after the other columns, for views that need no --by; false: there is none, or a column has it. */
bool pyro_fleet_further_column(struct pyro_fleet_view *view, struct pyro_fleet_table *table);
/* Cells, row by row. */
void pyro_fleet_add(struct pyro_fleet_view *view, struct pyro_fleet_table *table, const struct pyro_query_value *value);
void pyro_fleet_add_int(struct pyro_fleet_view *view, struct pyro_fleet_table *table, int64_t value);
void pyro_fleet_add_real(struct pyro_fleet_view *view, struct pyro_fleet_table *table, double value);
void pyro_fleet_add_text(struct pyro_fleet_view *view, struct pyro_fleet_table *table, struct pyro_slice value);
size_t pyro_fleet_rows(const struct pyro_fleet_table *table);
/* Rows in the order of a column, largest first, equal ones in their former order; those beyond `most` are left out. */
void pyro_fleet_rank(struct pyro_fleet_view *view, struct pyro_fleet_table *table, size_t column, size_t most);
void pyro_fleet_picture(struct pyro_fleet_view *view, const struct pyro_fleet_picture *picture);
void pyro_fleet_note(struct pyro_fleet_view *view, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says that only the newest FLEET_MARKS runs are in it, where the answer has no end. */
void pyro_fleet_note_newest(struct pyro_fleet_view *view, const struct pyro_query_answer *answer);

/* ---- Formats (write_view.c) ---- */

enum pyro_status pyro_fleet_write(const struct pyro_fleet_view *view, enum pyro_format format,
                                  const struct pyro_report_options *report, const struct pyro_writer *writer,
                                  struct pyro_error *error);

#endif
