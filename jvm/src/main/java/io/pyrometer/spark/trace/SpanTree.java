package io.pyrometer.spark.trace;

import io.pyrometer.spark.connect.TraceContext;
import io.pyrometer.spark.run.Application;
import io.pyrometer.spark.run.Bounded;
import io.pyrometer.spark.run.Executor;
import io.pyrometer.spark.run.Stage;
import io.pyrometer.spark.run.Task;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Spans of an application: application, SQL execution or job, stage, task; batches of streams; waits for executors and their lives;
 * commits. Every span that another one names as its parent is sent, at the latest when the application ends. Of tasks a part is
 * sent, always the failed ones and the slowest of each stage; nothing is below a task, so that no span loses its parent.
 */
public final class SpanTree {
    private static final int TEXT = 200;
    private static final int STACK = 8192;
    private static final int LATE_STAGES = 256;
    /** Batches whose end has not come. */
    private static final int BATCHES = 1000;
    /** Executions, jobs and stages whose end has not come: it may be lost. */
    private static final int OPEN = 10_000;

    private final Application application;
    private final SpanSink sink;
    private final double ratio;
    private final Ids ids;
    private final Span root;
    private final Map<Long, Span> queries = new LinkedHashMap<>();
    private final Map<Integer, Span> jobs = new LinkedHashMap<>();
    private final Map<Long, Span> stages = new LinkedHashMap<>();
    /** Of the jobs that run. */
    private final Map<Integer, Set<Integer>> stagesOfJob = new LinkedHashMap<>();
    /** Stages that ended not long ago: tasks of theirs may fail later. */
    private final Map<Long, Span> ended = new Bounded<>(LATE_STAGES);
    private final Map<String, Span> batches = new LinkedHashMap<>();

    /** @param parent of the application itself; null: it is the root */
    public SpanTree(Application application, TraceContext parent, double ratio, long startMs, SpanSink sink) {
        this.application = application;
        this.ratio = ratio;
        ids = new Ids(application.id);
        this.sink = sink;
        root = new Span(application.traceId, id("application"), parent == null ? null : parent.spanId,
                "application " + application.name, startMs);
        root.put("spark.app.id", application.id).put("spark.app.name", application.name);
        root.put("spark.version", application.sparkVersion);
        application.orchestrator.forEach((name, value) -> root.put("airflow." + name, value));
    }

    private String id(String what) {
        return ids.span(what);
    }

    private Span child(Span parent, String what, String name, long startMs) {
        return new Span(parent.traceId, id(what), parent.spanId, cut(name, TEXT), startMs);
    }

    private static String cut(String text, int most) {
        return text == null ? "" : text.length() <= most ? text : text.substring(0, most - 3) + "...";
    }

    /** Below the client's span where the request came with one. */
    private Span child(TraceContext context, Span otherwise, String what, String name, long startMs) {
        if (context == null) {
            return child(otherwise, what, name, startMs);
        }
        Span span = new Span(context.traceId, id(what), context.spanId, cut(name, TEXT), startMs);
        describe(span, context);
        return span;
    }

    public void sqlStarted(long execution, String description, long timeMs, TraceContext context) {
        Span span = child(context, root, "sql/" + execution, "sql " + execution, timeMs);
        span.put("spark.sql.execution.id", execution).put("spark.sql.description", cut(description, TEXT));
        queries.put(execution, span);
        bound(queries, OPEN, timeMs);
    }

    /** The oldest ones are sent: the others have them as their parents. */
    private <K> void bound(Map<K, Span> open, int most, long timeMs) {
        if (open.size() > most) {
            incomplete(open.remove(open.keySet().iterator().next()), timeMs);
        }
    }

    /** Only jobs say, in Spark 3.5, which request or batch an execution is for. */
    private static Span moved(Span span, String traceId, String parentId) {
        Span moved = new Span(traceId, span.spanId, parentId, span.name, span.startMs);
        moved.attributes.putAll(span.attributes);
        return moved;
    }

    private static void describe(Span span, TraceContext context) {
        context.orchestrator.forEach((key, value) -> span.put("airflow." + key, value));
    }

    public void sqlEnded(long execution, long timeMs, String error, long commitSinceMs) {
        Span span = queries.remove(execution);
        if (span == null) {
            return;
        }
        if (commitSinceMs > 0 && timeMs > commitSinceMs) {
            sink.add(child(span, "commit/" + execution, "commit", commitSinceMs).end(timeMs), SpanSink.Kind.LEAF);
        }
        span.error = error == null || error.isEmpty() ? null : cut(error, STACK);
        sink.add(span.end(timeMs), SpanSink.Kind.PARENT);
    }

    /**
     * @param execution of SQL; -1: none
     * @param batch of a stream, "run/number"; null: none
     */
    public void jobStarted(int job, long timeMs, List<Integer> stageIds, long execution, String batch,
            TraceContext context, String description) {
        Span query = queries.get(execution);
        if (query != null && context != null && !query.traceId.equals(context.traceId)) {
            query = moved(query, context.traceId, context.spanId);
            describe(query, context);
            queries.put(execution, query);
        } else if (query != null && batch != null && root.spanId.equals(query.parentId)) {
            query = moved(query, root.traceId, batch(batch, query.startMs).spanId);
            queries.put(execution, query);
        }
        Span parent = query != null ? query : batch != null ? batch(batch, timeMs) : root;
        Span span = query != null ? child(query, "job/" + job, "job " + job, timeMs)
                : child(context, parent, "job/" + job, "job " + job, timeMs);
        span.put("spark.job.id", (long) job).put("spark.job.description", description == null ? null : cut(description, TEXT));
        jobs.put(job, span);
        bound(jobs, OPEN, timeMs);
        stagesOfJob.put(job, new HashSet<>(stageIds));
        stagesOfJob.keySet().retainAll(jobs.keySet());
    }

    private Span batch(String batch, long timeMs) {
        Span span = batches.computeIfAbsent(batch, key -> child(root, "batch/" + key, "batch " + key, timeMs));
        bound(batches, BATCHES, timeMs);
        return span;
    }

    private void incomplete(Span span, long timeMs) {
        sink.add(span.put("spark.incomplete", true).end(timeMs), SpanSink.Kind.PARENT);
    }

    /** Its batches will not say that they ended. */
    public void queryEnded(String run, long timeMs) {
        List<String> open = new ArrayList<>(batches.keySet());
        open.removeIf(batch -> !batch.startsWith(run + '/'));
        for (String batch : open) {
            incomplete(batches.remove(batch), timeMs);
        }
    }

    public void jobEnded(int job, long timeMs, String error) {
        Span span = jobs.remove(job);
        stagesOfJob.remove(job);
        if (span == null) {
            return;
        }
        if (error != null) {
            span.error = cut(error, STACK);
            sink.add(new Event(span, timeMs, true, "job " + job + " failed").put("exception.message", cut(error, STACK)));
        }
        sink.add(span.end(timeMs), SpanSink.Kind.PARENT);
    }

    private static long key(int stage, int attempt) {
        return ((long) stage << 32) | (attempt & 0xffffffffL);
    }

    /** The first of the jobs that run which needs it. */
    private Span jobOf(int stage) {
        for (Map.Entry<Integer, Set<Integer>> job : stagesOfJob.entrySet()) {
            if (job.getValue().contains(stage)) {
                return jobs.get(job.getKey());
            }
        }
        return root;
    }

    public void stageSubmitted(Stage stage) {
        Span span = child(jobOf(stage.id), "stage/" + stage.id + '/' + stage.attempt,
                "stage " + stage.id + (stage.attempt > 0 ? "." + stage.attempt : ""), stage.submittedMs);
        span.put("spark.stage.id", (long) stage.id).put("spark.stage.attempt", (long) stage.attempt);
        span.put("spark.stage.name", cut(stage.name, TEXT)).put("spark.stage.tasks", (long) stage.tasks);
        stages.put(key(stage.id, stage.attempt), span);
        bound(stages, OPEN, stage.submittedMs);
    }

    public void stageCompleted(Stage stage) {
        Span open = stages.remove(key(stage.id, stage.attempt));
        if (open == null) {
            return;
        }
        ended.put(key(stage.id, stage.attempt), open);
        for (Task task : stage.takeSlowest()) {
            sendTask(open, task);
        }
        // Its own time of submission is more exact than that of the event which opened it.
        Span span = new Span(open.traceId, open.spanId, open.parentId, open.name, stage.submittedMs);
        span.attributes.putAll(open.attributes);
        span.put("spark.phase", stage.writes() ? "io_write" : "compute");
        span.put("spark.stage.failed_tasks", (long) stage.failed).put("spark.input.bytes", stage.inputBytes);
        span.put("spark.output.bytes", stage.outputBytes).put("spark.spill.disk.bytes", stage.diskSpillBytes);
        span.put("spark.shuffle.read.bytes", stage.shuffleReadBytes);
        span.put("spark.shuffle.write.bytes", stage.shuffleWriteBytes);
        if (stage.failure != null) {
            span.error = cut(stage.failure, STACK);
            sink.add(new Event(span, stage.completedMs, true, "stage failed").put("exception.message", span.error));
        }
        sink.add(span.end(stage.completedMs), SpanSink.Kind.PARENT);
    }

    /** @param stage of the task; null: not known */
    public void taskEnded(Task task, Stage stage) {
        boolean always = task.failed && !task.killed;
        boolean chosen = always || ratio >= 1 || (ratio > 0 && ids.shareOfTask(task.id) < ratio);
        long key = key(task.stage, task.stageAttempt);
        Span running = stages.get(key);
        if (chosen && (running != null || ended.containsKey(key))) {
            sendTask(running != null ? running : ended.get(key), task);
        } else if (running != null && stage != null) {
            stage.noteSlow(task);
        }
    }

    private void sendTask(Span stage, Task task) {
        Span span = new Span(stage.traceId, ids.ofTask(task.id), stage.spanId, "task " + task.id, task.launchMs);
        span.put("spark.task.id", task.id).put("spark.task.index", (long) task.index);
        span.put("spark.task.attempt", (long) task.attempt).put("spark.task.partition", (long) task.partition);
        span.put("spark.executor.id", task.executor).put("host.name", task.host);
        span.put("spark.task.locality", task.locality).put("spark.task.speculative", task.speculative);
        if (task.hasMetrics) {
            span.put("spark.task.run_ms", task.runMs).put("spark.task.gc_ms", task.gcMs);
            span.put("spark.input.bytes", task.inputBytes).put("spark.output.bytes", task.outputBytes);
            span.put("spark.shuffle.read.bytes", task.shuffleReadBytes);
            span.put("spark.spill.disk.bytes", task.diskSpillBytes);
        }
        if (task.failed && !task.killed) {
            span.error = cut(task.errorMessage == null ? "failed" : task.errorMessage, TEXT);
            sink.add(new Event(span, task.finishMs, true, "task " + task.id + " failed")
                    .put("exception.type", task.errorClass)
                    .put("exception.message", cut(task.errorMessage, STACK))
                    .put("exception.stacktrace", task.errorStack == null ? null : cut(task.errorStack, STACK)));
        }
        sink.add(span.end(task.finishMs), SpanSink.Kind.LEAF);
    }

    public void firstExecutor(long timeMs) {
        if (timeMs > root.startMs) {
            sink.add(child(root, "resource_wait", "resource wait", root.startMs).end(timeMs), SpanSink.Kind.LEAF);
        }
    }

    public void executorAdded(Executor executor) {
        if (executor.requestedMs > 0) {
            Span span = child(root, "request/" + executor.id, "executor request " + executor.id, executor.requestedMs);
            sink.add(span.put("spark.executor.id", executor.id).end(executor.registeredMs), SpanSink.Kind.LEAF);
        }
    }

    /** @param lost against Spark's will */
    public void executorEnded(Executor executor, long timeMs, boolean lost) {
        Span span = child(root, "executor/" + executor.id, "executor " + executor.id, executor.cameMs());
        span.put("spark.executor.id", executor.id).put("host.name", executor.host);
        span.put("spark.executor.cores", (long) executor.cores).put("spark.executor.removed", executor.removeReason);
        if (lost) {
            span.error = cut(executor.removeReason, TEXT);
            sink.add(new Event(span, timeMs, false, "executor " + executor.id + " was lost")
                    .put("exception.message", cut(executor.removeReason, STACK)));
        }
        sink.add(span.end(timeMs), SpanSink.Kind.LEAF);
    }

    /** @param batch "run/number" */
    public void batchEnded(String batch, String query, long startMs, long endMs, long rows) {
        Span open = batches.remove(batch);
        Span span = open == null ? child(root, "batch/" + batch, "batch " + batch, startMs)
                : new Span(open.traceId, open.spanId, open.parentId, open.name, startMs);
        span.put("spark.streaming.query", query).put("spark.streaming.rows", rows);
        sink.add(span.end(endMs), open == null ? SpanSink.Kind.LEAF : SpanSink.Kind.PARENT);
    }

    /** Sends what is open, the application last. */
    public void end(long timeMs, List<Executor> alive) {
        List<Span> left = new ArrayList<>(stages.values());
        left.addAll(jobs.values());
        left.addAll(queries.values());
        left.addAll(batches.values());
        for (Span span : left) {
            incomplete(span, timeMs);
        }
        stages.clear();
        jobs.clear();
        queries.clear();
        batches.clear();
        for (Executor executor : alive) {
            executorEnded(executor, timeMs, false);
        }
        sink.add(root.end(timeMs), SpanSink.Kind.ROOT);
    }
}
