package io.pyrometer.spark.run;

/** A task attempt that ended: what the listener's event said, without references to Spark's objects. */
public final class Task {
    public int stage;
    public int stageAttempt;
    public long id;
    public int index;
    public int attempt;
    public int partition;
    public String executor;
    public String host;
    public String locality;
    public boolean speculative;
    public long launchMs;
    public long finishMs;
    public boolean failed;
    public boolean killed;
    /** Of a task that failed; null: it did not. */
    public String errorClass;
    public String errorMessage;
    public String errorStack;
    /** False: the event had no metrics, and those below are 0. */
    public boolean hasMetrics;
    public long runMs;
    public long cpuNs;
    public long gcMs;
    public long deserializeMs;
    public long serializeMs;
    public long inputBytes;
    public long outputBytes;
    public long shuffleReadBytes;
    public long shuffleWriteBytes;
    public long fetchWaitMs;
    public long memorySpillBytes;
    public long diskSpillBytes;
    /** Peaks that the executor reported with the task; -1: it did not. */
    public long heapPeakBytes = -1;
    public long offHeapPeakBytes = -1;
    public long fullCollections = -1;

    public long durationMs() {
        return Math.max(0, finishMs - launchMs);
    }

    /** What it had to work on. */
    public long readBytes() {
        return inputBytes + shuffleReadBytes;
    }
}
