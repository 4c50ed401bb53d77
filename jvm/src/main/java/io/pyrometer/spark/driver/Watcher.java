package io.pyrometer.spark.driver;

import io.pyrometer.spark.connect.Requests;
import io.pyrometer.spark.connect.TraceContext;
import io.pyrometer.spark.executor.StoreDeletions;
import io.pyrometer.spark.run.Bounded;
import io.pyrometer.spark.run.Executor;
import io.pyrometer.spark.run.Query;
import io.pyrometer.spark.run.Run;
import io.pyrometer.spark.run.Stage;
import io.pyrometer.spark.run.Task;
import io.pyrometer.spark.trace.SpanTree;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** What the plugin does with events, on its own thread: keeps the run and its spans. */
final class Watcher {
    /** Of what is kept until an event comes that may never do so. */
    private static final int MOST = 10_000;

    private final Run run;
    private final SpanTree spans;
    private final int coresOfTask;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Map<Long, Write> writes = new Bounded<>(MOST);
    private final Map<Integer, Long> executionOfJob = new Bounded<>(MOST);
    private final Map<String, Long> operations = new Bounded<>(MOST);
    private final Set<String> streams = new HashSet<>();

    /** A SQL execution that writes, and may be committing. */
    private static final class Write {
        /** Accumulators of what its commits take. */
        final Set<Long> jobCommits = new HashSet<>();
        final Set<Integer> jobs = new HashSet<>();
        long lastJobEndMs = -1;
        /** Before its first job, and after its last one so far. */
        StoreDeletions before;
        StoreDeletions after;
        long cleaningSinceMs = -1;

        boolean commits() {
            return !jobCommits.isEmpty() && jobs.isEmpty() && lastJobEndMs > 0;
        }

        /** A committer has completed a job: what is deleted now are the traces of that. */
        boolean cleans(StoreDeletions now) {
            return before != null && now.jobsCompleted > before.jobsCompleted;
        }
    }

    /** @param spans null: none are wanted */
    Watcher(Run run, SpanTree spans, int coresOfTask) {
        this.run = run;
        this.spans = spans;
        this.coresOfTask = coresOfTask;
    }

    void applicationStarted(long timeMs) {
        run.begin(timeMs, coresOfTask);
    }

    void applicationEnded(long timeMs) {
        if (run.ended()) {
            return;
        }
        run.end(timeMs);
        if (spans != null) {
            spans.end(timeMs, run.executors());
        }
        ended.countDown();
    }

    /** Whether the end of the application has been taken within that time. */
    boolean awaitEnd(long ms) throws InterruptedException {
        return ended.await(ms, TimeUnit.MILLISECONDS);
    }

    void executorAdded(Executor executor) {
        boolean first = run.firstExecutorMs() < 0;
        run.executorAdded(executor);
        if (spans != null) {
            spans.executorAdded(executor);
            if (first) {
                spans.firstExecutor(run.firstExecutorMs());
            }
        }
    }

    void executorRemoved(String id, long timeMs, String reason) {
        Executor executor = run.executorRemoved(id, timeMs, reason);
        if (executor != null && spans != null) {
            spans.executorEnded(executor, timeMs, !isOrdinary(reason));
        }
    }

    /** Spark asked for it, or the application ended. */
    private static boolean isOrdinary(String reason) {
        return reason == null || reason.contains("killed by driver") || reason.contains("decommission")
                || reason.contains("Command exited with code 0");
    }

    void executorPeaks(String id, long[] peaks) {
        run.executorPeaks(id, peaks[0], peaks[1], peaks[2]);
    }

    void jobStarted(JobStart start) {
        Requests.Request request = Requests.find(start.operation, start.session);
        TraceContext context = request == null ? null : request.context;
        Long asked = start.operation == null ? null : operations.remove(start.operation);
        long since = request != null ? request.timeMs : asked != null ? asked : -1;
        if (since > 0 && start.operation != null && (asked != null || request != null)) {
            run.submitted(Math.max(0, start.timeMs - since));
        }
        Write write = writes.get(start.execution);
        if (write != null) {
            write.jobs.add(start.id);
            write.before = write.before == null ? StoreDeletions.now() : write.before;
            executionOfJob.put(start.id, start.execution);
            noteCommitting();
        }
        if (spans != null) {
            // Programs may set a group of their own in a batch: its jobs are then not known to be the batch's.
            String batch = start.run != null && streams.contains(start.run) ? start.batch : null;
            spans.jobStarted(start.id, start.timeMs, start.stages, start.execution, batch, context, start.description);
        }
    }

    void jobEnded(int id, long timeMs, String error) {
        Long execution = executionOfJob.remove(id);
        Write write = execution == null ? null : writes.get(execution);
        if (write != null) {
            write.jobs.remove(id);
            write.lastJobEndMs = timeMs;
            write.after = StoreDeletions.now();
            noteCommitting();
        }
        if (spans != null) {
            spans.jobEnded(id, timeMs, error);
        }
    }

    /** The write that has committed for longest: no job of it runs, and it has not ended. */
    private void noteCommitting() {
        long since = -1;
        for (Write write : writes.values()) {
            if (write.commits()) {
                since = since < 0 ? write.lastJobEndMs : Math.min(since, write.lastJobEndMs);
            }
        }
        run.committing(since);
    }

    private void noteCleanup(Write write) {
        if (!write.commits() || write.before == null) {
            return;
        }
        StoreDeletions now = StoreDeletions.now();
        if (write.cleans(now)) {
            // Where this thread was late, the commit was over when it looked: tasks of this process may have deleted, too.
            StoreDeletions since = write.cleans(write.after) ? write.before : write.after;
            run.cleaned(Math.max(0, now.seconds - since.seconds));
        }
        run.cleaning(-1);
    }

    /** Before samples are taken: whether a clean-up goes on. */
    void lookAtCleanup(long nowMs) {
        long since = -1;
        StoreDeletions now = null;
        for (Write write : writes.values()) {
            if (!write.commits()) {
                continue;
            }
            now = now == null ? StoreDeletions.now() : now;
            boolean cleans = write.cleans(now) && now.begun > now.ended;
            write.cleaningSinceMs = !cleans ? -1 : write.cleaningSinceMs < 0 ? nowMs : write.cleaningSinceMs;
            since = cleans && (since < 0 || write.cleaningSinceMs < since) ? write.cleaningSinceMs : since;
        }
        run.cleaning(since);
    }

    void stageSubmitted(int id, int attempt, String name, int tasks, long submittedMs) {
        Stage stage = run.stageSubmitted(id, attempt, name, tasks, submittedMs);
        if (spans != null) {
            spans.stageSubmitted(stage);
        }
    }

    void stageCompleted(int id, int attempt, long submittedMs, long completedMs, String failure, long commitMs) {
        Stage stage = run.stageCompleted(id, attempt, submittedMs, completedMs, failure);
        if (stage != null && spans != null) {
            spans.stageCompleted(stage);
        }
        if (commitMs >= 0) {
            run.committed(commitMs, Double.NaN);
        }
    }

    void taskStarted(String executor) {
        run.taskStarted(executor);
    }

    /** @param count of starts that did not come, less ends that did not */
    void tasksLost(String executor, int count) {
        run.tasksLost(executor, count);
    }

    void taskEnded(Task task) {
        Stage stage = run.taskEnded(task);
        if (spans != null) {
            spans.taskEnded(task, stage);
        }
    }

    void sqlStarted(long id, long timeMs, String description, String tags, CommitMetrics commits) {
        planChanged(id, commits);
        Requests.Request request = Requests.find(JobStart.after(tags, "_Operation_"), null);
        if (spans != null) {
            spans.sqlStarted(id, description, timeMs, request == null ? null : request.context);
        }
    }

    void planChanged(long id, CommitMetrics commits) {
        if (commits.writes()) {
            writes.computeIfAbsent(id, key -> new Write()).jobCommits.addAll(commits.jobs);
        }
    }

    void driverUpdates(long execution, Map<Long, Long> updates) {
        Write write = writes.get(execution);
        if (write == null) {
            return;
        }
        for (Map.Entry<Long, Long> update : updates.entrySet()) {
            if (write.jobCommits.contains(update.getKey()) && update.getValue() >= 0) {
                run.committed(Double.NaN, update.getValue());
            }
        }
    }

    void sqlEnded(long id, long timeMs, String error) {
        Write write = writes.remove(id);
        if (write != null) {
            executionOfJob.values().removeIf(each -> each == id);
            noteCommitting();
            noteCleanup(write);
        }
        if (spans != null) {
            spans.sqlEnded(id, timeMs, error, write == null ? -1 : write.lastJobEndMs);
        }
    }

    void operationStarted(String operation, long timeMs) {
        if (operation != null && timeMs > 0) {
            operations.put(operation, timeMs);
        }
    }

    void batchEnded(String id, String runId, long batch, long startMs, long durationMs, long rows, Consumer<Query> update) {
        Query query = run.query(id);
        if (query != null) {
            synchronized (run) {
                update.accept(query);
            }
        }
        if (spans != null && startMs > 0) {
            String name = query == null ? id : query.label();
            spans.batchEnded(runId + '/' + batch, name, startMs, startMs + Math.max(0, durationMs), rows);
        }
    }

    void queryStarted(String runId) {
        if (streams.size() < MOST) {
            streams.add(runId);
        }
    }

    void queryEnded(String id, String runId) {
        streams.remove(runId);
        if (spans != null) {
            spans.queryEnded(runId, System.currentTimeMillis());
        }
        Query query = run.query(id);
        if (query != null) {
            synchronized (run) {
                query.endedMs = System.currentTimeMillis();
            }
        }
    }

    void fileSystems(Map<String, Double> differences) {
        run.fileSystems(differences);
    }
}
