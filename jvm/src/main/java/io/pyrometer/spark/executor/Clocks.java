package io.pyrometer.spark.executor;

import java.time.Instant;

/** One moment on the clock of {@link System#nanoTime} and on the wall clock. */
final class Clocks {
    private static final int TRIES = 5;
    private static final long MS = 1_000_000;

    final long monotonicNs;
    final long utcNs;

    private Clocks(long monotonicNs, long utcNs) {
        this.monotonicNs = monotonicNs;
        this.utcNs = utcNs;
    }

    /** Reads the wall clock between two readings of the other one: of several tries the one in which these are closest. */
    static Clocks read() {
        Clocks best = null;
        long least = Long.MAX_VALUE;
        boolean coarse = true;
        for (int i = 0; i < TRIES; i++) {
            long before = System.nanoTime();
            long utcNs = wallNs();
            long width = System.nanoTime() - before;
            coarse &= utcNs % MS == 0;
            if (best == null || width < least) {
                least = width;
                best = new Clocks(before + width / 2, utcNs);
            }
        }
        return coarse ? atNextMillisecond() : best;
    }

    /** The wall clock of Java 8 has milliseconds only: it is right at the moment when it goes on. */
    private static Clocks atNextMillisecond() {
        long start = System.currentTimeMillis();
        long before = System.nanoTime();
        long until = before + 5 * MS;
        while (true) {
            long ms = System.currentTimeMillis();
            long after = System.nanoTime();
            if (ms != start || after - until > 0) {
                return new Clocks(before + (after - before) / 2, ms * MS);
            }
            before = after;
        }
    }

    private static long wallNs() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000 + now.getNano();
    }
}
