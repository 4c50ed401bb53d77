package io.pyrometer.spark.executor;

import java.io.Serializable;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/** What an executor's file systems did since its last report: by "filesystem\0metric\0label". */
public final class FileSystemReport implements Serializable {
    private static final long serialVersionUID = 1L;

    private final HashMap<String, Double> differences;

    FileSystemReport(Map<String, Double> differences) {
        this.differences = new HashMap<>(differences);
    }

    public Map<String, Double> differences() {
        return Collections.unmodifiableMap(differences);
    }
}
