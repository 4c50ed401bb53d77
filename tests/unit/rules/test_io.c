/* small-output-files, slow-write, slow-read, unsplittable-input, row-format, full-scan, python-udf, global-window. */
#include <stdio.h>

#include "io_scene.h"

#define MIB INT64_C(1048576)

static const int64_t five_s = 5000, ten_s = 10000;

/* One query that writes; a minute of other work around it. */
static struct scene written(int64_t files, int64_t bytes, int64_t partitions)
{
    struct scene scene = scene_new(2, 2);
    scene_query(&scene, 7);
    int64_t at = io_stage(&scene, 8, five_s, (struct io_work){0, bytes / 8, 80});
    io_write_node(&scene, at, files, bytes, partitions);
    scene_stage(&scene, 40, &five_s, 1, NULL, NULL);
    scene_end(&scene);
    return scene;
}

static void test_small_output_files_fires(void **state)
{
    (void)state;
    struct scene scene = written(900, 90 * MIB, 75);
    const struct pyro_finding *finding = scene_finding(&scene, "small-output-files");
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_MODERATE); /* by its harm to readers */
    assert_non_null(pyro_slice_find(finding->cause, "75 directories"));
    assert_non_null(pyro_slice_find(finding->advice[0].code, "partitionBy"));
    scene_free(&scene);
    scene = written(900, 90 * MIB, 0);
    finding = scene_finding(&scene, "small-output-files");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->advice[0].code, "repartition(1)"));
    scene_free(&scene);
}

/* A tiny file in each of many directories: the column has too many values. */
static void test_too_many_directories(void **state)
{
    (void)state;
    struct scene scene = written(400, 4 * MIB, 400);
    const struct pyro_finding *finding = scene_finding(&scene, "small-output-files");
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_MODERATE);
    assert_int_equal(finding->advice_count, 1);
    assert_non_null(pyro_slice_find(finding->advice[0].text, "coarser column"));
    assert_non_null(pyro_slice_find(finding->cause, "into 400 directories. One file is enough."));
    assert_null(pyro_slice_find(finding->cause, "each of"));
    scene_free(&scene);
    scene = written(400, 4000 * MIB, 400); /* 10 MiB each */
    scene_quiet(&scene, "small-output-files");
    scene_free(&scene);
}

static void test_small_output_files_is_quiet(void **state)
{
    (void)state;
    struct scene scene = written(40, 90 * MIB, 0); /* few */
    scene_quiet(&scene, "small-output-files");
    scene_free(&scene);
    scene = written(900, 9000 * MIB, 0); /* large */
    scene_quiet(&scene, "small-output-files");
    scene_free(&scene);
    scene = written(90, 90 * MIB, 75); /* about one a directory */
    scene_quiet(&scene, "small-output-files");
    assert_int_equal(scene_verdict(&scene, "small-output-files"), PYRO_VERDICT_QUIET);
    scene_free(&scene);
    scene = scene_new(2, 2);
    scene_stage(&scene, 8, &five_s, 1, NULL, NULL);
    scene_end(&scene);
    assert_int_equal(scene_verdict(&scene, "small-output-files"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "slow-write"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "full-scan"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "python-udf"), PYRO_VERDICT_NOT_APPLICABLE);
    scene_free(&scene);
}

/* An RDD's tasks write a file each, and no SQL metric says so. */
static void test_small_output_files_of_rdds(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    int64_t ms = 300;
    scene_stage(&scene, 400, &ms, 1, io_work, &(struct io_work){0, 5000, 80});
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "small-output-files");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->advice[0].code, "saveAsTextFile"));
    scene_free(&scene);
}

/* `commit_ms` of the driver behind the tasks; the metric may say more than there was. */
static struct scene committed(int64_t commit_ms, int64_t gap_ms)
{
    struct scene scene = scene_new(2, 2);
    scene_query(&scene, 7);
    int64_t at = io_stage(&scene, 8, five_s, (struct io_work){0, 40 * MIB, 80});
    io_write_node(&scene, at, 8, 320 * MIB, 0);
    scene_metric(&scene, -1, "job commit time", commit_ms);
    scene.now += gap_ms;
    scene.app->sql.items[0].completed_ms = scene.now;
    scene_end(&scene);
    return scene;
}

static void test_slow_commit(void **state)
{
    (void)state;
    struct scene scene = committed(20000, 20500);
    const struct pyro_finding *finding = scene_finding(&scene, "slow-write");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
    assert_true(finding->saves.wall_expected_ms <= 20000 && finding->saves.wall_expected_ms > 15000);
    assert_non_null(pyro_slice_find(finding->cause, "20.0 s"));
    scene_free(&scene);
    scene = committed(500, 700);
    scene_quiet(&scene, "slow-write");
    scene_free(&scene);
    scene = committed(20000, 100); /* the query ended sooner than its metric says */
    scene_quiet(&scene, "slow-write");
    scene_free(&scene);
}

static struct scene wrote(unsigned tasks, int64_t ms, struct io_work of, int64_t files)
{
    struct scene scene = scene_new(2, 2);
    scene_query(&scene, 7);
    int64_t at = io_stage(&scene, tasks, ms, of);
    io_write_node(&scene, at, files, tasks * of.written, 0);
    scene_end(&scene);
    return scene;
}

static void test_slow_target(void **state)
{
    (void)state;
    struct scene scene = wrote(12, ten_s, (struct io_work){0, 10 * MIB, 10}, 12);
    const struct pyro_finding *finding = scene_finding(&scene, "slow-write");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->cause, "1.0 MiB per second"));
    scene_free(&scene);
    scene = wrote(12, ten_s, (struct io_work){0, 10 * MIB, 90}, 12); /* it computes */
    scene_quiet(&scene, "slow-write");
    scene_free(&scene);
    scene = wrote(12, ten_s, (struct io_work){0, 200 * MIB, 10}, 12); /* fast */
    scene_quiet(&scene, "slow-write");
    scene_free(&scene);
    scene = wrote(12, ten_s, (struct io_work){0, MIB, 10}, 12); /* a service is called, little is written */
    scene_quiet(&scene, "slow-write");
    scene_free(&scene);
    scene = wrote(12, ten_s, (struct io_work){0, 10 * MIB, 10}, 1200); /* small files: the other rule's */
    scene_quiet(&scene, "slow-write");
    scene_free(&scene);
}

static void test_single_writer(void **state)
{
    (void)state;
    struct scene scene = wrote(1, 20000, (struct io_work){0, 400 * MIB, 90}, 1);
    const struct pyro_finding *finding = scene_finding(&scene, "slow-write");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->advice[0].code, "repartition(4)"));
    scene_free(&scene);
    scene = wrote(1, 20000, (struct io_work){0, 50 * MIB, 90}, 1); /* it computes; writing is the least */
    scene_quiet(&scene, "slow-write");
    scene_free(&scene);
}

/* A scan of `name` over `tasks` tasks, each reading of->read bytes in `ms`; `scan_ms` in the columnar reader or -1. */
static struct scene scanned(const char *name, unsigned tasks, int64_t ms, struct io_work of, int64_t files,
                            int64_t scan_ms)
{
    struct scene scene = scene_new(2, 2);
    scene_query(&scene, 7);
    int64_t at = io_stage(&scene, tasks, ms, of);
    scene_node(&scene, -1, "HashAggregate", NULL, NULL);
    io_scan_node(&scene, 0, at, name, "Location: InMemoryFileIndex(1 paths)[store:/t]\nPartitionFilters: []", files,
                 tasks * of.read, 1000000);
    if (scan_ms >= 0)
        scene_metric(&scene, at, "scan time", scan_ms);
    scene_end(&scene);
    return scene;
}

static void test_slow_read(void **state)
{
    (void)state;
    struct scene scene = scanned("Scan parquet ", 12, ten_s, (struct io_work){10 * MIB, 0, 5}, 12, 100000);
    const struct pyro_finding *finding = scene_finding(&scene, "slow-read");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
    scene_free(&scene);
    scene =
        scanned("Scan parquet ", 12, ten_s, (struct io_work){10 * MIB, 0, 5}, 12, 3000); /* waits, not in the reader */
    scene_quiet(&scene, "slow-read");
    scene_free(&scene);
    scene = scanned("Scan parquet ", 12, ten_s, (struct io_work){10 * MIB, 0, 90}, 12, 100000); /* decodes */
    scene_quiet(&scene, "slow-read");
    scene_free(&scene);
    scene = scanned("Scan parquet ", 12, ten_s, (struct io_work){MIB, 0, 5}, 12, 100000); /* little */
    scene_quiet(&scene, "slow-read");
    scene_free(&scene);
    scene = scanned("Scan csv ", 12, ten_s, (struct io_work){10 * MIB, 0, 5}, 12, -1);
    assert_non_null(scene_finding(&scene, "slow-read"));
    scene_free(&scene);
    scene = scanned("Scan csv ", 12, ten_s, (struct io_work){60 * MIB, 0, 5}, 12, -1);
    scene_quiet(&scene, "slow-read");
    scene_free(&scene);
}

static void test_slow_listing(void **state)
{
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        struct scene scene = scene_new(2, 2);
        scene_query(&scene, 7);
        scene.now += slow ? 20000 : 1000;
        int64_t at = io_stage(&scene, 8, five_s, (struct io_work){40 * MIB, 0, 80});
        scene_node(&scene, -1, "HashAggregate", NULL, NULL);
        io_scan_node(&scene, 0, at, "Scan parquet ", NULL, 8, 320 * MIB, 1000000);
        scene_metric(&scene, -1, "metadata time", slow ? 19000 : 900);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "slow-read");
        assert_true((finding != NULL) == (slow == 1));
        if (finding)
            assert_non_null(pyro_slice_find(finding->cause, "19.0 s on the driver"));
        scene_free(&scene);
    }
}

static void test_unsplittable_input(void **state)
{
    (void)state;
    struct io_work large = {300 * MIB, 0, 90};
    struct scene scene = scanned("Scan json ", 2, 20000, large, 2, -1);
    const struct pyro_finding *finding = scene_finding(&scene, "unsplittable-input");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_MODERATE);
    assert_non_null(pyro_slice_find(finding->advice[0].text, "multiLine"));
    scene_free(&scene);
    scene = scanned("Scan parquet ", 2, 20000, large, 2, -1); /* cut by row groups */
    scene_quiet(&scene, "unsplittable-input");
    scene_free(&scene);
    scene = scanned("Scan json ", 40, 5000, (struct io_work){120 * MIB, 0, 90}, 2, -1); /* was cut */
    scene_quiet(&scene, "unsplittable-input");
    scene_free(&scene);
    scene = scanned("Scan json ", 40, 5000, large, 40, -1); /* all slots are busy all the time */
    scene_quiet(&scene, "unsplittable-input");
    scene_free(&scene);
}

/* Reads the same CSV `times` times; with `stored` the query writes what it read. */
static struct scene parsed(const char *name, unsigned times, bool stored, int64_t bytes)
{
    struct scene scene = scene_new(2, 2);
    for (unsigned i = 0; i < times; i++) {
        int64_t ms = 4000;
        struct io_work of = {bytes / 8, stored ? bytes / 16 : 0, 90};
        scene_query(&scene, 7 + i);
        struct pyro_stage *row = scene_stage(&scene, 8, &ms, 1, io_work, &of);
        row->sql = 7 + i;
        if (stored)
            io_write_node(&scene, row->id, 8, bytes / 2, 0);
        else
            scene_node(&scene, -1, "HashAggregate", NULL, NULL);
        io_scan_node(&scene, 0, row->id, name,
                     "Location: InMemoryFileIndex(1 paths)[file:/t]\nReadSchema: struct<day:int,price:decimal(9,2)>", 8,
                     bytes, 1000000);
        scene.app->sql.items[i].completed_ms = scene.now;
    }
    scene_end(&scene);
    return scene;
}

static void test_row_format(void **state)
{
    (void)state;
    struct scene scene = parsed("Scan csv ", 4, false, 1600 * MIB);
    const struct pyro_finding *finding = scene_finding(&scene, "row-format");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_MODERATE);
    assert_non_null(pyro_slice_find(finding->cause, "2 columns"));
    scene_free(&scene);
    scene = parsed("Scan parquet ", 4, false, 1600 * MIB);
    scene_quiet(&scene, "row-format");
    scene_free(&scene);
    scene = parsed("Scan csv ", 1, true, 1600 * MIB); /* brought in once and stored */
    scene_quiet(&scene, "row-format");
    scene_free(&scene);
    scene = parsed("Scan csv ", 4, false, 16 * MIB); /* small */
    scene_quiet(&scene, "row-format");
    scene_free(&scene);
}

/* A query of ten seconds on four slots that writes `bytes` with these options, and a minute of other work. */
static struct scene compressed(const char *format, const char *options, const char *setting, int64_t bytes)
{
    struct scene scene = scene_new(2, 2);
    static char detail[256]; /* outlives the scene */
    if (setting)
        fixture_property(scene.app, "spark", "spark.sql.parquet.compression.codec", setting);
    snprintf(detail, sizeof(detail),
             "Execute InsertIntoHadoopFsRelationCommand s3://b/out, false, [day], %s, [%s], Overwrite, [id, day]",
             format, options);
    scene_query(&scene, 7);
    int64_t at = io_stage(&scene, 8, five_s, (struct io_work){0, bytes / 8, 80});
    scene_node(&scene, -1, "Execute InsertIntoHadoopFsRelationCommand", detail, NULL);
    scene_metric(&scene, -1, "number of written files", 8);
    scene_metric(&scene, -1, "written output", bytes);
    scene_metric(&scene, at, "task commit time", 20);
    scene_stage(&scene, 40, &five_s, 1, NULL, NULL);
    scene_end(&scene);
    return scene;
}

static void test_compression(void **state)
{
    (void)state;
    static const struct {
        const char *format, *options, *setting;
        int64_t mib;
        const char *title; /* NULL: quiet */
    } cases[] = {
        {"Parquet", "path=s3://b/out", NULL, 4096, NULL},
        {"Parquet", "compression=zstd, path=s3://b/out", "gzip", 4096, NULL},
        {"Parquet", "path=s3://b/out", "gzip", 400, "Slow compression"},
        {"Parquet", "path=s3://b/out", "gzip", 2, NULL}, /* soon done */
        {"Parquet", "path=s3://b/out, Compression=GZIP", NULL, 400, "Slow compression"},
        {"Parquet", "compression=none, path=s3://b/out", NULL, 300, "Output not compressed"},
        {"Parquet", "compression=none, path=s3://b/out", NULL, 200, NULL},
        {"Parquet", "path=s3://b/compression=none", NULL, 300, NULL},
        {"Parquet", "path=s3://b/out", "uncompressed", 300, "Output not compressed"},
        {"Parquet", "path=s3://b/out", "unheard-of", 3000, NULL},
        {"CSV", "header=true, path=s3://b/out", "gzip", 300, NULL},
        {"CSV", "header=true, path=s3://b/out", NULL, 2000, "Output not compressed"},
        {"JSON", "compression=bzip2", NULL, 100, "Slow compression"},
        {"com.acme.Format", "compression=none", NULL, 9000, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = compressed(cases[i].format, cases[i].options, cases[i].setting, cases[i].mib * MIB);
        const struct pyro_finding *finding = scene_finding(&scene, "row-format");
        if (cases[i].title) {
            assert_non_null(finding);
            assert_true(pyro_slice_is(finding->title, cases[i].title));
            assert_true(finding->severity >= PYRO_SEVERITY_MODERATE);
            bool setting = cases[i].setting && pyro_slice_is(pyro_slice_from(cases[i].format), "Parquet");
            assert_string_equal(scene_setting(finding, "spark.sql.parquet.compression.codec"), setting ? "zstd" : "");
        } else {
            assert_null(finding);
        }
        scene_free(&scene);
    }
}

static void test_schema_inference(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    struct pyro_stage *row = scene_stage(&scene, 8, &ten_s, 1, io_work, &(struct io_work){40 * MIB, 0, 90});
    row->name = PYRO_SLICE_LITERAL("csv at Load.scala:12");
    scene_stage(&scene, 8, &ten_s, 1, NULL, NULL);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "row-format");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->advice[0].code, "schema("));
    scene_free(&scene);
}

/* A partitioned table of which a filter keeps `kept` of a million rows. */
static struct scene filtered(const char *partition_filters, int64_t partitions, int64_t kept, bool python)
{
    struct scene scene = scene_new(2, 2);
    scene_query(&scene, 7);
    int64_t at = io_stage(&scene, 8, ten_s, (struct io_work){40 * MIB, 0, 80});
    scene_node(&scene, -1, "HashAggregate", NULL, NULL);
    scene_node(&scene, 0, "Filter", "Filter (to_date(at#1) = 19743)", NULL);
    scene_metric(&scene, at, "number of output rows", kept);
    if (python)
        scene_node(&scene, 1, "BatchEvalPython", "BatchEvalPython [f(day#3)#9], [pythonUDF0#10]", NULL);
    io_scan_node(&scene, python ? 2 : 1, at, "Scan parquet ", partition_filters, 40, 320 * MIB, 1000000);
    scene.app->sql_nodes.items[scene.app->sql_nodes.count - 1].detail =
        PYRO_SLICE_LITERAL("FileScan parquet [at#1,price#2,day#3] Batched: true");
    if (partitions > 0)
        scene_metric(&scene, -1, "number of partitions read", partitions);
    scene_end(&scene);
    return scene;
}

static void test_full_scan(void **state)
{
    (void)state;
    const char *none = "PartitionFilters: []\nReadSchema: struct<at:timestamp,price:double>";
    const char *some = "PartitionFilters: [isnotnull(day#3)]\nReadSchema: struct<at:timestamp,price:double>";
    for (int python = 0; python < 2; python++) {
        struct scene scene = filtered(none, 40, 25000, python);
        const struct pyro_finding *finding = scene_finding(&scene, "full-scan");
        assert_non_null(finding);
        assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
        assert_non_null(pyro_slice_find(finding->advice[0].text, "column day"));
        assert_true((pyro_slice_find(finding->cause, "Python") != NULL) == python);
        scene_free(&scene);
    }
    struct scene scene = filtered(some, 40, 25000, false);
    scene_quiet(&scene, "full-scan");
    scene_free(&scene);
    scene = filtered(none, 40, 700000, false); /* needs most of it */
    scene_quiet(&scene, "full-scan");
    scene_free(&scene);
    scene = filtered(none, 0, 25000, false); /* not partitioned */
    scene_quiet(&scene, "full-scan");
    assert_int_equal(scene_verdict(&scene, "full-scan"), PYRO_VERDICT_NOT_APPLICABLE);
    scene_free(&scene);
}

static struct scene called_as(const char *name, const char *detail, int64_t rows, int64_t cpu_percent)
{
    struct scene scene = scene_new(2, 2);
    scene_query(&scene, 7);
    int64_t at = io_stage(&scene, 8, ten_s, (struct io_work){10 * MIB, 0, cpu_percent});
    scene_node(&scene, -1, "HashAggregate", NULL, NULL);
    scene_node(&scene, 0, name, detail, NULL);
    scene_metric(&scene, at, "number of output rows", rows);
    scene_metric(&scene, at, "data sent to Python workers", rows * 100);
    scene_end(&scene);
    return scene;
}

static struct scene called(const char *name, int64_t rows, int64_t cpu_percent)
{
    return called_as(name, "BatchEvalPython [label(text#43)#59], [pythonUDF0#71]", rows, cpu_percent);
}

/* Spark 4 sends the rows of a plain function over Arrow, but calls it for each; a pandas_udf gets batches. */
static void test_python_rows_over_arrow(void **state)
{
    (void)state;
    struct scene scene =
        called_as("ArrowEvalPython", "ArrowEvalPython [label(text#43)#59], [pythonUDF0#71], 101", 2000000, 10);
    const struct pyro_finding *finding = scene_finding(&scene, "python-udf");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->cause, "(label)"));
    assert_non_null(pyro_slice_find(finding->cause, "Arrow batches"));
    assert_string_equal(scene_setting(finding, "spark.sql.execution.pythonUDF.arrow.enabled"), "");
    scene_free(&scene);
    scene = called_as("ArrowEvalPython", "ArrowEvalPython [label(text#43)#59], [pythonUDF0#71], 200", 2000000, 10);
    scene_quiet(&scene, "python-udf");
    scene_free(&scene);
}

static void test_python_udf(void **state)
{
    (void)state;
    struct scene scene = called("BatchEvalPython", 2000000, 10);
    const struct pyro_finding *finding = scene_finding(&scene, "python-udf");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
    assert_non_null(pyro_slice_find(finding->cause, "(label)"));
    assert_string_equal(scene_setting(finding, "spark.sql.execution.pythonUDF.arrow.enabled"), "true");
    scene_free(&scene);
    scene = called("ArrowEvalPython", 2000000, 10);
    scene_quiet(&scene, "python-udf");
    scene_free(&scene);
    scene = called("BatchEvalPython", 20000, 10); /* few rows: the stage waits for something else */
    scene_quiet(&scene, "python-udf");
    scene_free(&scene);
    scene = called("BatchEvalPython", 2000000, 100); /* the executor itself computes */
    scene_quiet(&scene, "python-udf");
    scene_free(&scene);
}

static void shuffled(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    task->row[PYRO_TASK_shuffle_local_bytes] = 300 * MIB;
    task->row[PYRO_TASK_shuffle_read_records] = *(int64_t *)context;
}

static struct scene ranked(const char *exchange, int64_t rows, int64_t ms)
{
    struct scene scene = scene_new(2, 2);
    scene_query(&scene, 7);
    int64_t from = io_stage(&scene, 8, five_s, (struct io_work){40 * MIB, 0, 80});
    struct pyro_stage *row = scene_stage(&scene, 1, &ms, 1, shuffled, &rows);
    row->sql = 7;
    int64_t at = row->id;
    scene_node(&scene, -1, "Window", "Window [row_number() ...], [text#1 ASC NULLS FIRST]", NULL);
    scene_metric(&scene, at, "spill size", 0);
    scene_node(&scene, 0, "Sort", NULL, NULL);
    scene_metric(&scene, at, "sort time", 900);
    scene_node(&scene, 1, "Exchange", exchange, NULL);
    scene_metric(&scene, from, "shuffle records written", rows);
    scene_metric(&scene, at, "records read", rows);
    scene_end(&scene);
    return scene;
}

static void test_global_window(void **state)
{
    (void)state;
    const char *single = "Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=32]";
    struct scene scene = ranked(single, 2400000, 16000);
    const struct pyro_finding *finding = scene_finding(&scene, "global-window");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
    assert_non_null(pyro_slice_find(finding->cause, "2400000 rows"));
    scene_free(&scene);
    scene = ranked(single, 5000, 16000);
    scene_quiet(&scene, "global-window");
    scene_free(&scene);
    scene = ranked(single, 2400000, 800);
    scene_quiet(&scene, "global-window");
    scene_free(&scene);
    scene = ranked("Exchange hashpartitioning(customer#2L, 200), ENSURE_REQUIREMENTS", 2400000, 16000);
    scene_quiet(&scene, "global-window"); /* adaptive execution joined the partitions */
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_output_files_fires),
        cmocka_unit_test(test_too_many_directories),
        cmocka_unit_test(test_small_output_files_is_quiet),
        cmocka_unit_test(test_small_output_files_of_rdds),
        cmocka_unit_test(test_slow_commit),
        cmocka_unit_test(test_slow_target),
        cmocka_unit_test(test_single_writer),
        cmocka_unit_test(test_slow_read),
        cmocka_unit_test(test_slow_listing),
        cmocka_unit_test(test_unsplittable_input),
        cmocka_unit_test(test_row_format),
        cmocka_unit_test(test_compression),
        cmocka_unit_test(test_schema_inference),
        cmocka_unit_test(test_full_scan),
        cmocka_unit_test(test_python_rows_over_arrow),
        cmocka_unit_test(test_python_udf),
        cmocka_unit_test(test_global_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
