package io.pyrometer.spark.executor;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.Filter;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.apache.logging.log4j.core.config.plugins.Plugin;
import org.apache.logging.log4j.core.config.plugins.PluginAttribute;
import org.apache.logging.log4j.core.config.plugins.PluginElement;
import org.apache.logging.log4j.core.config.plugins.PluginFactory;

/**
 * An appender of Log4j 2 that writes the log into LTTng's trace of user space. Threads that log hand their records to a queue and
 * never wait: where it is full, records are lost and counted. Without LTTng's agent on the class path it does nothing.
 */
@Plugin(name = "PyrometerLttng", category = "Core", elementType = "appender", printObject = true)
public final class LttngAppender extends AbstractAppender {
    static final int CAPACITY = 8192;
    private static final long END_MS = 500;
    private static final long PAUSE_MS = 100;

    private final Callable<Handler> maker;
    private final BlockingQueue<LogRecord> records;
    private final AtomicLong dropped = new AtomicLong();
    private final Thread thread = new Thread(this::work, "pyrometer-lttng-log");
    private volatile boolean stopping;
    private volatile boolean off;

    LttngAppender(String name, Filter filter, Callable<Handler> maker, int capacity) {
        super(name, filter, null, true, Property.EMPTY_ARRAY);
        this.maker = maker;
        records = new ArrayBlockingQueue<>(capacity);
        thread.setDaemon(true);
    }

    /** What a configuration of Log4j 2 calls. */
    @PluginFactory
    public static LttngAppender create(@PluginAttribute("name") String name, @PluginElement("Filter") Filter filter) {
        return new LttngAppender(name == null ? "lttng" : name, filter, Lttng::handler, CAPACITY);
    }

    @Override
    public void start() {
        super.start();
        thread.start();
    }

    @Override
    public void append(LogEvent event) {
        if (off) {
            return;
        }
        // The event's object is used again for the next one.
        LogRecord record = Lttng.record(event.getLoggerName(), level(event.getLevel()),
                event.getMessage().getFormattedMessage(), event.getLoggerName(), event.getThreadName());
        setMillis(record, event.getTimeMillis());
        if (!records.offer(record)) {
            dropped.incrementAndGet();
        }
    }

    /** Newer Javas have another method for it, which Java 8 lacks. */
    @SuppressWarnings("deprecation")
    private static void setMillis(LogRecord record, long ms) {
        record.setMillis(ms);
    }

    long dropped() {
        return dropped.get();
    }

    private static java.util.logging.Level level(Level level) {
        if (level.isMoreSpecificThan(Level.ERROR)) {
            return java.util.logging.Level.SEVERE;
        }
        if (level.isMoreSpecificThan(Level.WARN)) {
            return java.util.logging.Level.WARNING;
        }
        if (level.isMoreSpecificThan(Level.INFO)) {
            return java.util.logging.Level.INFO;
        }
        return level.isMoreSpecificThan(Level.DEBUG) ? java.util.logging.Level.FINE : java.util.logging.Level.FINEST;
    }

    private void work() {
        Handler handler = null;
        try {
            handler = maker.call();
            while (!stopping || !records.isEmpty()) {
                LogRecord record = records.poll(PAUSE_MS, TimeUnit.MILLISECONDS);
                if (record != null) {
                    handler.publish(record);
                }
            }
            if (dropped() > 0) {
                String own = getClass().getName();
                handler.publish(Lttng.record(own, java.util.logging.Level.WARNING, "dropped=" + dropped(), own, "stop"));
            }
        } catch (Throwable error) { // no such class, no native library
            error(getName() + " is off: the log does not go to LTTng: " + error);
        } finally {
            off = true;
            records.clear();
            if (handler != null) {
                handler.close();
            }
        }
    }

    @Override
    public boolean stop(long timeout, TimeUnit unit) {
        stopping = true;
        try {
            thread.join(END_MS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        return super.stop(timeout, unit);
    }
}
