package io.pyrometer.spark.executor;

import io.pyrometer.spark.metrics.Metric;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.StorageStatistics;

/**
 * Counters of Hadoop's file systems in this process, and what they grew by. Stores such as S3A count requests, retries and durations
 * in each instance (IOStatistics, Hadoop 3.3.1 and later); of other file systems only bytes and calls are known. What a file system
 * does not count is absent, not 0.
 */
public final class FileSystems {
    private static final String SEPARATOR = "\0";
    private static final String[] UPLOADS = {
        "object_multipart_initiated", "begun", "multipart_upload_started", "begun",
        "multipart_upload_completed", "completed", "committer_commits_completed", "completed",
        "object_multipart_aborted", "aborted", "multipart_upload_aborted", "aborted",
    };

    private final Map<String, Double> before = new HashMap<>();

    /** Calls `look` in these intervals, on a thread of its own. */
    public static ScheduledExecutorService every(long ms, Runnable look) {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "pyrometer-filesystems");
            thread.setDaemon(true);
            return thread;
        });
        timer.scheduleAtFixedRate(look, ms, ms, TimeUnit.MILLISECONDS);
        return timer;
    }

    /** What grew since the last call, by counter. */
    public Map<String, Double> differences() {
        Map<String, Double> now = new HashMap<>();
        readInstances(now);
        readGlobal(now);
        Map<String, Double> grown = new HashMap<>();
        now.forEach((counter, value) -> {
            double more = value - before.getOrDefault(counter, 0.0);
            // An instance that was closed takes its counts along: the sum may fall, and grows again from there.
            if (more > 0 || !before.containsKey(counter)) {
                grown.put(counter, Math.max(0, more));
            }
        });
        before.clear();
        before.putAll(now);
        return grown;
    }

    private static void add(Map<String, Double> counters, double value, String scheme, Metric metric, String... label) {
        String key = scheme + SEPARATOR + metric.name() + (label.length > 0 ? SEPARATOR + label[0] : "");
        counters.merge(key, value, Double::sum);
    }

    /** Bytes and calls of the schemes that have no counters of their own. */
    private static void readGlobal(Map<String, Double> now) {
        for (Iterator<StorageStatistics> all = FileSystem.getGlobalStorageStatistics().iterator(); all.hasNext();) {
            StorageStatistics statistics = all.next();
            String scheme = statistics.getScheme();
            if (scheme == null || now.keySet().stream().anyMatch(key -> key.startsWith(scheme + SEPARATOR))) {
                continue;
            }
            addKnown(now, statistics, scheme, "bytesRead", Metric.FILE_BYTES, "read");
            addKnown(now, statistics, scheme, "bytesWritten", Metric.FILE_BYTES, "written");
            addKnown(now, statistics, scheme, "readOps", Metric.FILE_OPERATIONS, "read");
            addKnown(now, statistics, scheme, "writeOps", Metric.FILE_OPERATIONS, "write");
        }
    }

    private static void addKnown(Map<String, Double> now, StorageStatistics statistics, String scheme, String key,
            Metric metric, String label) {
        Long value = statistics.getLong(key);
        if (value != null) {
            add(now, value, scheme, metric, label);
        }
    }

    private static void readInstances(Map<String, Double> now) {
        for (FileSystem instance : instances()) {
            try {
                Object statistics = IoStatistics.of(instance);
                if (statistics != null) {
                    String scheme = instance.getUri().getScheme();
                    readCounters(now, scheme, IoStatistics.counters(statistics));
                    readDurations(now, scheme, IoStatistics.means(statistics));
                }
            } catch (ReflectiveOperationException | RuntimeException | LinkageError error) {
                // This instance says nothing in a form that is known.
            }
        }
    }

    /** Those that Hadoop keeps for its callers. It has no public way to list them. */
    static List<FileSystem> instances() {
        List<FileSystem> instances = new ArrayList<>();
        try {
            Field cache = FileSystem.class.getDeclaredField("CACHE");
            cache.setAccessible(true);
            Object owner = cache.get(null);
            Field map = owner.getClass().getDeclaredField("map");
            map.setAccessible(true);
            synchronized (owner) {
                for (Object each : ((Map<?, ?>) map.get(owner)).values()) {
                    instances.add((FileSystem) each);
                }
            }
        } catch (ReflectiveOperationException | RuntimeException error) {
            instances.clear();
        }
        return instances;
    }

    private static void readCounters(Map<String, Double> now, String scheme, Map<String, Long> counters) {
        // Of an upload in parts, S3A counts the last part twice as bytes of the stream, but once as bytes of objects.
        String written = counters.containsKey("object_put_bytes") ? "object_put_bytes" : "stream_write_bytes";
        // Of Hadoop 3.5's analytics streams, what they fetch ahead is more than what they hand out.
        Long read = counters.get("stream_read_bytes");
        if (read != null) {
            long ahead = counters.getOrDefault("stream_read_prefetched_bytes", 0L);
            add(now, Math.max(read, ahead), scheme, Metric.FILE_BYTES, "read");
        }
        counters.forEach((name, value) -> {
            if (name.equals(written)) {
                add(now, value, scheme, Metric.FILE_BYTES, "written");
            } else if (name.equals("store_io_retry")) {
                add(now, value, scheme, Metric.FILE_RETRIES);
            } else if (name.equals("store_io_throttled")) {
                add(now, value, scheme, Metric.FILE_THROTTLES);
            } else if (isOperation(name)) {
                add(now, value, scheme, Metric.FILE_OPERATIONS, name);
            }
        });
        for (String state : new String[] {"begun", "completed", "aborted"}) {
            double most = -1;
            for (int i = 0; i < UPLOADS.length; i += 2) {
                Long value = UPLOADS[i + 1].equals(state) ? counters.get(UPLOADS[i]) : null;
                most = value == null ? most : Math.max(most, value);
            }
            if (most >= 0) {
                add(now, most, scheme, Metric.FILE_MULTIPART, state);
            }
        }
    }

    /** Calls and requests, not bytes, failures or durations of them. */
    private static boolean isOperation(String name) {
        return (name.startsWith("op_") || name.startsWith("object_") || name.startsWith("action_"))
                && !name.endsWith(".failures") && !name.contains("bytes");
    }

    /** Samples and sum of each duration that is measured. */
    private static void readDurations(Map<String, Double> now, String scheme, Map<String, double[]> means) {
        means.forEach((name, mean) -> {
            String operation = name.endsWith(".mean") ? name.substring(0, name.length() - 5) : name;
            if (!operation.endsWith(".failures") && mean[0] > 0) {
                add(now, mean[0], scheme, Metric.FILE_TIMED, operation);
                add(now, mean[1] / 1000, scheme, Metric.FILE_SECONDS, operation);
            }
        });
    }
}
