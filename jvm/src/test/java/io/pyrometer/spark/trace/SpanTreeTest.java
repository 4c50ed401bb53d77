package io.pyrometer.spark.trace;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import io.pyrometer.spark.connect.TraceContext;
import io.pyrometer.spark.run.Application;
import io.pyrometer.spark.run.Executor;
import io.pyrometer.spark.run.Run;
import io.pyrometer.spark.run.Stage;
import io.pyrometer.spark.run.Task;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.Test;

public class SpanTreeTest {
    private final List<Span> spans = new ArrayList<>();
    private final List<Event> events = new ArrayList<>();
    private final SpanSink sink = new SpanSink() {
        @Override
        public void add(Span span, SpanSink.Kind kind) {
            spans.add(span);
        }

        @Override
        public void add(Event event) {
            events.add(event);
        }
    };
    private final Application application =
            new Application("app-1", "test", "3.5.6", Ids.trace("app-1"), Collections.emptyMap());

    private void assertTree(Set<String> remote) {
        Set<String> ids = new HashSet<>(remote);
        for (Span span : spans) {
            assertTrue("one span for each id: " + span.name, ids.add(span.spanId));
            assertTrue(span.name, span.endMs >= span.startMs);
        }
        for (Span span : spans) {
            assertTrue(span.name, span.parentId == null || ids.contains(span.parentId));
        }
    }

    /** Events in an order and with gaps that a full queue may leave. */
    @Test
    public void everyParentIsSent() {
        for (int seed = 0; seed < 300; seed++) {
            spans.clear();
            Random random = new Random(seed);
            Run run = new Run();
            SpanTree tree = new SpanTree(application, null, 0.3, 1000, sink);
            for (int job = 0; job < 6; job++) {
                long now = 2000 + 1000L * job;
                if (job % 2 == 0 && random.nextInt(4) > 0) {
                    tree.sqlStarted(job / 2, "select", now, null);
                }
                if (random.nextInt(5) > 0) {
                    tree.jobStarted(job, now, Arrays.asList(job), random.nextBoolean() ? job / 2 : -1,
                            random.nextInt(3) == 0 ? "run/" + job : null, null, null);
                }
                Stage stage = run.stageSubmitted(job, 0, "s", 9, now);
                tree.stageSubmitted(stage);
                for (int i = 0; i < 9; i++) {
                    Task task = new Task();
                    task.id = job * 9L + i;
                    task.stage = job;
                    task.launchMs = now;
                    task.finishMs = now + random.nextInt(900);
                    task.failed = random.nextInt(6) == 0;
                    tree.taskEnded(task, stage);
                }
                if (random.nextInt(4) > 0) {
                    run.stageCompleted(job, 0, now, now + 900, null);
                    tree.stageCompleted(stage);
                }
                if (random.nextInt(4) > 0) {
                    tree.jobEnded(job, now + 950, random.nextInt(5) == 0 ? "failed" : null);
                }
                if (random.nextInt(4) > 0) {
                    tree.sqlEnded(job / 2, now + 990, null, now + 960);
                }
                if (random.nextInt(4) == 0) {
                    tree.batchEnded("run/" + job, "q", now, now + 990, 5);
                }
            }
            tree.end(9000, Arrays.asList(new Executor("1", "h", 2, 1500, 1200, 1400)));
            assertTree(Collections.emptySet());
            assertEquals("application test", spans.get(spans.size() - 1).name);
        }
    }

    @Test
    public void failedAndSlowestTasksAreAlwaysSent() {
        Run run = new Run();
        SpanTree tree = new SpanTree(application, null, 0, 0, sink);
        Stage stage = run.stageSubmitted(0, 0, "s", 100, 0);
        tree.stageSubmitted(stage);
        for (int i = 0; i < 100; i++) {
            Task task = new Task();
            task.id = i;
            task.finishMs = i;
            task.failed = i == 3;
            task.errorMessage = "no";
            tree.taskEnded(task, stage);
        }
        run.stageCompleted(0, 0, 0, 100, null);
        tree.stageCompleted(stage);
        Set<Object> ids = new HashSet<>();
        spans.forEach(span -> ids.add(span.attributes.get("spark.task.id")));
        ids.remove(null);
        assertEquals(new HashSet<Object>(Arrays.asList(3L, 95L, 96L, 97L, 98L, 99L)), ids);
        assertEquals(1, events.size());
    }

    /** A batch whose progress is lost is sent nevertheless: at the end of its query, or when many others came. */
    @Test
    public void batchesDoNotPileUp() {
        SpanTree tree = new SpanTree(application, null, 1, 0, sink);
        for (int i = 0; i < 5000; i++) {
            tree.jobStarted(i, 10 + i, Arrays.asList(i), -1, "run/" + i, null, null);
            tree.jobEnded(i, 11 + i, null);
        }
        assertEquals(4000, spans.stream().filter(span -> span.name.startsWith("batch ")).count());
        tree.queryEnded("other", 6000);
        tree.queryEnded("run", 6000);
        assertEquals(5000, spans.stream().filter(span -> span.name.startsWith("batch ")).count());
        tree.end(7000, Collections.emptyList());
        assertTree(Collections.emptySet());
    }

    /** The job that listed a stage first may end before another one runs it. */
    @Test
    public void sharedStagesBelongToAJobThatRuns() {
        SpanTree tree = new SpanTree(application, null, 1, 0, sink);
        Run run = new Run();
        tree.jobStarted(0, 1, Arrays.asList(0, 1), -1, null, null, null);
        tree.jobStarted(1, 2, Arrays.asList(1, 2), -1, null, null, null);
        tree.jobEnded(0, 3, null);
        Stage stage = run.stageSubmitted(1, 0, "s", 1, 4);
        tree.stageSubmitted(stage);
        run.stageCompleted(1, 0, 4, 5, null);
        tree.stageCompleted(stage);
        Task late = new Task();
        late.id = 7;
        late.stage = 1;
        late.launchMs = 4;
        late.finishMs = 6;
        late.failed = true;
        late.errorMessage = "no";
        tree.taskEnded(late, stage);
        tree.jobEnded(1, 8, null);
        tree.end(9, Collections.emptyList());
        assertTree(Collections.emptySet());
        Span of = spans.stream().filter(span -> span.name.equals("stage 1")).findFirst().get();
        Span job = spans.stream().filter(span -> span.name.equals("job 1")).findFirst().get();
        Span task = spans.stream().filter(span -> span.name.equals("task 7")).findFirst().get();
        assertEquals(job.spanId, of.parentId);
        assertEquals(of.spanId, task.parentId);
    }

    @Test
    public void operationsBelongToTheTraceOfTheirClient() {
        TraceContext context = TraceContext.parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "dag_id=d");
        SpanTree tree = new SpanTree(application, null, 1, 0, sink);
        tree.sqlStarted(1, "select", 10, null);
        tree.jobStarted(0, 11, Arrays.asList(0), 1, null, context, null);
        tree.jobEnded(0, 12, null);
        tree.sqlEnded(1, 13, null, 12);
        tree.end(20, Collections.emptyList());
        for (Span span : spans.subList(0, 3)) {
            assertEquals(span.name, context.traceId, span.traceId);
        }
        assertEquals(context.spanId, spans.get(2).parentId);
        assertEquals("d", spans.get(2).attributes.get("airflow.dag_id"));
        assertEquals(application.traceId, spans.get(3).traceId);
        assertTree(Collections.singleton(context.spanId));
    }
}
