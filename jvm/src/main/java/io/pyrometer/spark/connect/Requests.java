package io.pyrometer.spark.connect;

import io.pyrometer.spark.run.Bounded;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** What came with the newest requests of Spark Connect: from the thread of the server to that of the listener. */
public final class Requests {
    private static final int MOST = 10_000;
    private static final Map<String, Request> BY_KEY = new Bounded<>(MOST);
    private static final AtomicLong MALFORMED = new AtomicLong();

    /** One request to execute something. */
    public static final class Request {
        public final long timeMs;
        /** Null: the request had none. */
        public final TraceContext context;

        Request(long timeMs, TraceContext context) {
            this.timeMs = timeMs;
            this.context = context;
        }
    }

    private Requests() {}

    /** @param operation its id; an operation that is attached to again is known already */
    static void addOperation(String operation, long timeMs, TraceContext context) {
        synchronized (BY_KEY) {
            BY_KEY.putIfAbsent(operation, new Request(timeMs, context));
        }
    }

    /** @param session of a request that does not name its operation: the newest one counts */
    static void addSession(String session, long timeMs, TraceContext context) {
        synchronized (BY_KEY) {
            BY_KEY.remove(session); // so that it is the newest one
            BY_KEY.put(session, new Request(timeMs, context));
        }
    }

    /** The request of an operation, or the newest one of its session; null: none is known. */
    public static Request find(String operation, String session) {
        synchronized (BY_KEY) {
            Request found = operation == null ? null : BY_KEY.get(operation);
            return found != null || session == null ? found : BY_KEY.get(session);
        }
    }

    public static void countMalformed() {
        MALFORMED.incrementAndGet();
    }

    public static long malformed() {
        return MALFORMED.get();
    }
}
