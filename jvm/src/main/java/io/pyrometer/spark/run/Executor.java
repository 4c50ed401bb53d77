package io.pyrometer.spark.run;

/** An executor that came. Times are those of its events; -1: not known. */
public final class Executor {
    public final String id;
    public final String host;
    public final int cores;
    public final long addedMs;
    public final long requestedMs;
    public final long registeredMs;
    public long removedMs = -1;
    public String removeReason;
    int running;
    long heapPeakBytes = -1;
    long offHeapPeakBytes = -1;
    long fullCollections;

    public Executor(String id, String host, int cores, long addedMs, long requestedMs, long registeredMs) {
        this.id = id;
        this.host = host;
        this.cores = cores;
        this.addedMs = addedMs;
        boolean told = registeredMs > 0 && registeredMs <= addedMs;
        this.registeredMs = told ? registeredMs : -1;
        this.requestedMs = told && requestedMs > 0 && requestedMs <= registeredMs ? requestedMs : -1;
    }

    /** When it could work. */
    public long cameMs() {
        return registeredMs > 0 ? registeredMs : addedMs;
    }
}
