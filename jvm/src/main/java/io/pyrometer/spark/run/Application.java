package io.pyrometer.spark.run;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Who the application is. */
public final class Application {
    public final String id;
    public final String name;
    public final String sparkVersion;
    /** 32 and 16 hexadecimal digits. */
    public final String traceId;
    /** dag_id, task_id and run_id, as far as known. */
    public final Map<String, String> orchestrator;

    public Application(String id, String name, String sparkVersion, String traceId, Map<String, String> orchestrator) {
        this.id = id;
        this.name = name;
        this.sparkVersion = sparkVersion;
        this.traceId = traceId;
        this.orchestrator = Collections.unmodifiableMap(new LinkedHashMap<>(orchestrator));
    }
}
