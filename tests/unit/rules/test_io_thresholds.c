/* Thresholds of slow-read, slow-write, small-output-files, unsplittable-input, row-format, full-scan, python-udf and
 * global-window: a finding a tenth inside of each, none a tenth outside. */
#include <stdio.h>

#include "io_scene.h"

#define MIB INT64_C(1048576)

/* Twelve tasks of ten seconds scan; `scan_ms` of them in the columnar reader, or -1. */
struct scan {
    const char *name;
    int64_t read, cpu_percent, scan_ms, peer_rate, deserialize_cpu, ends_ms;
};

static const char stored[] = "Location: InMemoryFileIndex(1 paths)[store:/t]\nPartitionFilters: []";

static void scan_work(struct fixture_task *task, unsigned index, void *context)
{
    const struct scan *of = context;
    struct io_work work = {of->read, 0, of->cpu_percent};
    io_work(task, index, &work);
    if (of->deserialize_cpu) {
        task->row[PYRO_TASK_deserialize_ms] = 100;
        task->row[PYRO_TASK_deserialize_cpu_ns] = of->deserialize_cpu * 1000000;
    }
}

static struct scene scanned(struct scan of)
{
    struct scene scene = scene_new(2, 2);
    for (int64_t i = 0; i < (of.peer_rate ? 2 : 1); i++) {
        scene_query(&scene, 7 + i);
        struct scan each = of;
        each.read = i ? of.peer_rate * 10000 / 12 : of.read;
        struct pyro_stage *stage = scene_stage(&scene, 12, &(int64_t){10000}, 1, scan_work, &each);
        int64_t at = stage->id;
        stage->sql = 7 + i;
        stage->call_site = i ? PYRO_SLICE_LITERAL("count at etl.py:90") : stage->call_site;
        scene_node(&scene, -1, "HashAggregate", NULL, NULL);
        io_scan_node(&scene, 0, at, of.name, stored, 12, 12 * each.read, 1000000);
        if (of.scan_ms >= 0)
            scene_metric(&scene, at, "scan time", i ? 10000 : of.scan_ms);
        scene.app->sql.items[i].completed_ms = scene.now;
    }
    if (of.ends_ms)
        scene.now = SCENE_START + of.ends_ms;
    return scene;
}

static void test_slow_read(void **state)
{
    (void)state;
    static const char columns[] = "Scan parquet ", lines[] = "Scan csv ";
    static const struct {
        const char *threshold;
        bool finds;
        struct scan scan;
    } cases[] = {
        /* bytes_min 32 MiB in twelve tasks */
        {"bytes_min", true, {columns, 2933 * MIB / 1000, 5, 100000, 0, 0, 0}},
        {"bytes_min", false, {columns, 24 * MIB / 10, 5, 100000, 0, 0, 0}},
        /* scan_share_min 0.5 of 120 s, cpu_share_max 0.5 */
        {"scan_share_min", true, {columns, 10 * MIB, 5, 66000, 0, 0, 0}},
        {"scan_share_min", false, {columns, 10 * MIB, 5, 54000, 0, 0, 0}},
        {"cpu_share_max", true, {columns, 10 * MIB, 45, 100000, 0, 0, 0}},
        {"cpu_share_max", false, {columns, 10 * MIB, 55, 100000, 0, 0, 0}},
        /* bytes_per_ms_max 4096: 370 and 450 MB in 100 s */
        {"bytes_per_ms_max", true, {columns, 30833333, 5, 100000, 0, 0, 0}},
        {"bytes_per_ms_max", false, {columns, 37500000, 5, 100000, 0, 0, 0}},
        /* peer_ratio_min 8: 6000 bytes a millisecond, beside 8.8 and 7.2 times that */
        {"peer_ratio_min", true, {columns, 50000000, 5, 100000, 52800, 0, 0}},
        {"peer_ratio_min", false, {columns, 50000000, 5, 100000, 43200, 0, 0}},
        /* row_bytes_min 64 MiB, row_wait_share_min 0.7, row_bytes_per_ms_max 2048 in 114 s of waiting */
        {"row_bytes_min", true, {lines, 587 * MIB / 100, 5, -1, 0, 0, 0}},
        {"row_bytes_min", false, {lines, 48 * MIB / 10, 5, -1, 0, 0, 0}},
        {"row_wait_share_min", true, {lines, 10 * MIB, 23, -1, 0, 0, 0}},
        {"row_wait_share_min", false, {lines, 10 * MIB, 37, -1, 0, 0, 0}},
        {"row_bytes_per_ms_max", true, {lines, 17575000, 5, -1, 0, 0, 0}},
        {"row_bytes_per_ms_max", false, {lines, 21375000, 5, -1, 0, 0, 0}},
        /* processor_share_min 0.1 of 100 ms */
        {"processor_share_min", true, {lines, 10 * MIB, 5, -1, 0, 11, 0}},
        {"processor_share_min", false, {lines, 10 * MIB, 5, -1, 0, 9, 0}},
        /* saving_share_min 0.02: four slots wait 27 s that 20 MB/s would not take, of 1250 and of 1530 s */
        {"saving_share_min", true, {lines, 587 * MIB / 100, 5, -1, 0, 0, 1250000}},
        {"saving_share_min", false, {lines, 587 * MIB / 100, 5, -1, 0, 0, 1530000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scanned(cases[i].scan);
        scene_judge(&scene, "slow-read", cases[i].finds, cases[i].threshold);
    }
}

static void test_slow_listing(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        int64_t listing_ms, ends_ms;
    } cases[] = {
        /* listing_ms_min 5000, listing_share_min 0.1 of 200 s */
        {"listing_ms_min", true, 5500, 30000},
        {"listing_ms_min", false, 4500, 30000},
        {"listing_share_min", true, 22000, 200000},
        {"listing_share_min", false, 18000, 200000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_new(2, 2);
        scene_query(&scene, 7);
        scene.now += cases[i].listing_ms + 500;
        int64_t at = io_stage(&scene, 8, 5000, (struct io_work){40 * MIB, 0, 80});
        scene_node(&scene, -1, "HashAggregate", NULL, NULL);
        io_scan_node(&scene, 0, at, "Scan parquet ", NULL, 8, 320 * MIB, 1000000);
        scene_metric(&scene, -1, "metadata time", cases[i].listing_ms);
        scene.now = SCENE_START + cases[i].ends_ms;
        scene_judge(&scene, "slow-read", cases[i].finds, cases[i].threshold);
    }
}

/* A query that only writes: `tasks` of `ms`, then the driver's commit. */
struct written {
    unsigned executors, tasks;
    int64_t ms, bytes, cpu_percent, files, task_commit_ms, commit_ms, deserialize_cpu, ends_ms;
};

static void write_work(struct fixture_task *task, unsigned index, void *context)
{
    const struct written *of = context;
    struct scan scan = {NULL, 0, of->cpu_percent, 0, 0, of->deserialize_cpu, 0};
    scan_work(task, index, &scan);
    task->row[PYRO_TASK_output_bytes] = of->bytes;
}

static struct scene written(struct written of)
{
    struct scene scene = scene_new(of.executors, 2);
    scene_query(&scene, 7);
    struct pyro_stage *stage = scene_stage(&scene, of.tasks, &of.ms, 1, write_work, &of);
    stage->sql = 7;
    scene_node(&scene, -1, "Execute InsertIntoHadoopFsRelationCommand", NULL, NULL);
    scene_metric(&scene, -1, "number of written files", of.files);
    scene_metric(&scene, -1, "written output", of.tasks * of.bytes);
    scene_metric(&scene, stage->id, "task commit time", of.task_commit_ms);
    scene_metric(&scene, -1, "job commit time", of.commit_ms);
    scene.now += of.commit_ms + 500;
    scene.app->sql.items[0].completed_ms = scene.now;
    if (of.ends_ms)
        scene.now = SCENE_START + of.ends_ms;
    return scene;
}

static void test_slow_write(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct written written;
    } cases[] = {
        /* commit_ms_min 2000 */
        {"commit_ms_min", true, {2, 8, 5000, 40 * MIB, 80, 8, 20, 2200, 0, 0}},
        {"commit_ms_min", false, {2, 8, 5000, 40 * MIB, 80, 8, 20, 1800, 0, 0}},
        /* task_commit_share_min 0.2 of 40 s */
        {"task_commit_share_min", true, {2, 8, 5000, 40 * MIB, 80, 8, 8800, 0, 0, 0}},
        {"task_commit_share_min", false, {2, 8, 5000, 40 * MIB, 80, 8, 7200, 0, 0, 0}},
        /* written_bytes_min 64 MiB of twelve tasks, file_bytes_min 1 MiB of 120 MiB */
        {"written_bytes_min", true, {2, 12, 10000, 587 * MIB / 100, 10, 12, 20, 0, 0, 0}},
        {"written_bytes_min", false, {2, 12, 10000, 48 * MIB / 10, 10, 12, 20, 0, 0, 0}},
        {"file_bytes_min", true, {2, 12, 10000, 10 * MIB, 10, 109, 20, 0, 0, 0}},
        {"file_bytes_min", false, {2, 12, 10000, 10 * MIB, 10, 133, 20, 0, 0, 0}},
        /* wait_share_min 0.6, bytes_per_ms_max 2048 in 108 s of waiting */
        {"wait_share_min", true, {2, 12, 10000, 10 * MIB, 34, 12, 20, 0, 0, 0}},
        {"wait_share_min", false, {2, 12, 10000, 10 * MIB, 46, 12, 20, 0, 0, 0}},
        {"bytes_per_ms_max", true, {2, 12, 10000, 16650000, 10, 12, 20, 0, 0, 0}},
        {"bytes_per_ms_max", false, {2, 12, 10000, 20250000, 10, 12, 20, 0, 0, 0}},
        /* processor_share_min 0.1 of 100 ms */
        {"processor_share_min", true, {2, 12, 10000, 10 * MIB, 10, 12, 20, 0, 11, 0}},
        {"processor_share_min", false, {2, 12, 10000, 10 * MIB, 10, 12, 20, 0, 9, 0}},
        /* writer_bytes_min 128 MiB, writer_bytes_per_ms_min 4096, used_slots_share_max 0.5: 4 and 5 of 8 */
        {"writer_bytes_min", true, {2, 1, 20000, 141 * MIB, 90, 1, 20, 0, 0, 0}},
        {"writer_bytes_min", false, {2, 1, 20000, 115 * MIB, 90, 1, 20, 0, 0, 0}},
        {"writer_bytes_per_ms_min", true, {2, 1, 40000, 180000000, 90, 1, 20, 0, 0, 0}},
        {"writer_bytes_per_ms_min", false, {2, 1, 40000, 148000000, 90, 1, 20, 0, 0, 0}},
        {"used_slots_share_max", true, {4, 4, 20000, 200 * MIB, 90, 4, 20, 0, 0, 0}},
        {"used_slots_share_max", false, {4, 5, 20000, 200 * MIB, 90, 5, 20, 0, 0, 0}},
        /* saving_share_min 0.01: 5 s of 455 and of 556 s */
        {"saving_share_min", true, {2, 8, 5000, 40 * MIB, 80, 8, 20, 5000, 0, 455000}},
        {"saving_share_min", false, {2, 8, 5000, 40 * MIB, 80, 8, 20, 5000, 0, 556000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = written(cases[i].written);
        scene_judge(&scene, "slow-write", cases[i].finds, cases[i].threshold);
    }
}

static void test_small_output_files(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        int64_t files, bytes;
        double harm; /* 0: quiet */
    } cases[] = {
        /* mean_bytes_max 4 MiB */
        {"mean_bytes_max", 900, 3240 * MIB, 0.2},
        {"mean_bytes_max", 900, 3960 * MIB, 0},
        /* excess_files_min 50, harm_files_min 100, heavy_files_min 10000: in addition to the one that is needed */
        {"excess_files_min", 56, 56 * MIB, 0.1},
        {"excess_files_min", 46, 46 * MIB, 0},
        {"harm_files_min", 111, 111 * MIB, 0.2},
        {"harm_files_min", 91, 91 * MIB, 0.1},
        {"heavy_files_min", 11001, 110 * MIB, 0.5},
        {"heavy_files_min", 9001, 90 * MIB, 0.2},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = written((struct written){2, 8, 5000, cases[i].bytes / 8, 80, cases[i].files, 20, 0, 0, 0});
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "small-output-files");
        if ((finding ? finding->harm : 0) != cases[i].harm)
            fail_msg("wrong near %s", cases[i].threshold);
        scene_free(&scene);
    }
    /* target_bytes 128 MiB of 540 MiB */
    struct scene scene = written((struct written){2, 8, 5000, 540 * MIB / 8, 80, 900, 20, 0, 0, 0});
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "small-output-files");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->advice[0].code, "repartition(5)"));
    scene_free(&scene);
}

static void test_unsplittable_input(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds, sql;
        int64_t mib, ms, ends_ms;
    } cases[] = {
        /* split_ratio_min 1.5 of 128 MiB, rdd_task_bytes_min 192 MiB */
        {"split_ratio_min", true, true, 211, 20000, 0},
        {"split_ratio_min", false, true, 173, 20000, 0},
        {"rdd_task_bytes_min", true, false, 211, 20000, 0},
        {"rdd_task_bytes_min", false, false, 173, 20000, 0},
        /* task_ms_min 3000 */
        {"task_ms_min", true, true, 300, 3300, 0},
        {"task_ms_min", false, true, 300, 2700, 0},
        /* saving_share_min 0.02: two of four slots were idle for 20 s, of 455 and of 556 s */
        {"saving_share_min", true, true, 300, 20000, 455000},
        {"saving_share_min", false, true, 300, 20000, 556000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_new(2, 2);
        fixture_property(scene.app, "spark", "spark.sql.files.minPartitionNum", "1");
        scene_query(&scene, 7);
        int64_t at = io_stage(&scene, 2, cases[i].ms, (struct io_work){cases[i].mib * MIB, 0, 90});
        if (cases[i].sql) {
            scene_node(&scene, -1, "HashAggregate", NULL, NULL);
            io_scan_node(&scene, 0, at, "Scan json ", stored, 2, 2 * cases[i].mib * MIB, 1000000);
        } else {
            scene.app->stages.items[at].sql = PYRO_NONE;
        }
        if (cases[i].ends_ms)
            scene.now = SCENE_START + cases[i].ends_ms;
        scene_judge(&scene, "unsplittable-input", cases[i].finds, cases[i].threshold);
    }
}

/* Four queries parse the same files; together they take four slots for what their bytes cost. */
static void test_parsing_of_rows(void **state)
{
    (void)state;
    static const struct {
        const char *threshold, *name;
        bool finds;
        int64_t kib, ends_ms;
    } cases[] = {
        /* bytes_min 32 MiB */
        {"bytes_min", "Scan xml ", true, 36045, 0},
        {"bytes_min", "Scan xml ", false, 29491, 0},
        /* csv_ms_per_mib 15, json 20, xml 40, text 5: with saving_share_min 0.02 of the wall time */
        {"csv_ms_per_mib", "Scan csv ", true, 102400, 68000},
        {"csv_ms_per_mib", "Scan csv ", false, 102400, 83000},
        {"json_ms_per_mib", "Scan json ", true, 102400, 91000},
        {"json_ms_per_mib", "Scan json ", false, 102400, 111000},
        {"xml_ms_per_mib", "Scan xml ", true, 102400, 182000},
        {"xml_ms_per_mib", "Scan xml ", false, 102400, 222000},
        {"text_ms_per_mib", "Scan text ", true, 204800, 45500},
        {"text_ms_per_mib", "Scan text ", false, 204800, 55500},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_new(2, 2);
        int64_t bytes = cases[i].kib * 1024;
        for (int64_t k = 0; k < 4; k++) {
            scene_query(&scene, 7 + k);
            struct io_work of = {bytes / 8, 0, 90};
            struct pyro_stage *stage = scene_stage(&scene, 8, &(int64_t){4000}, 1, io_work, &of);
            stage->sql = 7 + k;
            scene_node(&scene, -1, "HashAggregate", NULL, NULL);
            io_scan_node(&scene, 0, stage->id, cases[i].name, "Location: InMemoryFileIndex(1 paths)[file:/t]", 8, bytes,
                         1000000);
            scene.app->sql.items[k].completed_ms = scene.now;
        }
        if (cases[i].ends_ms)
            scene.now = SCENE_START + cases[i].ends_ms;
        scene_judge(&scene, "row-format", cases[i].finds, cases[i].threshold);
    }
}

/* Ten seconds on four slots write; the run takes 64 s. */
static void test_compression_of_rows(void **state)
{
    (void)state;
    static const struct {
        const char *threshold, *format, *codec;
        int64_t mib;
        bool finds;
        double harm;
    } cases[] = {
        /* plain_bytes_min 256 MiB, plain_text_bytes_min 1 GiB, heavy_bytes_min 10 GiB */
        {"plain_bytes_min", "Parquet", "none", 282, true, 0.2},
        {"plain_bytes_min", "Parquet", "none", 230, false, 0},
        {"plain_text_bytes_min", "CSV", "none", 1126, true, 0.2},
        {"plain_text_bytes_min", "CSV", "none", 922, false, 0},
        {"heavy_bytes_min", "Parquet", "none", 11264, true, 0.5},
        {"heavy_bytes_min", "Parquet", "none", 9216, true, 0.2},
        /* slow_ms_per_mib 100, slowest_ms_per_mib 250: on four slots, to be 0.02 of 64 s */
        {"slow_ms_per_mib", "Parquet", "gzip", 57, true, 0},
        {"slow_ms_per_mib", "Parquet", "gzip", 47, false, 0},
        {"slowest_ms_per_mib", "JSON", "bzip2", 22, true, 0},
        {"slowest_ms_per_mib", "JSON", "bzip2", 19, false, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_new(2, 2);
        int64_t bytes = cases[i].mib * MIB;
        char detail[256];
        snprintf(detail, sizeof(detail),
                 "Execute InsertIntoHadoopFsRelationCommand s3://b/out, false, [day], %s, [compression=%s, path=b], "
                 "Overwrite, [id, day]",
                 cases[i].format, cases[i].codec);
        scene_query(&scene, 7);
        int64_t at = io_stage(&scene, 8, 5000, (struct io_work){0, bytes / 8, 80});
        scene_node(&scene, -1, "Execute InsertIntoHadoopFsRelationCommand", detail, NULL);
        scene_metric(&scene, -1, "number of written files", 8);
        scene_metric(&scene, -1, "written output", bytes);
        scene_metric(&scene, at, "task commit time", 20);
        scene.now = SCENE_START + 64000;
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "row-format");
        if ((finding != NULL) != cases[i].finds || (finding && cases[i].harm > 0 && finding->harm != cases[i].harm))
            fail_msg("wrong near %s", cases[i].threshold);
        scene_free(&scene);
    }
}

static void test_full_scan(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        int64_t partitions, kept, mib, ends_ms;
    } cases[] = {
        /* partitions_min 10, kept_rows_share_max 0.2 of a million, bytes_min 32 MiB */
        {"partitions_min", true, 11, 25000, 320, 0},
        {"partitions_min", false, 9, 25000, 320, 0},
        {"kept_rows_share_max", true, 40, 180000, 320, 0},
        {"kept_rows_share_max", false, 40, 220000, 320, 0},
        {"bytes_min", true, 40, 25000, 35, 0},
        {"bytes_min", false, 40, 25000, 29, 0},
        /* saving_share_min 0.02: 0.9 x 39 / 40 of 20 s, of 797 and of 975 s */
        {"saving_share_min", true, 40, 25000, 320, 797000},
        {"saving_share_min", false, 40, 25000, 320, 975000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_new(2, 2);
        scene_query(&scene, 7);
        int64_t at = io_stage(&scene, 8, 10000, (struct io_work){cases[i].mib * MIB / 8, 0, 80});
        scene_node(&scene, -1, "HashAggregate", NULL, NULL);
        scene_node(&scene, 0, "Filter", "Filter (to_date(at#1) = 19743)", NULL);
        scene_metric(&scene, at, "number of output rows", cases[i].kept);
        io_scan_node(&scene, 1, at, "Scan parquet ", "PartitionFilters: []\nReadSchema: struct<at:timestamp>", 40,
                     cases[i].mib * MIB, 1000000);
        scene_metric(&scene, -1, "number of partitions read", cases[i].partitions);
        if (cases[i].ends_ms)
            scene.now = SCENE_START + cases[i].ends_ms;
        scene_judge(&scene, "full-scan", cases[i].finds, cases[i].threshold);
    }
}

static void test_python_udf(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        int64_t rows, ends_ms;
    } cases[] = {
        /* rows_min 50000 */
        {"rows_min", true, 55000, 0},
        {"rows_min", false, 45000, 0},
        /* row_ms_max 0.05 and saving_share_min 0.02: 0.9 of 10.2 s on four slots, of 104 and of 128 s */
        {"row_ms_max", true, 200000, 104000},
        {"row_ms_max", false, 200000, 127500},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_new(2, 2);
        scene_query(&scene, 7);
        int64_t at = io_stage(&scene, 8, 10000, (struct io_work){10 * MIB, 0, 10});
        scene_node(&scene, -1, "HashAggregate", NULL, NULL);
        scene_node(&scene, 0, "BatchEvalPython", "BatchEvalPython [label(text#43)#59], [pythonUDF0#71]", NULL);
        scene_metric(&scene, at, "number of output rows", cases[i].rows);
        if (cases[i].ends_ms)
            scene.now = SCENE_START + cases[i].ends_ms;
        scene_judge(&scene, "python-udf", cases[i].finds, cases[i].threshold);
    }
}

struct window {
    int64_t rows, ms, spill_mib, ends_ms;
};

static void sorts(struct fixture_task *task, unsigned index, void *context)
{
    const struct window *of = context;
    (void)index;
    task->row[PYRO_TASK_shuffle_local_bytes] = 300 * MIB;
    task->row[PYRO_TASK_shuffle_read_records] = of->rows;
    task->row[PYRO_TASK_disk_spill_bytes] = of->spill_mib * MIB;
}

static struct scene ranked(struct window of)
{
    struct scene scene = scene_new(2, 2);
    scene_query(&scene, 7);
    int64_t from = io_stage(&scene, 8, 5000, (struct io_work){40 * MIB, 0, 80});
    struct pyro_stage *stage = scene_stage(&scene, 1, &of.ms, 1, sorts, &of);
    stage->sql = 7;
    int64_t at = stage->id;
    scene_node(&scene, -1, "Window", "Window [row_number() ...], [text#1 ASC NULLS FIRST]", NULL);
    scene_metric(&scene, at, "spill size", 0);
    scene_node(&scene, 0, "Sort", NULL, NULL);
    scene_metric(&scene, at, "sort time", 900);
    scene_node(&scene, 1, "Exchange", "Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=32]", NULL);
    scene_metric(&scene, from, "shuffle records written", of.rows);
    scene_metric(&scene, at, "records read", of.rows);
    if (of.ends_ms)
        scene.now = SCENE_START + of.ends_ms;
    return scene;
}

static void test_global_window(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct window window;
    } cases[] = {
        /* rows_min 100000, task_ms_min 2000 */
        {"rows_min", true, {110000, 16000, 0, 0}},
        {"rows_min", false, {90000, 16000, 0, 0}},
        {"task_ms_min", true, {2400000, 2200, 0, 0}},
        {"task_ms_min", false, {2400000, 1800, 0, 0}},
        /* saving_share_min 0.02: three quarters of 16 s, of 545 and of 667 s */
        {"saving_share_min", true, {2400000, 16000, 0, 545000}},
        {"saving_share_min", false, {2400000, 16000, 0, 667000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = ranked(cases[i].window);
        scene_judge(&scene, "global-window", cases[i].finds, cases[i].threshold);
    }
    /* spill_bytes_min 1 GiB */
    for (int64_t mib = 922; mib <= 1126; mib += 204) {
        struct scene scene = ranked((struct window){2400000, 16000, mib, 0});
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "global-window");
        assert_non_null(finding);
        assert_true((finding->failure_risk > 0) == (mib == 1126));
        scene_free(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_read),           cmocka_unit_test(test_slow_listing),
        cmocka_unit_test(test_slow_write),          cmocka_unit_test(test_small_output_files),
        cmocka_unit_test(test_unsplittable_input),  cmocka_unit_test(test_parsing_of_rows),
        cmocka_unit_test(test_compression_of_rows), cmocka_unit_test(test_full_scan),
        cmocka_unit_test(test_python_udf),          cmocka_unit_test(test_global_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
