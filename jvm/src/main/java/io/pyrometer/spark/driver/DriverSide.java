package io.pyrometer.spark.driver;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.pyrometer.spark.conf.Settings;
import io.pyrometer.spark.connect.Requests;
import io.pyrometer.spark.connect.TraceContext;
import io.pyrometer.spark.executor.FileSystemReport;
import io.pyrometer.spark.executor.FileSystems;
import io.pyrometer.spark.metrics.Endpoint;
import io.pyrometer.spark.metrics.Metric;
import io.pyrometer.spark.metrics.PrometheusText;
import io.pyrometer.spark.metrics.Sample;
import io.pyrometer.spark.otel.OtlpSender;
import io.pyrometer.spark.run.Application;
import io.pyrometer.spark.run.Run;
import io.pyrometer.spark.trace.Ids;
import io.pyrometer.spark.trace.SpanTree;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The plugin in the driver. Whatever goes wrong in it, the application goes on: it is logged once, and the plugin is off. */
public final class DriverSide implements DriverPlugin {
    private static final Logger LOG = LoggerFactory.getLogger(DriverSide.class);
    /** In which the application's end waits for the plugin, in all. */
    private static final long END_MS = 2000;
    private static final long MS = 1_000_000;
    private static final long GAUGE_MS = 1000;
    /** For events that have come and are not taken yet. */
    private static final long FLUSH_MS = 50;

    private final EventQueue queue = new EventQueue();
    private final Run run = new Run();
    private volatile Settings settings;
    private volatile SparkContext context;
    private volatile Application application;
    private volatile Allocation allocation;
    private volatile Watcher watcher;
    private volatile OtlpSender sender;
    private volatile Endpoint endpoint;
    private ScheduledExecutorService timer;
    private List<Sample> gauges = Collections.emptyList();
    private long gaugesMs;

    @Override
    public Map<String, String> init(SparkContext sparkContext, PluginContext pluginContext) {
        Map<String, String> forExecutors = new HashMap<>();
        try {
            SparkConf conf = sparkContext.conf();
            settings = new Settings(key -> conf.contains(key) ? conf.get(key) : null, System::getenv);
            context = sparkContext;
            if (settings.watches()) {
                // The first events come before the application has its id.
                sparkContext.addSparkListener(new RunListener(queue));
                settings.forEventLog().forEach(conf::setIfMissing);
            }
            if (settings.enabled) {
                forExecutors.put("tasks", "true");
                if (settings.traceDir != null) {
                    forExecutors.put("traceDir", settings.traceDir);
                }
                if (settings.traceLttng) {
                    forExecutors.put("traceLttng", "true");
                }
            }
            if (settings.watches() && settings.fileSystems) {
                forExecutors.put("fileSystemsIntervalMs", Long.toString(settings.fileSystemsIntervalMs));
            }
        } catch (Settings.BadSettingException error) {
            settings = null;
            queue.turnOff();
            LOG.error("Pyrometer's plugin is off: {}", error.getMessage());
        } catch (Throwable error) { // Spark would not start
            settings = null;
            queue.turnOff();
            LOG.error("Pyrometer's plugin is off", error);
        }
        return forExecutors;
    }

    /** Here the application has its id. */
    @Override
    public void registerMetrics(String appId, PluginContext pluginContext) {
        if (settings == null || !settings.watches()) {
            return;
        }
        try {
            start(appId);
            registerGauges(pluginContext.metricRegistry());
        } catch (Throwable error) {
            LOG.error("Pyrometer's plugin is off", error);
            queue.turnOff();
            watcher = null;
            stop(0);
        }
    }

    private void start(String appId) {
        TraceContext parent = settings.traceParent == null ? null : TraceContext.parse(settings.traceParent, null);
        if (settings.traceParent != null && parent == null) {
            Requests.countMalformed();
        }
        application = new Application(appId, context.appName(), context.version(),
                parent == null ? Ids.trace(appId) : parent.traceId, settings.orchestrator);
        allocation = new Allocation(context);
        if (settings.otel) {
            sender = new OtlpSender(settings, application, context.startTime(), this::samples);
        }
        SpanTree spans = sender == null ? null
                : new SpanTree(application, parent, settings.samplingRatio, context.startTime(), sender);
        watcher = new Watcher(run, spans, coresOfTask());
        queue.start(watcher);
        if (sender != null) {
            sender.start();
        }
        // Jobs commit in the driver. A local master's executor reports for both.
        if (settings.fileSystems && !context.isLocal()) {
            watchFileSystems();
        }
        if (settings.metricsPort != Settings.NO_PORT) {
            openEndpoint();
        }
    }

    /** Without it the rest still works: another application may have the port. */
    private void openEndpoint() {
        try {
            endpoint = new Endpoint(settings.metricsHost, settings.metricsPort,
                    () -> PrometheusText.write(application, samples()));
            context.conf().set("spark.pyrometer.metrics.address", endpoint.address());
            LOG.info("Pyrometer's metrics are at {}", endpoint.address());
        } catch (IOException error) {
            LOG.error("Pyrometer's metrics have no endpoint: {}:{} cannot be listened on: {}. Choose another "
                    + "spark.pyrometer.metrics.port, or 0 for any free one", settings.metricsHost, settings.metricsPort,
                    error.getMessage());
        }
    }

    private void watchFileSystems() {
        FileSystems own = new FileSystems();
        timer = FileSystems.every(settings.fileSystemsIntervalMs, () -> {
            try {
                Map<String, Double> differences = own.differences();
                queue.add(each -> each.fileSystems(differences));
            } catch (Throwable error) {
                queue.failed(error);
            }
        });
    }

    private int coresOfTask() {
        try {
            return Integer.parseInt(context.conf().get("spark.task.cpus", "1"));
        } catch (NumberFormatException error) {
            return 1;
        }
    }

    private List<Sample> samples() {
        List<Sample> list = new ArrayList<>();
        long now = System.currentTimeMillis();
        queue.ask(own -> own.lookAtCleanup(now));
        queue.flush(FLUSH_MS);
        Map<String, String> who = application.orchestrator;
        list.add(Sample.of(Metric.INFO, 1, application.sparkVersion, who.getOrDefault("dag_id", ""),
                who.getOrDefault("task_id", ""), who.getOrDefault("run_id", ""), application.traceId));
        list.addAll(run.samples(System.currentTimeMillis()));
        list.addAll(allocation.samples(run.executors().size(), queue));
        if (queue.lagMs() >= 0) {
            list.add(Sample.of(Metric.QUEUE_LAG, queue.lagMs() / 1000.0));
        }
        if (Requests.malformed() > 0) {
            list.add(Sample.of(Metric.MALFORMED_CONTEXTS, Requests.malformed()));
        }
        if (sender != null) {
            list.addAll(sender.counts());
        }
        return list;
    }

    /**
     * For Spark's metrics system, JMX and its other sinks: metrics without labels of their own, and those with one of few values,
     * which is then a part of the name. A sink cannot have series that come and go.
     */
    private void registerGauges(MetricRegistry registry) {
        for (Metric metric : Metric.values()) {
            if (metric.labels.isEmpty() && metric.type != Metric.Type.HISTOGRAM) {
                registry.register(metric.text, (Gauge<Double>) () -> gauge(metric, null));
            }
            for (String label : metric.values) {
                registry.register(metric.text + '.' + label, (Gauge<Double>) () -> gauge(metric, label));
            }
        }
    }

    private synchronized double gauge(Metric metric, String label) {
        long now = System.currentTimeMillis();
        if (now - gaugesMs >= GAUGE_MS) {
            gauges = samples();
            gaugesMs = now;
        }
        for (Sample sample : gauges) {
            if (sample.metric == metric && (label == null || sample.labels.contains(label))) {
                return sample.value;
            }
        }
        return Double.NaN;
    }

    @Override
    public Object receive(Object message) {
        if (message instanceof FileSystemReport && watcher != null) {
            Map<String, Double> differences = ((FileSystemReport) message).differences();
            queue.add(own -> own.fileSystems(differences));
        }
        return null;
    }

    @Override
    public void shutdown() {
        Watcher own = watcher;
        if (own == null) {
            return;
        }
        long deadline = System.nanoTime() + END_MS * MS;
        try {
            queue.flush(END_MS / 4);
            if (!own.awaitEnd(END_MS / 4)) {
                queue.addLast(each -> each.applicationEnded(System.currentTimeMillis()));
            }
            queue.stop(END_MS / 4);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        } catch (Throwable error) {
            LOG.warn("Pyrometer's plugin did not end well", error);
        } finally {
            stop((deadline - System.nanoTime()) / MS - 200);
        }
    }

    private void stop(long ms) {
        try {
            if (timer != null) {
                timer.shutdownNow();
            }
            if (endpoint != null) {
                endpoint.close();
            }
            if (sender != null) {
                sender.close(Math.max(1, ms));
            }
        } catch (Throwable error) {
            LOG.warn("Pyrometer's plugin did not end well", error);
        }
    }
}
