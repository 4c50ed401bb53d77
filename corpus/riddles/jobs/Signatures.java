/* Functions of queries that sign orders: with one key object for all tasks of an executor, or one for each thread. */
package com.acme;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import org.apache.spark.sql.api.java.UDF1;

public final class Signatures {
    private static final int CHECKS = 60_000;
    private static final int ROUNDS = 300_000;

    private final MessageDigest digest;

    private Signatures() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException(error);
        }
    }

    private long repeat(long order, int times) {
        byte[] sum = ByteBuffer.allocate(Long.BYTES).putLong(order).array();
        for (int i = 0; i < times; i++) {
            sum = digest.digest(sum);
        }
        return ByteBuffer.wrap(sum).getLong();
    }

    private static final ThreadLocal<Signatures> OWN = ThreadLocal.withInitial(Signatures::new);

    /** All tasks of an executor share one object, and take turns. */
    public static final class Shared implements UDF1<Long, Long> {
        private static final Signatures ONE = new Signatures();

        @Override
        public Long call(Long order) {
            long checked = OWN.get().repeat(order, CHECKS);
            return sign(checked);
        }

        private static long sign(long checked) {
            synchronized (ONE) {
                return ONE.repeat(checked, ROUNDS);
            }
        }
    }

    /** Each task has its own object. */
    public static final class Own implements UDF1<Long, Long> {
        @Override
        public Long call(Long order) {
            long checked = OWN.get().repeat(order, CHECKS);
            return OWN.get().repeat(checked, ROUNDS);
        }
    }
}
