package io.pyrometer.spark.executor;

import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;

/**
 * Beginnings and ends of tasks in LTTng's trace of user space, on the thread of the task, so that the trace says whose they are. The
 * agent has no locks and does no input or output there.
 */
final class LttngTasks {
    static final String LOGGER = "io.pyrometer.task";

    private final Callable<Handler> maker;
    private final Consumer<Throwable> failed;
    private final Thread thread = new Thread(this::work, "pyrometer-lttng");
    /** Null: not yet, or not here. */
    private volatile Handler handler;
    private boolean stopped;

    LttngTasks(Callable<Handler> maker, Consumer<Throwable> failed) {
        this.maker = maker;
        this.failed = failed;
    }

    /** Does not wait for the agent, which waits for its session daemon. */
    void start() {
        thread.setDaemon(true);
        thread.start();
    }

    private void work() {
        try {
            Handler made = maker.call();
            synchronized (this) {
                if (stopped) {
                    made.close();
                } else {
                    handler = made;
                }
            }
        } catch (Throwable error) { // no such class, no native library
            failed.accept(error);
        }
    }

    boolean isOn() {
        return handler != null;
    }

    void add(TaskThreads.Record record) {
        Handler to = handler;
        if (to != null) {
            boolean begins = record.status == null;
            String message = (begins ? "begins" : "ends") + " task=" + record.task + " stage=" + record.stage + '.' + record.attempt
                    + " tid=" + record.tid + (begins ? "" : " status=" + record.status);
            to.publish(Lttng.record(LOGGER, Level.INFO, message, LOGGER, begins ? "begins" : "ends"));
        }
    }

    synchronized void stop() {
        stopped = true;
        if (handler != null) {
            handler.close();
            handler = null;
        }
    }
}
