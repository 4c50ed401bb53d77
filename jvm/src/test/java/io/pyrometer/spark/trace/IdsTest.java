package io.pyrometer.spark.trace;

import static org.junit.Assert.assertEquals;

import java.nio.charset.StandardCharsets;
import org.junit.Test;

public class IdsTest {
    private static long fnv(String text) {
        long hash = 0xcbf29ce484222325L;
        for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (each & 0xff)) * 0x100000001b3L;
        }
        return hash;
    }

    @Test
    public void idsOfTasksAreThoseOfTheirNames() {
        for (String application : new String[] {"app-20261128-0001", "local-1", "\u00fc"}) {
            Ids ids = new Ids(application);
            for (long task : new long[] {0, 9, 10, 99, 12_345, 1_000_000_007L, Long.MAX_VALUE, -1}) {
                assertEquals(String.format("%016x", fnv(application + "/task/" + task)), ids.ofTask(task));
                assertEquals(ids.span("task/" + task), ids.ofTask(task));
                assertEquals((fnv("task/" + task + '/' + application) >>> 11) / (double) (1L << 53), ids.shareOfTask(task), 0);
            }
        }
        assertEquals(String.format("%016x%016x", fnv("trace/a"), fnv("pyrometer/a")), Ids.trace("a"));
    }
}
