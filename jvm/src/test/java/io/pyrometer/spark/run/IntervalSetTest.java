package io.pyrometer.spark.run;

import static org.junit.Assert.assertEquals;

import java.util.BitSet;
import java.util.Random;
import org.junit.Test;

public class IntervalSetTest {
    @Test
    public void isAsLongAsTheUnion() {
        Random random = new Random(7);
        for (int round = 0; round < 200; round++) {
            IntervalSet set = new IntervalSet();
            BitSet oracle = new BitSet();
            for (int i = 0; i < 1 + random.nextInt(40); i++) {
                int from = random.nextInt(300);
                int to = from + random.nextInt(40) - 5;
                set.add(from, to);
                if (to > from) {
                    oracle.set(from, to);
                }
                assertEquals(oracle.cardinality(), set.length());
            }
            assertEquals(set.length(), set.copy().length());
        }
    }
}
