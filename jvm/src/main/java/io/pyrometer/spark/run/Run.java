package io.pyrometer.spark.run;

import io.pyrometer.spark.metrics.Metric;
import io.pyrometer.spark.metrics.Sample;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is known of a running application. Phases mean what `pyrometer diagnose` says of the event log: waiting is the time from the
 * start to the first executor, writing the union of stage attempts whose tasks wrote output, computing the union of the others
 * outside of it.
 *
 * <p>One thread changes it, others ask for its samples. It keeps what runs, the longest stages and the executors alive, and of what
 * ended sums: memory does not grow with the run.
 */
public final class Run {
    /** Stages with series of their own. */
    public static final int STAGES = 20;
    private static final int EXECUTORS = 100;
    private static final int QUERIES = 20;
    private static final int FILE_COUNTERS = 200;
    private static final long STALE_MS = 300_000;
    /** Stage attempts that ended are kept for tasks that end later. */
    private static final int LATE_STAGES = 256;

    private long startMs = -1;
    private long endMs = -1;
    private long firstExecutorMs = -1;
    private final IntervalSet active = new IntervalSet();
    private final IntervalSet writing = new IntervalSet();
    private final Map<Long, Stage> running = new LinkedHashMap<>();
    private final Map<Long, Stage> late = new Bounded<>(LATE_STAGES);
    private final List<Stage> longest = new ArrayList<>();
    private final Map<String, Executor> alive = new LinkedHashMap<>();
    private final Map<String, Executor> peaks = new LinkedHashMap<>();
    /** Executors with no more than that are not among those with the largest ones. */
    private long leastPeak;
    private final Map<String, Query> queries = new LinkedHashMap<>();
    private final Map<String, Double> fileCounters = new TreeMap<>();
    private final Histogram computed = new Histogram();
    private final Histogram wrote = new Histogram();
    private final Task sum = new Task();
    private long fullCollections;
    private boolean fullCollectionsKnown;
    private long succeeded;
    private long failed;
    private long killed;
    private long removed;
    private int slotCores = 1;
    private double submitMs = Double.NaN;
    private double taskCommitMs = Double.NaN;
    private double jobCommitMs = Double.NaN;
    private long commitSinceMs = -1;
    private double cleanupSeconds = Double.NaN;
    private long cleaningSinceMs = -1;

    private static long key(int stage, int attempt) {
        return ((long) stage << 32) | (attempt & 0xffffffffL);
    }

    public synchronized void begin(long timeMs, int coresOfTask) {
        startMs = timeMs;
        slotCores = Math.max(1, coresOfTask);
    }

    public synchronized void end(long timeMs) {
        endMs = timeMs;
        for (Stage stage : new ArrayList<>(running.values())) {
            stageCompleted(stage, stage.submittedMs, timeMs, null);
        }
        commitSinceMs = -1;
        cleaningSinceMs = -1;
    }

    public synchronized boolean ended() {
        return endMs >= 0;
    }

    public synchronized long firstExecutorMs() {
        return firstExecutorMs;
    }

    public synchronized List<Executor> executors() {
        return new ArrayList<>(alive.values());
    }

    public synchronized void executorAdded(Executor executor) {
        long came = executor.cameMs();
        firstExecutorMs = firstExecutorMs < 0 ? came : Math.min(firstExecutorMs, came);
        alive.put(executor.id, executor);
    }

    /** Returns it; null: it never came. */
    public synchronized Executor executorRemoved(String id, long timeMs, String reason) {
        Executor executor = alive.remove(id);
        if (executor != null) {
            executor.removedMs = timeMs;
            executor.removeReason = reason;
            removed++;
        }
        return executor;
    }

    public synchronized Stage stageSubmitted(int id, int attempt, String name, int tasks, long submittedMs) {
        Stage stage = new Stage(id, attempt, name, tasks, submittedMs);
        running.put(key(id, attempt), stage);
        return stage;
    }

    public synchronized Stage stage(int id, int attempt) {
        Stage stage = running.get(key(id, attempt));
        return stage == null ? late.get(key(id, attempt)) : stage;
    }

    /** Returns it; null: its submission was not seen. */
    public synchronized Stage stageCompleted(int id, int attempt, long submittedMs, long completedMs, String failure) {
        Stage stage = running.get(key(id, attempt));
        if (stage != null) {
            stageCompleted(stage, submittedMs, completedMs, failure);
        }
        return stage;
    }

    private void stageCompleted(Stage stage, long submittedMs, long completedMs, String failure) {
        running.remove(key(stage.id, stage.attempt));
        stage.submittedMs = submittedMs > 0 ? submittedMs : stage.submittedMs;
        stage.completedMs = Math.max(completedMs, stage.submittedMs);
        stage.failure = failure;
        note(stage, active);
        if (stage.writes()) {
            note(stage, writing);
        }
        late.put(key(stage.id, stage.attempt), stage);
        stage.sizes.close();
        stage.shuffleSizes.close();
        longest.removeIf(each -> stage.completedMs - each.completedMs >= STALE_MS);
        longest.add(stage);
        longest.sort(Comparator.comparingLong((Stage each) -> each.durationMs(each.completedMs)).reversed());
        if (longest.size() > STAGES) {
            longest.remove(longest.size() - 1);
        }
    }

    private void note(Stage stage, IntervalSet set) {
        if (stage.submittedMs > 0) {
            set.add(Math.max(stage.submittedMs, startMs), Math.max(stage.completedMs, startMs));
        }
    }

    public synchronized void taskStarted(String executor) {
        Executor row = alive.get(executor);
        if (row != null) {
            row.running++;
        }
    }

    /** @param count of starts of tasks that did not come, less ends that did not */
    public synchronized void tasksLost(String executor, int count) {
        Executor row = alive.get(executor);
        if (row != null) {
            row.running += count;
        }
    }

    /** Returns the stage of the task; null: its submission was not seen. */
    public synchronized Stage taskEnded(Task task) {
        Executor executor = alive.get(task.executor);
        if (executor != null) {
            executor.running--;
            notePeaks(executor, task);
        }
        boolean well = !task.failed && !task.killed;
        succeeded += well ? 1 : 0;
        killed += task.killed ? 1 : 0;
        failed += task.failed && !task.killed ? 1 : 0;
        addUp(task);
        Stage stage = stage(task.stage, task.stageAttempt);
        if (stage != null) {
            noteTask(stage, task, well);
        }
        if (well) {
            (task.outputBytes > 0 ? wrote : computed).add(task.durationMs());
        }
        return stage;
    }

    private void noteTask(Stage stage, Task task, boolean well) {
        boolean wroteBefore = stage.writes();
        stage.failed += task.failed && !task.killed ? 1 : 0;
        stage.inputBytes += task.inputBytes;
        stage.outputBytes += task.outputBytes;
        stage.shuffleReadBytes += task.shuffleReadBytes;
        stage.shuffleWriteBytes += task.shuffleWriteBytes;
        stage.diskSpillBytes += task.diskSpillBytes;
        if (well && task.hasMetrics) {
            stage.sizes.add(task.readBytes());
            stage.shuffleSizes.add(task.shuffleReadBytes);
        }
        if (!wroteBefore && stage.writes() && stage.completedMs >= 0) {
            note(stage, writing);
        }
    }

    private void addUp(Task task) {
        sum.runMs += task.runMs;
        sum.cpuNs += task.cpuNs;
        sum.gcMs += task.gcMs;
        sum.deserializeMs += task.deserializeMs;
        sum.serializeMs += task.serializeMs;
        sum.inputBytes += task.inputBytes;
        sum.outputBytes += task.outputBytes;
        sum.shuffleReadBytes += task.shuffleReadBytes;
        sum.shuffleWriteBytes += task.shuffleWriteBytes;
        sum.fetchWaitMs += task.fetchWaitMs;
        sum.memorySpillBytes += task.memorySpillBytes;
        sum.diskSpillBytes += task.diskSpillBytes;
        sum.hasMetrics |= task.hasMetrics;
    }

    private void notePeaks(Executor executor, Task task) {
        notePeaks(executor, task.heapPeakBytes, task.offHeapPeakBytes, task.fullCollections);
    }

    /** Peaks of an executor, from tasks and heartbeats; -1: not known. */
    public synchronized void executorPeaks(String id, long heapBytes, long offHeapBytes, long collections) {
        Executor executor = alive.get(id);
        if (executor != null) {
            notePeaks(executor, heapBytes, offHeapBytes, collections);
        }
    }

    private void notePeaks(Executor executor, long heapBytes, long offHeapBytes, long collections) {
        executor.heapPeakBytes = Math.max(executor.heapPeakBytes, heapBytes);
        executor.offHeapPeakBytes = Math.max(executor.offHeapPeakBytes, offHeapBytes);
        if (collections > executor.fullCollections) {
            fullCollections += collections - executor.fullCollections;
            executor.fullCollections = collections;
        }
        fullCollectionsKnown |= collections >= 0;
        if (executor.heapPeakBytes > leastPeak && !peaks.containsKey(executor.id)) {
            peaks.put(executor.id, executor);
            if (peaks.size() > EXECUTORS) {
                peaks.values().stream().min(Comparator.comparingLong(each -> each.heapPeakBytes))
                        .ifPresent(least -> {
                            peaks.remove(least.id);
                            leastPeak = least.heapPeakBytes;
                        });
            }
        }
    }

    public synchronized void submitted(long ms) {
        submitMs = ms;
    }

    /** What commits took; NaN: nothing new. */
    public synchronized void committed(double tasksMs, double jobMs) {
        taskCommitMs = plus(taskCommitMs, tasksMs);
        jobCommitMs = plus(jobCommitMs, jobMs);
    }

    private static double plus(double before, double more) {
        return Double.isNaN(more) ? before : Double.isNaN(before) ? more : before + more;
    }

    /** What the clean-up of a commit took. */
    public synchronized void cleaned(double seconds) {
        cleanupSeconds = plus(cleanupSeconds, seconds);
    }

    /** The clean-up of a commit goes on since then; -1: none does. */
    public synchronized void cleaning(long sinceMs) {
        cleaningSinceMs = sinceMs;
    }

    /** A write whose tasks are done commits since then; -1: none does. */
    public synchronized void committing(long sinceMs) {
        commitSinceMs = sinceMs;
    }

    /** The query of that id, for its progress. */
    public synchronized Query query(String id) {
        Query query = queries.get(id);
        if (query == null && queries.size() < QUERIES) {
            query = new Query(id);
            queries.put(id, query);
        }
        return query;
    }

    /** Differences of an executor's counters since its last report: by "filesystem\0metric\0label". */
    public synchronized void fileSystems(Map<String, Double> differences) {
        differences.forEach((counter, more) -> {
            if (fileCounters.containsKey(counter) || (fileCounters.size() < FILE_COUNTERS && isCounter(counter))) {
                fileCounters.merge(counter, more, Double::sum);
            }
        });
    }

    /** Executors may have the plugin in another version. */
    private static boolean isCounter(String counter) {
        String[] parts = counter.split("\0", -1);
        for (Metric metric : Metric.values()) {
            if (parts.length > 1 && metric.name().equals(parts[1])) {
                return metric.labels.size() == parts.length - 1;
            }
        }
        return false;
    }

    private long length(IntervalSet ended, long nowMs, boolean onlyWriting) {
        long first = nowMs; // what runs ends now: from the first of it on there is no gap
        for (Stage stage : running.values()) {
            if (stage.submittedMs > 0 && (!onlyWriting || stage.writes())) {
                first = Math.min(first, Math.max(stage.submittedMs, startMs));
            }
        }
        return ended.lengthWith(first, nowMs);
    }

    /** All values now. `nowMs` counts only while the application runs. */
    public synchronized List<Sample> samples(long nowMs) {
        List<Sample> list = new ArrayList<>();
        long now = endMs >= 0 ? endMs : nowMs;
        if (startMs >= 0) {
            addPhases(list, Math.max(now, startMs));
        }
        peaks.values().removeIf(executor -> executor.removedMs >= 0 && nowMs - executor.removedMs >= STALE_MS);
        addExecutors(list);
        addTasks(list);
        addStages(list, now, nowMs);
        addQueries(list, nowMs);
        addCommits(list, now);
        fileCounters.forEach((counter, value) -> {
            String[] parts = counter.split("\0", -1);
            String[] labels = new String[parts.length - 1];
            labels[0] = parts[0];
            System.arraycopy(parts, 2, labels, 1, parts.length - 2);
            list.add(Sample.of(Metric.valueOf(parts[1]), value, labels));
        });
        addIfKnown(list, Metric.SUBMIT, submitMs / 1000);
        return list;
    }

    private static void addIfKnown(List<Sample> list, Metric metric, double value, String... labels) {
        if (!Double.isNaN(value)) {
            list.add(Sample.of(metric, value, labels));
        }
    }

    private void addPhases(List<Sample> list, long now) {
        long wait = Math.max(0, (firstExecutorMs < 0 ? now : Math.min(now, firstExecutorMs)) - startMs);
        long write = length(writing, now, true);
        long compute = Math.max(0, length(active, now, false) - write); // old gaps of both are not known
        double all = Math.max(1, now - startMs);
        list.add(Sample.of(Metric.RESOURCE_WAIT, wait / 1000.0));
        list.add(Sample.of(Metric.PHASE_COMPUTE, compute / 1000.0));
        list.add(Sample.of(Metric.PHASE_WRITE, write / 1000.0));
        list.add(Sample.of(Metric.PHASE_RATIO, wait / all, "wait"));
        list.add(Sample.of(Metric.PHASE_RATIO, compute / all, "compute"));
        list.add(Sample.of(Metric.PHASE_RATIO, write / all, "io_write"));
        boolean writes = running.values().stream().anyMatch(Stage::writes);
        String phase = firstExecutorMs < 0 ? "wait" : writes ? "io_write" : running.isEmpty() ? "driver" : "compute";
        for (String each : new String[] {"wait", "compute", "io_write", "driver"}) {
            list.add(Sample.of(Metric.PHASE_ACTIVE, endMs < 0 && each.equals(phase) ? 1 : 0, each));
        }
    }

    private void addExecutors(List<Sample> list) {
        int idle = 0;
        long tasks = 0;
        long slots = 0;
        for (Executor executor : alive.values()) {
            // Starts and ends that were lost are known a little later.
            idle += executor.running <= 0 ? 1 : 0;
            tasks += Math.max(0, executor.running);
            slots += executor.cores / slotCores;
        }
        list.add(Sample.of(Metric.EXECUTORS, alive.size(), "running"));
        list.add(Sample.of(Metric.EXECUTORS, removed, "removed"));
        list.add(Sample.of(Metric.IDLE_EXECUTORS, idle));
        if (slots > 0) {
            list.add(Sample.of(Metric.SLOT_UTILIZATION, Math.min(1, (double) tasks / slots)));
        }
        if (peaks.size() < EXECUTORS) {
            leastPeak = 0;
        }
        for (Executor executor : peaks.values()) {
            list.add(Sample.of(Metric.EXECUTOR_PEAK, executor.heapPeakBytes, executor.id, "heap"));
            if (executor.offHeapPeakBytes >= 0) {
                list.add(Sample.of(Metric.EXECUTOR_PEAK, executor.offHeapPeakBytes, executor.id, "offheap"));
            }
        }
    }

    private void addTasks(List<Sample> list) {
        list.add(Sample.of(Metric.TASKS, succeeded, "succeeded"));
        list.add(Sample.of(Metric.TASKS, failed, "failed"));
        list.add(Sample.of(Metric.TASKS, killed, "killed"));
        list.add(Sample.of(Metric.TASK_DURATION, computed.copy(), "compute"));
        list.add(Sample.of(Metric.TASK_DURATION, wrote.copy(), "write"));
        if (!sum.hasMetrics) {
            return;
        }
        list.add(Sample.of(Metric.TASK_RUN, sum.runMs / 1000.0));
        list.add(Sample.of(Metric.TASK_CPU, sum.cpuNs / 1e9));
        list.add(Sample.of(Metric.GC, sum.gcMs / 1000.0));
        if (sum.runMs > 0) {
            list.add(Sample.of(Metric.GC_RATIO, (double) sum.gcMs / sum.runMs));
        }
        if (fullCollectionsKnown) {
            list.add(Sample.of(Metric.FULL_COLLECTIONS, fullCollections));
        }
        list.add(Sample.of(Metric.DESERIALIZE, sum.deserializeMs / 1000.0));
        list.add(Sample.of(Metric.SERIALIZE, sum.serializeMs / 1000.0));
        list.add(Sample.of(Metric.INPUT, sum.inputBytes));
        list.add(Sample.of(Metric.OUTPUT, sum.outputBytes));
        list.add(Sample.of(Metric.SHUFFLE_READ, sum.shuffleReadBytes));
        list.add(Sample.of(Metric.SHUFFLE_WRITE, sum.shuffleWriteBytes));
        list.add(Sample.of(Metric.FETCH_WAIT, sum.fetchWaitMs / 1000.0));
        list.add(Sample.of(Metric.MEMORY_SPILL, sum.memorySpillBytes));
        list.add(Sample.of(Metric.DISK_SPILL, sum.diskSpillBytes));
    }

    /** The longest ones of those that run or ended not long ago. */
    private void addStages(List<Sample> list, long now, long clockMs) {
        List<Stage> shown = new ArrayList<>(running.values());
        for (Stage stage : longest) {
            if (clockMs - stage.completedMs < STALE_MS) {
                shown.add(stage);
            }
        }
        shown.sort(Comparator.comparingLong((Stage stage) -> stage.durationMs(now)).reversed());
        for (Stage stage : shown.subList(0, Math.min(STAGES, shown.size()))) {
            String id = Integer.toString(stage.id);
            String attempt = Integer.toString(stage.attempt);
            list.add(Sample.of(Metric.STAGE_DURATION, stage.durationMs(now) / 1000.0, id, attempt, stage.name,
                    stage.writes() ? "io_write" : "compute"));
            if (stage.shuffleSizes.mean() > 0) {
                list.add(Sample.of(Metric.SHUFFLE_SKEW, stage.shuffleSizes.most() / stage.shuffleSizes.mean(), id, attempt));
            }
            long median = stage.sizes.median();
            if (median > 0) {
                list.add(Sample.of(Metric.TASK_SKEW, (double) stage.sizes.most() / median, id, attempt));
            }
        }
    }

    private void addQueries(List<Sample> list, long nowMs) {
        queries.values().removeIf(query -> query.endedMs >= 0 && nowMs - query.endedMs >= STALE_MS);
        Map<String, Integer> names = new HashMap<>();
        for (Query query : queries.values()) {
            names.merge(query.label(), 1, Integer::sum);
        }
        for (Query query : queries.values()) {
            String name = names.get(query.label()) > 1 ? query.id : query.label();
            if (query.batchDurationMs >= 0) {
                list.add(Sample.of(Metric.STREAM_BATCH, query.batchDurationMs / 1000.0, name));
            }
            addIfKnown(list, Metric.STREAM_INPUT, query.inputRowsPerSecond, name);
            addIfKnown(list, Metric.STREAM_PROCESSED, query.processedRowsPerSecond, name);
            addIfKnown(list, Metric.STREAM_WATERMARK, query.watermarkDelayMs / 1000, name);
            if (query.stateRows >= 0) {
                list.add(Sample.of(Metric.STREAM_STATE, query.stateRows, name));
            }
            query.backlog.forEach((measure, value) -> list.add(Sample.of(Metric.STREAM_BACKLOG, value, name, measure)));
        }
    }

    private void addCommits(List<Sample> list, long now) {
        addIfKnown(list, Metric.COMMIT, taskCommitMs / 1000, "task");
        addIfKnown(list, Metric.COMMIT, jobCommitMs / 1000, "job");
        addIfKnown(list, Metric.COMMIT, cleanupSeconds, "cleanup");
        addSince(list, commitSinceMs, now, "running");
        addSince(list, cleaningSinceMs, now, "cleanup_running");
    }

    private static void addSince(List<Sample> list, long sinceMs, long now, String step) {
        if (sinceMs >= 0) {
            list.add(Sample.of(Metric.COMMIT, Math.max(0, now - sinceMs) / 1000.0, step));
        }
    }
}
