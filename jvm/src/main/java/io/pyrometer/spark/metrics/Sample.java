package io.pyrometer.spark.metrics;

import io.pyrometer.spark.run.Histogram;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** One value of a metric now. */
public final class Sample {
    public final Metric metric;
    /** One for each label of the metric. */
    public final List<String> labels;
    public final double value;
    /** Of a histogram; else null. */
    public final Histogram histogram;

    private Sample(Metric metric, double value, Histogram histogram, String... labels) {
        if (labels.length != metric.labels.size()) {
            throw new IllegalArgumentException(metric.text + " has " + metric.labels.size() + " labels");
        }
        this.metric = metric;
        this.labels = Collections.unmodifiableList(Arrays.asList(labels));
        this.value = value;
        this.histogram = histogram;
    }

    public static Sample of(Metric metric, double value, String... labels) {
        return new Sample(metric, value, null, labels);
    }

    public static Sample of(Metric metric, Histogram histogram, String... labels) {
        return new Sample(metric, histogram.count(), histogram, labels);
    }
}
