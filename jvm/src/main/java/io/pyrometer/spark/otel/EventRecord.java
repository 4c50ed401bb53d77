package io.pyrometer.spark.otel;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.sdk.logs.data.LogRecordData;
import io.opentelemetry.sdk.resources.Resource;
import io.pyrometer.spark.trace.Event;

/** An event as OpenTelemetry's exporters take it: a log record with the ids of its span. */
final class EventRecord extends Record implements LogRecordData {
    private final Event event;
    private final Attributes attributes;

    EventRecord(Event event, Resource resource) {
        super(resource);
        this.event = event;
        attributes = Convert.attributes(event.attributes);
    }

    @Override
    public long getTimestampEpochNanos() {
        return Convert.nanos(event.timeMs);
    }

    @Override
    public long getObservedTimestampEpochNanos() {
        return Convert.nanos(event.timeMs);
    }

    @Override
    public SpanContext getSpanContext() {
        return context(event.traceId, event.spanId);
    }

    @Override
    public Severity getSeverity() {
        return event.error ? Severity.ERROR : Severity.WARN;
    }

    @Override
    public String getSeverityText() {
        return event.error ? "ERROR" : "WARN";
    }

    @Override
    @SuppressWarnings("deprecation")
    public io.opentelemetry.sdk.logs.data.Body getBody() {
        return io.opentelemetry.sdk.logs.data.Body.string(event.text);
    }

    @Override
    public io.opentelemetry.api.common.Value<?> getBodyValue() {
        return io.opentelemetry.api.common.Value.of(event.text);
    }

    @Override
    public Attributes getAttributes() {
        return attributes;
    }

    @Override
    public int getTotalAttributeCount() {
        return attributes.size();
    }
}
