package io.pyrometer.spark.executor;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A task attempt in a recording of Java Flight Recorder, as async-profiler and Spark's profiler write it. */
@Name("profiler.Span")
@Label("Span")
@Category("Profiler")
@Description("A task attempt on its thread")
@StackTrace(false)
final class TaskSpan extends Event {
    @Label("Tag")
    String tag;
}
