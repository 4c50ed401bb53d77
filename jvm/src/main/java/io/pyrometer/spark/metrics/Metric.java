package io.pyrometer.spark.metrics;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** All metrics: their names, units, meanings and labels. Every series also has the labels app_id and app_name. */
public enum Metric {
    INFO("spark_application_info", Type.GAUGE, "1", "1; who started the application, and its trace",
            "spark_version", "dag_id", "task_id", "run_id", "trace_id"),
    RESOURCE_WAIT("spark_resource_wait_seconds", Type.GAUGE, "s",
            "From the start of the application to the registration of its first executor"),
    PHASE_COMPUTE("spark_phase_compute_seconds", Type.GAUGE, "s", "Time in which a stage ran, and none that writes output"),
    PHASE_WRITE("spark_phase_io_write_seconds", Type.GAUGE, "s", "Time in which a stage ran that writes output"),
    PHASE_RATIO("spark_phase_breakdown_ratio", Type.GAUGE, "1",
            "Share of the time so far of each phase; the rest is the driver's", "phase"),
    PHASE_ACTIVE("spark_phase_active", Type.GAUGE, "1", "1 for the phase of now: wait, compute, io_write or driver", "phase"),
    SUBMIT("spark_submit_seconds", Type.GAUGE, "s", "From the newest Spark Connect request that had one to its first job"),
    EXECUTORS("spark_executors", Type.GAUGE, "1",
            "Executors: asked for, at work, about to end, ended since the start", "state"),
    IDLE_EXECUTORS("spark_idle_executors", Type.GAUGE, "1", "Executors without a task"),
    SLOT_UTILIZATION("spark_slot_utilization_ratio", Type.GAUGE, "1", "Share of the task slots that have a task"),
    TASK_DURATION("spark_task_duration_seconds", Type.HISTOGRAM, "s",
            "Durations of tasks that ended well: those that wrote output, and the others", "phase"),
    TASKS("spark_tasks_total", Type.COUNTER, "1", "Task attempts that ended", "state"),
    TASK_RUN("spark_task_run_seconds_total", Type.COUNTER, "s", "Executor run time of tasks"),
    TASK_CPU("spark_task_cpu_seconds_total", Type.COUNTER, "s", "Processor time of tasks, without Python"),
    GC("spark_gc_seconds_total", Type.COUNTER, "s", "Garbage collection while tasks ran, summed over tasks"),
    GC_RATIO("spark_gc_ratio", Type.GAUGE, "1", "Share of the run time of tasks in garbage collection"),
    FULL_COLLECTIONS("spark_full_collections_total", Type.COUNTER, "1", "Full garbage collections of executors"),
    DESERIALIZE("spark_task_deserialize_seconds_total", Type.COUNTER, "s", "Time to deserialize tasks"),
    SERIALIZE("spark_task_serialize_seconds_total", Type.COUNTER, "s", "Time to serialize results of tasks"),
    INPUT("spark_input_bytes_total", Type.COUNTER, "By", "Bytes that tasks read from storage and caches"),
    OUTPUT("spark_output_bytes_total", Type.COUNTER, "By", "Bytes that tasks wrote to storage"),
    SHUFFLE_READ("spark_shuffle_read_bytes_total", Type.COUNTER, "By", "Shuffle bytes read"),
    SHUFFLE_WRITE("spark_shuffle_write_bytes_total", Type.COUNTER, "By", "Shuffle bytes written"),
    FETCH_WAIT("spark_shuffle_fetch_wait_seconds_total", Type.COUNTER, "s", "Time in which tasks waited for shuffle blocks"),
    MEMORY_SPILL("spark_memory_spill_bytes_total", Type.COUNTER, "By", "Bytes in memory of what tasks spilled"),
    DISK_SPILL("spark_disk_spill_bytes_total", Type.COUNTER, "By", "Bytes on disk of what tasks spilled"),
    STAGE_DURATION("spark_stage_duration_seconds", Type.GAUGE, "s", "Duration of the 20 longest stage attempts",
            "stage", "attempt", "stage_name", "phase"),
    SHUFFLE_SKEW("spark_shuffle_skew_ratio", Type.GAUGE, "1",
            "Most shuffle bytes that one task of the stage read, by the mean of its tasks", "stage", "attempt"),
    TASK_SKEW("spark_task_size_skew_ratio", Type.GAUGE, "1",
            "Most bytes that one task of the stage read, by the median of its tasks", "stage", "attempt"),
    EXECUTOR_PEAK("spark_executor_peak_memory_bytes", Type.GAUGE, "By",
            "Largest memory seen in the 100 executors that used most", "executor", "kind"),
    COMMIT("spark_commit_seconds", Type.GAUGE, "s",
            "Committing output: of tasks (sum), of jobs (sum), of that the clean-up after it (S3A's magic committer), and for how long "
                    + "a job's commit and its clean-up have been running", "step"),
    STREAM_BATCH("spark_streaming_batch_duration_seconds", Type.GAUGE, "s", "Duration of the newest batch", "query"),
    STREAM_INPUT("spark_streaming_input_rows_per_second", Type.GAUGE, "1/s", "Rows that arrive", "query"),
    STREAM_PROCESSED("spark_streaming_processed_rows_per_second", Type.GAUGE, "1/s", "Rows that are processed", "query"),
    STREAM_BACKLOG("spark_streaming_backlog", Type.GAUGE, "1",
            "What sources have that was not read yet, as they count it", "query", "measure"),
    STREAM_WATERMARK("spark_streaming_watermark_delay_seconds", Type.GAUGE, "s",
            "From the watermark to the newest event time", "query"),
    STREAM_STATE("spark_streaming_state_rows", Type.GAUGE, "1", "Rows of state", "query"),
    QUEUE_LAG("spark_listener_queue_lag_seconds", Type.GAUGE, "s",
            "How long ago the newest event happened when Spark's queue handed it to the plugin"),
    EVENTS_DROPPED("spark_events_dropped_total", Type.COUNTER, "1",
            "Events that a full queue lost: Spark's own queues, the plugin's (pyrometer), and log records for a collector (otlp)", "queue"),
    FILE_BYTES("spark_filesystem_bytes_total", Type.COUNTER, "By", "Bytes read from and written to file systems",
            "filesystem", "direction"),
    FILE_OPERATIONS("spark_filesystem_operations_total", Type.COUNTER, "1", "Calls and requests", "filesystem", "operation"),
    FILE_TIMED("spark_filesystem_timed_operations_total", Type.COUNTER, "1", "Operations of which the duration is known",
            "filesystem", "operation"),
    FILE_SECONDS("spark_filesystem_operation_seconds_total", Type.COUNTER, "s", "Time of these operations",
            "filesystem", "operation"),
    FILE_MULTIPART("spark_filesystem_multipart_uploads_total", Type.COUNTER, "1",
            "Multipart uploads begun, completed, aborted", "filesystem", "state"),
    FILE_RETRIES("spark_filesystem_retries_total", Type.COUNTER, "1", "Requests that were tried again", "filesystem"),
    FILE_THROTTLES("spark_filesystem_throttles_total", Type.COUNTER, "1", "Requests that the store refused for their rate",
            "filesystem"),
    MALFORMED_CONTEXTS("spark_trace_contexts_malformed_total", Type.COUNTER, "1", "Trace contexts that were ignored"),
    SPANS("spark_telemetry_spans_total", Type.COUNTER, "1", "Spans of the plugin: exported, dropped, failed", "state");

    /** How values of a metric relate to time. */
    public enum Type {
        GAUGE("gauge"),
        COUNTER("counter"),
        HISTOGRAM("histogram");

        final String text;

        Type(String text) {
            this.text = text;
        }
    }

    public final String text;
    public final Type type;
    /** As OpenTelemetry writes units (UCUM). */
    public final String unit;
    public final String help;
    public final List<String> labels;
    /** Of its one label, where these are few. */
    public final List<String> values;

    Metric(String text, Type type, String unit, String help, String... labels) {
        this.text = text;
        this.type = type;
        this.unit = unit;
        this.help = help;
        this.labels = Collections.unmodifiableList(Arrays.asList(labels));
        this.values = Collections.unmodifiableList(Arrays.asList(valuesOf(text)));
    }

    private static String[] valuesOf(String metric) {
        switch (metric) {
            case "spark_executors":
                return new String[] {"pending", "running", "draining", "removed"};
            case "spark_phase_breakdown_ratio":
                return new String[] {"wait", "compute", "io_write"};
            case "spark_phase_active":
                return new String[] {"wait", "compute", "io_write", "driver"};
            case "spark_tasks_total":
                return new String[] {"succeeded", "failed", "killed"};
            case "spark_commit_seconds":
                return new String[] {"task", "job", "cleanup", "running", "cleanup_running"};
            case "spark_telemetry_spans_total":
                return new String[] {"exported", "dropped", "failed"};
            default:
                return new String[0];
        }
    }
}
