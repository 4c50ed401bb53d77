package io.pyrometer.spark.run;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import io.pyrometer.spark.metrics.Metric;
import io.pyrometer.spark.metrics.PrometheusText;
import io.pyrometer.spark.metrics.Sample;
import java.util.Arrays;
import java.util.Collections;
import java.util.Optional;
import org.junit.Test;

public class RunTest {
    private final Run run = new Run();

    private static Task task(int stage, long launch, long finish, long output) {
        Task task = new Task();
        task.stage = stage;
        task.executor = "1";
        task.launchMs = launch;
        task.finishMs = finish;
        task.outputBytes = output;
        task.hasMetrics = true;
        return task;
    }

    private Optional<Double> value(long now, Metric metric, String... labels) {
        return run.samples(now).stream()
                .filter(sample -> sample.metric == metric && sample.labels.equals(Arrays.asList(labels)))
                .map((Sample sample) -> sample.value).findFirst();
    }

    @Test
    public void phasesAreThoseOfTheReport() {
        run.begin(1000, 1);
        assertEquals(4.0, value(5000, Metric.RESOURCE_WAIT).get(), 0);
        run.executorAdded(new Executor("1", "h", 2, 11_000, -1, -1));
        run.stageSubmitted(0, 0, "read", 2, 12_000);
        run.stageSubmitted(1, 0, "write", 2, 14_000);
        run.taskEnded(task(1, 14_000, 15_000, 100));
        assertEquals(10.0, value(16_000, Metric.RESOURCE_WAIT).get(), 0);
        assertEquals(2.0, value(16_000, Metric.PHASE_WRITE).get(), 0);
        assertEquals(2.0, value(16_000, Metric.PHASE_COMPUTE).get(), 0);
        assertEquals(1.0, value(16_000, Metric.PHASE_ACTIVE, "io_write").get(), 0);
        run.stageCompleted(0, 0, 12_000, 18_000, null);
        run.stageCompleted(1, 0, 14_000, 16_000, null);
        run.end(21_000);
        assertEquals(2.0, value(99_000, Metric.PHASE_WRITE).get(), 0);
        assertEquals(4.0, value(99_000, Metric.PHASE_COMPUTE).get(), 0);
        assertEquals(0.5, value(99_000, Metric.PHASE_RATIO, "wait").get(), 0);
    }

    /** A killed attempt that ends after its stage may be the first that says that the stage writes. */
    @Test
    public void taskAfterItsStageStillCounts() {
        run.begin(0, 1);
        run.stageSubmitted(0, 0, "write", 1, 1000);
        run.stageCompleted(0, 0, 1000, 3000, null);
        run.taskEnded(task(0, 1000, 3100, 10));
        assertEquals(2.0, value(5000, Metric.PHASE_WRITE).get(), 0);
        assertEquals(0.0, value(5000, Metric.PHASE_COMPUTE).get(), 0);
    }

    @Test
    public void whatIsNotKnownIsAbsent() {
        run.begin(0, 1);
        for (Metric metric : new Metric[] {Metric.GC_RATIO, Metric.SUBMIT, Metric.FULL_COLLECTIONS, Metric.SLOT_UTILIZATION,
            Metric.QUEUE_LAG}) {
            assertFalse(metric.text, value(1000, metric).isPresent());
        }
    }

    @Test
    public void seriesStayFew() {
        run.begin(0, 1);
        for (int i = 0; i < 3000; i++) {
            Executor executor = new Executor(Integer.toString(i), "h", 1, 10, -1, -1);
            run.executorAdded(executor);
            Task task = task(i, 10, 20 + i, 0);
            task.executor = executor.id;
            task.heapPeakBytes = 1000 + i;
            task.offHeapPeakBytes = 5;
            task.shuffleReadBytes = 10;
            run.stageSubmitted(i, 0, "s", 1, 10);
            run.taskEnded(task);
            run.stageCompleted(i, 0, 10, 20 + i, null);
            Query query = run.query("query " + i);
            if (query != null) {
                query.batchDurationMs = 1;
                query.inputRowsPerSecond = 1;
                query.processedRowsPerSecond = 1;
                query.watermarkDelayMs = 1;
                query.stateRows = 1;
                for (String measure : new String[] {"a", "b", "c", "d", "e", "f"}) {
                    query.backlog.put(measure, 1.0);
                }
            }
            run.fileSystems(Collections.singletonMap("s" + i + "\0FILE_RETRIES", 1.0));
        }
        Application application = new Application("app-1", "a", "3.5.6", "0", Collections.emptyMap());
        String[] lines = PrometheusText.write(application, run.samples(1000)).split("\n");
        long series = Arrays.stream(lines).filter(line -> !line.startsWith("#")).count();
        assertTrue(series + " series", series > 500 && series < 1000);
        assertEquals(Run.STAGES,
                run.samples(1000).stream().filter(sample -> sample.metric == Metric.STAGE_DURATION).count());
        assertEquals("stages are shown for five minutes after their end", 0,
                run.samples(10_000_000).stream().filter(sample -> sample.metric == Metric.STAGE_DURATION).count());
    }

    @Test
    public void countersOfOtherVersionsAreLeftOut() {
        run.fileSystems(Collections.singletonMap("s3a\0FILE_BYTES\0read", 5.0));
        run.fileSystems(Collections.singletonMap("s3a\0OF_ANOTHER_VERSION", 5.0));
        run.fileSystems(Collections.singletonMap("s3a\0FILE_BYTES", 5.0));
        assertEquals(5.0, value(0, Metric.FILE_BYTES, "s3a", "read").get(), 0);
        assertEquals(1, run.samples(0).stream().filter(sample -> sample.metric.name().startsWith("FILE_")).count());
        for (int i = 0; i < 5000; i++) {
            run.fileSystems(Collections.singletonMap("s" + i + "\0FILE_RETRIES", 1.0));
        }
        assertTrue(run.samples(0).size() < 500);
    }

    /** Long stages of the first hour do not hide those of now. */
    @Test
    public void oldStagesMakeRoom() {
        run.begin(0, 1);
        for (int i = 0; i < 100; i++) {
            run.stageSubmitted(i, 0, "long", 1, 10);
            run.stageCompleted(i, 0, 10, 3_600_000, null);
        }
        run.stageSubmitted(100, 0, "short", 1, 9_000_000);
        run.stageCompleted(100, 0, 9_000_000, 9_000_500, null);
        assertEquals(0.5, value(9_001_000, Metric.STAGE_DURATION, "100", "0", "short", "compute").get(), 0);
    }

    @Test
    public void lostEndsOfTasksLeaveNoneRunning() {
        run.begin(0, 1);
        run.executorAdded(new Executor("1", "h", 2, 10, -1, -1));
        run.taskStarted("1");
        run.taskStarted("1");
        assertEquals(1.0, value(100, Metric.SLOT_UTILIZATION).get(), 0);
        run.tasksLost("1", -2);
        assertEquals(1.0, value(100, Metric.IDLE_EXECUTORS).get(), 0);
    }

    @Test
    public void executorsThatEndedAreForgotten() {
        run.begin(0, 1);
        run.executorAdded(new Executor("1", "h", 2, 10, -1, -1));
        run.executorPeaks("1", 1000, 10, 0);
        run.executorRemoved("1", 50_000, "idle");
        assertEquals(1000.0, value(60_000, Metric.EXECUTOR_PEAK, "1", "heap").get(), 0);
        assertFalse(value(400_000, Metric.EXECUTOR_PEAK, "1", "heap").isPresent());
    }

    @Test
    public void waitEndsWithTheRegistration() {
        Executor executor = new Executor("1", "h", 1, 5000, 1000, 4990);
        assertEquals(4990, executor.cameMs());
        assertEquals(1000, executor.requestedMs);
        assertEquals("times that contradict each other are not known", -1,
                new Executor("1", "h", 1, 5000, 4995, 4990).requestedMs);
    }
}
