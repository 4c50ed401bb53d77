package io.pyrometer.spark.executor;

import org.apache.spark.TaskContext;

/**
 * Says in recordings of Java Flight Recorder which thread did which task when. Costs nothing while there is no recording, and does
 * nothing on a JVM without the recorder.
 */
final class TaskSpans {
    private static final boolean HERE = isHere();
    private static final ThreadLocal<Open> OPEN = new ThreadLocal<>();

    /** Of a thread: its task. Spark takes the task's context away before it says that the task has ended. */
    private static final class Open {
        final TaskContext task;
        Object span;

        Open(TaskContext task) {
            this.task = task;
        }
    }

    private TaskSpans() {}

    private static boolean isHere() {
        try {
            Class.forName("jdk.jfr.Event");
            return true;
        } catch (ClassNotFoundException | LinkageError error) {
            return false;
        }
    }

    static void begin(TaskContext task) {
        Open open = new Open(task);
        OPEN.set(open);
        if (HERE) {
            TaskSpan span = new TaskSpan();
            span.begin();
            open.span = span;
        }
    }

    /** Returns the task of this thread, which ends; null: none began. */
    static TaskContext end(String status) {
        Open open = OPEN.get();
        OPEN.remove();
        if (open == null) {
            return null;
        }
        if (HERE && open.span != null) {
            TaskSpan span = (TaskSpan) open.span;
            span.end();
            if (span.shouldCommit()) {
                TaskContext task = open.task;
                span.tag = "stageId=" + task.stageId() + ",stageAttempt=" + task.stageAttemptNumber() + ",partition="
                        + task.partitionId() + ",taskId=" + task.taskAttemptId() + ",attempt=" + task.attemptNumber()
                        + ",status=" + status;
                span.commit();
            }
        }
        return open.task;
    }
}
