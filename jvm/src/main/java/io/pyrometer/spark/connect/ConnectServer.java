package io.pyrometer.spark.connect;

import org.apache.spark.sql.SparkSession;

/**
 * A driver that does nothing but exist, for Spark Connect by {@code spark.plugins}: Connect's own plugin starts the server. Spark's
 * SparkConnectServer starts it too, and in Spark 3.5 the second start fails, so that the two cannot be combined.
 */
public final class ConnectServer {
    private static final long PAUSE_MS = 500;

    private ConnectServer() {}

    public static void main(String[] arguments) throws InterruptedException {
        SparkSession session = SparkSession.builder().getOrCreate();
        while (!session.sparkContext().isStopped()) {
            Thread.sleep(PAUSE_MS);
        }
    }
}
