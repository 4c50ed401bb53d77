package io.pyrometer.spark.driver;

import io.pyrometer.spark.run.Bounded;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What the tasks of a stage took to commit, by accumulators that plans name. Only Spark's thread uses it: plans come before the
 * stages that run them, in that order.
 */
final class TaskCommits {
    private static final int MOST = 1000;

    private final Map<Long, Set<Long>> accumulators = new Bounded<>(MOST);

    /** @param plan a plan of that execution, its first or a later one */
    void plan(long execution, CommitMetrics plan) {
        if (plan.tasks.isEmpty()) {
            return;
        }
        // The plan goes on to another thread.
        Set<Long> known = accumulators.putIfAbsent(execution, new HashSet<>(plan.tasks));
        if (known != null) {
            known.addAll(plan.tasks);
        }
    }

    void ended(long execution) {
        accumulators.remove(execution);
    }

    /** @return milliseconds; -1: the stage does not write */
    long ms(Object accumulables) {
        long sum = -1;
        for (Set<Long> ids : accumulators.values()) {
            for (Long id : ids) {
                Object value = Scala.call(Scala.call(Scala.get(accumulables, id), "value"), "get");
                try {
                    sum = value == null ? sum : Math.max(sum, 0) + Long.parseLong(value.toString());
                } catch (NumberFormatException error) {
                    // not a time
                }
            }
        }
        return sum;
    }
}
