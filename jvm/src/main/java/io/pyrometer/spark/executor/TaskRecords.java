package io.pyrometer.spark.executor;

import java.util.Map;
import java.util.function.Consumer;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.PluginContext;

/** Which thread of this executor does which task: for the file, for LTTng, or for both. */
final class TaskRecords {
    private final TaskThreads threads;
    private final LttngTasks lttng;
    private final ThreadLocal<TaskThreads.Record> open = new ThreadLocal<>();

    private TaskRecords(TaskThreads threads, LttngTasks lttng) {
        this.threads = threads;
        this.lttng = lttng;
    }

    /** Null: no setting asks for them. */
    static TaskRecords of(PluginContext context, Map<String, String> extraConf, Consumer<Throwable> failed,
            Consumer<Throwable> lttngFailed) {
        String folder = extraConf.get("traceDir");
        boolean toLttng = extraConf.containsKey("traceLttng");
        if (folder == null && !toLttng) {
            return null;
        }
        TaskThreads threads = null;
        if (folder != null) {
            threads = new TaskThreads(folder, () -> context.conf().get("spark.app.id", null), context.executorID(), failed);
            threads.start();
        }
        LttngTasks lttng = toLttng ? new LttngTasks(Lttng::handler, lttngFailed) : null;
        if (lttng != null) {
            lttng.start();
        }
        return new TaskRecords(threads, lttng);
    }

    /** On the thread of the task. */
    void begin(TaskContext task) {
        TaskThreads.Record record = new TaskThreads.Record(task.taskAttemptId(), task.stageId(), task.stageAttemptNumber(),
                task.partitionId(), NativeThread.id(), System.nanoTime(), 0, null);
        open.set(record);
        add(record);
    }

    /** On the thread of the task. A task that failed before it began has no beginning. */
    void end(String status) {
        TaskThreads.Record record = open.get();
        if (record != null) {
            open.remove();
            add(record.ended(System.nanoTime(), status));
        }
    }

    private void add(TaskThreads.Record record) {
        if (threads != null) {
            threads.add(record);
        }
        if (lttng != null) {
            lttng.add(record);
        }
    }

    void stop(long ms) {
        try {
            if (lttng != null) {
                lttng.stop();
            }
            if (threads != null) {
                threads.stop(ms);
            }
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }
}
