/*
 * pyrometer.h - why an Apache Spark application was slow, from what it left behind.
 *
 *     const char *paths[] = {"spark-events/app-20260101120000-0001"};
 *     struct pyro_error error = {.size = sizeof(error)};
 *     pyro_inputs *inputs = NULL;
 *     pyro_app *app = NULL;
 *     pyro_diagnosis *diagnosis = NULL;
 *     if (pyro_inputs_open(paths, 1, NULL, NULL, &inputs, &error) == PYRO_OK && pyro_inputs_count(inputs) > 0 &&
 *         pyro_app_load(inputs, 0, NULL, NULL, &app, &error) == PYRO_OK &&
 *         pyro_diagnose(app, NULL, NULL, &diagnosis, &error) == PYRO_OK &&
 *         pyro_report_write(diagnosis, PYRO_FORMAT_TEXT, NULL, &writer, &error) == PYRO_OK)
 *         return 0;
 *     fprintf(stderr, "%s: %s\n", error.path, error.message);
 *
 * Ownership. Objects come from a function that ends in _open, _load, _new, _snapshot or _retain, or from
 * pyro_diagnose(). The _close, _free or _release of the same name frees them and accepts NULL. Strings that a function
 * returns are NUL-terminated UTF-8. They belong to the object that they come from and live as long as it does.
 *
 * Threads. One thread uses a handle at a time; different handles are independent. A loaded application is immutable:
 * any number of threads may read it, and pyro_app_retain()/pyro_app_release() are atomic. Loading starts threads of its
 * own (see pyro_options.threads) and joins them before it returns.
 *
 * Errors. Every function that can fail returns enum pyro_status and describes the failure in *error, which belongs to
 * the caller and may be NULL; its `size` must be set. Out-parameters are set on success only. The library never prints,
 * exits, changes signal handlers or locale, and keeps no global state.
 *
 * Units. Durations are integer milliseconds, sizes are bytes, times are milliseconds since 1970-01-01 UTC, shares and
 * confidences are 0..1.
 *
 * Limits. One record (line) may have pyro_load_options.max_record_bytes bytes; a longer one is rejected, counted and
 * skipped without being held in memory. Records may nest 1,000 deep (Spark's own nest some 50 deep; a deeper record is
 * rejected). Integers must fit into 64 bits, signed. The first 1,000 rejected records are kept with place and reason;
 * all are counted. Memory: some 64 MB; 200 bytes a task; for reading and diagnosing, at most 600 bytes an executor
 * (1,200 if it was lost), 1,000 a stage, 600 a job, 800 a SQL execution and 500 a node of its plan; and the texts of
 * plans and properties, whatever the log's size.
 *
 * ABI. Handles are opaque. Every struct that a caller and the library exchange begins with its own size: set `size =
 * sizeof(struct x)` and every field that you do not use to zero, which means its default. Fields are only ever added at
 * the end. Of a larger struct than this library knows, fields that are zero are accepted and any other is
 * PYRO_ERROR_ARGUMENT. What the library fills in, it fills up to the caller's `size`; fields that it does not know
 * become zero. Functions that only fill in such a struct take no pyro_error: PYRO_ERROR_ARGUMENT says that there is no
 * such index or that `size` is not set, and nothing else can fail.
 *
 * Options. Memory, threads and progress are struct pyro_options, for every call that needs them. What is special to
 * a call is a struct of its own, given before it. NULL stands for all defaults.
 */
#ifndef PYROMETER_H
#define PYROMETER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PYRO_API __attribute__((visibility("default")))
#else
#define PYRO_API
#endif

/* Clang, C23 and C++17 warn about a caller that ignores a status. Define this as nothing before the include to turn the
 * warning off. */
#ifndef PYRO_MUST_CHECK
#if defined(__clang__)
#define PYRO_MUST_CHECK __attribute__((warn_unused_result))
#elif (defined(__cplusplus) && __cplusplus >= 201703L) || (defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L)
#define PYRO_MUST_CHECK [[nodiscard]]
#else
#define PYRO_MUST_CHECK
#endif
#endif

/* The version of this header; pyro_version() is that of the library. */
#define PYRO_VERSION_MAJOR 0
#define PYRO_VERSION_MINOR 1
#define PYRO_VERSION_PATCH 0
#define PYRO_VERSION       (PYRO_VERSION_MAJOR * 1000000 + PYRO_VERSION_MINOR * 1000 + PYRO_VERSION_PATCH)

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

enum PYRO_MUST_CHECK pyro_status {
    PYRO_OK = 0,
    PYRO_ERROR_ARGUMENT = 1,  /* a parameter is outside its documented range */
    PYRO_ERROR_MEMORY = 2,    /* the allocator returned NULL */
    PYRO_ERROR_INPUT = 3,     /* the input could not be opened or read, or is not what was asked for */
    PYRO_ERROR_OUTPUT = 4,    /* the caller's writer refused the output */
    PYRO_ERROR_CANCELLED = 5, /* the progress callback asked to stop */
    PYRO_ERROR_INTERNAL = 6   /* a defect of this library: please report it */
};

struct pyro_error {
    size_t size; /* sizeof(struct pyro_error); without it nothing is filled in */
    enum pyro_status code;
    int lasting;        /* 1: the input's own bytes are the reason: it fails again as long as they are the same; 0:
                         * another try can succeed (no memory, no descriptors, a locked store) */
    uint64_t offset;    /* byte offset in the decompressed input, UINT64_MAX: unknown */
    char path[512];     /* the input concerned (cut where longer), or "" */
    char message[1024]; /* one line: what happened, why, what to do */
};

/* ---- Options ----------------------------------------------------------------------------------------------------- */

/* All memory of an object comes from here; NULL stands for malloc(), realloc() and free(). The functions are called
 * from several threads at once while an application is loaded, and must outlive every object made with them. */
struct pyro_allocator {
    size_t size; /* sizeof(struct pyro_allocator) */
    void *(*allocate)(void *context, size_t size);
    void *(*reallocate)(void *context, void *memory, size_t size);
    void (*release)(void *context, void *memory);
    void *context;
};

/* What the progress callback is given; the library sets `size`. */
struct pyro_progress {
    size_t size;          /* sizeof(struct pyro_progress) */
    const char *path;     /* the log being read; empty while none is: findings are judged, changes are simulated */
    uint64_t bytes_done;  /* of the files as stored, compressed or not */
    uint64_t bytes_total; /* 0 when unknown (pipes) */
};

/* What one phase of a call took; the library sets `size`. */
struct pyro_phase {
    size_t size;         /* sizeof(struct pyro_phase) */
    const char *name;    /* such as "decode", as in docs/cli/diagnose.md; static */
    const char *part_of; /* the phase that it is a part of; parts may run at the same time. NULL: of the call; those
                          * follow each other */
    unsigned threads;    /* the largest number that worked at a time */
    uint64_t wall_us;    /* from its beginning to its end; of a part: the sum over its threads, without waiting */
    uint64_t cpu_us;     /* of the process meanwhile; of a part: of its threads */
};

/* What any long call may need. Each function says which fields it uses. */
struct pyro_options {
    size_t size; /* sizeof(struct pyro_options) */
    const struct pyro_allocator *allocator;
    unsigned threads; /* 0: one per core. Results are the same for every number */
    /* Called now and then, on the thread that called the library; a result other than 0 stops the call with
     * PYRO_ERROR_CANCELLED. */
    int (*progress)(void *context, const struct pyro_progress *progress);
    void *progress_context;
    /* Called at the end of each phase by pyro_inputs_open(), pyro_app_load() and pyro_diagnose(), on the thread that
     * called them. NULL: nothing is measured. */
    void (*phase)(void *context, const struct pyro_phase *phase);
    void *phase_context;
};

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

/* How applications of History Servers and live UIs are read. */
enum pyro_remote_mode {
    PYRO_REMOTE_AUTO = 0, /* from the event log if the server hands it out, else from its REST API */
    PYRO_REMOTE_LOG = 1,  /* from the event log only */
    PYRO_REMOTE_REST = 2  /* from the REST API only */
};

/* For inputs that are addresses. Names and passwords are sent only to the named host, and never shown. */
struct pyro_remote_options {
    size_t size; /* sizeof(struct pyro_remote_options) */
    enum pyro_remote_mode mode;
    size_t limit;       /* applications of a server, when its address is given, newest first; 0: all */
    uint64_t max_bytes; /* of one log as it is sent; 0: 16 GiB. A temporary file (TMPDIR) holds it meanwhile */
    unsigned timeout_s; /* without an answer, or with a very slow one; 0: 120 */
    const char *user;   /* "NAME:PASSWORD"; NULL: what the address or ~/.netrc says */
    const char *token;  /* a bearer token; NULL: none */
};

/* Which secrets of a log are hidden in every output: docs/redaction.md. */
enum pyro_redaction {
    PYRO_REDACT_WIDE, /* what Spark's expression and the log's own find, and all else that looks like a secret */
    PYRO_REDACT_SPARK /* what Spark's expression and the log's own find */
};

enum pyro_wanted {
    PYRO_WANT_PLAN_TEXT = 1 << 0,    /* texts of physical plans (sql.plan, sql_nodes.detail) */
    PYRO_WANT_TASK_METRICS = 1 << 1, /* SQL metrics of single tasks (sql_metrics.tasks and task_*): about doubles memory
                                        and time */
    PYRO_WANT_PLAN_CHANGES = 1 << 2  /* plans that adaptive execution replaced, for pyro_view_write() */
};

/* How logs are found and read. */
struct pyro_load_options {
    size_t size;               /* sizeof(struct pyro_load_options) */
    uint64_t max_record_bytes; /* 0: 256 MiB */
    uint32_t wanted;           /* bit set of enum pyro_wanted: what to read beyond what diagnosing needs */
    const struct pyro_remote_options *remote; /* NULL: defaults. Must outlive the inputs */
    /* 0: a compressed log may decompress to 64 MiB or 1,000 times its size, whichever is more, and an archive may
     * hold 10,000 files. 1: no such limits. */
    int unlimited;
    enum pyro_redaction redaction; /* of what is read */
    /* 1: other files in the folders that are named, such as logs of the garbage collector, are read into the
     * application whose id their path or content has, or that is the only one there (docs/bundles.md). Folders are
     * searched eight levels deep for them. If there is no event log at all, each application that
     * these files name is an input, made of its text logs, with low confidence. 2: beside event logs only, but also
     * files that are named themselves. */
    int artefacts;
    const char *artefact_kind; /* what named files are, whatever they look like ("gc-log", "jfr", "uber", "pyspark",
                                * "folded", "text-log"); NULL: what their content says. Counts if artefacts is 2 */
    /* 1: applications also hold what a History Server with default settings shows of them, for pyro_store_record().
     * Takes about as much memory again. */
    int history;
    int64_t stale_ms; /* a log that is being written, by its name, and has not grown for this long ended as truncated;
                       * 0: a day */
};

/* What was found at some paths: logs, each of one attempt of one application. */
typedef struct pyro_inputs pyro_inputs;

/* Looks at each path: a file, "-" (standard input), a folder of many logs, the folder of a rolling log
 * (eventlog_v2_*), a Databricks folder, or an archive (zip, tar, 7z) of these; plain or compressed with
 * zstd, lz4, snappy, lzf or gzip, which is recognized by content; or an address (http, https) of an event log, of a
 * page of an application in a History Server or a live UI, or of such a server, whose applications are listed. Paths
 * without a log are listed as unreadable and are not an error of this call. `options`: allocator and progress. */
PYRO_API enum pyro_status pyro_inputs_open(const char *const *paths, size_t path_count,
                                           const struct pyro_load_options *load, const struct pyro_options *options,
                                           pyro_inputs **ret, struct pyro_error *error);
PYRO_API void pyro_inputs_close(pyro_inputs *inputs);
PYRO_API size_t pyro_inputs_count(const pyro_inputs *inputs);
/* `index` < pyro_inputs_count(). */
PYRO_API const char *pyro_inputs_path(const pyro_inputs *inputs, size_t index);
PYRO_API size_t pyro_inputs_unreadable_count(const pyro_inputs *inputs);
PYRO_API const char *pyro_inputs_unreadable_path(const pyro_inputs *inputs, size_t index);
PYRO_API const char *pyro_inputs_unreadable_reason(const pyro_inputs *inputs, size_t index);
/* Other files than event logs that were found: see pyro_load_options.artefacts. */
PYRO_API size_t pyro_inputs_artefact_count(const pyro_inputs *inputs);

/* ---- Applications ------------------------------------------------------------------------------------------------ */

/* One application as far as its log tells, with every number derived. Immutable and reference-counted. */
typedef struct pyro_app pyro_app;

/* Reads a whole log. A damaged or unfinished log is not an error: the application has what could be read, and its
 * integrity says what is missing. PYRO_ERROR_INPUT: the log cannot be read, or has no Spark event. */
PYRO_API enum pyro_status pyro_app_load(const pyro_inputs *inputs, size_t index, const struct pyro_load_options *load,
                                        const struct pyro_options *options, pyro_app **ret, struct pyro_error *error);

/* What is done with each of many logs. */
struct pyro_each_input {
    size_t size; /* sizeof(struct pyro_each_input) */
    void *context;
    /* Makes something of an application on the thread that loaded it; several run at the same time. `options` are for
     * what it calls. PYRO_ERROR_INPUT is a failure of this log alone, as one of pyro_app_load() is. NULL: nothing is
     * made. */
    enum pyro_status (*work)(void *context, size_t index, pyro_app *app, const struct pyro_options *options, void **ret,
                             struct pyro_error *error);
    /* Takes over what `work` made; on the calling thread, in the order of the inputs. `app` is released afterwards.
     * NULL: it could not be loaded, and `failure` says why. A result other than PYRO_OK ends the call. */
    enum pyro_status (*take)(void *context, size_t index, pyro_app *app, void *made, const struct pyro_error *failure,
                             struct pyro_error *error);
    /* Frees what `work` made and `take` did not get; on the calling thread. */
    void (*drop)(void *context, void *made);
};

/* pyro_app_load() of all inputs. Logs are loaded next to each other: at most as many as there are threads, and those
 * that are loaded or wait to be taken count (of addresses four). If there are fewer logs, they share the threads. */
PYRO_API enum pyro_status pyro_inputs_each(const pyro_inputs *inputs, const struct pyro_load_options *load,
                                           const struct pyro_options *options, const struct pyro_each_input *each,
                                           struct pyro_error *error);
/* What identifies the application from run to run: its name, else its id, else the log's path. */
PYRO_API const char *pyro_app_name(const pyro_app *app);
PYRO_API pyro_app *pyro_app_retain(pyro_app *app);
PYRO_API void pyro_app_release(pyro_app *app);

/* ---- Diagnosis --------------------------------------------------------------------------------------------------- */

typedef struct pyro_diagnosis pyro_diagnosis;

enum pyro_severity {
    PYRO_SEVERITY_LOW = 0,
    PYRO_SEVERITY_MODERATE = 1,
    PYRO_SEVERITY_SEVERE = 2,
    PYRO_SEVERITY_CRITICAL = 3
};

struct pyro_diagnose_options {
    size_t size;                      /* sizeof(struct pyro_diagnose_options) */
    const struct pyro_config *config; /* thresholds and suppressions; NULL: defaults */
    const struct pyro_prices *prices; /* to show what the run and its findings cost; NULL: no costs */
};

/* Runs every rule. The diagnosis keeps a reference to the application, and copies what it needs of the configuration.
 * `options`: allocator and progress, which is called between rules and within long ones, without numbers. */
PYRO_API enum pyro_status pyro_diagnose(pyro_app *app, const struct pyro_diagnose_options *wanted,
                                        const struct pyro_options *options, pyro_diagnosis **ret,
                                        struct pyro_error *error);
PYRO_API void pyro_diagnosis_free(pyro_diagnosis *diagnosis);
/* Without suppressed findings. */
PYRO_API size_t pyro_diagnosis_finding_count(const pyro_diagnosis *diagnosis);

struct pyro_finding_info {
    size_t size; /* sizeof(struct pyro_finding_info) */
    const char *id, *rule, *title;
    enum pyro_severity severity;
    double confidence;
    int64_t saves_ms; /* expected wall time */
    int folded;       /* 1: marked as wrong for this application (pyro_store_apply_feedback()) */
};
/* `index` < pyro_diagnosis_finding_count(); largest saving first. */
PYRO_API enum pyro_status pyro_diagnosis_finding(const pyro_diagnosis *diagnosis, size_t index,
                                                 struct pyro_finding_info *ret);

/* ---- Reports ----------------------------------------------------------------------------------------------------- */

enum pyro_format {
    PYRO_FORMAT_TEXT,
    PYRO_FORMAT_JSON,
    PYRO_FORMAT_MARKDOWN,
    PYRO_FORMAT_CSV,
    PYRO_FORMAT_SARIF,
    PYRO_FORMAT_JUNIT,
    PYRO_FORMAT_HTML /* only if pyro_features_get() says that it is built */
};

/* Name of a format as the command line spells it ("text", "json", "markdown", "csv", ...); NULL beyond the last one. */
PYRO_API const char *pyro_format_name(unsigned format);

/* Takes output as it is made; a result other than 0 stops the call with PYRO_ERROR_OUTPUT. */
struct pyro_writer {
    size_t size; /* sizeof(struct pyro_writer) */
    int (*write)(void *context, const void *data, size_t len);
    void *context;
};

/* Writes a document about an application that is computed, not read from its log. PYRO_ERROR_ARGUMENT: the
 * application has no document of that name, and nothing was written. */
typedef enum pyro_status pyro_document_function(void *context, const pyro_diagnosis *diagnosis, const char *name,
                                                const struct pyro_writer *writer, struct pyro_error *error);

struct pyro_report_options {
    size_t size;          /* sizeof(struct pyro_report_options) */
    int color;            /* 1: ANSI colors (text) */
    unsigned width;       /* columns of text output; 0: 80 */
    int64_t utc_offset_s; /* for times in text and markdown; 0: UTC */
    int details;          /* 1: text and markdown also list every stage and executor, not only the important ones */
    int ids;              /* 1: text shows the id of each finding (as details does) */
    /* HTML: writes the documents "whatif" and "cost", which the page needs for predictions and for costs; NULL: the
     * page has neither. pyro_page_document() writes both. */
    pyro_document_function *document;
    void *document_context;
    int brief; /* 1: text is the head, the plan and one line for each finding, at most 25 lines */
};

struct pyro_page_options {
    size_t size;                        /* sizeof(struct pyro_page_options) */
    const struct pyro_prices *prices;   /* NULL: none */
    const struct pyro_options *options; /* allocator and threads; NULL: defaults */
};

/* For pyro_report_options.document. "whatif": pyrometer.whatif/1 of a grid of executors, and of cores if the run is
 * small, without the scenarios' jobs; "cost": pyrometer.cost/1. `context`: a struct pyro_page_options, or NULL. Without
 * prices scenarios have no cost, and "cost" uses the library's own price sheets. */
PYRO_API enum pyro_status pyro_page_document(void *context, const pyro_diagnosis *diagnosis, const char *name,
                                             const struct pyro_writer *writer, struct pyro_error *error);

/* Writes the report of one application. */
PYRO_API enum pyro_status pyro_report_write(const pyro_diagnosis *diagnosis, enum pyro_format format,
                                            const struct pyro_report_options *options, const struct pyro_writer *writer,
                                            struct pyro_error *error);

/* Reports of several applications as one document (JSON: pyrometer.reports/1), one in memory at a time: begin, then
 * report or unreadable for each input, then end. */
typedef struct pyro_reports pyro_reports;
PYRO_API enum pyro_status pyro_reports_open(enum pyro_format format, const struct pyro_report_options *options,
                                            const struct pyro_writer *writer, pyro_reports **ret,
                                            struct pyro_error *error);
PYRO_API enum pyro_status pyro_reports_add(pyro_reports *reports, const pyro_diagnosis *diagnosis,
                                           struct pyro_error *error);
PYRO_API enum pyro_status pyro_reports_add_unreadable(pyro_reports *reports, const char *path, const char *reason,
                                                      struct pyro_error *error);
/* Writes the end of the document. */
PYRO_API enum pyro_status pyro_reports_finish(pyro_reports *reports, struct pyro_error *error);
PYRO_API void pyro_reports_free(pyro_reports *reports);

/* Writes one finding and its rule, with the rule's page, as JSON (pyrometer.finding/1). PYRO_ERROR_ARGUMENT: the
 * diagnosis has no such finding. */
PYRO_API enum pyro_status pyro_finding_write(const pyro_diagnosis *diagnosis, const char *id,
                                             const struct pyro_writer *writer, struct pyro_error *error);

struct pyro_view_options {
    size_t size;       /* sizeof(struct pyro_view_options) */
    size_t most_tasks; /* that one document lists; the shortest of more are left out. 0: 500,000 */
    /* Of the timeline: only tracks between these times, in more detail: nanoseconds from the application's start.
     * tracks_to_ns 0: until its end. */
    int64_t tracks_from_ns, tracks_to_ns;
};
/* Writes one of the JSON documents about an application that pages show next to its report: "timeline", "stages/3/0"
 * (stage 3, attempt 0), ...; docs/api.md has them all. PYRO_ERROR_ARGUMENT: there is no such document, or the
 * application has no such stage or SQL execution. */
PYRO_API enum pyro_status pyro_view_write(const pyro_diagnosis *diagnosis, const char *name,
                                          const struct pyro_view_options *options, const struct pyro_writer *writer,
                                          struct pyro_error *error);
/* Name of a document with {#} for its numbers ("stages/{#}/{#}"); NULL beyond the last one. */
PYRO_API const char *pyro_view_name(size_t index);

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

struct pyro_rule_info {
    size_t size; /* sizeof(struct pyro_rule_info) */
    const char *id, *category, *title, *summary;
};
PYRO_API size_t pyro_rules_count(void);
/* `index` < pyro_rules_count(). */
PYRO_API enum pyro_status pyro_rules_get(size_t index, struct pyro_rule_info *ret);

/* The rule's page of docs/rules/, Markdown. */
PYRO_API const char *pyro_rules_page(size_t index);
/* Writes all rules with their thresholds as JSON (pyrometer.rules/1), or one with its page (pyrometer.rule/1).
 * PYRO_ERROR_ARGUMENT: there is no such rule; the message names the nearest. */
PYRO_API enum pyro_status pyro_rules_write(const char *id, const struct pyro_writer *writer, struct pyro_error *error);

/* A number that a rule judges by; pyro_config_set() changes it. */
struct pyro_threshold_info {
    size_t size;                   /* sizeof(struct pyro_threshold_info) */
    const char *name, *unit, *doc; /* "ratio_min", "ratio", one line: what it limits and where it comes from */
    double value;                  /* unless it is changed */
};
PYRO_API size_t pyro_rules_threshold_count(size_t rule);
/* `rule` < pyro_rules_count(), `index` < pyro_rules_threshold_count(rule). */
PYRO_API enum pyro_status pyro_rules_threshold(size_t rule, size_t index, struct pyro_threshold_info *ret);

/* ---- Configuration ----------------------------------------------------------------------------------------------- */

/* What a user changes: thresholds of rules, and findings to suppress. */
typedef struct pyro_config pyro_config;

/* An empty configuration: every threshold has its default. `options`: allocator only. */
PYRO_API enum pyro_status pyro_config_new(const struct pyro_options *options, pyro_config **ret,
                                          struct pyro_error *error);
PYRO_API void pyro_config_free(pyro_config *config);
/* Adds the settings of a YAML file (docs/configuration.md); what it does not name stays. PYRO_ERROR_INPUT: it cannot be
 * read, or is not well-formed. PYRO_ERROR_ARGUMENT: something in it is wrong. The message has file, line and reason,
 * with the nearest name if one is unknown. After a failure the configuration may have a part of the file. */
PYRO_API enum pyro_status pyro_config_read(pyro_config *config, const char *path, struct pyro_error *error);
/* The same for a text of at most 1 MiB; messages call it `name`. */
PYRO_API enum pyro_status pyro_config_parse(pyro_config *config, const char *name, const char *text, size_t len,
                                            struct pyro_error *error);
/* Sets one threshold: pyro_config_set(config, "data-skew", "ratio_min", "4", &error). Sizes, times and shares may have
 * units ("64m", "5s", "20%"). */
PYRO_API enum pyro_status pyro_config_set(pyro_config *config, const char *rule, const char *threshold,
                                          const char *value, struct pyro_error *error);
/* Findings of a rule ("data-skew") or with an id ("data-skew:join at etl.py:88", where '*' stands for any text and '?'
 * for one byte) are listed as suppressed instead of reported. `reason` may be NULL. */
PYRO_API enum pyro_status pyro_config_suppress(pyro_config *config, const char *what, const char *reason,
                                               struct pyro_error *error);
/* Adds the verdicts that another tool would give on the same run ("drelephant", docs/profiles/) to the report; "none"
 * removes them. They do not change findings. */
PYRO_API enum pyro_status pyro_config_profile(pyro_config *config, const char *name, struct pyro_error *error);
/* Name of a profile; NULL beyond the last one. */
PYRO_API const char *pyro_profile_name(size_t index);

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

/* Two runs side by side: what differs, and what the difference in wall time is attributed to (docs/compare.md). */
typedef struct pyro_comparison pyro_comparison;

/* Both diagnoses must outlive the comparison. Any two applications can be compared; pyro_comparison_info.matched_share
 * says which share of them is the same work. `options`: allocator only. */
PYRO_API enum pyro_status pyro_compare(const pyro_diagnosis *before, const pyro_diagnosis *after,
                                       const struct pyro_options *options, pyro_comparison **ret,
                                       struct pyro_error *error);
PYRO_API void pyro_comparison_free(pyro_comparison *comparison);

struct pyro_comparison_info {
    size_t size;                 /* sizeof(struct pyro_comparison_info) */
    int64_t before_ms, after_ms; /* wall time */
    double matched_share;        /* 0..1: share of both runs' wall time in stages that both runs have; NaN: no stages */
};
PYRO_API enum pyro_status pyro_comparison_summary(const pyro_comparison *comparison, struct pyro_comparison_info *ret);

struct pyro_cause_info {
    size_t size; /* sizeof(struct pyro_cause_info) */
    const char *name, *words;
    int64_t ms; /* of the difference in wall time; all causes add up to it exactly */
};
PYRO_API size_t pyro_comparison_cause_count(const pyro_comparison *comparison);
/* `index` < pyro_comparison_cause_count(). */
PYRO_API enum pyro_status pyro_comparison_cause(const pyro_comparison *comparison, size_t index,
                                                struct pyro_cause_info *ret);

/* Writes a comparison as text, JSON (pyrometer.comparison/1) or Markdown. */
PYRO_API enum pyro_status pyro_comparison_write(const pyro_comparison *comparison, enum pyro_format format,
                                                const struct pyro_report_options *options,
                                                const struct pyro_writer *writer, struct pyro_error *error);

/* ---- Gate -------------------------------------------------------------------------------------------------------- */

/* A run checked against severities, a budget or a baseline (docs/cli/gate.md). */
typedef struct pyro_gate pyro_gate;

struct pyro_gate_options {
    size_t size;                    /* sizeof(struct pyro_gate_options) */
    int fail_on;                    /* 1 + enum pyro_severity: such findings, and worse ones, fail; 0: none do */
    const char *budget;             /* a file of limits, YAML or JSON; NULL: none */
    const pyro_diagnosis *baseline; /* an earlier run; NULL: none. Must outlive the gate, and so must the run */
    double tolerance;               /* by which share the run may exceed its baseline; 0: 0.1; below 0: none */
    int allow_incomplete;           /* 1: an incomplete log or a failed run does not fail the gate */
};

/* PYRO_ERROR_ARGUMENT: the options ask for nothing, or the budget has an unknown limit. PYRO_ERROR_INPUT: the budget
 * cannot be read. */
PYRO_API enum pyro_status pyro_gate_run(const pyro_diagnosis *diagnosis, const struct pyro_gate_options *options,
                                        pyro_gate **ret, struct pyro_error *error);
PYRO_API void pyro_gate_free(pyro_gate *gate);
/* 1: every check passed. */
PYRO_API int pyro_gate_passed(const pyro_gate *gate);

struct pyro_check_info {
    size_t size; /* sizeof(struct pyro_check_info) */
    const char *name, *message, *unit;
    const char *finding; /* id of the finding that explains the failure, or NULL */
    double value, limit; /* NaN: unknown */
    int passed;
};
PYRO_API size_t pyro_gate_check_count(const pyro_gate *gate);
/* `index` < pyro_gate_check_count(). */
PYRO_API enum pyro_status pyro_gate_check(const pyro_gate *gate, size_t index, struct pyro_check_info *ret);

/* Writes the result of a gate as text, JSON (pyrometer.gate/1), SARIF or JUnit. */
PYRO_API enum pyro_status pyro_gate_write(const pyro_gate *gate, enum pyro_format format,
                                          const struct pyro_report_options *options, const struct pyro_writer *writer,
                                          struct pyro_error *error);

/* ---- What if ----------------------------------------------------------------------------------------------------- */

/* The next run predicted from this one: with other executors, settings or amounts of data (docs/whatif.md). */
typedef struct pyro_whatif pyro_whatif;

struct pyro_whatif_options {
    size_t size; /* sizeof(struct pyro_whatif_options) */
    /* "KEY=VALUE": a Spark setting, or the short name of one ("executors=8", "memory=4g"); see pyro_whatif_setting().
     */
    const char *const *set;
    size_t set_count;
    /* "KEY=VALUES": a list of values and ranges ("executors=1..64", "cores=2,4,8", "memory=2g..16g..2g"). Several
     * combine to one scenario for each combination, the last varying fastest; 1,000 scenarios at most. */
    const char *const *sweep;
    size_t sweep_count;
    /* Searches executors, cores and partitions for the least "time" or "cost". Returns the scenarios that no other one
     * beats in both. What `set` says stays. Cost is money if there are prices, else core hours. NULL: no search. */
    const char *optimize;
    int64_t deadline_ms; /* limits of the search; 0: none */
    double max_cost;
    const struct pyro_prices *prices; /* NULL: scenarios have no cost */
    const char *instance, *region;    /* as in pyro_cost_options */
    /* Models to leave out, by name ("partitions"): to see what each contributes. */
    const char *const *without;
    size_t without_count;
    size_t most_scenarios; /* 0: 1,000, which is also the most */
    /* Findings of the diagnosis, by id: every scenario has what fixes them, settings or a change of the program. The
     * time that it predicts is the one from which the finding's saving comes. */
    const char *const *fix;
    size_t fix_count;
    int plan; /* not 0: every scenario has the whole recommended configuration */
};

/* Predicts every scenario; without any, the unchanged run is the only one. The diagnosis must outlive the result.
 * PYRO_ERROR_ARGUMENT: a setting has no model, a value is out of range, or no finding has that id; the message says
 * which.
 * `options`: allocator, threads (results are the same for every number) and progress. */
PYRO_API enum pyro_status pyro_whatif_run(const pyro_diagnosis *diagnosis, const struct pyro_whatif_options *asked,
                                          const struct pyro_options *options, pyro_whatif **ret,
                                          struct pyro_error *error);
PYRO_API void pyro_whatif_free(pyro_whatif *whatif);

struct pyro_scenario_info {
    size_t size;                                         /* sizeof(struct pyro_scenario_info) */
    int64_t executors, cores_per_executor, memory_bytes; /* -1: unknown */
    int64_t wall_low_ms, wall_expected_ms, wall_high_ms;
    int64_t core_ms;    /* allocated */
    double utilization; /* share of it with a task; NaN: unknown */
    double cost;        /* NaN: unknown */
};
PYRO_API size_t pyro_whatif_scenario_count(const pyro_whatif *whatif);
/* `index` < pyro_whatif_scenario_count(). */
PYRO_API enum pyro_status pyro_whatif_scenario(const pyro_whatif *whatif, size_t index, struct pyro_scenario_info *ret);

/* A setting that a scenario may change. */
struct pyro_whatif_setting_info {
    size_t size;             /* sizeof(struct pyro_whatif_setting_info) */
    const char *key, *name;  /* name: the short one, or NULL */
    const char *model, *doc; /* the model of its effect; one line: what it is */
};
PYRO_API size_t pyro_whatif_setting_count(void);
/* `index` < pyro_whatif_setting_count(). */
PYRO_API enum pyro_status pyro_whatif_setting(size_t index, struct pyro_whatif_setting_info *ret);

/* Writes the predictions as text, JSON (pyrometer.whatif/1) or CSV (one row per scenario). */
PYRO_API enum pyro_status pyro_whatif_write(const pyro_whatif *whatif, enum pyro_format format,
                                            const struct pyro_report_options *options, const struct pyro_writer *writer,
                                            struct pyro_error *error);

/* ---- Cost -------------------------------------------------------------------------------------------------------- */

/* Price sheets: those of the library, and a user's own (docs/prices.md). They must outlive what is made with them. */
typedef struct pyro_prices pyro_prices;

/* The price sheets of the library. `options`: allocator only. */
PYRO_API enum pyro_status pyro_prices_new(const struct pyro_options *options, pyro_prices **ret,
                                          struct pyro_error *error);
PYRO_API void pyro_prices_free(pyro_prices *prices);
/* Adds the rows of a sheet, which replace earlier ones. PYRO_ERROR_INPUT: it cannot be read, or is not well-formed.
 * PYRO_ERROR_ARGUMENT: something in it is wrong; the message has file, line and reason. */
PYRO_API enum pyro_status pyro_prices_read(pyro_prices *prices, const char *path, struct pyro_error *error);

/* Takes this instance type and region for the nodes of all that is priced afterwards, instead of the log's. NULL: no
 * change. Options of a question that name others take precedence. */
PYRO_API enum pyro_status pyro_prices_choose_nodes(pyro_prices *prices, const char *instance, const char *region,
                                                   struct pyro_error *error);

/* What applications allocated, how they used it and what that costs (docs/cost.md): one document for all of them. */
typedef struct pyro_costs pyro_costs;

struct pyro_cost_options {
    size_t size;               /* sizeof(struct pyro_cost_options) */
    const pyro_prices *prices; /* NULL: amounts without money */
    const char *by;            /* "application", "user", "queue", "pool", "platform", "job", "stage", "sql", "group",
                                  "tag:KEY" or "property:KEY"; NULL: "application" */
    const char *currency;      /* "EUR"; NULL: the prices' own */
    const char *instance;      /* the type of the nodes, instead of the log's; NULL: the log's */
    const char *region;        /* NULL: the log's */
    int spot;                  /* 1: at the price of spot instances */
    int64_t deadline_ms;       /* the longest time that a recommended run may take; 0: 10 % more than this one */
    double interruptions;      /* of each spot node per hour, to simulate; 0: none */
};

/* `options`: allocator and progress, which the handle keeps. PYRO_ERROR_ARGUMENT: `by` is unknown. */
PYRO_API enum pyro_status pyro_costs_new(const struct pyro_cost_options *wanted, const struct pyro_options *options,
                                         pyro_costs **ret, struct pyro_error *error);
PYRO_API void pyro_costs_free(pyro_costs *costs);
/* The application need not outlive the call. PYRO_ERROR_ARGUMENT: no exchange rate leads to the currency. */
PYRO_API enum pyro_status pyro_costs_add(pyro_costs *costs, pyro_app *app, struct pyro_error *error);
PYRO_API enum pyro_status pyro_costs_add_unreadable(pyro_costs *costs, const char *path, const char *reason,
                                                    struct pyro_error *error);
/* An earlier run, from a store. */
struct pyro_past_run {
    size_t size;             /* sizeof(struct pyro_past_run) */
    const char *application; /* its name */
    int64_t start_ms, end_ms, core_ms;
};
/* Earlier runs of applications that are added later, for recommendations on reserved capacity. NULL: there is a
 * history, which may be empty. Runs without a length are ignored. */
PYRO_API enum pyro_status pyro_costs_add_past_run(pyro_costs *costs, const struct pyro_past_run *run,
                                                  struct pyro_error *error);
/* Writes the costs as text, JSON (pyrometer.cost/1) or CSV. */
PYRO_API enum pyro_status pyro_costs_write(const pyro_costs *costs, enum pyro_format format,
                                           const struct pyro_report_options *options, const struct pyro_writer *writer,
                                           struct pyro_error *error);

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* Runs one statement over the application's tables (docs/tables.md) and writes its rows: text (aligned columns), json
 * (an array of objects), markdown or csv. Only statements that read are accepted. PYRO_ERROR_ARGUMENT: the statement is
 * wrong; the message is SQLite's. `options`: progress only. */
PYRO_API enum pyro_status pyro_sql_query(pyro_app *app, const char *statement, enum pyro_format format,
                                         const struct pyro_options *options, const struct pyro_writer *writer,
                                         struct pyro_error *error);

/* The Arrow C data and stream interfaces, as Arrow defines them for every program to copy:
 * https://arrow.apache.org/docs/format/CDataInterface.html. Their layout never changes. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

/* Gives one table (docs/tables.md) as an Arrow C stream. The caller releases it by its `release`.
 * `columns`: names of columns, in the order wanted; NULL: all of them, and `column_count` is 0.
 *
 * A batch has 65,536 rows; the last one has the rest, and one whose texts would exceed 2 GiB has fewer. Columns are
 * int64 ("l"), double ("g") or UTF-8 text ("u"). What the log does not say is null. The metadata of the schema has the
 * meaning of the table ("doc"), and for each column its "doc" and its "unit", if it has one.
 *
 * Batches are copies: they stay valid after the stream and the application are released. The stream keeps the
 * application alive. One thread uses a stream at a time. Without memory, get_next() returns ENOMEM; the next call tries
 * the same batch again.
 *
 * `options`: allocator, which must outlive the stream, its schemas and its batches. PYRO_ERROR_ARGUMENT: there is no
 * such table or column; the message names the nearest. */
PYRO_API enum pyro_status pyro_table_export(pyro_app *app, const char *table, const char *const *columns,
                                            size_t column_count, const struct pyro_options *options,
                                            struct ArrowArrayStream *ret, struct pyro_error *error);

/* Tasks and stages as rows of numbers, for statistics and machine learning: what the log says of each, and, of an
 * application that was loaded with traces of the kernel, what these say. docs/features.md has the columns. */
enum pyro_features_of {
    PYRO_FEATURES_TASKS = 0, /* a row for each row of the table `tasks`, in its order */
    PYRO_FEATURES_STAGES = 1 /* the same of `stages` */
};

/* As CSV (RFC 4180) with a header. An unknown value is empty. `options`: allocator. */
PYRO_API enum pyro_status pyro_features_write(const pyro_app *app, enum pyro_features_of of,
                                              const struct pyro_options *options, const struct pyro_writer *writer,
                                              struct pyro_error *error);
/* As an Arrow C stream, as pyro_table_export() gives a table. */
PYRO_API enum pyro_status pyro_features_export(pyro_app *app, enum pyro_features_of of,
                                               const struct pyro_options *options, struct ArrowArrayStream *ret,
                                               struct pyro_error *error);

/* ---- Stores ------------------------------------------------------------------------------------------------------ */

/* Runs, their findings and the feedback on them, kept over time (docs/store.md). Several processes may use one store at
 * a time. */
typedef struct pyro_store pyro_store;

struct pyro_store_options {
    size_t size;                   /* sizeof(struct pyro_store_options) */
    enum pyro_redaction redaction; /* of what the store keeps and shows */
    int64_t read_only;             /* 1: for reading only; a store that does not exist is an error */
};

/* "sqlite:FILE" or "opensearch:https://HOST:9200/PREFIX" (docs/store.md); what does not exist is created, unless for
 * reading only. PYRO_ERROR_ARGUMENT: no such kind of store. PYRO_ERROR_INPUT: it cannot be opened, is damaged, or is
 * not a store of this library; such a file is not changed. PYRO_ERROR_OUTPUT: it cannot be written now (it is locked,
 * the disk is full). `options`: allocator only. */
PYRO_API enum pyro_status pyro_store_open(const char *url, const struct pyro_store_options *wanted,
                                          const struct pyro_options *options, pyro_store **ret,
                                          struct pyro_error *error);
PYRO_API void pyro_store_close(pyro_store *store);
/* Stores a run: its report, findings, settings, allocation, usage and advice, and, if the application was loaded with
 * pyro_load_options.history, the History Server's document and aggregates of it. An earlier record of the same
 * application and attempt is replaced. `baseline`: a name for this run, taken from any other run, or NULL.
 * PYRO_ERROR_OUTPUT: nothing was stored. */
PYRO_API enum pyro_status pyro_store_record(pyro_store *store, const pyro_diagnosis *diagnosis, const char *baseline,
                                            struct pyro_error *error);
/* Stores what went wrong with an input: application (or path), step ("read"), type, message, raw text (may be NULL). */
PYRO_API enum pyro_status pyro_store_record_error(pyro_store *store, const char *application, const char *step,
                                                  const char *type, const char *message, const char *raw,
                                                  struct pyro_error *error);
/* A run with a name. Strings live until the store is closed; all are NULL if no run has the name. */
struct pyro_baseline {
    size_t size;                       /* sizeof(struct pyro_baseline) */
    const char *application, *attempt; /* ids */
    const char *path;                  /* the log it was recorded from; absolute for a file or folder */
    const char *report;                /* its JSON report */
};
PYRO_API enum pyro_status pyro_store_baseline(pyro_store *store, const char *name, struct pyro_baseline *ret,
                                              struct pyro_error *error);

struct pyro_store_query_options {
    size_t size;        /* sizeof(struct pyro_store_query_options) */
    const char *user;   /* sees only their own runs, and those whose access lists let them; NULL: everything */
    const char *groups; /* that the user is in: a,b; NULL: none */
    int always;         /* 1: access lists hold also where spark.acls.enable was not set */
};
/* Answers a question in the JSON form of docs/store-queries.md (pyrometer.store_query/1) with one JSON document
 * (pyrometer.store_answer/1). `options` may be NULL. PYRO_ERROR_ARGUMENT: the question is wrong, or its answer exceeds
 * a limit; the message says what to change. */
PYRO_API enum pyro_status pyro_store_query(pyro_store *store, const char *question,
                                           const struct pyro_store_query_options *options,
                                           const struct pyro_writer *writer, struct pyro_error *error);

struct pyro_prune_options {
    size_t size;                /* sizeof(struct pyro_prune_options) */
    int64_t keep_ms;            /* how long reports and documents of the History Server stay; 0: no limit */
    int64_t keep_aggregates_ms; /* how long runs stay; then one row for each day and application does; 0: no limit */
    int64_t most_bytes;         /* that the store may take, else the oldest go first; 0: any */
    int dry_run;                /* 1: says what would go, and changes nothing */
};
/* Forgets what is too old, or too much, and writes what that was as JSON (pyrometer.store_prune/1). Runs that bear a
 * name as a baseline stay. PYRO_ERROR_OUTPUT: the store could not be written; a part may be removed. */
PYRO_API enum pyro_status pyro_store_prune(pyro_store *store, const struct pyro_prune_options *options,
                                           const struct pyro_writer *writer, struct pyro_error *error);
/* Writes what takes the store's space as JSON (pyrometer.store_stat/1). */
PYRO_API enum pyro_status pyro_store_stat(pyro_store *store, const struct pyro_writer *writer,
                                          struct pyro_error *error);

/* Calls `take` for every run whose start, end and core time are known, by start; a result other than 0 stops. `run`
 * has its size set and lives during the call. */
PYRO_API enum pyro_status pyro_store_each_run(pyro_store *store,
                                              int (*take)(void *context, const struct pyro_past_run *run),
                                              void *context, struct pyro_error *error);

enum pyro_feedback_verdict {
    PYRO_FEEDBACK_CONFIRMED = 0,      /* the finding is right */
    PYRO_FEEDBACK_FALSE_POSITIVE = 1, /* it is wrong */
    PYRO_FEEDBACK_FIXED = 2,          /* it was right, and the fix helped */
    PYRO_FEEDBACK_MISSED = 3          /* there was a problem without a finding */
};
/* Name of a verdict as the command line spells it; NULL beyond the last one. */
PYRO_API const char *pyro_feedback_name(unsigned verdict);

struct pyro_feedback {
    size_t size; /* sizeof(struct pyro_feedback) */
    enum pyro_feedback_verdict verdict;
    const char *application; /* its name or id. NULL: the only one of the store that has the finding */
    const char *finding;     /* id of a finding of a run in the store; not for a missed one */
    const char *rule;        /* for a missed one: the rule that should have found it, or NULL */
    const char *note;        /* free text, or NULL; for a missed one without a rule: what was missed */
};
/* Stores a verdict; a later one on the same finding of the same application replaces it. PYRO_ERROR_ARGUMENT: the store
 * has no such finding, or several applications have it; the message says what to do. */
PYRO_API enum pyro_status pyro_store_add_feedback(pyro_store *store, const struct pyro_feedback *feedback,
                                                  struct pyro_error *error);
/* Calls `take` for every verdict, oldest first; a result other than 0 stops. `take`'s strings live during the call. */
PYRO_API enum pyro_status pyro_store_each_feedback(pyro_store *store,
                                                   int (*take)(void *context, const struct pyro_feedback *feedback),
                                                   void *context, struct pyro_error *error);
/* Applies earlier feedback to a diagnosis: confidences are calibrated, and findings marked as wrong for this
 * application are folded (docs/feedback.md). If the store cannot be read, the diagnosis does not change; after
 * PYRO_ERROR_MEMORY it can only be freed. */
PYRO_API enum pyro_status pyro_store_apply_feedback(pyro_store *store, pyro_diagnosis *diagnosis,
                                                    struct pyro_error *error);
/* Adds a note to the diagnosis, shown in every report: earlier feedback could not be read. */
PYRO_API void pyro_diagnosis_lacks_feedback(pyro_diagnosis *diagnosis);

/* ---- Fleets ------------------------------------------------------------------------------------------------------ */

enum pyro_crawl_event_kind {
    PYRO_CRAWL_LISTED = 0,      /* a source was listed: `count` of its logs are new or have changed */
    PYRO_CRAWL_STORED = 1,      /* a run was stored */
    PYRO_CRAWL_SKIPPED = 2,     /* a log of which no run is wanted; `message` says why */
    PYRO_CRAWL_FAILED = 3,      /* a log failed, or an enricher for it; the store's errors have it too */
    PYRO_CRAWL_LATE = 4,        /* another crawler has taken the log over: nothing of it was stored here */
    PYRO_CRAWL_UNREACHABLE = 5, /* a source or a service does not answer */
    PYRO_CRAWL_WAITING = 6,     /* the store cannot be written now; it is tried again */
    PYRO_CRAWL_PASSED = 7,      /* a pass is done; `count` logs are leased to other crawlers, or to one that died */
    PYRO_CRAWL_STOPPING = 8     /* the runs in hand are finished first */
};
/* "listed", "stored", ...; NULL beyond the last one. */
PYRO_API const char *pyro_crawl_event_name(unsigned kind);

/* The library sets `size`. Texts live during the call; those that are not of the event are NULL. */
struct pyro_crawl_event {
    size_t size; /* sizeof(struct pyro_crawl_event) */
    enum pyro_crawl_event_kind kind;
    const char *source;      /* folder, or address without secrets */
    const char *log;         /* path below the folder; application and attempt of a server */
    const char *application; /* id, of a run */
    const char *attempt;
    const char *step;    /* "fetch", "read", "diagnose", "enrich", "store" */
    const char *message; /* why */
    int64_t count;
    int64_t tries;   /* of a failure: how often it failed; 0: it is not counted */
    int lasting;     /* 1: it is not tried again */
    int64_t wall_ms; /* of a run: what fetching, reading and diagnosing took */
    /* Since the crawl began. */
    uint64_t stored, skipped, failed, late;
};

struct pyro_crawl_options {
    size_t size;       /* sizeof(struct pyro_crawl_options) */
    const char *store; /* URL; NULL: that of `config` */
    /* Folders of event logs, and addresses of History Servers, in addition to those of `config`. */
    const char *const *sources;
    size_t source_count;
    const char *config; /* the file crawl.yaml (docs/crawl.md); NULL: none */
    unsigned jobs;      /* logs that are read at a time; 0: what `config` says, else one for each core */
    double rate;        /* logs a second of each source, at most; 0: what `config` says, else any */
    unsigned every_ms;  /* between two passes; 0: what `config` says, else a minute */
    int once;           /* 1: one pass */
    int64_t min_end_ms; /* only runs that ended at this time or later (of a folder: whose logs were written); 0: all */
    int retry_errors;   /* 1: logs that failed are tried again at once; without a source, by other crawlers */
    int recompute;      /* 1: first reads the logs of all stored runs again, where they still are */
    unsigned timeout_s; /* for servers without an answer; 0: 120 */
    uint64_t max_bytes; /* as in pyro_remote_options */
    int unlimited;      /* as in pyro_load_options */
    enum pyro_redaction redaction;
    /* Called on the thread that called the library. NULL: no call. */
    void (*event)(void *context, const struct pyro_crawl_event *event);
    void *event_context;
};

/* Brings the runs of some sources into a store: lists what they have, reads and diagnoses what is new or has changed,
 * and keeps it; again and again, unless `once` is set. Several crawlers, in one or several processes, share the work of
 * one store: each log is claimed by a lease of five minutes, so that one that dies loses none. Logs that fail do not
 * end it. When options->progress, called several times a second without numbers, asks to stop, runs in hand are
 * finished within 30 s, and the rest goes back: PYRO_ERROR_CANCELLED. PYRO_ERROR_INPUT: with `once`, a source could not
 * be reached; others were. PYRO_ERROR_OUTPUT: the store cannot be opened or written. PYRO_ERROR_ARGUMENT: there is no
 * source or store, or `config` is not valid. */
PYRO_API enum pyro_status pyro_crawl(const struct pyro_crawl_options *wanted, const struct pyro_options *options,
                                     struct pyro_error *error);

struct pyro_feature_info;
/* Tries what a configuration of crawlers names: the store, each source and each service. Calls `tried` for each, whose
 * `kind` is "crawl"; its texts live during the call. PYRO_ERROR_ARGUMENT: the configuration is not valid. `options`:
 * allocator. */
PYRO_API enum pyro_status pyro_crawl_try(const char *config, const struct pyro_options *options,
                                         void (*tried)(void *context, const struct pyro_feature_info *what),
                                         void *context, struct pyro_error *error);
/* Writes the configuration that does what Spot does by its config.ini (sections SPARK_HISTORY, CRAWLER,
 * SPOT_ELASTICSEARCH, MENAS, MISC). Passwords are not in it, but the places for them. PYRO_ERROR_INPUT: the file cannot
 * be read, or has no settings. */
PYRO_API enum pyro_status pyro_crawl_from_spot(const char *path, const struct pyro_writer *writer,
                                               struct pyro_error *error);

/* ---- Evaluation -------------------------------------------------------------------------------------------------- */

struct pyro_evaluate_options {
    size_t size;                          /* sizeof(struct pyro_evaluate_options) */
    const char *split;                    /* only runs of this split; NULL: all */
    pyro_store *store;                    /* its verdicts count as labels; NULL: none */
    const struct pyro_load_options *load; /* how its logs are read; NULL: defaults */
};

/* Diagnoses every run of a corpus (a folder with manifest.json: docs/accuracy.md) and writes how often each rule was
 * right: text, json (pyrometer.evaluation/1) or markdown. Runs that cannot be read are listed, and are not an error.
 * PYRO_ERROR_INPUT: there is no manifest, or it is not valid. `options`: allocator, threads and progress. */
PYRO_API enum pyro_status pyro_evaluate(const char *corpus, const struct pyro_evaluate_options *wanted,
                                        const struct pyro_options *options, enum pyro_format format,
                                        const struct pyro_writer *writer, struct pyro_error *error);

/* ---- Fleet ------------------------------------------------------------------------------------------------------- */

/* Views of the runs of a store (docs/fleet.md). */
struct pyro_fleet_options {
    size_t size;       /* sizeof(struct pyro_fleet_options) */
    const char *app;   /* an application, as classified; NULL: all */
    const char *user;  /* runs of this user; NULL: all */
    const char *since; /* first and last start: "2026-01-31", "2026-01-31T12:00:00" (UTC), epoch milliseconds, or how */
    const char *until; /* long ago: "24h", "30d". NULL: no limit */
    const char *const *tags; /* "KEY=VALUE", all of which hold */
    size_t tag_count;
    const char *const *max; /* "FIELD=NUMBER": only runs with at most this much */
    size_t max_count;
    const char *by;                           /* a field to sum by, "tag.KEY" or "property.KEY"; NULL: the view's own */
    const char *value;                        /* histogram: a field; NULL: "duration_ms" */
    const char *before, *after;               /* compare: two values of `by`; NULL: the two that ran last */
    const char *at;                           /* compare by "date": the date; NULL: that of the last lasting change */
    const struct pyro_prices *prices;         /* waste, adoption: what hours cost; NULL: no money */
    const char *instance, *region, *currency; /* as in pyro_cost_options */
};
/* The options that are texts ("app", "user", "by", ...), so that a program need not list them: where the one of that
 * index is set, and its name. NULL beyond the last one. */
PYRO_API const char **pyro_fleet_option(struct pyro_fleet_options *options, size_t index, const char **ret_name);
/* What a field of the options says, as a sentence or more: of texts, and of "tags" and "max". NULL: there is none. */
PYRO_API const char *pyro_fleet_option_meaning(const char *option);
/* Name and meaning of a view; NULL beyond the last one. */
PYRO_API const char *pyro_fleet_view_name(size_t index);
PYRO_API const char *pyro_fleet_view_meaning(size_t index);
/* 1: the view takes this option ("value", "prices", ...) beyond those that all views take. 0: it does not, or there is
 * no such view. */
PYRO_API int pyro_fleet_view_takes(const char *view, const char *option);
/* Writes a view of the store's runs as text, JSON (pyrometer.fleet_VIEW/1), CSV (its first table) or Markdown.
 * PYRO_ERROR_ARGUMENT: there is no such view, field or option, or the question is too large for the store. `options`:
 * allocator and progress. */
PYRO_API enum pyro_status pyro_fleet_view(pyro_store *store, const char *name, const struct pyro_fleet_options *wanted,
                                          enum pyro_format format, const struct pyro_report_options *report,
                                          const struct pyro_options *options, const struct pyro_writer *writer,
                                          struct pyro_error *error);

/* ---- Suggestions ------------------------------------------------------------------------------------------------- */

/* Fits models of run time to the runs of an application in a store and writes them with their errors (docs/models.md):
 * text or JSON (pyrometer.fleet_model/1). `without_logs`: 1: only what the store has; no log is opened. An application
 * without enough runs is not an error: the document says what is missing. `options`: allocator, threads and
 * progress. */
PYRO_API enum pyro_status pyro_fleet_model_write(pyro_store *store, const char *application, int without_logs,
                                                 enum pyro_format format, const struct pyro_options *options,
                                                 const struct pyro_writer *writer, struct pyro_error *error);

/* The configuration of the next run of an application, from its runs in a store (docs/suggestions.md). */
typedef struct pyro_suggestion pyro_suggestion;

struct pyro_suggest_options {
    size_t size;                          /* sizeof(struct pyro_suggest_options) */
    int64_t input_bytes;                  /* of the next run; 0: the median of the newest five */
    int64_t deadline_ms;                  /* the cheapest configuration that meets it; 0: none */
    double max_cost;                      /* the fastest configuration within it; 0: none. In money if there are
                                           * prices, else core hours */
    const struct pyro_prices *prices;     /* NULL: costs are core hours */
    const char *instance, *region;        /* as in pyro_cost_options */
    const char *policy;                   /* a configuration file with limits (docs/cli/suggest.md); NULL: none */
    int without_logs;                     /* 1: only what the store has; no log is opened */
    const struct pyro_load_options *load; /* how logs are read; NULL: defaults */
};
/* PYRO_ERROR_ARGUMENT: both a deadline and a cost, or a policy that is wrong. Too little history is not an error: the
 * suggestion has no settings and says what is missing. The store may be closed before the suggestion is freed.
 * `options`: allocator, threads and progress. */
PYRO_API enum pyro_status pyro_suggest(pyro_store *store, const char *application,
                                       const struct pyro_suggest_options *wanted, const struct pyro_options *options,
                                       pyro_suggestion **ret, struct pyro_error *error);
PYRO_API void pyro_suggestion_free(pyro_suggestion *suggestion);

struct pyro_suggested_setting {
    size_t size; /* sizeof(struct pyro_suggested_setting) */
    const char *key, *value;
    const char *previous; /* of the last run; NULL: not set, or not known */
};
PYRO_API size_t pyro_suggestion_setting_count(const pyro_suggestion *suggestion);
/* `index` < pyro_suggestion_setting_count(). */
PYRO_API enum pyro_status pyro_suggestion_setting(const pyro_suggestion *suggestion, size_t index,
                                                  struct pyro_suggested_setting *ret);

/* 1: the policy allows to apply it without a review: the application is in its list, and it has limits. */
PYRO_API int pyro_suggestion_is_permitted(const pyro_suggestion *suggestion);

enum pyro_suggestion_format {
    PYRO_SUGGESTION_TEXT = 0,
    PYRO_SUGGESTION_JSON = 1,          /* pyrometer.suggestion/1 */
    PYRO_SUGGESTION_SPARK_SUBMIT = 2,  /* --conf KEY=VALUE ..., for a shell; empty without settings */
    PYRO_SUGGESTION_SPARK_DEFAULTS = 3 /* lines of spark-defaults.conf */
};
PYRO_API enum pyro_status pyro_suggestion_write(const pyro_suggestion *suggestion, enum pyro_suggestion_format format,
                                                const struct pyro_writer *writer, struct pyro_error *error);
/* Suggestions for every application of the store, those that save the most core time in a run first; text or JSON
 * (pyrometer.suggestions/1). What is written of each stays in memory, so that they can be ordered. */
PYRO_API enum pyro_status pyro_suggest_all(pyro_store *store, const struct pyro_suggest_options *wanted,
                                           enum pyro_suggestion_format format, const struct pyro_options *options,
                                           const struct pyro_writer *writer, struct pyro_error *error);

/* Keeps a suggestion with settings in the store; one that was applied before stays as it is. */
PYRO_API enum pyro_status pyro_suggestion_record(pyro_store *store, pyro_suggestion *suggestion,
                                                 struct pyro_error *error);
/* Writes the settings into a file such as spark-defaults.conf: only their own lines change, the file is replaced at
 * once, and the former one is kept in the same folder. The store remembers both by their hash. PYRO_ERROR_INPUT: the
 * file was changed since a suggestion was applied to it; then it stays as it is. A suggestion without settings does
 * nothing. */
PYRO_API enum pyro_status pyro_suggestion_apply(pyro_store *store, pyro_suggestion *suggestion, const char *path,
                                                struct pyro_error *error);

struct pyro_review_options {
    size_t size;             /* sizeof(struct pyro_review_options) */
    const char *application; /* NULL: all */
    const char *policy;      /* as in pyro_suggest_options */
    int rollback;            /* 1: take back what does harm */
};
/* Judges every applied suggestion by the runs since: keep, roll back, or wait for more; text or JSON
 * (pyrometer.suggestion_review/1). Those to keep are marked so in the store. */
PYRO_API enum pyro_status pyro_suggestions_review(pyro_store *store, const struct pyro_review_options *wanted,
                                                  enum pyro_suggestion_format format,
                                                  const struct pyro_options *options, const struct pyro_writer *writer,
                                                  struct pyro_error *error);

/* ---- Logs that grow ---------------------------------------------------------------------------------------------- */

/* A decoder is fed the decompressed bytes of one event log in pieces of any size, as they appear. */
typedef struct pyro_decoder pyro_decoder;

/* `path` names the log in reports; it is not opened. `options`: allocator only. */
PYRO_API enum pyro_status pyro_decoder_new(const char *path, const struct pyro_load_options *load,
                                           const struct pyro_options *options, pyro_decoder **ret,
                                           struct pyro_error *error);
/* Fails only without memory: damage in the bytes is recorded in the application's integrity. */
PYRO_API enum pyro_status pyro_decoder_feed(pyro_decoder *decoder, const void *bytes, size_t len,
                                            struct pyro_error *error);
/* The application as of the complete records fed so far; feeding may go on. */
PYRO_API enum pyro_status pyro_decoder_snapshot(pyro_decoder *decoder, pyro_app **ret, struct pyro_error *error);
/* The application once all bytes were fed; a last line without newline counts. Nothing may be fed afterwards. */
PYRO_API enum pyro_status pyro_decoder_finish(pyro_decoder *decoder, pyro_app **ret, struct pyro_error *error);
PYRO_API void pyro_decoder_free(pyro_decoder *decoder);

/* ---- Text logs --------------------------------------------------------------------------------------------------- */

/* What drivers and executors write for people: log4j's lines, Spark 4's JSON lines, tracebacks of Python
 * (docs/logs.md). Nothing of it is interpreted beyond that, and secrets are hidden in every output. */
struct pyro_logs_options {
    size_t size; /* sizeof(struct pyro_logs_options) */
    /* Only records of this level ("warn") and worse ones, not before and not after these times ("2024-03-01T10:15:00",
     * with a zone or in that of utc_offset_s), of this executor ("driver", "3"), of this stage ("3"), and that this
     * regular expression (PCRE2) finds something in. NULL: all. For pyro_logs_timeline() executor and stage choose
     * tasks. */
    const char *level, *since, *until, *executor, *stage, *grep;
    const char *pattern;  /* of log4j ("%d{HH:mm:ss} %p %c: %m%n"), tried before the ones that are known; NULL: none */
    int64_t utc_offset_s; /* of times without a zone, if has_zone; else they count as UTC, and a note says so */
    int has_zone;
    size_t limit;   /* rows of the result; 0: 20 for pyro_logs_top() and for errors as text, else all; SIZE_MAX: all */
    int exact;      /* pyro_logs_top(): 1: repeated lines word by word, as phil_stopwatch's get_top_log_chunks() finds
                     * them, whose level `level` is then; no other filter applies */
    const char *by; /* pyro_logs_top(): for each "container" or "stage"; NULL: for all together */
    int unlimited;  /* as in pyro_load_options */
    enum pyro_redaction redaction;
    const struct pyro_report_options *report; /* of text: color, width, utc_offset_s, details; NULL: defaults */
    /* Called for each path that cannot be read, and for what is incomplete or assumed (path "": of all logs), before
     * anything is written. NULL: nothing is. Documents say the same. */
    void (*note)(void *context, const char *path, const char *message);
    void *note_context;
};

/* All three read the text logs at some paths: files, "-" (standard input), folders (8 levels deep, 100,000 files),
 * archives; plain or compressed as event logs are; of YARN, EMR, a standalone cluster, Kubernetes, Databricks, or the
 * output of `yarn logs`. Logs stream: memory does not grow with them. A damaged log is read up to its damage.
 * PYRO_ERROR_INPUT: no path has a text log. Formats: text, json, csv. `options`: allocator and progress.
 *
 * What logs repeat: templates of messages and blocks of lines, by count x lines (pyrometer.chunks/1). */
PYRO_API enum pyro_status pyro_logs_top(const char *const *paths, size_t path_count,
                                        const struct pyro_logs_options *asked, enum pyro_format format,
                                        const struct pyro_options *options, const struct pyro_writer *writer,
                                        struct pyro_error *error);
/* Errors and exceptions, each kind once, newest first (pyrometer.errors/1). Up to 10,000 kinds; others are counted. */
PYRO_API enum pyro_status pyro_logs_errors(const char *const *paths, size_t path_count,
                                           const struct pyro_logs_options *asked, enum pyro_format format,
                                           const struct pyro_options *options, const struct pyro_writer *writer,
                                           struct pyro_error *error);
/* When applications, jobs, stages and tasks ran, and how many tasks at once (pyrometer.log_timeline/1). Up to 4,000,000
 * tasks (80 bytes each). */
PYRO_API enum pyro_status pyro_logs_timeline(const char *const *paths, size_t path_count,
                                             const struct pyro_logs_options *asked, enum pyro_format format,
                                             const struct pyro_options *options, const struct pyro_writer *writer,
                                             struct pyro_error *error);

/* ---- Logs that may be shared ------------------------------------------------------------------------------------- */

struct pyro_export_counts {
    size_t size;       /* sizeof(struct pyro_export_counts) */
    uint64_t records;  /* written */
    uint64_t left_out; /* events that are not Spark's, and lines that are not a whole record */
};

/* Writes a log again as plain event log: numbers, structure and Spark's own words stay; names, paths, queries and hosts
 * are replaced, the same word by the same replacement (docs/anonymized.md).
 * `ret_counts` may be NULL. `options`: allocator and progress. */
PYRO_API enum pyro_status pyro_export_anonymized(const pyro_inputs *inputs, size_t index,
                                                 const struct pyro_load_options *load,
                                                 const struct pyro_options *options, const struct pyro_writer *writer,
                                                 struct pyro_export_counts *ret_counts, struct pyro_error *error);

/* ---- Applications in the forms of other tools -------------------------------------------------------------------- */

enum pyro_telemetry {
    PYRO_TELEMETRY_OTLP = 0,         /* spans, events and metrics as OTLP in JSON, a request each line */
    PYRO_TELEMETRY_PROMETHEUS = 1,   /* metrics over time as OpenMetrics with time stamps */
    PYRO_TELEMETRY_PERFETTO = 2,     /* spans, and what traces of the kernel say of threads, as a trace of Perfetto */
    PYRO_TELEMETRY_TRACE_COMPASS = 3 /* a folder, which only pyro_trace_compass_write() writes */
};
/* "otlp", "prometheus", "perfetto", "trace-compass"; NULL beyond the last one. */
PYRO_API const char *pyro_telemetry_name(enum pyro_telemetry form);

/* Writes an application as the spans and metrics that the Spark plugin sends of a running one, with the same
 * names and ids (docs/plugin.md): exporting it again makes no second span. `options`: allocator. */
PYRO_API enum pyro_status pyro_export_telemetry(const pyro_app *app, enum pyro_telemetry form,
                                                const struct pyro_options *options, const struct pyro_writer *writer,
                                                struct pyro_error *error);

/* Sends it to a collector of OpenTelemetry, as OTLP over HTTP in JSON; `endpoint` is its address without /v1/traces,
 * such as http://localhost:4318. PYRO_ERROR_OUTPUT: no answer, or the collector refuses. `options`: allocator. */
PYRO_API enum pyro_status pyro_send_telemetry(const pyro_app *app, const char *endpoint,
                                              const struct pyro_options *options, struct pyro_error *error);

/* Writes an application as a folder for Eclipse Trace Compass (docs/cli/export.md): `folder`/ctf, a trace in the Common
 * Trace Format with tasks, stages, findings and, of an application that was loaded with traces of the kernel, the
 * states of the threads of tasks; and `folder`/analysis.xml, which shows them over time. `folder` exists; an earlier
 * export in it is replaced. `diagnosis`, of the same application, may be NULL: then there are no findings. `options`:
 * allocator. PYRO_ERROR_OUTPUT: the error names the file. */
PYRO_API enum pyro_status pyro_trace_compass_write(const pyro_app *app, const pyro_diagnosis *diagnosis,
                                                   const char *folder, const struct pyro_options *options,
                                                   struct pyro_error *error);

/* ---- Flame graphs ------------------------------------------------------------------------------------------------ */

/* Which samples of profilers count. */
enum pyro_flame_event {
    PYRO_FLAME_ANY = 0,   /* all samples of profilers that record all threads; of Java Flight Recorder and
                           * async-profiler those of PYRO_FLAME_CPU, or of PYRO_FLAME_WALL if there are no others */
    PYRO_FLAME_CPU = 1,   /* threads that ran: without those that waited */
    PYRO_FLAME_WALL = 2,  /* threads, whether they ran or not */
    PYRO_FLAME_ALLOC = 3, /* allocated bytes */
    PYRO_FLAME_LOCK = 4,  /* nanoseconds in which threads waited for locks */
    PYRO_FLAME_WAIT = 5,  /* nanoseconds in which threads slept, were parked, read from sockets or files */
    PYRO_FLAME_LIVE = 6,  /* bytes of objects that were still in use */
    PYRO_FLAME_MALLOC = 7 /* bytes that native code allocated */
};
/* "cpu", "wall", "alloc", "lock", "wait", "live", "malloc"; "" for PYRO_FLAME_ANY, NULL beyond the last one. */
PYRO_API const char *pyro_flame_event_name(enum pyro_flame_event event);

enum pyro_flame_format {
    PYRO_FLAME_FOLDED = 0, /* folded stacks: "outermost;...;innermost WEIGHT" lines; a difference: "... BEFORE AFTER" */
    PYRO_FLAME_SVG = 1,    /* a picture with search and zoom, which loads nothing */
    PYRO_FLAME_SPEEDSCOPE = 2, /* the JSON of speedscope */
    PYRO_FLAME_PPROF = 3       /* a profile of pprof in gzip */
};
/* How names of files end that hold a format: ".folded", ".svg", ".speedscope.json", ".pb.gz"; NULL beyond the last one.
 */
PYRO_API const char *pyro_flame_suffix(enum pyro_flame_format format);

/* Bits of pyro_flame_options.filters. */
enum { PYRO_FLAME_BY_TASK = 1, PYRO_FLAME_BY_STAGE = 2, PYRO_FLAME_BY_PROCESS = 4 };

struct pyro_flame_options {
    size_t size; /* sizeof(struct pyro_flame_options) */
    enum pyro_flame_event event;
    unsigned filters;       /* which of the next three count */
    int64_t task;           /* Spark's task id; only samples that name their task for certain */
    int64_t stage;          /* only samples of threads that worked for this stage: also those of executors that ran
                             * no other one at the time, if `applications` has the event log */
    int64_t process;        /* process id */
    int64_t from_ms, to_ms; /* since 1970: samples from the first up to before the second; 0: any time */
    int merge_lines;        /* 1: lines of one function are one call */
    int combined;           /* 1: JVM and Python workers of an executor below one root */
    int differs;            /* 1: the difference of the second path to the first one */
    /* Gets what is left out, and why: files that are not profiles, damage, records without times or tasks where a
     * filter needs them. Both texts last until it returns. NULL: no call. */
    void (*problem)(void *context, const char *path, const char *reason);
    void *problem_context;
    /* NULL, or one for each path (NULL for those without): the application whose event log lies with these profiles,
     * loaded with pyro_load_options.artefacts. Of a task or stage, the samples of its files count instead of what is
     * at the path: the event log says who owns threads whose records do not. An application counts once. */
    const pyro_app *const *applications;
};

struct pyro_flame_counts {
    size_t size;      /* sizeof(struct pyro_flame_counts) */
    uint64_t files;   /* profiles that were read */
    int64_t taken;    /* weight of the samples in the graph, in its unit */
    int64_t asked;    /* weight of the samples whose task or stage a filter asked for */
    int64_t left_out; /* of these, weight of those that name none for certain */
};

/* Reads the profiles at the paths (files, or folders, searched 8 levels deep) and writes one flame graph: recordings of
 * Java Flight Recorder and async-profiler, records of Uber's JVM profiler and of Python workers, folded stacks; plain
 * or compressed. Files are recognized by their content. One that cannot be read is left out, a damaged one is read as
 * far as it goes. Memory: some 64 MB, the largest chunk of a recording (at most 512 MiB), and 100 bytes for each
 * different call. A graph has at most 8,388,608 different calls, a stack 4,096 frames. PYRO_ERROR_INPUT: there is no
 * profile, or no sample is left. PYRO_ERROR_ARGUMENT: a difference needs two paths, and PYRO_FLAME_FOLDED or
 * PYRO_FLAME_SVG. `ret_counts` may be NULL. `options`: allocator and progress. */
PYRO_API enum pyro_status pyro_flame_write(const char *const *paths, size_t path_count,
                                           const struct pyro_flame_options *wanted, const struct pyro_options *options,
                                           enum pyro_flame_format format, const struct pyro_writer *writer,
                                           struct pyro_flame_counts *ret_counts, struct pyro_error *error);

/* ---- Profiles ---------------------------------------------------------------------------------------------------- */

struct pyro_profiling_options {
    size_t size;                /* sizeof(struct pyro_profiling_options) */
    int normalize;              /* 1: bytes as MB (1,000,000), times as minutes since the start */
    const char *const *metrics; /* only series whose name has one of these in it; metric_count 0: all */
    size_t metric_count;
    const char *const *ignored; /* no series whose name has one of these in it */
    size_t ignored_count;
    const char *process;                      /* only this executor ("3", "driver"), process id or name; NULL: all */
    const struct pyro_report_options *report; /* of text: color, width, utc_offset_s, details; NULL: defaults */
    unsigned filters; /* PYRO_FLAME_BY_TASK, PYRO_FLAME_BY_STAGE: of the samples only those of the next two */
    int64_t task;     /* Spark's task id; only samples that name their task for certain */
    int64_t stage;    /* only samples of threads that worked for this stage */
};

/* Writes what profilers, logs of garbage collectors and text logs recorded of a run, all on one axis of time: text,
 * json (pyrometer.profile/1) or html (one file that loads nothing). With a `diagnosis`, of its application, which must
 * have been loaded with pyro_load_options.artefacts: jobs, stages, tasks and findings are those of the event log, and
 * `inputs` may be NULL. Without one, of all other files of `inputs`; stages and tasks are then those that records name.
 * Files that cannot be read are listed. At most 1,000 rows a series and 20,000 tasks are written; maxima and sums are
 * of all. PYRO_ERROR_INPUT: there is no such file. PYRO_ERROR_ARGUMENT: there is no such process or format. `options`:
 * allocator. */
PYRO_API enum pyro_status pyro_profiling_write(const pyro_inputs *inputs, const pyro_diagnosis *diagnosis,
                                               const struct pyro_profiling_options *wanted, enum pyro_format format,
                                               const struct pyro_options *options, const struct pyro_writer *writer,
                                               struct pyro_error *error);

/* Writes what traces of the kernel and of user space say of a run: the states of threads, what tasks waited for through
 * all threads that they waited for, processes, system calls, and what is missing: text or json (pyrometer.trace/1).
 * With a `diagnosis`, of its application, which must have been loaded with pyro_load_options.artefacts, and `inputs`
 * may be NULL; without one, of all traces of `inputs`. `wanted`: color, width, details; NULL: defaults.
 * PYRO_ERROR_INPUT: there is no trace. `options`: allocator. */
PYRO_API enum pyro_status pyro_trace_write(const pyro_inputs *inputs, const pyro_diagnosis *diagnosis,
                                           const struct pyro_report_options *wanted, enum pyro_format format,
                                           const struct pyro_options *options, const struct pyro_writer *writer,
                                           struct pyro_error *error);

/* ---- This build -------------------------------------------------------------------------------------------------- */

/* The candidate that `word` was probably meant to be ("did you mean"), or NULL. */
PYRO_API const char *pyro_nearest(const char *word, const char *const *candidates, size_t count);

/* "0.1.0" */
PYRO_API const char *pyro_version(void);

struct pyro_feature_info {
    size_t size;        /* sizeof(struct pyro_feature_info) */
    const char *kind;   /* "codec", "layout", "report", "table", "rule", "cpu", "optional" */
    const char *name;   /* "zstd" */
    const char *detail; /* "libzstd 1.5.4", "AVX-512", ... or how to get it when it is missing */
    int available;
};
/* What this build can read and write, and on this machine. */
PYRO_API size_t pyro_features_count(void);
PYRO_API enum pyro_status pyro_features_get(size_t index, struct pyro_feature_info *ret);

/* ---- Server ------------------------------------------------------------------------------------------------------ */

/* Serves the REST API of Spark's History Server for the logs of folders (docs/serve.md), on threads of its own. Each
 * folder may also be the URL of a store (sqlite:FILE, opensearch:URL), whose runs are listed too. */
typedef struct pyro_server pyro_server;

/* How many of each /api/v1 keeps, as Spark's History Server does; 0: all. */
struct pyro_retained_limits {
    size_t size;    /* sizeof(struct pyro_retained_limits) */
    uint64_t tasks; /* of a stage */
    uint64_t jobs, stages;
    uint64_t executions; /* of SQL */
    uint64_t dead_executors;
};

struct pyro_server_options {
    size_t size;      /* sizeof(struct pyro_server_options) */
    const char *host; /* address to listen on, IPv4 or IPv6, or localhost; NULL: 127.0.0.1 */
    unsigned port;    /* 0: a free one */
    /* Memory for open applications, statements and answers together; 0: 1 GiB. The process uses at most 256 MiB more:
     * a request that would exceed this is stopped with 503. The program itself limits SQLite's share by
     * sqlite3_hard_heap_limit64(), because that limit is one for the whole process. */
    uint64_t memory_bytes;
    const char *upload_folder; /* where uploads are kept, created if missing; NULL: a new folder in $TMPDIR, which
                                * is removed when the server stops */
    uint64_t max_upload_bytes; /* the largest upload that is accepted; 0: 2 GiB */
    /* Limits of all uploads: their bytes together, their number, and the bytes that must stay free on the disk; 0: 20
     * GiB, 10,000, 512 MiB. */
    uint64_t uploads_bytes, uploads_count, uploads_free_bytes;
    unsigned update_ms;       /* how often folders are searched for new, changed and removed logs; 0: 10 s */
    const char *cache;        /* the folder, created if missing, of what is kept between starts; NULL: nothing is */
    unsigned max_connections; /* at once; 0: 4,096, or fewer if the limit of open files is low */
    /* Without tokens everybody who reaches the port may do everything. Without tokens or without TLS the server listens
     * on loopback only, unless `insecure` is set. */
    const char *tokens;                    /* the file that pyro_token_add() writes; NULL: none are needed */
    const char *tls_certificate, *tls_key; /* PEM files, both or neither */
    int insecure;
    int acls; /* 1: access lists apply to every application, as with spark.history.ui.acls.enable; 0: only to those
               * that ran with spark.acls.enable */
    const char *const
        *hosts; /* names that requests to a server without tokens may use, in addition to addresses and localhost */
    const char *const *origins; /* (https://name:port) whose pages may read and send */
    size_t host_count, origin_count;
    const struct pyro_config *config;            /* for all diagnoses; NULL: none. Must outlive the server */
    const struct pyro_prices *prices;            /* the same; NULL: reports have no costs */
    const char *store;                           /* URL of a store for feedback; NULL: feedback is refused */
    const struct pyro_retained_limits *retained; /* copied; NULL: all is kept */
    /* Called by a thread of the server when something fails outside of a request, such as reading a new certificate.
     * NULL: nothing is called. */
    void (*warn)(void *context, const char *message);
    void *warn_context;
    unsigned queries;  /* SQL statements that run at once; 0: 2 */
    unsigned query_ms; /* for each; 0: 15 s */
    /* Limits of one upload: decompressed bytes per stored byte, beyond 64 MiB (0: 1,000); bytes of a line (0: 64 MiB);
     * seconds of processor time each time it is read (0: 120). And of all uploads of one user: seconds of processor
     * time per hour (0: 600). */
    unsigned upload_ratio;
    uint64_t upload_line_bytes;
    unsigned upload_cpu_s, user_cpu_s;
    int unlimited;                 /* for logs of the folders, as in pyro_load_options */
    int follow_links;              /* 1: follow symbolic links that lead out of the folders */
    enum pyro_redaction redaction; /* of every answer */
    int64_t stale_ms; /* list a log without an end as truncated when it has not grown for this long; 0: a day */
};

/* Listens when it returns; requests wait until all folders were searched. PYRO_ERROR_ARGUMENT: no such address, or this
 * build has no server. PYRO_ERROR_INPUT: a folder or store is missing. PYRO_ERROR_OUTPUT: the port is in use. */
PYRO_API enum pyro_status pyro_server_start(const char *const *folders, size_t folder_count,
                                            const struct pyro_server_options *options, pyro_server **ret,
                                            struct pyro_error *error);
PYRO_API unsigned pyro_server_port(const pyro_server *server);
/* Reads the files of tokens, certificate and key again, without waiting until a change is noticed. Returns before that
 * is done. */
PYRO_API void pyro_server_reload(pyro_server *server);
/* Makes a token for a name, which replaces an earlier one, and writes its hash to the file, created if missing. The
 * role is view, upload or admin; the groups are a list (a,b) or NULL. `ret` gets the token, which is stored nowhere
 * else; 160 bytes are enough. */
PYRO_API enum pyro_status pyro_token_add(const char *file, const char *name, const char *role, const char *groups,
                                         char *ret, size_t ret_bytes, struct pyro_error *error);
/* Finishes requests that have begun, for at most one second, then stops all work. */
PYRO_API void pyro_server_stop(pyro_server *server);

/* ---- Agents ------------------------------------------------------------------------------------------------------ */

/* Answers the Model Context Protocol about the logs of folders and stores (docs/mcp.md): one JSON-RPC message at a
 * time. */
typedef struct pyro_mcp pyro_mcp;

struct pyro_mcp_options {
    size_t size;                      /* sizeof(struct pyro_mcp_options) */
    const struct pyro_prices *prices; /* for costs; must outlive the handle. NULL: amounts without money */
    uint64_t memory_bytes;            /* for open applications, approximately; 0: 1 GiB */
    unsigned query_ms;                /* for each statement of a client; 0: 15 s */
    enum pyro_redaction redaction;    /* of every answer */
};

PYRO_API enum pyro_status pyro_mcp_new(const char *const *folders, size_t folder_count,
                                       const struct pyro_mcp_options *options, pyro_mcp **ret,
                                       struct pyro_error *error);
/* Writes the answer to one message: one JSON document without a newline, or nothing if the message needs no answer. An
 * error in a message is part of the answer, not an error of this call. */
PYRO_API enum pyro_status pyro_mcp_answer(pyro_mcp *mcp, const char *message, size_t len,
                                          const struct pyro_writer *writer, struct pyro_error *error);
PYRO_API void pyro_mcp_free(pyro_mcp *mcp);

#ifdef __cplusplus
}
#endif

#endif
