package io.pyrometer.spark.driver;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Which accumulators of a plan say how long its commits took: SQL metrics of the node that writes. */
final class CommitMetrics {
    private static final int DEPTH = 1000;

    final Set<Long> tasks = new HashSet<>();
    final Set<Long> jobs = new HashSet<>();

    /** @param plan a SparkPlanInfo */
    static CommitMetrics of(Object plan) {
        CommitMetrics found = new CommitMetrics();
        found.look(plan, 0);
        return found;
    }

    boolean writes() {
        return !jobs.isEmpty();
    }

    private void look(Object plan, int depth) {
        if (plan == null || depth > DEPTH) {
            return;
        }
        for (Object metric : Scala.list(Scala.call(plan, "metrics"))) {
            String name = Scala.text(metric, "name");
            if ("task commit time".equals(name)) {
                tasks.add(Scala.number(metric, "accumulatorId", -1));
            } else if ("job commit time".equals(name)) {
                jobs.add(Scala.number(metric, "accumulatorId", -1));
            }
        }
        for (Object child : Scala.list(Scala.call(plan, "children"))) {
            look(child, depth + 1);
        }
    }

    /** Pairs of accumulator and value. */
    static Map<Long, Long> updates(Object pairs) {
        Map<Long, Long> updates = new HashMap<>();
        List<Object> list = Scala.list(pairs);
        for (Object pair : list) {
            updates.put(Scala.number(pair, "_1", -1), Scala.number(pair, "_2", -1));
        }
        return updates;
    }
}
