package io.pyrometer.spark.run;

import java.util.Map;
import java.util.TreeMap;

/** A union of intervals, and its length. Intervals that touch become one, so that a long run needs few of them. */
final class IntervalSet {
    private final TreeMap<Long, Long> ends = new TreeMap<>();
    private long length;

    void add(long from, long to) {
        if (to <= from) {
            return;
        }
        long start = from;
        long end = to;
        Map.Entry<Long, Long> near = ends.floorEntry(end);
        while (near != null && near.getValue() >= start) {
            start = Math.min(start, near.getKey());
            end = Math.max(end, near.getValue());
            length -= near.getValue() - near.getKey();
            ends.remove(near.getKey());
            near = ends.floorEntry(end);
        }
        ends.put(start, end);
        length += end - start;
    }

    long length() {
        return length;
    }

    IntervalSet copy() {
        IntervalSet copy = new IntervalSet();
        copy.ends.putAll(ends);
        copy.length = length;
        return copy;
    }
}
