package io.pyrometer.spark.driver;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Events on their way from Spark's listener thread to the plugin's own, which takes many at a time: waking a thread for each event
 * would cost more than all that is done with it. Where the queue is full, events are lost and counted, those of tasks first. It fills
 * from the first event on, and empties once it has a watcher.
 */
final class EventQueue {
    static final int CAPACITY = 10_000;
    /** The rest is for events without which a job, a stage or an executor would never end. */
    private static final int TASK_CAPACITY = 8_000;
    /** With this number of events the thread is woken. */
    private static final int HURRY = CAPACITY / 4;
    private static final int AT_ONCE = 1024;
    private static final long PAUSE_NS = 50_000_000;

    private static final Logger LOG = LoggerFactory.getLogger(EventQueue.class);

    private final BlockingQueue<Consumer<Watcher>> events = new ArrayBlockingQueue<>(CAPACITY);
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    /** By executor: starts of tasks that were lost, less ends that were. */
    private final Map<String, Integer> lostTasks = new ConcurrentHashMap<>();
    private final Thread thread = new Thread(this::work, "pyrometer-events");
    private volatile Watcher watcher;
    private volatile boolean resting;
    private volatile boolean stopping;
    private volatile boolean off;
    private volatile long lagMs = -1;

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

    boolean isOff() {
        return off;
    }

    void add(Consumer<Watcher> event) {
        if (!off && !events.offer(event)) {
            dropped.incrementAndGet();
        }
        hurry();
    }

    void addTaskStart(String executor, Consumer<Watcher> event) {
        addTask(executor, event, 1);
    }

    void addTaskEnd(String executor, Consumer<Watcher> event) {
        addTask(executor, event, -1);
    }

    private void addTask(String executor, Consumer<Watcher> event, int lost) {
        if (!off && events.size() < TASK_CAPACITY && events.offer(event)) {
            hurry();
        } else if (!off) {
            dropped.incrementAndGet();
            if (executor != null) {
                lostTasks.merge(executor, lost, Integer::sum);
            }
            hurry();
        }
    }

    /** Something of the plugin's own, that may be lost. */
    void ask(Consumer<Watcher> event) {
        if (!off) {
            events.offer(event);
        }
    }

    /** The last event: older ones are lost for it. */
    void addLast(Consumer<Watcher> event) {
        while (!off && !events.offer(event)) {
            events.poll();
            dropped.incrementAndGet();
        }
        LockSupport.unpark(thread);
    }

    private void hurry() {
        if (resting && events.size() >= HURRY) {
            resting = false;
            LockSupport.unpark(thread);
        }
    }

    /** An event of that time has come. */
    void came(long timeMs) {
        if (timeMs > 0) {
            lagMs = Math.max(0, System.currentTimeMillis() - timeMs);
        }
    }

    /** How long ago the newest event happened when Spark handed it over; -1: there was none. */
    long lagMs() {
        return lagMs;
    }

    long dropped() {
        return dropped.get();
    }

    void failed(Throwable error) {
        if (failures.getAndIncrement() == 0) {
            LOG.warn("Pyrometer's plugin could not take an event; further ones are not reported", error);
        }
    }

    /** Waits until all that has come is taken, for at most `ms`. */
    void flush(long ms) {
        long until = System.nanoTime() + ms * 1_000_000;
        // In this order: it rests after it has taken what it took out.
        while (!(events.isEmpty() && resting) && thread.isAlive() && System.nanoTime() - until < 0
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.unpark(thread);
            LockSupport.parkNanos(500_000);
        }
    }

    private void work() {
        List<Consumer<Watcher>> taken = new ArrayList<>(AT_ONCE);
        while (!stopping || !events.isEmpty()) {
            try {
                if (events.drainTo(taken, AT_ONCE) == 0) {
                    resting = true;
                    LockSupport.parkNanos(this, PAUSE_NS);
                    resting = false;
                    if (Thread.interrupted()) {
                        return;
                    }
                    continue;
                }
                for (Consumer<Watcher> event : taken) {
                    take(event);
                }
                for (String executor : lostTasks.keySet()) {
                    Integer count = lostTasks.remove(executor);
                    watcher.tasksLost(executor, count == null ? 0 : count);
                }
            } catch (Throwable error) { // also what Scala throws without declaring it, and full memory
                failed(error);
            }
            taken.clear();
        }
    }

    private void take(Consumer<Watcher> event) {
        try {
            event.accept(watcher);
        } catch (Throwable error) {
            failed(error);
        }
    }

    /** Takes what is left; at most for `ms`. */
    void stop(long ms) {
        stopping = true;
        LockSupport.unpark(thread);
        try {
            thread.join(Math.max(1, ms));
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
        thread.interrupt();
    }
}
