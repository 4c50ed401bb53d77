package io.pyrometer.spark.driver;

import io.pyrometer.spark.run.Executor;
import io.pyrometer.spark.run.Task;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.executor.ExecutorMetrics;
import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerApplicationStart;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;

/**
 * Spark's events, on Spark's thread: takes what is needed out of each and hands it to the plugin's thread. Nothing that happens here
 * may reach Spark.
 */
final class RunListener extends SparkListener {
    private static final int TEXT = 8192;
    private static final String[] LOCALITIES = new String[8];

    private final EventQueue queue;
    private final TaskCommits commits = new TaskCommits();

    RunListener(EventQueue queue) {
        this.queue = queue;
    }

    /** Whatever goes wrong in `take` stays here. */
    private void guard(Runnable take) {
        if (queue.isOff()) {
            return;
        }
        try {
            take.run();
        } catch (Throwable error) {
            queue.failed(error);
        }
    }

    private static String cut(String text) {
        return text == null || text.length() <= TEXT ? text : text.substring(0, TEXT);
    }

    @Override
    public void onApplicationStart(SparkListenerApplicationStart event) {
        guard(() -> applicationStart(event));
    }

    private void applicationStart(SparkListenerApplicationStart event) {
        long time = event.time();
        queue.came(time);
        queue.add(watcher -> watcher.applicationStarted(time));
    }

    @Override
    public void onApplicationEnd(SparkListenerApplicationEnd event) {
        guard(() -> applicationEnd(event));
    }

    private void applicationEnd(SparkListenerApplicationEnd event) {
        long time = event.time();
        queue.addLast(watcher -> watcher.applicationEnded(time));
    }

    @Override
    public void onExecutorAdded(SparkListenerExecutorAdded event) {
        guard(() -> executorAdded(event));
    }

    private void executorAdded(SparkListenerExecutorAdded event) {
        long requested = Scala.number(event.executorInfo().requestTime(), -1);
        long registered = Scala.number(event.executorInfo().registrationTime(), -1);
        Executor executor = new Executor(event.executorId(), event.executorInfo().executorHost(),
                event.executorInfo().totalCores(), event.time(), requested, registered);
        queue.came(event.time());
        queue.add(watcher -> watcher.executorAdded(executor));
    }

    @Override
    public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
        guard(() -> executorRemoved(event));
    }

    private void executorRemoved(SparkListenerExecutorRemoved event) {
        String id = event.executorId();
        String reason = event.reason();
        long time = event.time();
        queue.came(time);
        queue.add(watcher -> watcher.executorRemoved(id, time, reason));
    }

    @Override
    public void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate event) {
        guard(() -> executorMetricsUpdate(event));
    }

    private void executorMetricsUpdate(SparkListenerExecutorMetricsUpdate event) {
        String id = event.execId();
        long heap = -1;
        long offHeap = -1;
        long collections = -1;
        for (Object pair : Scala.list(Scala.call(event, "executorUpdates"))) {
            Object metrics = Scala.call(pair, "_2");
            if (metrics instanceof ExecutorMetrics) {
                heap = Math.max(heap, peak((ExecutorMetrics) metrics, "JVMHeapMemory"));
                offHeap = Math.max(offHeap, peak((ExecutorMetrics) metrics, "JVMOffHeapMemory"));
                collections = Math.max(collections, peak((ExecutorMetrics) metrics, "MajorGCCount"));
            }
        }
        long[] peaks = {heap, offHeap, collections};
        if (heap >= 0) {
            queue.add(watcher -> watcher.executorPeaks(id, peaks));
        }
    }

    private static long peak(ExecutorMetrics metrics, String name) {
        try {
            return metrics.getMetricValue(name);
        } catch (RuntimeException error) {
            return -1; // a version without this metric
        }
    }

    @Override
    public void onJobStart(SparkListenerJobStart event) {
        guard(() -> jobStart(event));
    }

    private void jobStart(SparkListenerJobStart event) {
        JobStart start = new JobStart(event.jobId(), event.time(), Scala.list(Scala.call(event, "stageIds")),
                event.properties());
        queue.came(event.time());
        queue.add(watcher -> watcher.jobStarted(start));
    }

    @Override
    public void onJobEnd(SparkListenerJobEnd event) {
        guard(() -> jobEnd(event));
    }

    private void jobEnd(SparkListenerJobEnd event) {
        Object failure = Scala.call(event.jobResult(), "exception");
        String error = failure instanceof Throwable ? cut(String.valueOf(((Throwable) failure).getMessage())) : null;
        int id = event.jobId();
        long time = event.time();
        queue.came(time);
        queue.add(watcher -> watcher.jobEnded(id, time, error));
    }

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted event) {
        guard(() -> stageSubmitted(event));
    }

    private void stageSubmitted(SparkListenerStageSubmitted event) {
        StageInfo info = event.stageInfo();
        int id = info.stageId();
        int attempt = info.attemptNumber();
        String name = info.name();
        int tasks = info.numTasks();
        long submitted = Scala.number(info.submissionTime(), -1);
        queue.came(submitted);
        queue.add(watcher -> watcher.stageSubmitted(id, attempt, name, tasks, submitted));
    }

    @Override
    public void onStageCompleted(SparkListenerStageCompleted event) {
        guard(() -> stageCompleted(event));
    }

    private void stageCompleted(SparkListenerStageCompleted event) {
        StageInfo info = event.stageInfo();
        int id = info.stageId();
        int attempt = info.attemptNumber();
        long submitted = Scala.number(info.submissionTime(), -1);
        long completed = Scala.number(info.completionTime(), -1);
        String failure = cut(Scala.text(info.failureReason()));
        long commitMs = commits.ms(Scala.call(info, "accumulables"));
        queue.came(completed);
        queue.add(watcher -> watcher.stageCompleted(id, attempt, submitted, completed, failure, commitMs));
    }

    @Override
    public void onTaskStart(SparkListenerTaskStart event) {
        guard(() -> taskStart(event));
    }

    private void taskStart(SparkListenerTaskStart event) {
        String executor = event.taskInfo().executorId();
        queue.addTaskStart(executor, watcher -> watcher.taskStarted(executor));
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd event) {
        guard(() -> taskEnd(event));
    }

    private void taskEnd(SparkListenerTaskEnd event) {
        Task task = new Task();
        TaskInfo info = event.taskInfo();
        task.stage = event.stageId();
        task.stageAttempt = event.stageAttemptId();
        if (info != null) {
            describe(task, info);
        }
        if (event.taskMetrics() != null) {
            measure(task, event.taskMetrics());
        }
        if (event.taskExecutorMetrics() != null) {
            task.heapPeakBytes = peak(event.taskExecutorMetrics(), "JVMHeapMemory");
            task.offHeapPeakBytes = peak(event.taskExecutorMetrics(), "JVMOffHeapMemory");
            task.fullCollections = peak(event.taskExecutorMetrics(), "MajorGCCount");
        }
        explain(task, event.reason());
        queue.came(task.finishMs);
        queue.addTaskEnd(task.executor, watcher -> watcher.taskEnded(task));
    }

    private static void describe(Task task, TaskInfo info) {
        task.id = info.taskId();
        task.index = info.index();
        task.attempt = info.attemptNumber();
        task.partition = info.partitionId();
        task.executor = info.executorId();
        task.host = info.host();
        task.locality = locality(info);
        task.speculative = info.speculative();
        task.launchMs = info.launchTime();
        task.finishMs = info.finishTime();
        task.failed = info.failed();
        task.killed = info.killed();
    }

    /** The names of an enumeration are looked up under a lock. */
    private static String locality(TaskInfo info) {
        int id = info.taskLocality().id();
        String name = id >= 0 && id < LOCALITIES.length ? LOCALITIES[id] : null;
        if (name == null) {
            name = info.taskLocality().toString();
            if (id >= 0 && id < LOCALITIES.length) {
                LOCALITIES[id] = name;
            }
        }
        return name;
    }

    private static void measure(Task task, TaskMetrics metrics) {
        task.hasMetrics = true;
        task.runMs = metrics.executorRunTime();
        task.cpuNs = metrics.executorCpuTime();
        task.gcMs = metrics.jvmGCTime();
        task.deserializeMs = metrics.executorDeserializeTime();
        task.serializeMs = metrics.resultSerializationTime();
        task.inputBytes = metrics.inputMetrics().bytesRead();
        task.outputBytes = metrics.outputMetrics().bytesWritten();
        ShuffleReadMetrics read = metrics.shuffleReadMetrics();
        task.shuffleReadBytes = read.remoteBytesRead() + read.localBytesRead();
        task.shuffleWriteBytes = metrics.shuffleWriteMetrics().bytesWritten();
        task.fetchWaitMs = read.fetchWaitTime();
        task.memorySpillBytes = metrics.memoryBytesSpilled();
        task.diskSpillBytes = metrics.diskBytesSpilled();
    }

    private static void explain(Task task, TaskEndReason reason) {
        if (reason instanceof ExceptionFailure) {
            ExceptionFailure failure = (ExceptionFailure) reason;
            task.errorClass = failure.className();
            task.errorMessage = cut(failure.description());
            task.errorStack = cut(failure.fullStackTrace());
        } else if (reason instanceof TaskFailedReason) {
            task.errorMessage = cut(((TaskFailedReason) reason).toErrorString());
        }
    }

    @Override
    public void onOtherEvent(SparkListenerEvent event) {
        guard(() -> otherEvent(event));
    }

    private void otherEvent(SparkListenerEvent event) {
        OtherEvents.take(event, queue, commits);
    }
}
