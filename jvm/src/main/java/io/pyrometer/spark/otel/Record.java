package io.pyrometer.spark.otel;

import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.resources.Resource;

/** What spans, events and metrics have in common. */
abstract class Record {
    private static final InstrumentationScopeInfo SCOPE = InstrumentationScopeInfo.create("pyrometer-spark-plugin");

    private final Resource resource;

    Record(Resource resource) {
        this.resource = resource;
    }

    public final Resource getResource() {
        return resource;
    }

    public final InstrumentationScopeInfo getInstrumentationScopeInfo() {
        return SCOPE;
    }

    static SpanContext context(String traceId, String spanId) {
        return SpanContext.create(traceId, spanId, TraceFlags.getSampled(), TraceState.getDefault());
    }
}
