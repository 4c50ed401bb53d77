/* A store on OpenSearch: five indices, and requests over HTTP. Mappings are in mappings.c, documents in
 * document_members.c.
 *
 * A run is a document of -agg with the id of its application and attempt; its report and raw document are one of -raw;
 * findings and the like are documents of -rows that repeat what is known of the run, since nothing can be joined. */
#ifndef PYRO_STORE_OPENSEARCH_OPENSEARCH_H
#define PYRO_STORE_OPENSEARCH_OPENSEARCH_H

#include <jansson.h>

#include "source/http/http.h"
#include "store/store.h"
#include "text/json_compact.h"

enum pyro_opensearch_index {
    PYRO_OS_RAW,  /* raw documents and reports */
    PYRO_OS_AGG,  /* runs with their aggregates */
    PYRO_OS_ERR,  /* errors, and documents that were refused */
    PYRO_OS_ROWS, /* findings, usage, allocations, advice; suggestions, numbers of clusters, verdicts, baselines */
    PYRO_OS_WORK, /* what crawlers share */
    PYRO_OS_INDICES
};

enum {
    PYRO_OS_VERSION = 2,         /* of the mappings: that of the SQLite schema */
    PYRO_OS_TEXT = 8191,         /* characters of a text that can be searched for; all of it is kept */
    PYRO_OS_PAGE = 1000,         /* documents of one answer */
    PYRO_OS_PAGES_MAX = 1 << 20, /* answers to one question */
    PYRO_OS_WHOLE = 1000000,     /* all that -rows may have of one run */
    PYRO_OS_BULK = 8 << 20,      /* bytes of one bulk request */
    PYRO_OS_FIELDS = 4000        /* index.mapping.total_fields.limit */
};
#define PYRO_OS_ANSWER_BYTES (UINT64_C(512) << 20)

struct pyro_opensearch {
    const struct pyro_allocator *allocator;
    struct pyro_http *http;
    struct pyro_arena arena; /* texts of this struct */
    const char *server;      /* "https://NAME:PASSWORD@HOST:9200" */
    const char *label;       /* the same without name and password, for messages */
    const char *ca_file;     /* NULL: the default */
    const char *index[PYRO_OS_INDICES];
    struct pyro_strbuf body;    /* of the answer that was read last */
    bool only_reads;            /* what is only read has a short time limit */
    int64_t deadline;           /* by the monotonic clock, of the question that is asked now; 0: none */
    int64_t most_ms;            /* that it may take */
    int64_t clock_ms, asked_ms; /* the server's clock, and when by the monotonic clock it was asked for; 0: never */
    bool stale;                 /* something was written that searches do not show yet */
};

/* ---- address.c: opensearch:https://HOST:9200/PREFIX?ca=FILE ---- */

enum pyro_status pyro_opensearch_parse(struct pyro_opensearch *store, const char *place, struct pyro_error *error);

/* ---- send_request.c ---- */

enum pyro_opensearch_purpose { PYRO_OS_READS, PYRO_OS_WRITES }; /* PYRO_ERROR_INPUT or _OUTPUT where it fails */

struct pyro_opensearch_request {
    enum pyro_opensearch_purpose purpose;
    enum pyro_http_method method;
    const char *path;       /* "/NAME/_search" */
    struct pyro_slice body; /* null: none */
    bool lines;             /* the body is one of bulk requests */
    bool once;              /* must not be sent twice */
};

int64_t pyro_opensearch_monotonic_ms(void);
/* Sends a request. Any answer is one that is JSON: *ret is to be released with json_decref(). */
enum pyro_status pyro_opensearch_send(struct pyro_opensearch *store, const struct pyro_opensearch_request *request,
                                      json_t **ret, unsigned *ret_status, struct pyro_error *error);
/* Makes an error of an answer that says why something was refused, or of a part of such an answer ("error"). */
enum pyro_status pyro_opensearch_refused(const struct pyro_opensearch *store, enum pyro_opensearch_purpose purpose,
                                         unsigned status, const json_t *answer, struct pyro_error *error);
/* Appends JSON by a form, where ' stands for a quotation mark and ?s for a string of a const char *, ?t for one of a
 * struct pyro_slice, ?i for an int64_t, and ?x for a const char * that is JSON already. */
void pyro_opensearch_format(struct pyro_strbuf *to, const char *form, ...);
/* POSTs what a form says to "/INDICES/WHAT"; an error where the status is not one of success. */
enum pyro_status pyro_opensearch_ask(struct pyro_opensearch *store, enum pyro_opensearch_purpose purpose,
                                     const char *indices, const char *what, json_t **ret, struct pyro_error *error,
                                     const char *form, ...);
/* A search; gives an error also where only a part of the index could be asked, or it took too long. */
enum pyro_status pyro_opensearch_search(struct pyro_opensearch *store, enum pyro_opensearch_index index, json_t **ret,
                                        struct pyro_error *error, const char *form, ...);
/* Where the pages of an answer are: zero before the first one. */
struct pyro_opensearch_pages {
    char *last; /* sort values after which the next page begins, as JSON; NULL: the first page */
    char *seen; /* those of an earlier page */
    uint64_t count;
};
/* After a full page with this last hit. PYRO_ERROR_INPUT: it has no sort values, or pages repeat or are too many. */
enum pyro_status pyro_opensearch_next_page(struct pyro_opensearch_pages *pages, const json_t *hit,
                                           struct pyro_error *error);
void pyro_opensearch_pages_done(struct pyro_opensearch_pages *pages);

/* Calls `take` for every hit of a search that has a "sort" but neither "size" nor "search_after". A result other than 0
 * stops. */
typedef int pyro_opensearch_take(void *context, const json_t *hit);
enum pyro_status pyro_opensearch_each(struct pyro_opensearch *store, enum pyro_opensearch_index index,
                                      pyro_opensearch_take *take, void *context, struct pyro_error *error,
                                      const char *form, ...);
/* Makes what was written visible to searches. */
enum pyro_status pyro_opensearch_refresh(struct pyro_opensearch *store, const char *indices, struct pyro_error *error);
/* The server's clock. */
int64_t pyro_opensearch_now_ms(void *state);

/* Members of an object, whatever they are: null, PYRO_NONE or `other` where there is none of the type. */
struct pyro_slice pyro_opensearch_text(const json_t *object, const char *key);
int64_t pyro_opensearch_int(const json_t *object, const char *key);
/* Of aggregations, which are computed as doubles: PYRO_NONE also where it is beyond 64 bits. */
int64_t pyro_opensearch_number(const json_t *object, const char *key);
const json_t *pyro_opensearch_hits(const json_t *answer);
enum pyro_status pyro_opensearch_no_memory(struct pyro_error *error);

/* ---- mappings.c ---- */

/* The body that makes an index. */
void pyro_opensearch_add_index(enum pyro_opensearch_index index, struct pyro_strbuf *to);
/* Whether `from` has a column of its own with this name. */
bool pyro_opensearch_has_own(enum pyro_query_from from, struct pyro_slice name);
/* Name of `from` in "kind", and the index that has it. */
const char *pyro_opensearch_kind(enum pyro_query_from from);
enum pyro_opensearch_index pyro_opensearch_index_of(enum pyro_query_from from);

/* ---- document_members.c: members of documents, appended without braces ---- */

/* Ids are at most 512 bytes of OpenSearch's; long ones end with a hash. */
struct pyro_slice pyro_opensearch_run_id(struct pyro_arena *arena, struct pyro_slice app_id, struct pyro_slice attempt);
struct pyro_slice pyro_opensearch_id(struct pyro_arena *arena, struct pyro_slice text);

/* Which parts of a run go into its documents. */
enum pyro_opensearch_parts { PYRO_OS_COLUMNS, PYRO_OS_ALL };
void pyro_opensearch_add_run(const struct pyro_run *run, struct pyro_slice id, int64_t epoch, enum pyro_query_from from,
                             enum pyro_opensearch_parts parts, struct pyro_strbuf *to);
void pyro_opensearch_add_raw(const struct pyro_run *run, bool with_document, struct pyro_strbuf *to);
void pyro_opensearch_add_finding(const struct pyro_finding *finding, struct pyro_strbuf *to);
void pyro_opensearch_add_usage(const struct pyro_usage_row *row, struct pyro_strbuf *to);
void pyro_opensearch_add_allocation(const struct pyro_allocation_row *row, struct pyro_strbuf *to);
void pyro_opensearch_add_advice(const struct pyro_advice_row *row, struct pyro_strbuf *to);
void pyro_opensearch_add_error(const struct pyro_store_error_row *row, struct pyro_strbuf *to);
void pyro_opensearch_add_verdict(const struct pyro_verdict_row *row, struct pyro_strbuf *to);
void pyro_opensearch_add_suggestion(const struct pyro_suggestion_row *row, struct pyro_strbuf *to);
void pyro_opensearch_add_cluster(const struct pyro_cluster_row *row, struct pyro_strbuf *to);

/* ---- bulk.c ---- */

struct pyro_opensearch_item {
    size_t owner;                   /* of the caller */
    int what;                       /* of the caller */
    size_t at, document, end;       /* in the body */
    unsigned status;                /* of the answer: 200, 201, 404 (nothing to delete), 409, 400 ... */
    int64_t seq_no, primary_term;   /* of what was written */
    struct pyro_slice type, reason; /* of a refusal; valid during the call of `take` */
    struct pyro_slice source;       /* the document that was refused, too */
};

/* Operations of several documents in requests of at most PYRO_OS_BULK bytes where one document is not larger. */
struct pyro_opensearch_bulk {
    struct pyro_opensearch *store;
    struct pyro_strbuf body;
    PYRO_VEC(struct pyro_opensearch_item) items;
    /* Called for each operation that was answered. */
    enum pyro_status (*take)(void *context, const struct pyro_opensearch_item *item, struct pyro_error *error);
    void *context;
    bool refresh;
    const char *closing; /* of the operation that was begun */
};

void pyro_opensearch_bulk_init(struct pyro_opensearch_bulk *bulk, struct pyro_opensearch *store);
void pyro_opensearch_bulk_done(struct pyro_opensearch_bulk *bulk);
/* How a document is written: over a present one, unless that is of a later version; over one with this number and term;
 * or over any. */
struct pyro_opensearch_target {
    enum pyro_opensearch_index index;
    struct pyro_slice id;         /* null: a new one */
    bool create;                  /* nothing may be there */
    bool update;                  /* only the members that are given */
    int64_t version;              /* PYRO_NONE: any */
    int64_t seq_no, primary_term; /* PYRO_NONE: any */
};
/* Begins an operation; the caller appends the members of the document to bulk->body and ends it. */
enum pyro_status pyro_opensearch_bulk_begin(struct pyro_opensearch_bulk *bulk,
                                            const struct pyro_opensearch_target *target, size_t owner, int what,
                                            struct pyro_error *error);
/* The document goes, unless it is of a later version. */
enum pyro_status pyro_opensearch_bulk_delete(struct pyro_opensearch_bulk *bulk,
                                             const struct pyro_opensearch_target *target, size_t owner, int what,
                                             struct pyro_error *error);
/* Sends what was added when it is much. */
enum pyro_status pyro_opensearch_bulk_end(struct pyro_opensearch_bulk *bulk, struct pyro_error *error);
enum pyro_status pyro_opensearch_bulk_send(struct pyro_opensearch_bulk *bulk, struct pyro_error *error);
/* What `take` is where every document must be written. */
enum pyro_status pyro_opensearch_must_be_written(void *context, const struct pyro_opensearch_item *item,
                                                 struct pyro_error *error);
/* One document that must be written: PYRO_ERROR_OUTPUT where it is refused. */
enum pyro_status pyro_opensearch_put(struct pyro_opensearch *store, const struct pyro_opensearch_target *target,
                                     void (*add)(const void *row, struct pyro_strbuf *to), const void *row,
                                     struct pyro_error *error);

/* ---- leftovers.c ---- */

/* Rows of writers that died, which belong to no run as the store shows it. */
enum pyro_status pyro_opensearch_delete_leftovers(struct pyro_opensearch *store, struct pyro_error *error);

/* ---- Functions of the backend ---- */

enum pyro_status pyro_opensearch_record(void *state, const struct pyro_run *const *runs, size_t count,
                                        enum pyro_record_result *results, struct pyro_error *error);
enum pyro_status pyro_opensearch_record_error(void *state, const struct pyro_store_error_row *row,
                                              struct pyro_error *error);
/* In the place of one with the same id. */
enum pyro_status pyro_opensearch_record_error_once(struct pyro_opensearch *store, struct pyro_slice id,
                                                   const struct pyro_store_error_row *row, struct pyro_error *error);
enum pyro_status pyro_opensearch_find_finding(void *state, const char *application, const char *finding,
                                              struct pyro_arena *arena, struct pyro_verdict_row *row,
                                              struct pyro_error *error);
enum pyro_status pyro_opensearch_add_a_verdict(void *state, const struct pyro_verdict_row *row,
                                               struct pyro_error *error);
enum pyro_status pyro_opensearch_each_verdict(void *state,
                                              int (*take)(void *context, const struct pyro_verdict_row *row),
                                              void *context, struct pyro_error *error);
enum pyro_status pyro_opensearch_each_run(void *state, int (*take)(void *context, const struct pyro_past_run *run),
                                          void *context, struct pyro_error *error);
enum pyro_status pyro_opensearch_each_stored(void *state, int (*take)(void *context, const struct pyro_stored_run *run),
                                             void *context, struct pyro_error *error);
enum pyro_status pyro_opensearch_baseline(void *state, const char *name, struct pyro_arena *arena,
                                          struct pyro_baseline *ret, uint64_t *ret_redaction, struct pyro_error *error);
enum pyro_status pyro_opensearch_report(void *state, struct pyro_slice app_id, struct pyro_slice attempt,
                                        struct pyro_strbuf *out, uint64_t *ret_redaction, struct pyro_error *error);
int64_t pyro_opensearch_state(void *state);
enum pyro_status pyro_opensearch_put_cluster(void *state, const struct pyro_cluster_row *rows, size_t count,
                                             struct pyro_error *error);
enum pyro_status pyro_opensearch_put_suggestion(void *state, const struct pyro_suggestion_row *row,
                                                struct pyro_error *error);
enum pyro_status pyro_opensearch_query(void *state, const struct pyro_query *query,
                                       const struct pyro_query_viewer *viewer, struct pyro_arena *arena,
                                       struct pyro_query_answer *ret, struct pyro_error *error);
enum pyro_status pyro_opensearch_prune(void *state, const struct pyro_prune *prune, struct pyro_pruned *ret,
                                       struct pyro_error *error);
enum pyro_status pyro_opensearch_stat(void *state, struct pyro_arena *arena, struct pyro_store_stat *ret,
                                      struct pyro_error *error);
extern const struct pyro_work_backend pyro_opensearch_work;

#endif
