package io.pyrometer.spark.trace;

import java.util.LinkedHashMap;
import java.util.Map;

/** A span, while it is open and after. */
public final class Span {
    public final String traceId;
    public final String spanId;
    /** Null: it is the root of its trace. */
    public final String parentId;
    public final String name;
    public final long startMs;
    public long endMs = -1;
    /** Strings, longs, doubles and booleans. */
    public final Map<String, Object> attributes = new LinkedHashMap<>();
    /** Why it failed; null: it did not. */
    public String error;

    public Span(String traceId, String spanId, String parentId, String name, long startMs) {
        this.traceId = traceId;
        this.spanId = spanId;
        this.parentId = parentId;
        this.name = name;
        this.startMs = startMs;
    }

    public Span put(String key, Object value) {
        if (value != null) {
            attributes.put(key, value);
        }
        return this;
    }

    public Span end(long timeMs) {
        endMs = Math.max(timeMs, startMs);
        return this;
    }
}
