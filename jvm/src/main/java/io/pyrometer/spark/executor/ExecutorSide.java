package io.pyrometer.spark.executor;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
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
    private static final long AFTER_WRITE_MS = 1000;

    private final FileSystems fileSystems = new FileSystems();
    private PluginContext context;
    private ScheduledExecutorService timer;
    private long reportedMs;
    private boolean told;

    @Override
    public void init(PluginContext pluginContext, Map<String, String> extraConf) {
        context = pluginContext;
        String interval = extraConf.get("fileSystemsIntervalMs");
        if (interval == null) {
            return;
        }
        long ms = Long.parseLong(interval);
        timer = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "pyrometer-filesystems");
            thread.setDaemon(true);
            return thread;
        });
        timer.scheduleAtFixedRate(() -> report(0), ms, ms, TimeUnit.MILLISECONDS);
    }

    @Override
    public void onTaskStart() {
        try {
            TaskContext task = TaskContext.get();
            if (task != null) {
                MDC.put("task", Long.toString(task.taskAttemptId()));
                MDC.put("stage", task.stageId() + "." + task.stageAttemptNumber());
                TaskSpans.begin(task);
            }
        } catch (RuntimeException | LinkageError error) {
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
        try {
            TaskContext task = TaskSpans.end(status);
            MDC.remove("task");
            MDC.remove("stage");
            if (timer != null && task != null && task.taskMetrics().outputMetrics().bytesWritten() > 0) {
                timer.execute(() -> report(AFTER_WRITE_MS));
            }
        } catch (RuntimeException | LinkageError error) {
            tell(error);
        }
    }

    /** @param pauseMs since the last report, or there is none now */
    private synchronized void report(long pauseMs) {
        long now = System.currentTimeMillis();
        if (now - reportedMs < pauseMs) {
            return;
        }
        try {
            reportedMs = now;
            Map<String, Double> differences = fileSystems.differences();
            if (!differences.isEmpty()) {
                context.send(new FileSystemReport(differences));
            }
        } catch (IOException | RuntimeException | LinkageError error) {
            tell(error);
        }
    }

    private synchronized void tell(Throwable error) {
        if (!told) {
            told = true;
            LOG.warn("Pyrometer's plugin failed in this executor; further failures are not logged", error);
        }
    }

    @Override
    public void shutdown() {
        if (timer != null) {
            timer.shutdownNow();
            report(0);
        }
    }
}
