package io.pyrometer.spark.otel;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.logs.data.LogRecordData;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.pyrometer.spark.conf.Settings;
import io.pyrometer.spark.metrics.Metric;
import io.pyrometer.spark.metrics.Sample;
import io.pyrometer.spark.run.Application;
import io.pyrometer.spark.trace.Event;
import io.pyrometer.spark.trace.Span;
import io.pyrometer.spark.trace.SpanSink;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends spans, events and metrics to a collector, on a thread of its own. It holds a limited number of them: when the collector is
 * slow or down, spans of tasks are lost first, so that what is sent stays a tree.
 */
public final class OtlpSender implements SpanSink, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OtlpSender.class);
    private static final int MOST = 10_000;
    private static final int MOST_LEAVES = 8_000;
    private static final int BATCH = 512;
    private static final long PAUSE_MS = 1000;

    private final Exporters exporters;
    private final Resource resource;
    private final Supplier<List<Sample>> samples;
    private final long startMs;
    private final long intervalMs;
    private final Deque<Span> spans = new ArrayDeque<>();
    private final Deque<Event> events = new ArrayDeque<>();
    private final Thread thread = new Thread(this::work, "pyrometer-otlp");
    private long dropped;
    private long sent;
    private long failed;
    private boolean closing;
    private long deadlineMs = Long.MAX_VALUE;
    private boolean told;

    public OtlpSender(Settings settings, Application application, long startMs, Supplier<List<Sample>> samples) {
        this.exporters = new Exporters(settings);
        this.samples = samples;
        this.startMs = startMs;
        this.intervalMs = settings.metricsIntervalMs;
        AttributesBuilder attributes = Attributes.builder();
        attributes.put("service.name", settings.serviceName == null ? application.name : settings.serviceName);
        attributes.put("app_id", application.id);
        attributes.put("app_name", application.name);
        attributes.put("spark.app.id", application.id);
        application.orchestrator.forEach((key, value) -> attributes.put("airflow." + key, value));
        settings.resourceAttributes.forEach(attributes::put);
        resource = Resource.create(attributes.build());
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public synchronized void add(Span span, boolean leaf) {
        if (spans.size() >= (leaf ? MOST_LEAVES : MOST)) {
            dropped++;
            return;
        }
        spans.add(span);
        if (spans.size() >= BATCH) {
            notifyAll();
        }
    }

    @Override
    public synchronized void add(Event event) {
        if (events.size() < MOST_LEAVES) {
            events.add(event);
        }
    }

    /** What became of spans so far. */
    public synchronized List<Sample> counts() {
        List<Sample> list = new ArrayList<>();
        list.add(Sample.of(Metric.SPANS, sent, "exported"));
        list.add(Sample.of(Metric.SPANS, dropped, "dropped"));
        list.add(Sample.of(Metric.SPANS, failed, "failed"));
        return list;
    }

    private void work() {
        long metricsAt = System.currentTimeMillis() + intervalMs;
        boolean last = false;
        while (!last) {
            try {
                last = await();
                sendSpans();
                sendEvents();
                if (last || System.currentTimeMillis() >= metricsAt) {
                    long now = System.currentTimeMillis();
                    join(exporters.metrics.export(MetricRecord.of(samples.get(), resource, startMs, now)));
                    metricsAt = now + intervalMs;
                }
            } catch (InterruptedException error) {
                return;
            } catch (RuntimeException | LinkageError error) {
                tell(error);
            }
        }
    }

    /** Until there is a full batch, or for a while. Whether this is the last time. */
    private synchronized boolean await() throws InterruptedException {
        if (!closing && spans.size() < BATCH) {
            wait(PAUSE_MS);
        }
        return closing;
    }

    private void sendSpans() throws InterruptedException {
        for (List<SpanData> batch = nextSpans(); !batch.isEmpty(); batch = nextSpans()) {
            boolean well = join(exporters.spans.export(batch));
            synchronized (this) {
                sent += well ? batch.size() : 0;
                failed += well ? 0 : batch.size();
            }
        }
    }

    private synchronized List<SpanData> nextSpans() {
        List<SpanData> batch = new ArrayList<>();
        while (!spans.isEmpty() && batch.size() < BATCH && System.currentTimeMillis() < deadlineMs) {
            batch.add(new SpanRecord(spans.poll(), resource));
        }
        return batch;
    }

    private void sendEvents() throws InterruptedException {
        for (List<LogRecordData> batch = nextEvents(); !batch.isEmpty(); batch = nextEvents()) {
            join(exporters.events.export(batch));
        }
    }

    private synchronized List<LogRecordData> nextEvents() {
        List<LogRecordData> batch = new ArrayList<>();
        while (!events.isEmpty() && batch.size() < BATCH && System.currentTimeMillis() < deadlineMs) {
            batch.add(new EventRecord(events.poll(), resource));
        }
        return batch;
    }

    private boolean join(CompletableResultCode result) throws InterruptedException {
        long end = System.currentTimeMillis() + 6 * Exporters.TIMEOUT.toMillis();
        while (!result.isDone() && System.currentTimeMillis() < Math.min(end, deadline())) {
            result.join(50, TimeUnit.MILLISECONDS);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
        return result.isSuccess();
    }

    private synchronized long deadline() {
        return deadlineMs;
    }

    private synchronized void tell(Throwable error) {
        if (!told) {
            told = true;
            LOG.warn("Telemetry could not be sent; further failures are not reported", error);
        }
    }

    /** Sends what is left, for at most `ms`. */
    public void close(long ms) {
        synchronized (this) {
            closing = true;
            deadlineMs = System.currentTimeMillis() + ms;
            notifyAll();
        }
        try {
            thread.join(ms);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
        thread.interrupt();
        exporters.spans.shutdown();
        exporters.metrics.shutdown();
        exporters.events.shutdown();
    }

    @Override
    public void close() {
        close(PAUSE_MS);
    }
}
