package io.pyrometer.spark.trace;

import java.nio.charset.StandardCharsets;

/**
 * Identifiers of traces and spans, from the application and what the span is about. `pyrometer export --to otlp` makes the same
 * ones from the event log, so that spans which are sent twice are one.
 */
public final class Ids {
    private static final long BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;
    private static final char[] DIGITS = "0123456789abcdef".toCharArray();
    private static final long TASK = add(BASIS, "task/");

    private final String application;
    /** Of "application/task/", for which tasks only add their number. */
    private final long ofTasks;
    private final byte[] behind;

    public Ids(String application) {
        this.application = application;
        ofTasks = add(BASIS, application + "/task/");
        behind = ('/' + application).getBytes(StandardCharsets.UTF_8);
    }

    /** FNV-1a of 64 bits, going on. */
    private static long add(long hash, byte[] bytes) {
        long sum = hash;
        for (byte each : bytes) {
            sum = (sum ^ (each & 0xff)) * PRIME;
        }
        return sum;
    }

    private static long add(long hash, String text) {
        return add(hash, text.getBytes(StandardCharsets.UTF_8));
    }

    /** The digits of a number that is not negative. */
    private static long add(long hash, long number) {
        long unit = 1;
        while (number / unit >= 10) {
            unit *= 10;
        }
        long sum = hash;
        for (; unit > 0; unit /= 10) {
            sum = (sum ^ ('0' + number / unit % 10)) * PRIME;
        }
        return sum;
    }

    private static String hex(long hash) {
        char[] text = new char[16];
        long rest = hash == 0 ? 1 : hash; // an id of zeros is none
        for (int i = 15; i >= 0; i--) {
            text[i] = DIGITS[(int) (rest & 15)];
            rest >>>= 4;
        }
        return new String(text);
    }

    public static String trace(String application) {
        return hex(add(BASIS, "trace/" + application)) + hex(add(BASIS, "pyrometer/" + application));
    }

    /** @param what kind and number, such as "stage/3/0" */
    public String span(String what) {
        return hex(add(BASIS, application + '/' + what));
    }

    /** The id of "task/number". */
    public String ofTask(long number) {
        return number < 0 ? span("task/" + number) : hex(add(ofTasks, number));
    }

    /** A number from 0 to 1 that is always the same for a task. */
    public double shareOfTask(long number) {
        long hash = add(number < 0 ? add(TASK, Long.toString(number)) : add(TASK, number), behind);
        return ((hash == 0 ? 1 : hash) >>> 11) / (double) (1L << 53);
    }
}
