package io.pyrometer.spark.metrics;

import io.pyrometer.spark.run.Application;
import io.pyrometer.spark.run.Histogram;
import java.util.List;

/** Samples in the text format of Prometheus, version 0.0.4. */
public final class PrometheusText {
    public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private PrometheusText() {}

    public static String write(Application application, List<Sample> samples) {
        StringBuilder text = new StringBuilder(16 << 10);
        for (Metric metric : Metric.values()) {
            boolean first = true;
            for (Sample sample : samples) {
                if (sample.metric != metric) {
                    continue;
                }
                if (first) {
                    text.append("# HELP ").append(metric.text).append(' ').append(metric.help).append('\n');
                    text.append("# TYPE ").append(metric.text).append(' ').append(metric.type.text).append('\n');
                    first = false;
                }
                write(text, application, sample);
            }
        }
        return text.toString();
    }

    private static void write(StringBuilder text, Application application, Sample sample) {
        if (sample.histogram == null) {
            line(text, sample.metric.text, application, sample, null, sample.value);
            return;
        }
        long count = 0;
        List<Long> counts = sample.histogram.counts();
        for (int i = 0; i < counts.size(); i++) {
            count += counts.get(i);
            String bound = i < Histogram.BOUNDS.length ? number(Histogram.BOUNDS[i]) : "+Inf";
            line(text, sample.metric.text + "_bucket", application, sample, bound, count);
        }
        line(text, sample.metric.text + "_sum", application, sample, null, sample.histogram.sumSeconds());
        line(text, sample.metric.text + "_count", application, sample, null, sample.histogram.count());
    }

    private static void line(StringBuilder text, String name, Application application, Sample sample, String bound,
            double value) {
        text.append(name).append('{');
        label(text, "app_id", application.id);
        text.append(',');
        label(text, "app_name", application.name);
        for (int i = 0; i < sample.labels.size(); i++) {
            text.append(',');
            label(text, sample.metric.labels.get(i), sample.labels.get(i));
        }
        if (bound != null) {
            text.append(',');
            label(text, "le", bound);
        }
        text.append("} ").append(number(value)).append('\n');
    }

    private static void label(StringBuilder text, String name, String value) {
        text.append(name).append("=\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '\n') {
                text.append("\\n");
            } else if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }

    private static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15 ? Long.toString((long) value) : Double.toString(value);
    }
}
