package io.pyrometer.spark.executor;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.impl.Log4jLogEvent;
import org.apache.logging.log4j.message.SimpleMessage;
import org.junit.Test;

/** With a handler in the place of LTTng's. */
public class LttngTest {
    private static final class Taken extends Handler {
        final List<LogRecord> records = Collections.synchronizedList(new ArrayList<>());
        volatile boolean closed;

        @Override
        public void publish(LogRecord record) {
            records.add(record);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            closed = true;
        }
    }

    private final Taken taken = new Taken();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private static Log4jLogEvent event(String message, Level level) {
        return Log4jLogEvent.newBuilder().setLoggerName("org.apache.spark.Test").setLevel(level).setThreadName("main")
                .setMessage(new SimpleMessage(message)).setTimeMillis(5000).build();
    }

    @Test
    public void tasksBeginAndEnd() throws InterruptedException {
        LttngTasks tasks = new LttngTasks(() -> taken, failure::set);
        TaskThreads.Record record = new TaskThreads.Record(5, 1, 0, 2, 99, 10, 0, null);
        tasks.add(record); // there is no handler yet
        tasks.start();
        for (int i = 0; i < 500 && !tasks.isOn(); i++) {
            Thread.sleep(10);
        }
        tasks.add(record);
        tasks.add(record.ended(20, "SUCCESS"));
        tasks.stop();
        tasks.add(record);
        assertEquals(2, taken.records.size());
        assertEquals("io.pyrometer.task", taken.records.get(0).getLoggerName());
        assertEquals("begins task=5 stage=1.0 tid=99", taken.records.get(0).getMessage());
        assertEquals("ends task=5 stage=1.0 tid=99 status=SUCCESS", taken.records.get(1).getMessage());
        assertTrue(taken.closed);
    }

    /** The JAR does not contain the classes. */
    @Test
    public void withoutTheAgentNothingIsSent() throws InterruptedException {
        LttngTasks tasks = new LttngTasks(Lttng::handler, failure::set);
        tasks.start();
        for (int i = 0; i < 500 && failure.get() == null; i++) {
            Thread.sleep(10);
        }
        assertTrue(String.valueOf(failure.get()), failure.get() instanceof ClassNotFoundException);
        assertFalse(tasks.isOn());
        tasks.stop();
    }

    @Test
    public void theLogIsHandedOver() {
        LttngAppender appender = new LttngAppender("l", null, () -> taken, 100);
        appender.start();
        appender.append(event("one", Level.WARN));
        appender.append(event("two", Level.TRACE));
        appender.stop(1, TimeUnit.SECONDS);
        assertEquals(2, taken.records.size());
        LogRecord first = taken.records.get(0);
        assertEquals("one", first.getMessage());
        assertEquals("org.apache.spark.Test", first.getLoggerName());
        assertEquals(java.util.logging.Level.WARNING, first.getLevel());
        assertEquals("main", first.getSourceMethodName());
        assertEquals(5000, first.getMillis());
        assertEquals(java.util.logging.Level.FINEST, taken.records.get(1).getLevel());
        assertTrue(taken.closed);
    }

    @Test
    public void threadsThatLogNeverWait() {
        CountDownLatch opened = new CountDownLatch(1);
        LttngAppender appender = new LttngAppender("l", null, () -> {
            opened.await();
            return taken;
        }, 10);
        appender.start();
        for (int i = 0; i < 25; i++) {
            appender.append(event("m" + i, Level.INFO));
        }
        assertEquals(15, appender.dropped());
        opened.countDown();
        appender.stop(1, TimeUnit.SECONDS);
        assertEquals(11, taken.records.size());
        assertEquals("dropped=15", taken.records.get(10).getMessage());
    }
}
