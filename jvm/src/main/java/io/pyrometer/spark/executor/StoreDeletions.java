package io.pyrometer.spark.executor;

import java.util.Map;
import org.apache.hadoop.fs.FileSystem;

/**
 * What the object stores of this process deleted so far. S3A's magic committer deletes its {@code __magic} folder last, after it has
 * completed a job; no counter of its own says how long that takes.
 */
public final class StoreDeletions {
    /** Of committers. */
    public final long jobsCompleted;
    public final long begun;
    public final long ended;
    /** Of those that ended. */
    public final double seconds;

    private StoreDeletions(long jobsCompleted, long begun, long ended, double seconds) {
        this.jobsCompleted = jobsCompleted;
        this.begun = begun;
        this.ended = ended;
        this.seconds = seconds;
    }

    public static StoreDeletions now() {
        long jobs = 0;
        long begun = 0;
        long ended = 0;
        double ms = 0;
        for (FileSystem instance : FileSystems.instances()) {
            try {
                Object statistics = IoStatistics.of(instance);
                if (statistics == null) {
                    continue;
                }
                Map<String, Long> counters = IoStatistics.counters(statistics);
                double[] mean = IoStatistics.means(statistics).getOrDefault("op_delete.mean", new double[2]);
                jobs += counters.getOrDefault("committer_jobs_completed", 0L);
                begun += counters.getOrDefault("op_delete", 0L);
                ended += (long) mean[0];
                ms += mean[1];
            } catch (ReflectiveOperationException | RuntimeException | LinkageError error) {
                // This instance says nothing in a form that is known.
            }
        }
        return new StoreDeletions(jobs, begun, ended, ms / 1000);
    }
}
