package io.pyrometer.spark.trace;

/** Where spans go when they end. Never blocks: what does not fit is lost and counted, spans without children first. */
public interface SpanSink {
    /** Whether others name a span as their parent. */
    enum Kind {
        LEAF,
        PARENT,
        /** The application: always kept. */
        ROOT
    }

    void add(Span span, Kind kind);

    void add(Event event);
}
