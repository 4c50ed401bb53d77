package io.pyrometer.spark.run;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Durations of tasks in fixed buckets, in seconds. */
public final class Histogram {
    /** Upper bounds, each inclusive; what is longer than the last one is in a bucket of its own. */
    public static final double[] BOUNDS = {0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600};

    private final long[] counts = new long[BOUNDS.length + 1];
    private long count;
    private long sumMs;

    void add(long ms) {
        int at = 0;
        while (at < BOUNDS.length && ms > BOUNDS[at] * 1000) {
            at++;
        }
        counts[at]++;
        count++;
        sumMs += ms;
    }

    public long count() {
        return count;
    }

    public double sumSeconds() {
        return sumMs / 1000.0;
    }

    /** Of each bucket alone, not cumulative. */
    public List<Long> counts() {
        List<Long> list = new ArrayList<>(counts.length);
        for (long each : counts) {
            list.add(each);
        }
        return Collections.unmodifiableList(list);
    }

    Histogram copy() {
        Histogram copy = new Histogram();
        System.arraycopy(counts, 0, copy.counts, 0, counts.length);
        copy.count = count;
        copy.sumMs = sumMs;
        return copy;
    }
}
