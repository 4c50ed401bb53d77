package io.pyrometer.spark.otel;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.pyrometer.spark.trace.Span;
import java.util.Collections;
import java.util.List;

/** A span as OpenTelemetry's exporters take it. */
final class SpanRecord extends Record implements SpanData {
    private final Span span;
    private final Attributes attributes;
    private final SpanContext context;
    private final SpanContext parent;

    SpanRecord(Span span, Resource resource) {
        super(resource);
        this.span = span;
        context = context(span.traceId, span.spanId);
        parent = span.parentId == null ? SpanContext.getInvalid() : context(span.traceId, span.parentId);
        attributes = Convert.attributes(span.attributes);
    }

    @Override
    public String getName() {
        return span.name;
    }

    @Override
    public SpanKind getKind() {
        return SpanKind.INTERNAL;
    }

    @Override
    public SpanContext getSpanContext() {
        return context;
    }

    @Override
    public SpanContext getParentSpanContext() {
        return parent;
    }

    @Override
    public StatusData getStatus() {
        return span.error == null ? StatusData.unset() : StatusData.create(
                io.opentelemetry.api.trace.StatusCode.ERROR, span.error);
    }

    @Override
    public long getStartEpochNanos() {
        return Convert.nanos(span.startMs);
    }

    @Override
    public long getEndEpochNanos() {
        return Convert.nanos(span.endMs);
    }

    @Override
    public Attributes getAttributes() {
        return attributes;
    }

    @Override
    public List<EventData> getEvents() {
        return Collections.emptyList();
    }

    @Override
    public List<LinkData> getLinks() {
        return Collections.emptyList();
    }

    @Override
    public boolean hasEnded() {
        return true;
    }

    @Override
    public int getTotalRecordedEvents() {
        return 0;
    }

    @Override
    public int getTotalRecordedLinks() {
        return 0;
    }

    @Override
    public int getTotalAttributeCount() {
        return attributes.size();
    }

    @Override
    @SuppressWarnings("deprecation")
    public io.opentelemetry.sdk.common.InstrumentationLibraryInfo getInstrumentationLibraryInfo() {
        return io.opentelemetry.sdk.common.InstrumentationLibraryInfo.create(getInstrumentationScopeInfo().getName(), null);
    }
}
