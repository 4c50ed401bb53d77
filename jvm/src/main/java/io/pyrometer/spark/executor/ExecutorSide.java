package io.pyrometer.spark.executor;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** The plugin in an executor: says whose work a thread does, and reports what file systems did. */
public final class ExecutorSide implements ExecutorPlugin {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutorSide.class);
    private static final long AFTER_WRITE_NS = 1_000_000_000;
    /** In which an executor's end waits for its last report: file systems may be closing, too. */
    private static final long END_MS = 500;

    private final FileSystems fileSystems = new FileSystems();
    private PluginContext context;
    private ScheduledExecutorService timer;
    /** On the timer's thread. */
    private final Map<String, Double> unsent = new HashMap<>();
    private final AtomicBoolean asked = new AtomicBoolean();
    private volatile long reportedNs = System.nanoTime();
    /** Whether threads say whose work they do. */
    private volatile boolean names;
    /** Null: not asked for. */
    private TaskRecords records;
    private boolean told;

    @Override
    public void init(PluginContext pluginContext, Map<String, String> extraConf) {
        try {
            context = pluginContext;
            names = extraConf.containsKey("tasks");
            records = TaskRecords.of(pluginContext, extraConf, this::tell, this::tellOfLttng);
            String interval = extraConf.get("fileSystemsIntervalMs");
            if (interval != null) {
                timer = FileSystems.every(Long.parseLong(interval), this::report);
            }
        } catch (Throwable error) { // Spark would end this executor
            tell(error);
        }
    }

    @Override
    public void onTaskStart() {
        try {
            TaskContext task = names ? TaskContext.get() : null;
            if (task != null) {
                MDC.put("task", Long.toString(task.taskAttemptId()));
                MDC.put("stage", task.stageId() + "." + task.stageAttemptNumber());
                TaskSpans.begin(task);
                if (records != null) {
                    records.begin(task);
                }
            }
        } catch (Throwable error) {
            tell(error);
        }
    }

    @Override
    public void onTaskSucceeded() {
        endTask("SUCCESS");
    }

    @Override
    public void onTaskFailed(TaskFailedReason reason) {
        endTask("FAILED");
    }

    private void endTask(String status) {
        if (!names) {
            return;
        }
        try {
            if (records != null) {
                records.end(status);
            }
            TaskContext task = TaskSpans.end(status);
            MDC.remove("task");
            MDC.remove("stage");
            if (timer != null && task != null && task.taskMetrics().outputMetrics().bytesWritten() > 0
                    && System.nanoTime() - reportedNs >= AFTER_WRITE_NS && asked.compareAndSet(false, true)) {
                timer.execute(this::report);
            }
        } catch (Throwable error) {
            tell(error);
        }
    }

    /** On the timer's thread. */
    private void report() {
        try {
            asked.set(false);
            reportedNs = System.nanoTime();
            fileSystems.differences().forEach((counter, more) -> unsent.merge(counter, more, Double::sum));
            if (!unsent.isEmpty()) {
                context.send(new FileSystemReport(unsent));
                unsent.clear(); // else the next report has them
            }
        } catch (Throwable error) {
            tell(error);
        }
    }

    private void tellOfLttng(Throwable error) {
        LOG.info("Tasks are not in LTTng's trace: {} (spark.pyrometer.trace.lttng needs LTTng's agent for Java on the class "
                + "path of executors, and its native library)", error.toString());
    }

    private synchronized void tell(Throwable error) {
        if (!told) {
            told = true;
            LOG.warn("Pyrometer's plugin failed in this executor; further failures are not logged", error);
        }
    }

    @Override
    public void shutdown() {
        if (records != null) {
            records.stop(END_MS);
        }
        if (timer == null) {
            return;
        }
        try {
            timer.execute(this::report);
            timer.shutdown();
            timer.awaitTermination(END_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        } catch (Throwable error) {
            tell(error);
        } finally {
            timer.shutdownNow();
        }
    }
}
