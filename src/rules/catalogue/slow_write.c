/* slow-write: output stages spend their time on writing or committing rather than on computing. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/sites.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/plans/file_scans.h"
#include "rules/plans/writes.h"

/* A fair target takes so many times the rate that counts as slow. */
#define FAIR_RATIO 5

enum {
    COMMIT_MS,
    TASK_COMMIT_SHARE,
    BYTES_MIN,
    FILE_BYTES,
    WAIT_SHARE,
    RATE_MAX,
    WRITER_BYTES,
    WRITER_RATE,
    USED_SHARE,
    PROCESSOR_SHARE,
    SAVING_SHARE
};
static const struct pyro_threshold thresholds[] = {
    [COMMIT_MS] = {"commit_ms_min", 2000, "ms", "Quiet below: shorter commits are normal on every file system"},
    [TASK_COMMIT_SHARE] = {"task_commit_share_min", 0.2, "share",
                           "Minimum share of task commits in the task time of a write"},
    [BYTES_MIN] = {"written_bytes_min", 64.0 * 1024 * 1024, "bytes",
                   "Minimum output to judge a rate: a task that calls a service writes little"},
    [FILE_BYTES] = {"file_bytes_min", 1024.0 * 1024, "bytes",
                    "Quiet if the files are smaller: then their number costs time, see small-output-files"},
    [WAIT_SHARE] = {"wait_share_min", 0.6, "share",
                    "Minimum share of a write's task time that is neither computing nor reading"},
    [RATE_MAX] = {"bytes_per_ms_max", 2048, "bytes",
                  "Maximum rate of a waiting task, per millisecond: disks and object stores accept tens of megabytes "
                  "per second"},
    [WRITER_BYTES] = {"writer_bytes_min", 128.0 * 1024 * 1024, "bytes", "Few writers: minimum output per task"},
    [WRITER_RATE] = {"writer_bytes_per_ms_min", 4096, "bytes", "Few writers: a task with this rate does little else"},
    [USED_SHARE] = {"used_slots_share_max", 0.5, "share", "Few writers: maximum share of the slots"},
    [PROCESSOR_SHARE] = {"processor_share_min", 0.1, "share",
                         "Minimum CPU share of task deserialization, which is only computing: with less the host is "
                         "overloaded, and waiting says nothing about the target"},
    [SAVING_SHARE] = {"saving_share_min", 0.01, "share", "Quiet if the saving is a smaller share of the wall time"},
};

enum kind { COMMIT, TASK_COMMIT, RATE, FEW };
enum { KIND, MS, FROM, TO, FACTOR, BYTES, FILES, WRITERS, SLOTS };

static void add(struct pyro_rule_context *context, struct pyro_spots *spots, const struct pyro_write *write,
                enum kind kind, double ms, double from_or_factor, double to)
{
    const struct pyro_app *app = context->app;
    struct pyro_spot *spot = ms > 0 ? pyro_spots_add(context, spots, write->stage) : NULL;
    if (!spot)
        return;
    spot->weight = spot->value[MS] = ms;
    spot->kind = kind == COMMIT ? 0 : 1;
    spot->value[KIND] = kind;
    spot->value[kind == COMMIT ? FROM : FACTOR] = from_or_factor;
    spot->value[TO] = to;
    spot->value[BYTES] = write->bytes;
    spot->value[FILES] = write->files;
    spot->value[WRITERS] = fmax(pyro_real(app->stages.items[write->stage].partitions), 1);
    spot->value[SLOTS] = floor(pyro_stage_slots(app, &app->stages.items[write->stage]) + 0.5);
}

/* The commit comes last: behind the last task, at the end of the query. */
static void examine_commit(struct pyro_rule_context *context, struct pyro_spots *spots, const struct pyro_write *write)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[write->stage];
    ptrdiff_t sql = stage->sql == PYRO_NONE ? -1 : pyro_app_find_sql(app, stage->sql);
    double gap = sql < 0 ? 0 : pyro_span(stage->completed_ms, app->sql.items[sql].completed_ms);
    double commit = fmin(gap, write->job_commit_ms > 0 ? write->job_commit_ms : 0);
    double to = sql < 0 ? 0 : pyro_real(app->sql.items[sql].completed_ms);
    if (commit >= pyro_limit(context, COMMIT_MS))
        add(context, spots, write, COMMIT, commit, to - commit, to);
}

/* Of what the tasks themselves did the largest reason counts. */
static void examine_tasks(struct pyro_rule_context *context, struct pyro_spots *spots,
                          const struct pyro_file_scans *scans, const struct pyro_write *write)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[write->stage];
    double run = fmax(pyro_real(stage->run_ms), 1), slots = fmax(floor(pyro_stage_slots(app, stage) + 0.5), 1);
    double writers = fmax(pyro_real(stage->partitions), 1), spread = fmin(slots, writers);
    struct pyro_stage_wait wait;
    pyro_stage_wait(scans, app, write->stage, &wait);
    /* Very small files are another rule's matter: there creating them is what takes the time. */
    bool known = scans->processor_share >= pyro_limit(context, PROCESSOR_SHARE) && !wait.python &&
                 (wait.scan_timed || wait.read_bytes < write->bytes) &&
                 write->bytes >= pyro_limit(context, FILE_BYTES) * write->files;
    double rate = write->bytes / fmax(wait.wait_ms, 1);
    double share = write->task_commit_ms > 0 ? fmin(write->task_commit_ms / run, 1) : 0;
    if (writers <= pyro_limit(context, USED_SHARE) * slots &&
        write->bytes / writers >= pyro_limit(context, WRITER_BYTES) &&
        write->bytes / run >= pyro_limit(context, WRITER_RATE))
        add(context, spots, write, FEW, run / writers - run / slots, 1, 0);
    else if (known && write->bytes >= pyro_limit(context, BYTES_MIN) &&
             wait.wait_ms >= pyro_limit(context, WAIT_SHARE) * run && rate < pyro_limit(context, RATE_MAX))
        add(context, spots, write, RATE, wait.wait_ms / spread,
            1 - wait.wait_ms / run * (1 - rate / (FAIR_RATIO * pyro_limit(context, RATE_MAX))), 0);
    else if (share >= pyro_limit(context, TASK_COMMIT_SHARE))
        add(context, spots, write, TASK_COMMIT, share * run / spread, 1 - share, 0);
}

static void advise_commit(struct pyro_rule_context *context, struct pyro_finding *finding)
{
    const char *verify = "In the next run \"job commit time\" of the write (Spark UI, SQL page) is a second or two.";
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("On an object store, where a rename is a copy, use a committer that does not rename: the "
                           "S3A magic or directory committer, the manifest committer for abfs and gs, or a table "
                           "format (Delta Lake, Iceberg, Hudi), which commits by metadata."),
        verify);
    if (advice)
        advice->code = PYRO_SLICE_LITERAL(
            "spark.hadoop.fs.s3a.committer.name=magic\n"
            "spark.sql.sources.commitProtocolClass=org.apache.spark.internal.io.cloud.PathOutputCommitProtocol\n"
            "spark.sql.parquet.output.committer.class="
            "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter");
    pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL(
            "On HDFS and disks write fewer, larger files and fewer partitions: the driver renames the files one by "
            "one. Algorithm 2 lets tasks rename, but a job that fails then leaves files in the output."),
        verify);
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_spot *spot)
{
    const double *value = spot->value;
    if ((int)value[KIND] == COMMIT) {
        advise_commit(context, finding);
        return;
    }
    if ((int)value[KIND] == FEW) {
        struct pyro_advice *advice = pyro_finding_advise(
            context, finding,
            pyro_say(context, "Let %.0f tasks write, one per slot. Files of 128 MiB or more are also good for readers.",
                     value[SLOTS]),
            "In the next run this stage has as many tasks as slots and is shorter.");
        if (advice)
            advice->code = pyro_say(context, "df.repartition(%.0f).write...  # instead of coalesce(%.0f)", value[SLOTS],
                                    value[WRITERS]);
        return;
    }
    pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Find out what limits the target: throttling of the storage (HTTP 503, SlowDown), a bucket "
                           "in another region, a full or remote disk. Write to nearer or faster storage; spread keys "
                           "over prefixes if the storage throttles requests."),
        "In the next run the bytes written per second and task are several times higher.");
    pyro_finding_advise(context, finding,
                        PYRO_SLICE_LITERAL("Send fewer bytes and requests: compressed columnar files (Parquet or ORC "
                                           "with zstd), fewer and larger files, upload in larger parts."),
                        "In the next run \"written output\" of the write is smaller.");
}

static struct pyro_slice explain(struct pyro_rule_context *context, const struct pyro_spot *spot)
{
    const double *value = spot->value;
    const struct pyro_stage *stage = &context->app->stages.items[spot->stage];
    const char *where = pyro_say_stage(context, spot->stage);
    double run = fmax(pyro_real(stage->run_ms), 1);
    switch ((int)value[KIND]) {
    case COMMIT:
        return pyro_say(context,
                        "%s: after the last task, the driver took %s to commit %.0f files (%s). It moved them to their "
                        "final location while executors waited.",
                        where, pyro_say_ms(context, value[MS]), value[FILES], pyro_say_bytes(context, value[BYTES]));
    case TASK_COMMIT:
        return pyro_say(context, "%s: its tasks spent %.0f %% of their time on committing their output.", where,
                        100 * (1 - value[FACTOR]));
    case RATE:
        return pyro_say(context,
                        "%s wrote %s in %s of task time (%s per second and task) and computed for %.0f %% of that "
                        "time: the tasks waited for the storage.",
                        where, pyro_say_bytes(context, value[BYTES]), pyro_say_ms(context, run),
                        pyro_say_bytes(context, 1000 * value[BYTES] / run), 100 * pyro_real(stage->cpu_ms) / run);
    default:
        return pyro_say(context, "%s: %s wrote %s while %.0f slots were available.", where,
                        pyro_say_count(context, value[WRITERS], "task", "tasks"), pyro_say_bytes(context, value[BYTES]),
                        value[SLOTS]);
    }
}

static void report(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    const struct pyro_spot *spot = &spots->list.items[first];
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_slow_write);
    if (!finding)
        return;
    double run = fmax(pyro_real(context->app->stages.items[spot->stage].run_ms), 1);
    int kind = (int)spot->value[KIND];
    pyro_finding_at_stage(context, finding, spot->stage);
    if (kind == COMMIT)
        finding->title = PYRO_SLICE_LITERAL("Slow output commit");
    finding->cause = explain(context, spot);
    pyro_finding_evidence(context, finding, "written_bytes", spot->value[BYTES], (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "files", spot->value[FILES], (double)NAN, "count");
    if (kind == COMMIT)
        pyro_finding_evidence(context, finding, "job_commit_ms", spot->value[MS], pyro_limit(context, COMMIT_MS), "ms");
    else if (kind == TASK_COMMIT)
        pyro_finding_evidence(context, finding, "task_commit_share", 1 - spot->value[FACTOR],
                              pyro_limit(context, TASK_COMMIT_SHARE), "share");
    else if (kind == FEW)
        pyro_finding_evidence(context, finding, "writers", spot->value[WRITERS], spot->value[SLOTS], "count");
    pyro_finding_evidence(context, finding, "bytes_per_task_second", 1000 * spot->value[BYTES] / run, (double)NAN,
                          "bytes");
    pyro_finding_merged(context, finding, "writes", end - first);
    advise(context, finding, spot);
    finding->confidence *= kind == RATE ? 0.7 : kind == FEW ? 0.8 : 0.9;
    for (size_t i = first; i < end; i++) {
        const struct pyro_spot *one = &spots->list.items[i];
        if ((int)one->value[KIND] == COMMIT)
            pyro_remedy_driver(context, finding, pyro_whole(one->value[FROM]), pyro_whole(one->value[TO]), 0.1);
        else if ((int)one->value[KIND] == FEW)
            pyro_remedy_repartition(context, finding, one->stage, pyro_whole(one->value[SLOTS]));
        else
            pyro_remedy_stage(context, finding, one->stage, one->value[FACTOR]);
    }
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    struct pyro_writes writes;
    struct pyro_file_scans scans;
    struct pyro_spots spots = {0};
    if (!pyro_writes_load(context, &writes))
        return PYRO_VERDICT_QUIET;
    enum pyro_verdict verdict = writes.list.count ? PYRO_VERDICT_QUIET : PYRO_VERDICT_NOT_APPLICABLE;
    if (writes.list.count && pyro_file_scans_load(context, &scans)) {
        for (size_t i = 0; i < writes.list.count && !context->failed; i++) {
            examine_commit(context, &spots, &writes.list.items[i]);
            examine_tasks(context, &spots, &scans, &writes.list.items[i]);
        }
        pyro_file_scans_done(context, &scans);
    }
    if (pyro_spots_report(context, &spots, pyro_limit(context, SAVING_SHARE), report))
        verdict = PYRO_VERDICT_FINDING;
    pyro_writes_done(context, &writes);
    return verdict;
}

const struct pyro_rule pyro_rule_slow_write = {
    .id = "slow-write",
    .category = "io",
    .title = "Slow writing",
    .summary = "Output stages spend their time on writing or committing, because of slow storage, renames on the "
               "driver, or few writers.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
