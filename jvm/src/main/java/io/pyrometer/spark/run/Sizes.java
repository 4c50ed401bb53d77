package io.pyrometer.spark.run;

import java.util.Arrays;
import java.util.Random;

/** Sizes of the tasks of a stage: all of them up to a limit, then a sample of them. */
final class Sizes {
    private static final int MOST = 4096;

    private final Random random = new Random(1);
    private long[] values = new long[16];
    private int kept;
    private long count;
    private long sum;
    private long most;
    private long middle = -1;

    void add(long value) {
        count++;
        sum += value;
        most = Math.max(most, value);
        if (middle >= 0) {
            return;
        }
        if (kept < MOST) {
            if (kept == values.length) {
                values = Arrays.copyOf(values, 2 * kept);
            }
            values[kept++] = value;
            return;
        }
        long place = (long) (random.nextDouble() * count);
        if (place < MOST) {
            values[(int) place] = value;
        }
    }

    long count() {
        return count;
    }

    long most() {
        return most;
    }

    double mean() {
        return count > 0 ? (double) sum / count : 0;
    }

    /** No more values come, but late ones: keeps what is asked for. */
    void close() {
        middle = median();
        values = new long[0];
        kept = 0;
    }

    long median() {
        if (middle >= 0) {
            return middle;
        }
        long[] sorted = Arrays.copyOf(values, kept);
        Arrays.sort(sorted);
        return kept > 0 ? sorted[kept / 2] : 0;
    }
}
