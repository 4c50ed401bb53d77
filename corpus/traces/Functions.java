package pyrometer;

import java.io.FileOutputStream;
import java.io.IOException;
import java.net.Socket;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.api.java.UDF2;

/** Functions of SQL that behave badly. */
public final class Functions {
    private Functions() {}

    /** Works for some milliseconds while it holds the one lock of the executor. */
    public static final class Locked implements UDF1<Long, Long> {
        private static final Object LOCK = new Object();

        @Override
        public Long call(Long millis) {
            synchronized (LOCK) {
                long until = System.nanoTime() + millis * 1_000_000;
                long sum = 0;
                while (System.nanoTime() < until) {
                    sum++;
                }
                return sum % 2;
            }
        }
    }

    /** Writes that number of single bytes. */
    public static final class SingleBytes implements UDF1<Long, Long> {
        @Override
        public Long call(Long count) throws IOException {
            try (FileOutputStream stream = new FileOutputStream("/dev/null")) {
                for (long i = 0; i < count; i++) {
                    stream.write((int) i);
                }
            }
            return count;
        }
    }

    /** Asks a peer that number of times, one byte each, and waits for the answer. */
    public static final class Ask implements UDF2<String, Long, Long> {
        @Override
        public Long call(String peer, Long count) throws IOException {
            String[] parts = peer.split(":");
            try (Socket socket = new Socket(parts[0], Integer.parseInt(parts[1]))) {
                socket.setTcpNoDelay(true);
                for (long i = 0; i < count; i++) {
                    socket.getOutputStream().write(1);
                    if (socket.getInputStream().read() < 0) {
                        throw new IOException("the peer has closed the connection");
                    }
                }
            }
            return count;
        }
    }
}
