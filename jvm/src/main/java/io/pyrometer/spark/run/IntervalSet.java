package io.pyrometer.spark.run;

import java.util.Map;
import java.util.TreeMap;

/**
 * A union of intervals, and its length. Intervals that touch become one. Of many that do not, the oldest are only known by their
 * length, so that an application that never ends needs no more memory: what is added before their end does not count.
 */
final class IntervalSet {
    private static final int MOST = 1024;

    private final TreeMap<Long, Long> ends = new TreeMap<>();
    private long length;
    private long foldedUntil = Long.MIN_VALUE;

    void add(long from, long to) {
        long start = Math.max(from, foldedUntil);
        long end = to;
        if (end <= start) {
            return;
        }
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
        if (ends.size() > MOST) {
            foldedUntil = ends.pollFirstEntry().getValue();
        }
    }

    /** Of the union with an interval that ends after all others. */
    long lengthWith(long from, long to) {
        long start = Math.max(from, foldedUntil);
        if (to <= start) {
            return length;
        }
        long overlap = 0;
        Map.Entry<Long, Long> before = ends.lowerEntry(start);
        if (before != null) {
            overlap += Math.max(0, Math.min(before.getValue(), to) - start);
        }
        for (Map.Entry<Long, Long> each : ends.subMap(start, to).entrySet()) {
            overlap += Math.min(each.getValue(), to) - each.getKey();
        }
        return length + to - start - overlap;
    }

    long length() {
        return length;
    }
}
