package io.pyrometer.spark.run;

import static org.junit.Assert.assertEquals;

import java.util.BitSet;
import java.util.Random;
import org.junit.Test;

public class IntervalSetTest {
    @Test
    public void lengthIsThatOfTheUnion() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            IntervalSet set = new IntervalSet();
            BitSet seconds = new BitSet();
            for (int i = 0; i < 30; i++) {
                int from = random.nextInt(500);
                int to = from + random.nextInt(40) - 5;
                set.add(from, to);
                seconds.set(from, Math.max(from, to));
                assertEquals(seconds.cardinality(), set.length());
                int since = random.nextInt(600);
                BitSet more = (BitSet) seconds.clone();
                more.set(since, 600);
                assertEquals("with one that goes on", more.cardinality(), set.lengthWith(since, 600));
            }
        }
    }

    @Test
    public void manyGapsNeedNoMoreMemory() {
        IntervalSet set = new IntervalSet();
        for (long i = 0; i < 100_000; i++) {
            set.add(10 * i, 10 * i + 3);
        }
        assertEquals(300_000, set.length());
        assertEquals(300_007, set.lengthWith(999_993, 1_000_000));
        set.add(5, 9);
        assertEquals("too long ago", 300_000, set.length());
    }
}
