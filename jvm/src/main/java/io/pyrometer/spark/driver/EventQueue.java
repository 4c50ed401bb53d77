package io.pyrometer.spark.driver;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Events on their way from Spark's listener thread to the plugin's own. Where it is full, events are lost and counted. It fills from
 * the first event on, and empties once it has a watcher.
 */
final class EventQueue {
    static final int CAPACITY = 10_000;

    private static final Logger LOG = LoggerFactory.getLogger(EventQueue.class);

    private final BlockingQueue<Consumer<Watcher>> events = new ArrayBlockingQueue<>(CAPACITY);
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private final Thread thread = new Thread(this::work, "pyrometer-events");
    private volatile Watcher watcher;
    private volatile boolean stopping;
    private volatile boolean off;

    void start(Watcher own) {
        watcher = own;
        thread.setDaemon(true);
        thread.start();
    }

    /** Forgets all events, also those that come later. */
    void turnOff() {
        off = true;
        stopping = true;
        events.clear();
    }

    void add(Consumer<Watcher> event) {
        if (!off && !events.offer(event)) {
            dropped.incrementAndGet();
        }
    }

    long dropped() {
        return dropped.get();
    }

    /** See Watcher; -1 while there is none. */
    long taskCommitMs(Object accumulables) {
        Watcher own = watcher;
        return own == null ? -1 : own.taskCommitMs(accumulables);
    }

    void failed(Throwable error) {
        if (failures.getAndIncrement() == 0) {
            LOG.warn("Pyrometer's plugin could not take an event; further ones are not reported", error);
        }
    }

    private void work() {
        while (!stopping || !events.isEmpty()) {
            try {
                Consumer<Watcher> event = events.poll(100, TimeUnit.MILLISECONDS);
                if (event != null) {
                    event.accept(watcher);
                }
            } catch (InterruptedException error) {
                return;
            } catch (RuntimeException | LinkageError error) {
                failed(error);
            }
        }
    }

    /** Takes what is left; at most for `ms`. */
    void stop(long ms) {
        stopping = true;
        try {
            thread.join(ms);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
        thread.interrupt();
    }
}
