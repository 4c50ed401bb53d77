/* small-output-files: the output lies in many files far smaller than 128 MiB; a reader pays for each. */
#include <math.h>

#include "analyze/app_facts.h"
#include "predict/fitted.h"
#include "rules/cases/sites.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/plans/writes.h"

/* Creating and closing a file costs a task what predictions say of local disks and HDFS; several times that on object
 * stores. */
static double create_ms(const struct pyro_app *app, const struct pyro_write *write)
{
    struct pyro_slice detail = write->node >= 0 ? app->sql_nodes.items[write->node].detail : PYRO_SLICE_NULL;
    bool columns = detail.len && (pyro_slice_find(detail, "Parquet") || pyro_slice_find(detail, "ORC"));
    return pyro_constants[columns ? PYRO_CONSTANT_COLUMNS_FILE_MS : PYRO_CONSTANT_FILE_MS];
}

/* Most of a stage's time belongs to what it computes. */
#define MOST 0.8

enum { MEAN_BYTES, EXCESS_MIN, HARM_FILES, HEAVY_FILES, TARGET_BYTES };
static const struct pyro_threshold thresholds[] = {
    [MEAN_BYTES] =
        {"mean_bytes_max", 4.0 * 1024 * 1024, "bytes",
         "Maximum mean file size: smaller files cost more to open than to read by Spark's estimate (openCostInBytes)"},
    [EXCESS_MIN] = {"excess_files_min", 50, "count", "Quiet with fewer superfluous files"},
    [HARM_FILES] = {"harm_files_min", 100, "count",
                    "At this number of superfluous files, readers of the output are slower"},
    [HEAVY_FILES] = {"heavy_files_min", 10000, "count",
                     "At this number of superfluous files, the file system and all its users are slower"},
    [TARGET_BYTES] = {"target_bytes", 128.0 * 1024 * 1024, "bytes", "Recommendation: files of this size"},
};

enum { FILES, BYTES, PARTITIONS, EXCESS, TASKS, CREATING };

/* The column of partitionBy() has too many values: even one file in each directory is too small. */
static bool is_too_fine(struct pyro_rule_context *context, double bytes, double directories)
{
    return directories >= pyro_limit(context, HARM_FILES) && bytes / directories < pyro_limit(context, MEAN_BYTES);
}

static void examine(struct pyro_rule_context *context, struct pyro_spots *spots, const struct pyro_write *write)
{
    if (write->files < 1 || write->bytes / write->files >= pyro_limit(context, MEAN_BYTES))
        return;
    double needed = fmax(ceil(write->bytes / pyro_limit(context, TARGET_BYTES)), 1);
    if (!is_too_fine(context, write->bytes, write->partitions))
        needed = fmax(needed, write->partitions);
    double excess = write->files - needed;
    if (excess < pyro_limit(context, EXCESS_MIN))
        return;
    struct pyro_spot *spot = pyro_spots_add(context, spots, write->stage);
    if (!spot)
        return;
    spot->weight = excess;
    spot->value[FILES] = write->files;
    spot->value[BYTES] = write->bytes;
    spot->value[PARTITIONS] = write->partitions;
    spot->value[EXCESS] = excess;
    spot->value[CREATING] = excess * create_ms(context->app, write);
    spot->value[TASKS] = pyro_real(context->app->stages.items[write->stage].partitions);
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_spot *spot)
{
    const struct pyro_stage *stage = &context->app->stages.items[spot->stage];
    const char *verify =
        "In the next run \"number of written files\" of the write (Spark UI, SQL page) matches the size of the data.";
    double wanted = fmax(ceil(spot->value[BYTES] / pyro_limit(context, TARGET_BYTES)), 1);
    if (spot->value[PARTITIONS] > 0) {
        bool fine = is_too_fine(context, spot->value[BYTES], spot->value[PARTITIONS]);
        if (fine) {
            struct pyro_advice *advice = pyro_finding_advise(
                context, finding,
                pyro_say(
                    context,
                    "Partition by a coarser column (month instead of day), by buckets, or not at all: one directory "
                    "has only %s.",
                    pyro_say_bytes(context, spot->value[BYTES] / spot->value[PARTITIONS])),
                verify);
            if (advice)
                advice->code = PYRO_SLICE_LITERAL("df.withColumn(\"month\", F.trunc(\"day\", \"month\"))"
                                                  ".write.partitionBy(\"month\")...");
        }
        if (spot->value[FILES] < 2 * spot->value[PARTITIONS])
            return;
        struct pyro_advice *advice = pyro_finding_advise(
            context, finding,
            pyro_say(context,
                     "Move the rows of each output partition to one task before the write: repartition by the columns "
                     "of partitionBy(). Then each of the %.0f directories gets one file instead of up to %.0f.",
                     spot->value[PARTITIONS], ceil(spot->value[FILES] / spot->value[PARTITIONS])),
            verify);
        if (advice)
            advice->code = PYRO_SLICE_LITERAL("df.repartition(\"day\").write.partitionBy(\"day\")...  # the columns of "
                                              "partitionBy()");
        if (!fine && spot->value[BYTES] / spot->value[PARTITIONS] < pyro_limit(context, MEAN_BYTES))
            pyro_finding_advise(context, finding,
                                pyro_say(context,
                                         "Partition by a coarser column (month instead of day), or do not partition: "
                                         "one directory has only %s.",
                                         pyro_say_bytes(context, spot->value[BYTES] / spot->value[PARTITIONS])),
                                verify);
        return;
    }
    bool sql = pyro_stage_is_sql(stage), shuffled = stage->shuffle_read_bytes > 0;
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            pyro_say(context, "Write %s instead of %.0f: %s.",
                                     pyro_say_count(context, wanted, "file", "files"), spot->value[FILES],
                                     shuffled ? "use fewer partitions in the shuffle before the write"
                                              : "coalesce the output of the tasks before the write"),
                            verify);
    if (advice)
        advice->code =
            sql && shuffled
                ? PYRO_SLICE_LITERAL("df.hint(\"rebalance\").write...  # adaptive execution chooses the size")
            : sql ? pyro_say(context, "df.repartition(%.0f).write...", wanted)
                  : pyro_say(context, "rdd.coalesce(%.0f).saveAsTextFile(path)", wanted);
    double configured = pyro_sql_shuffle_partitions(context->app, finding->sql);
    if (sql && shuffled && configured > wanted && fabs(configured - spot->value[TASKS]) < 0.5) {
        advice = pyro_finding_advise(context, finding,
                                     PYRO_SLICE_LITERAL("The number of files is spark.sql.shuffle.partitions: let "
                                                        "adaptive execution coalesce small partitions."),
                                     verify);
        pyro_advice_set(context, advice, "spark.sql.adaptive.coalescePartitions.enabled", PYRO_SLICE_LITERAL("true"));
        pyro_advice_set(context, advice, "spark.sql.adaptive.coalescePartitions.parallelismFirst",
                        PYRO_SLICE_LITERAL("false"));
    }
}

static void report(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_small_output_files);
    const struct pyro_spot *spot = &spots->list.items[first];
    if (!finding)
        return;
    double excess = pyro_spots_sum(spots, first, end, EXCESS), mean = spot->value[BYTES] / fmax(spot->value[FILES], 1);
    double needed = spot->value[FILES] - spot->value[EXCESS];
    pyro_finding_at_stage(context, finding, spot->stage);
    const char *shape = "";
    if (spot->value[PARTITIONS] > 0)
        shape = spot->value[FILES] < 2 * spot->value[PARTITIONS]
                    ? pyro_say(context, " into %.0f directories", spot->value[PARTITIONS]).ptr
                    : pyro_say(context, " into %.0f directories, because each of %.0f tasks has rows for many of them",
                               spot->value[PARTITIONS], spot->value[TASKS])
                          .ptr;
    finding->cause = pyro_say(
        context, "%s wrote %.0f files of %s on average, %s in total%s. %s enough.%s",
        pyro_say_stage(context, spot->stage), spot->value[FILES], pyro_say_bytes(context, mean),
        pyro_say_bytes(context, spot->value[BYTES]), shape,
        needed > 1.5 ? pyro_say(context, "%.0f files are", needed).ptr : "One file is",
        end - first > 1 ? pyro_say(context, " This applies to %zu writes at this call site.", end - first).ptr : "");
    pyro_finding_evidence(context, finding, "files", spot->value[FILES], needed, "count");
    pyro_finding_evidence(context, finding, "mean_file_bytes", mean, pyro_limit(context, TARGET_BYTES), "bytes");
    pyro_finding_evidence(context, finding, "written_bytes", spot->value[BYTES], (double)NAN, "bytes");
    if (spot->value[PARTITIONS] > 0)
        pyro_finding_evidence(context, finding, "partition_directories", spot->value[PARTITIONS], (double)NAN, "count");
    pyro_finding_merged(context, finding, "writes", end - first);
    advise(context, finding, spot);
    finding->harm = excess >= pyro_limit(context, HEAVY_FILES)  ? 0.5
                    : excess >= pyro_limit(context, HARM_FILES) ? 0.2
                                                                : 0.1;
    finding->confidence *= pyro_stage_is_sql(&context->app->stages.items[spot->stage]) ? 0.95 : 0.85;
    for (size_t i = first; i < end; i++) {
        const struct pyro_spot *one = &spots->list.items[i];
        double run = fmax(pyro_real(context->app->stages.items[one->stage].run_ms), 1);
        pyro_remedy_stage(context, finding, one->stage, 1 - fmin(one->value[CREATING] / run, MOST));
    }
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    struct pyro_writes writes;
    struct pyro_spots spots = {0};
    if (!pyro_writes_load(context, &writes))
        return PYRO_VERDICT_QUIET;
    enum pyro_verdict verdict = writes.list.count ? PYRO_VERDICT_QUIET : PYRO_VERDICT_NOT_APPLICABLE;
    for (size_t i = 0; i < writes.list.count && !context->failed; i++)
        examine(context, &spots, &writes.list.items[i]);
    pyro_spots_group(context, &spots);
    for (size_t i = 0, end; i < spots.list.count && !context->failed; i = end) {
        end = pyro_spots_end(&spots, i);
        report(context, &spots, i, end);
        verdict = PYRO_VERDICT_FINDING;
    }
    pyro_spots_done(context, &spots);
    pyro_writes_done(context, &writes);
    return verdict;
}

const struct pyro_rule pyro_rule_small_output_files = {
    .id = "small-output-files",
    .category = "io",
    .title = "Small output files",
    .summary = "The output is in many files far smaller than 128 MiB, which makes reading it slow.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
