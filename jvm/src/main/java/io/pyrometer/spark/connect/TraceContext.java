package io.pyrometer.spark.connect;

import io.pyrometer.spark.conf.PercentCode;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** A W3C trace context, and what its baggage says of the orchestrator's task. */
public final class TraceContext {
    private static final int VERSION_00 = 55;
    /** Longer than Airflow allows names to be. */
    private static final int MOST = 300;
    private static final String[] NAMES = {"dag_id", "task_id", "run_id"};

    public final String traceId;
    public final String spanId;
    /** dag_id, task_id and run_id, as far as the baggage has them. */
    public final Map<String, String> orchestrator;

    private TraceContext(String traceId, String spanId, Map<String, String> orchestrator) {
        this.traceId = traceId;
        this.spanId = spanId;
        this.orchestrator = Collections.unmodifiableMap(orchestrator);
    }

    /**
     * @param parent a traceparent header: version-trace-span-flags
     * @param baggage a baggage header, or null
     * @return null: malformed
     */
    public static TraceContext parse(String parent, String baggage) {
        if (parent == null || parent.length() < VERSION_00 || parent.length() > 512) {
            return null;
        }
        boolean dashes = parent.charAt(2) == '-' && parent.charAt(35) == '-' && parent.charAt(52) == '-';
        String version = parent.substring(0, 2);
        String trace = parent.substring(3, 35);
        String span = parent.substring(36, 52);
        boolean longer = parent.length() > VERSION_00;
        if (!dashes || !isHex(version) || version.equals("ff") || !isHex(trace) || isZero(trace) || !isHex(span)
                || isZero(span) || !isHex(parent.substring(53, 55)) || (longer && version.equals("00"))
                || (longer && parent.charAt(VERSION_00) != '-')) {
            return null;
        }
        return new TraceContext(trace, span, baggage(baggage));
    }

    private static boolean isHex(String text) {
        return text.chars().allMatch(c -> (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
    }

    private static boolean isZero(String text) {
        return text.chars().allMatch(c -> c == '0');
    }

    private static Map<String, String> baggage(String text) {
        Map<String, String> found = new LinkedHashMap<>();
        if (text == null || text.length() > 8192) {
            return found;
        }
        for (String member : text.split(",")) {
            String[] pair = member.split(";", 2)[0].split("=", 2);
            for (String name : NAMES) {
                if (pair.length == 2 && isNamed(pair[0].trim(), name)) {
                    String value = PercentCode.decode(pair[1].trim());
                    found.put(name, value.substring(0, Math.min(value.length(), MOST)));
                }
            }
        }
        return found;
    }

    /** "dag_id", or with a prefix: "airflow.dag_id". */
    private static boolean isNamed(String key, String name) {
        return key.equals(name) || key.endsWith("." + name);
    }
}
