package io.pyrometer.spark.executor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The processes that this one has started, and those that they have started: Python workers. Java 9 and later can list them. */
final class Children {
    private static final long FIRST_NS = 1_000_000_000;
    private static final long LAST_NS = 60_000_000_000L;

    private final Set<Long> known = new HashSet<>();
    private final Method descendants;
    private final Method pid;
    private final Object self;
    private long pauseNs = FIRST_NS;
    private long listedNs;

    Children() {
        Method listing = null;
        Method number = null;
        Object handle = null;
        try {
            Class<?> type = Class.forName("java.lang.ProcessHandle");
            listing = type.getMethod("descendants");
            number = type.getMethod("pid");
            handle = type.getMethod("current").invoke(null);
        } catch (ReflectiveOperationException | LinkageError | SecurityException error) {
            handle = null; // Java 8
        }
        descendants = listing;
        pid = number;
        self = handle;
        listedNs = System.nanoTime();
    }

    boolean isKnown() {
        return self != null;
    }

    /** Those that are new since the last call, if it is time to look again; each look without any doubles the time to the next. */
    List<Long> due(boolean now) {
        List<Long> fresh = new ArrayList<>();
        if (self == null || (!now && System.nanoTime() - listedNs < pauseNs)) {
            return fresh;
        }
        try (Stream<?> all = (Stream<?>) descendants.invoke(self)) {
            for (Object child : all.toArray()) {
                Long number = (Long) pid.invoke(child);
                if (known.add(number)) {
                    fresh.add(number);
                }
            }
        } catch (ReflectiveOperationException error) {
            return fresh;
        }
        pauseNs = fresh.isEmpty() ? Math.min(2 * pauseNs, LAST_NS) : FIRST_NS;
        listedNs = System.nanoTime();
        return fresh;
    }
}
