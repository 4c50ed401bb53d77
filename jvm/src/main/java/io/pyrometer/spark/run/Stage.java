package io.pyrometer.spark.run;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/** A stage attempt, from its submission on. */
public final class Stage {
    private static final int SLOWEST = 5;

    public final int id;
    public final int attempt;
    public final String name;
    public final int tasks;
    public long submittedMs;
    /** -1: it runs. */
    public long completedMs = -1;
    public String failure;
    public int failed;
    public long outputBytes;
    public long inputBytes;
    public long shuffleReadBytes;
    public long shuffleWriteBytes;
    public long diskSpillBytes;
    final Sizes sizes = new Sizes();
    final Sizes shuffleSizes = new Sizes();
    /** Those that no sampling chose, the fastest of them first. */
    private final PriorityQueue<Task> slowest = new PriorityQueue<>(SLOWEST + 1, Comparator.comparingLong(Task::durationMs));

    Stage(int id, int attempt, String name, int tasks, long submittedMs) {
        this.id = id;
        this.attempt = attempt;
        this.name = name;
        this.tasks = tasks;
        this.submittedMs = submittedMs;
    }

    public boolean writes() {
        return outputBytes > 0;
    }

    public long durationMs(long nowMs) {
        return Math.max(0, (completedMs < 0 ? nowMs : completedMs) - submittedMs);
    }

    /** Notes a task that was not sampled; it may be among the slowest ones in the end. */
    public void noteSlow(Task task) {
        if (slowest.size() == SLOWEST && task.durationMs() <= slowest.peek().durationMs()) {
            return;
        }
        slowest.add(task);
        if (slowest.size() > SLOWEST) {
            slowest.poll();
        }
    }

    /** Them, once. */
    public List<Task> takeSlowest() {
        List<Task> taken = new ArrayList<>(slowest);
        slowest.clear();
        return taken;
    }
}
