package io.pyrometer.spark.executor;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;

/** Hadoop's IOStatistics, called by name: older versions of Hadoop do not have it. */
final class IoStatistics {
    private static final String PACKAGE = "org.apache.hadoop.fs.statistics.";

    private IoStatistics() {}

    private static Object call(Object target, String type, String name) throws ReflectiveOperationException {
        Class<?> found = Class.forName(PACKAGE + type, true, target.getClass().getClassLoader());
        Method method = found.getMethod(name);
        return method.invoke(target);
    }

    /** Of a file system; null: it has none. */
    static Object of(Object fileSystem) throws ReflectiveOperationException {
        Class<?> source =
                Class.forName(PACKAGE + "IOStatisticsSource", true, fileSystem.getClass().getClassLoader());
        return source.isInstance(fileSystem) ? call(fileSystem, "IOStatisticsSource", "getIOStatistics") : null;
    }

    static Map<String, Long> counters(Object statistics) throws ReflectiveOperationException {
        Map<String, Long> counters = new HashMap<>();
        for (Map.Entry<?, ?> entry : ((Map<?, ?>) call(statistics, "IOStatistics", "counters")).entrySet()) {
            counters.put((String) entry.getKey(), ((Number) entry.getValue()).longValue());
        }
        return counters;
    }

    /** Number and sum, in milliseconds, of each mean. */
    static Map<String, double[]> means(Object statistics) throws ReflectiveOperationException {
        Map<String, double[]> means = new HashMap<>();
        for (Map.Entry<?, ?> entry : ((Map<?, ?>) call(statistics, "IOStatistics", "meanStatistics")).entrySet()) {
            Object mean = entry.getValue();
            double samples = ((Number) call(mean, "MeanStatistic", "getSamples")).doubleValue();
            double sum = ((Number) call(mean, "MeanStatistic", "getSum")).doubleValue();
            means.put((String) entry.getKey(), new double[] {samples, sum});
        }
        return means;
    }
}
