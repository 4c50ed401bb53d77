package io.pyrometer.spark.driver;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import io.pyrometer.spark.metrics.Metric;
import io.pyrometer.spark.run.Executor;
import io.pyrometer.spark.run.Run;
import io.pyrometer.spark.run.Task;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.Test;

public class EventQueueTest {
    private final EventQueue queue = new EventQueue();
    private final Run run = new Run();
    private final Watcher watcher = new Watcher(run, null, 1);

    @Test
    public void whatHasComeIsTakenInItsOrder() {
        StringBuilder seen = new StringBuilder();
        queue.add(own -> seen.append('a'));
        queue.start(watcher);
        queue.add(own -> seen.append('b'));
        queue.flush(5000);
        assertEquals("ab", seen.toString());
        queue.add(own -> seen.append('c'));
        queue.stop(5000);
        assertEquals("abc", seen.toString());
    }

    /** An Error is not an Exception. */
    @Test
    public void errorsEndNothing() {
        AtomicInteger taken = new AtomicInteger();
        queue.start(watcher);
        queue.add(own -> {
            throw new AssertionError("on purpose");
        });
        queue.add(own -> taken.incrementAndGet());
        queue.flush(5000);
        queue.add(own -> taken.incrementAndGet());
        queue.stop(5000);
        assertEquals(2, taken.get());
    }

    @Test
    public void tasksAreLostFirstAndTheEndNever() throws InterruptedException {
        AtomicInteger tasks = new AtomicInteger();
        AtomicInteger others = new AtomicInteger();
        for (int i = 0; i < EventQueue.CAPACITY; i++) {
            queue.addTaskEnd("1", own -> tasks.incrementAndGet());
        }
        for (int i = 0; i < 1000; i++) {
            queue.add(own -> others.incrementAndGet());
        }
        assertEquals(2000, queue.dropped());
        for (int i = 0; i < EventQueue.CAPACITY; i++) {
            queue.add(own -> others.incrementAndGet());
        }
        queue.addLast(own -> own.applicationEnded(5));
        run.executorAdded(new Executor("1", "h", 2, 1, -1, -1));
        run.taskStarted("1");
        queue.start(watcher);
        queue.stop(5000);
        assertTrue(watcher.awaitEnd(0));
        assertTrue(tasks.get() == 7999 && others.get() == 2000);
        assertEquals(1, run.samples(10).stream().filter(sample -> sample.metric == Metric.IDLE_EXECUTORS).findFirst().get().value, 0);
    }

    /** What was lost is known at another time than what was not. */
    @Test
    public void lostTasksLeaveNoneRunning() {
        run.executorAdded(new Executor("1", "h", 2, 1, -1, -1));
        for (int i = 0; i < EventQueue.CAPACITY; i++) {
            queue.addTaskStart("1", own -> own.taskStarted("1"));
        }
        queue.start(watcher);
        queue.flush(5000);
        for (int i = 0; i < EventQueue.CAPACITY; i++) {
            Task task = new Task();
            task.executor = "1";
            queue.addTaskEnd("1", own -> own.taskEnded(task));
        }
        queue.stop(5000);
        assertEquals(1, run.samples(10).stream().filter(sample -> sample.metric == Metric.IDLE_EXECUTORS).findFirst().get().value, 0);
        run.tasksLost("1", 1);
        assertEquals(0, run.samples(10).stream().filter(sample -> sample.metric == Metric.IDLE_EXECUTORS).findFirst().get().value, 0);
    }

    @Test
    public void nothingIsKeptWhereItIsOff() throws InterruptedException {
        queue.add(own -> own.applicationEnded(5));
        queue.turnOff();
        queue.addLast(own -> own.applicationEnded(5));
        queue.start(watcher);
        queue.stop(5000);
        assertFalse(watcher.awaitEnd(0));
        assertEquals(0, queue.dropped());
    }
}
