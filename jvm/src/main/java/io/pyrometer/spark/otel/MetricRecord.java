package io.pyrometer.spark.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.Data;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.resources.Resource;
import io.pyrometer.spark.metrics.Metric;
import io.pyrometer.spark.metrics.Sample;
import io.pyrometer.spark.run.Histogram;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A metric with its samples as OpenTelemetry's exporters take it. Names are those of Prometheus. */
final class MetricRecord extends Record implements MetricData {
    private static final List<Double> BOUNDS = bounds();

    private final Metric metric;
    private final Data<?> data;

    private MetricRecord(Metric metric, Resource resource, Data<?> data) {
        super(resource);
        this.metric = metric;
        this.data = data;
    }

    static List<MetricData> of(List<Sample> samples, Resource resource, long startMs, long nowMs) {
        List<MetricData> records = new ArrayList<>();
        long from = Convert.nanos(startMs);
        long to = Convert.nanos(nowMs);
        for (Metric metric : Metric.values()) {
            List<DoublePointData> points = new ArrayList<>();
            List<HistogramPointData> histograms = new ArrayList<>();
            for (Sample sample : samples) {
                if (sample.metric == metric && sample.histogram != null) {
                    histograms.add(point(sample, from, to));
                } else if (sample.metric == metric) {
                    points.add(DoublePointData.create(from, to, attributes(sample), sample.value, Collections.emptyList()));
                }
            }
            if (!points.isEmpty() || !histograms.isEmpty()) {
                records.add(new MetricRecord(metric, resource, data(metric, points, histograms)));
            }
        }
        return records;
    }

    private static Data<?> data(Metric metric, List<DoublePointData> points, List<HistogramPointData> histograms) {
        switch (metric.type) {
            case HISTOGRAM:
                return HistogramData.create(AggregationTemporality.CUMULATIVE, histograms);
            case COUNTER:
                return SumData.createDoubleSumData(true, AggregationTemporality.CUMULATIVE, points);
            default:
                return GaugeData.createDoubleGaugeData(points);
        }
    }

    private static HistogramPointData point(Sample sample, long from, long to) {
        Histogram histogram = sample.histogram;
        return HistogramPointData.create(from, to, attributes(sample), histogram.sumSeconds(), false, 0, false, 0, BOUNDS,
                histogram.counts());
    }

    private static List<Double> bounds() {
        List<Double> list = new ArrayList<>();
        for (double bound : Histogram.BOUNDS) {
            list.add(bound);
        }
        return Collections.unmodifiableList(list);
    }

    private static Attributes attributes(Sample sample) {
        AttributesBuilder builder = Attributes.builder();
        for (int i = 0; i < sample.labels.size(); i++) {
            builder.put(AttributeKey.stringKey(sample.metric.labels.get(i)), sample.labels.get(i));
        }
        return builder.build();
    }

    @Override
    public String getName() {
        return metric.text;
    }

    @Override
    public String getDescription() {
        return metric.help;
    }

    @Override
    public String getUnit() {
        return metric.unit;
    }

    @Override
    public MetricDataType getType() {
        switch (metric.type) {
            case HISTOGRAM:
                return MetricDataType.HISTOGRAM;
            case COUNTER:
                return MetricDataType.DOUBLE_SUM;
            default:
                return MetricDataType.DOUBLE_GAUGE;
        }
    }

    @Override
    public Data<?> getData() {
        return data;
    }
}
