package io.pyrometer.spark.otel;

import io.opentelemetry.exporter.otlp.http.logs.OtlpHttpLogRecordExporter;
import io.opentelemetry.exporter.otlp.http.logs.OtlpHttpLogRecordExporterBuilder;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporterBuilder;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.exporter.otlp.logs.OtlpGrpcLogRecordExporter;
import io.opentelemetry.exporter.otlp.logs.OtlpGrpcLogRecordExporterBuilder;
import io.opentelemetry.exporter.otlp.metrics.OtlpGrpcMetricExporter;
import io.opentelemetry.exporter.otlp.metrics.OtlpGrpcMetricExporterBuilder;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporterBuilder;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import io.opentelemetry.sdk.logs.export.LogRecordExporter;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.pyrometer.spark.conf.Settings;
import java.time.Duration;

/** OTLP by gRPC or by HTTP. Failed requests are tried again, up to five times with growing pauses. */
final class Exporters {
    static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final RetryPolicy RETRY = RetryPolicy.getDefault();

    final SpanExporter spans;
    /** Null, and the next one, too: the collector takes spans only. */
    final MetricExporter metrics;
    final LogRecordExporter events;

    Exporters(Settings settings) {
        boolean grpc = settings.protocol == Settings.Protocol.GRPC;
        spans = grpc ? grpcSpans(settings) : httpSpans(settings);
        metrics = settings.onlySpans ? null : grpc ? grpcMetrics(settings) : httpMetrics(settings);
        events = settings.onlySpans ? null : grpc ? grpcEvents(settings) : httpEvents(settings);
    }

    void shutdown() {
        spans.shutdown();
        if (metrics != null) {
            metrics.shutdown();
        }
        if (events != null) {
            events.shutdown();
        }
    }

    private static SpanExporter grpcSpans(Settings settings) {
        OtlpGrpcSpanExporterBuilder builder =
                OtlpGrpcSpanExporter.builder().setEndpoint(settings.endpoint).setTimeout(TIMEOUT).setRetryPolicy(RETRY);
        settings.headers.forEach(builder::addHeader);
        return builder.build();
    }

    private static SpanExporter httpSpans(Settings settings) {
        OtlpHttpSpanExporterBuilder builder = OtlpHttpSpanExporter.builder()
                .setEndpoint(settings.endpoint + "/v1/traces").setTimeout(TIMEOUT).setRetryPolicy(RETRY);
        settings.headers.forEach(builder::addHeader);
        return builder.build();
    }

    private static MetricExporter grpcMetrics(Settings settings) {
        OtlpGrpcMetricExporterBuilder builder =
                OtlpGrpcMetricExporter.builder().setEndpoint(settings.endpoint).setTimeout(TIMEOUT).setRetryPolicy(RETRY);
        settings.headers.forEach(builder::addHeader);
        return builder.build();
    }

    private static MetricExporter httpMetrics(Settings settings) {
        OtlpHttpMetricExporterBuilder builder = OtlpHttpMetricExporter.builder()
                .setEndpoint(settings.endpoint + "/v1/metrics").setTimeout(TIMEOUT).setRetryPolicy(RETRY);
        settings.headers.forEach(builder::addHeader);
        return builder.build();
    }

    private static LogRecordExporter grpcEvents(Settings settings) {
        OtlpGrpcLogRecordExporterBuilder builder = OtlpGrpcLogRecordExporter.builder()
                .setEndpoint(settings.endpoint).setTimeout(TIMEOUT).setRetryPolicy(RETRY);
        settings.headers.forEach(builder::addHeader);
        return builder.build();
    }

    private static LogRecordExporter httpEvents(Settings settings) {
        OtlpHttpLogRecordExporterBuilder builder = OtlpHttpLogRecordExporter.builder()
                .setEndpoint(settings.endpoint + "/v1/logs").setTimeout(TIMEOUT).setRetryPolicy(RETRY);
        settings.headers.forEach(builder::addHeader);
        return builder.build();
    }
}
