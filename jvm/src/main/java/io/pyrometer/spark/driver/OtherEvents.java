package io.pyrometer.spark.driver;

import io.pyrometer.spark.run.Query;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;
import org.apache.spark.sql.streaming.SourceProgress;
import org.apache.spark.sql.streaming.StateOperatorProgress;
import org.apache.spark.sql.streaming.StreamingQueryListener;
import org.apache.spark.sql.streaming.StreamingQueryProgress;

/** Events of SQL, streams and Spark Connect, which Spark's core does not know. */
final class OtherEvents {
    /** What sources say that they have not read yet. */
    private static final String[] BACKLOG = {
        "maxOffsetsBehindLatest", "avgOffsetsBehindLatest", "minOffsetsBehindLatest", "estimatedTotalBytesBehindLatest",
        "numFilesOutstanding", "numBytesOutstanding",
    };

    private OtherEvents() {}

    static void take(SparkListenerEvent event, EventQueue queue, TaskCommits taskCommits) {
        if (event instanceof SparkListenerSQLExecutionStart) {
            SparkListenerSQLExecutionStart start = (SparkListenerSQLExecutionStart) event;
            long id = start.executionId();
            long time = start.time();
            String description = start.description();
            String tags = String.valueOf(Scala.call(start, "jobTags"));
            CommitMetrics commits = CommitMetrics.of(start.sparkPlanInfo());
            taskCommits.plan(id, commits);
            queue.came(time);
            queue.add(watcher -> watcher.sqlStarted(id, time, description, tags, commits));
        } else if (event instanceof SparkListenerSQLExecutionEnd) {
            SparkListenerSQLExecutionEnd end = (SparkListenerSQLExecutionEnd) event;
            long id = end.executionId();
            long time = end.time();
            Object message = Scala.call(end, "errorMessage");
            Object error = Scala.call(message, "isDefined") == Boolean.TRUE ? Scala.call(message, "get") : null;
            taskCommits.ended(id);
            queue.came(time);
            queue.add(watcher -> watcher.sqlEnded(id, time, error == null ? null : error.toString()));
        } else if (event instanceof StreamingQueryListener.Event) {
            takeStream(event, queue);
        } else {
            takeByName(event, queue, taskCommits);
        }
    }

    private static void takeByName(SparkListenerEvent event, EventQueue queue, TaskCommits taskCommits) {
        switch (event.getClass().getSimpleName()) {
            case "SparkListenerSQLAdaptiveExecutionUpdate":
                long id = Scala.number(event, "executionId", -1);
                CommitMetrics commits = CommitMetrics.of(Scala.call(event, "sparkPlanInfo"));
                taskCommits.plan(id, commits);
                queue.add(watcher -> watcher.planChanged(id, commits));
                break;
            case "SparkListenerDriverAccumUpdates":
                long execution = Scala.number(event, "executionId", -1);
                Map<Long, Long> updates = CommitMetrics.updates(Scala.call(event, "accumUpdates"));
                queue.add(watcher -> watcher.driverUpdates(execution, updates));
                break;
            case "SparkListenerConnectOperationStarted":
                String operation = Scala.text(event, "operationId");
                long time = Scala.number(event, "eventTime", -1);
                queue.add(watcher -> watcher.operationStarted(operation, time));
                break;
            default:
        }
    }

    private static void takeStream(SparkListenerEvent event, EventQueue queue) {
        if (event instanceof StreamingQueryListener.QueryStartedEvent) {
            String run = ((StreamingQueryListener.QueryStartedEvent) event).runId().toString();
            queue.add(watcher -> watcher.queryStarted(run));
        } else if (event instanceof StreamingQueryListener.QueryProgressEvent) {
            StreamingQueryProgress progress = ((StreamingQueryListener.QueryProgressEvent) event).progress();
            long start = millis(progress.timestamp());
            long rows = progress.numInputRows();
            Consumer<Query> update = copy(progress);
            String run = progress.runId().toString();
            String id = progress.id().toString();
            queue.add(watcher -> watcher.batchEnded(id, run, progress.batchId(), start, progress.batchDuration(), rows, update));
        } else if (event instanceof StreamingQueryListener.QueryTerminatedEvent) {
            String id = ((StreamingQueryListener.QueryTerminatedEvent) event).id().toString();
            String run = ((StreamingQueryListener.QueryTerminatedEvent) event).runId().toString();
            queue.add(watcher -> watcher.queryEnded(id, run));
        }
    }

    private static Consumer<Query> copy(StreamingQueryProgress progress) {
        return query -> {
            query.name = progress.name();
            query.batchDurationMs = progress.batchDuration();
            query.inputRowsPerSecond = progress.inputRowsPerSecond();
            query.processedRowsPerSecond = progress.processedRowsPerSecond();
            long watermark = millis(progress.eventTime().get("watermark"));
            long newest = millis(progress.eventTime().get("max"));
            if (watermark > 0 && newest > 0) {
                query.watermarkDelayMs = Math.max(0, newest - watermark);
            }
            query.stateRows = progress.stateOperators().length > 0 ? 0 : -1;
            for (StateOperatorProgress operator : progress.stateOperators()) {
                query.stateRows += operator.numRowsTotal();
            }
            query.backlog.clear();
            for (SourceProgress source : progress.sources()) {
                for (String measure : BACKLOG) {
                    addBacklog(query, measure, source.metrics().get(measure));
                }
            }
        };
    }

    private static void addBacklog(Query query, String measure, String value) {
        try {
            if (value != null) {
                query.backlog.merge(measure, Double.parseDouble(value), Double::sum);
            }
        } catch (NumberFormatException error) {
            // a source that says something else
        }
    }

    private static long millis(String time) {
        try {
            return time == null ? -1 : Instant.parse(time).toEpochMilli();
        } catch (DateTimeParseException error) {
            return -1;
        }
    }
}
