package io.pyrometer.spark.trace;

import java.nio.charset.StandardCharsets;

/**
 * Identifiers of traces and spans, from the application and what the span is about. `pyrometer export --to otlp` makes the same
 * ones from the event log, so that spans which are sent twice are one.
 */
public final class Ids {
    private static final long BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private Ids() {}

    /** FNV-1a of 64 bits. */
    private static long hash(String text) {
        long hash = BASIS;
        for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (each & 0xff)) * PRIME;
        }
        return hash == 0 ? 1 : hash;
    }

    public static String trace(String application) {
        return String.format("%016x%016x", hash("trace/" + application), hash("pyrometer/" + application));
    }

    /** @param what kind and number, such as "stage/3/0" */
    public static String span(String application, String what) {
        return String.format("%016x", hash(application + '/' + what));
    }

    /** A number from 0 to 1 that is always the same for a span. */
    public static double share(String application, String what) {
        return (hash(what + '/' + application) >>> 11) / (double) (1L << 53);
    }
}
