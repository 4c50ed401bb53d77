package io.pyrometer.spark.driver;

import io.pyrometer.spark.metrics.Metric;
import io.pyrometer.spark.metrics.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;

/** What only Spark's own objects know: executors that were asked for, and events that its queues lost. */
final class Allocation {
    private static final Pattern LOCAL_CLUSTER = Pattern.compile("local-cluster\\[\\s*(\\d+)\\s*,.*");
    private static final Pattern LOST = Pattern.compile("queue\\.(.+)\\.numDroppedEvents");

    private final SparkContext context;

    Allocation(SparkContext context) {
        this.context = context;
    }

    List<Sample> samples(int running, EventQueue queue) {
        List<Sample> list = new ArrayList<>();
        Object manager = Scala.call(Scala.call(context, "executorAllocationManager"), "get");
        Object registry = Scala.call(Scala.call(manager, "executorAllocationManagerSource"), "metricRegistry");
        long target = manager == null ? fixed(context.conf()) : gauge(registry, "executors.numberTargetExecutors");
        if (target >= 0) {
            list.add(Sample.of(Metric.EXECUTORS, Math.max(0, target - running), "pending"));
        }
        long removing = gauge(registry, "executors.numberExecutorsPendingToRemove");
        long decommissioning = gauge(registry, "executors.numberDecommissioningExecutors");
        if (removing >= 0 || decommissioning >= 0) {
            list.add(Sample.of(Metric.EXECUTORS, Math.max(0, removing) + Math.max(0, decommissioning), "draining"));
        }
        Object metrics = Scala.call(Scala.call(context, "listenerBus"), "metrics");
        Object counters = Scala.call(Scala.call(metrics, "metricRegistry"), "getCounters");
        if (counters instanceof Map) {
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) counters).entrySet()) {
                Matcher name = LOST.matcher(String.valueOf(entry.getKey()));
                if (name.matches()) {
                    list.add(Sample.of(Metric.EVENTS_DROPPED, Scala.number(entry.getValue(), "getCount", 0), name.group(1)));
                }
            }
        }
        list.add(Sample.of(Metric.EVENTS_DROPPED, queue.dropped(), "pyrometer"));
        return list;
    }

    /** Executors of a cluster of fixed size, as far as settings say; -1: they do not. */
    private static long fixed(SparkConf conf) {
        Matcher local = LOCAL_CLUSTER.matcher(conf.get("spark.master", ""));
        if (local.matches()) {
            return Long.parseLong(local.group(1));
        }
        try {
            return Long.parseLong(conf.get("spark.executor.instances", "-1"));
        } catch (NumberFormatException error) {
            return -1;
        }
    }

    private static long gauge(Object registry, String name) {
        Object gauges = Scala.call(registry, "getGauges");
        Object gauge = gauges instanceof Map ? ((Map<?, ?>) gauges).get(name) : null;
        return Scala.number(gauge, "getValue", -1);
    }
}
