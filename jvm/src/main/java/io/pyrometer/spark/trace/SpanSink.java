package io.pyrometer.spark.trace;

/** Where spans go when they end. Never blocks: what does not fit is lost and counted. */
public interface SpanSink {
    /** @param leaf it has no children: the first to be lost where there is too much */
    void add(Span span, boolean leaf);

    void add(Event event);
}
