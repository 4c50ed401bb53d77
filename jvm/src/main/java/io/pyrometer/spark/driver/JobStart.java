package io.pyrometer.spark.driver;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** A job as it starts, and what its properties say of it. */
final class JobStart {
    private static final String TAG_SESSION = "_Session_";
    private static final String TAG_OPERATION = "_Operation_";

    final int id;
    final long timeMs;
    final List<Integer> stages = new ArrayList<>();
    /** Of SQL; -1: none. */
    final long execution;
    final String description;
    /** Of a stream, unless the program set a group of its own; null: none. */
    final String run;
    /** Of a stream, "run/number"; null: none. */
    final String batch;
    /** Of Spark Connect; null: none. */
    final String operation;
    final String session;

    JobStart(int id, long timeMs, List<Object> stageIds, Properties properties) {
        this.id = id;
        this.timeMs = timeMs;
        for (Object stage : stageIds) {
            if (stage instanceof Number) {
                stages.add(((Number) stage).intValue());
            }
        }
        Properties known = properties == null ? new Properties() : properties;
        execution = number(known.getProperty("spark.sql.execution.id"));
        description = known.getProperty("spark.job.description");
        run = known.getProperty("spark.jobGroup.id");
        String number = known.getProperty("streaming.sql.batchId");
        batch = number == null || run == null ? null : run + '/' + number;
        String tags = known.getProperty("spark.job.tags");
        operation = after(tags, TAG_OPERATION);
        session = after(tags, TAG_SESSION);
    }

    private static long number(String text) {
        try {
            return text == null ? -1 : Long.parseLong(text);
        } catch (NumberFormatException error) {
            return -1;
        }
    }

    /** Of a tag such as SparkConnect_OperationTag_User_U_Session_S_Operation_O, among others. */
    static String after(String tags, String name) {
        int at = tags == null ? -1 : tags.indexOf(name);
        if (at < 0) {
            return null;
        }
        int from = at + name.length();
        int to = from;
        while (to < tags.length() && tags.charAt(to) != ',' && tags.charAt(to) != '_') {
            to++;
        }
        return tags.substring(from, to);
    }
}
