package io.pyrometer.spark.run;

import java.util.LinkedHashMap;
import java.util.Map;

/** A streaming query: its newest progress. NaN and -1: it did not say. */
public final class Query {
    public final String id;
    public String name;
    public long endedMs = -1;
    public long batchDurationMs = -1;
    public double inputRowsPerSecond = Double.NaN;
    public double processedRowsPerSecond = Double.NaN;
    public double watermarkDelayMs = Double.NaN;
    public long stateRows = -1;
    /** What its sources say about what they did not read yet, by their own names. */
    public final Map<String, Double> backlog = new LinkedHashMap<>();

    public Query(String id) {
        this.id = id;
    }

    public String label() {
        return name == null || name.isEmpty() ? id : name;
    }
}
