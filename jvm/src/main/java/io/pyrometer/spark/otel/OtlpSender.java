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
import java.util.function.Function;
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
    /** Characters of events: they hold stack traces. Collectors take at most 4 MiB at once. */
    private static final int BATCH_TEXT = 500_000;
    private static final int MOST_TEXT = 8_000_000;
    /** Batches of spans before metrics and events have their turn. */
    private static final int BATCHES = 16;
    private static final long PAUSE_MS = 1000;
    private static final long MS = 1_000_000;

    private final Exporters exporters;
    private final Resource resource;
    private final Supplier<List<Sample>> samples;
    private final long startMs;
    private final long intervalMs;
    private final Deque<Span> spans = new ArrayDeque<>();
    private final Deque<Event> events = new ArrayDeque<>();
    private final Thread thread = new Thread(this::work, "pyrometer-otlp");
    private long droppedEvents;
    private long textOfEvents;
    private long dropped;
    private long sent;
    private long failed;
    private boolean closing;
    /** Of System.nanoTime(), once it is closing. */
    private long deadlineNs;
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
    }

    public void start() {
        thread.start();
    }

    @Override
    public synchronized void add(Span span, Kind kind) {
        if (kind != Kind.ROOT && spans.size() >= (kind == Kind.LEAF ? MOST_LEAVES : MOST)) {
            dropped++;
            return;
        }
        spans.add(span);
        if (spans.size() == BATCH) {
            notifyAll();
        }
    }

    @Override
    public synchronized void add(Event event) {
        if (exporters.events == null) {
            return;
        }
        if (events.size() >= MOST_LEAVES || textOfEvents >= MOST_TEXT) {
            droppedEvents++;
            return;
        }
        textOfEvents += event.length();
        events.add(event);
    }

    /** What became of spans so far. */
    public synchronized List<Sample> counts() {
        List<Sample> list = new ArrayList<>();
        list.add(Sample.of(Metric.SPANS, sent, "exported"));
        list.add(Sample.of(Metric.SPANS, dropped, "dropped"));
        list.add(Sample.of(Metric.SPANS, failed, "failed"));
        list.add(Sample.of(Metric.EVENTS_DROPPED, droppedEvents, "otlp"));
        return list;
    }

    private void work() {
        long metricsAt = System.nanoTime() + intervalMs * MS;
        boolean last = false;
        while (!last) {
            try {
                last = await();
                // A collector may take spans more slowly than they come: the others have their turn nevertheless.
                attempt(this::sendSpans);
                attempt(this::sendEvents);
                if (last || System.nanoTime() - metricsAt >= 0) {
                    metricsAt = System.nanoTime() + intervalMs * MS;
                    attempt(this::sendMetrics);
                }
            } catch (InterruptedException error) {
                return;
            }
        }
    }

    /** Something that sends. */
    private interface Sending {
        void send() throws InterruptedException;
    }

    private void attempt(Sending sending) throws InterruptedException {
        try {
            sending.send();
        } catch (InterruptedException error) {
            throw error;
        } catch (Throwable error) {
            tell(error);
        }
    }

    private void sendMetrics() throws InterruptedException {
        if (exporters.metrics == null) {
            return;
        }
        join(exporters.metrics.export(MetricRecord.of(samples.get(), resource, startMs, System.currentTimeMillis())));
    }

    /** Until there is a full batch, or for a while. Whether this is the last time. */
    private synchronized boolean await() throws InterruptedException {
        if (!closing && spans.size() < BATCH) {
            wait(PAUSE_MS);
        }
        return closing;
    }

    /** What became of a batch. */
    private interface Counting {
        void count(int size, boolean well);
    }

    private <T> void sendBatches(Supplier<List<T>> take, Function<List<T>, CompletableResultCode> export, Counting counting)
            throws InterruptedException {
        for (int i = 0; i < BATCHES || isClosing(); i++) {
            List<T> batch = take.get();
            if (batch.isEmpty()) {
                return;
            }
            boolean well = false;
            try {
                well = join(export.apply(batch));
            } finally {
                counting.count(batch.size(), well);
            }
        }
    }

    private void sendSpans() throws InterruptedException {
        sendBatches(this::takeSpans, taken -> {
            List<SpanData> batch = new ArrayList<>(taken.size());
            taken.forEach(span -> batch.add(new SpanRecord(span, resource)));
            return exporters.spans.export(batch);
        }, this::countSpans);
    }

    private void sendEvents() throws InterruptedException {
        sendBatches(this::takeEvents, taken -> {
            List<LogRecordData> batch = new ArrayList<>(taken.size());
            taken.forEach(event -> batch.add(new EventRecord(event, resource)));
            return exporters.events.export(batch);
        }, this::countEvents);
    }

    private synchronized void countSpans(int size, boolean well) {
        sent += well ? size : 0;
        failed += well ? 0 : size;
    }

    private synchronized void countEvents(int size, boolean well) {
        droppedEvents += well ? 0 : size;
    }

    private synchronized List<Span> takeSpans() {
        List<Span> batch = new ArrayList<>();
        while (!spans.isEmpty() && batch.size() < BATCH && !isLate()) {
            batch.add(spans.poll());
        }
        return batch;
    }

    private synchronized List<Event> takeEvents() {
        List<Event> batch = new ArrayList<>();
        long text = 0;
        while (!events.isEmpty() && batch.size() < BATCH && text < BATCH_TEXT && !isLate()) {
            Event event = events.poll();
            text += event.length();
            batch.add(event);
        }
        textOfEvents -= text;
        return batch;
    }

    private boolean join(CompletableResultCode result) throws InterruptedException {
        long end = System.nanoTime() + 6 * Exporters.TIMEOUT.toNanos();
        while (!result.isDone() && System.nanoTime() - end < 0 && !isLate()) {
            result.join(50, TimeUnit.MILLISECONDS);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
        return result.isSuccess();
    }

    private synchronized boolean isClosing() {
        return closing;
    }

    private synchronized boolean isLate() {
        return closing && System.nanoTime() - deadlineNs >= 0;
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
            deadlineNs = System.nanoTime() + ms * MS;
            notifyAll();
        }
        try {
            thread.join(Math.max(1, ms)); // 0 would be without limit
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
        thread.interrupt();
        exporters.shutdown();
    }

    @Override
    public void close() {
        close(PAUSE_MS);
    }
}
