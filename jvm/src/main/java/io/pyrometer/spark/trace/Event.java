package io.pyrometer.spark.trace;

import java.util.LinkedHashMap;
import java.util.Map;

/** Something that happened in a span: sent as a log record with its ids. */
public final class Event {
    public final String traceId;
    public final String spanId;
    public final long timeMs;
    public final boolean error;
    public final String text;
    public final Map<String, Object> attributes = new LinkedHashMap<>();

    public Event(Span span, long timeMs, boolean error, String text) {
        this.traceId = span.traceId;
        this.spanId = span.spanId;
        this.timeMs = timeMs;
        this.error = error;
        this.text = text;
    }

    /** About how many characters it has. */
    public int length() {
        int sum = text.length();
        for (Object value : attributes.values()) {
            sum += value instanceof String ? ((String) value).length() : 8;
        }
        return sum;
    }

    public Event put(String key, Object value) {
        if (value != null) {
            attributes.put(key, value);
        }
        return this;
    }
}
