package io.pyrometer.spark.conf;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * What the user asked for, checked. Each setting has a key of its own; some also have aliases: keys of a chart that people already
 * use, and the environment variables of OpenTelemetry. The own key wins, then aliases in their order, then the environment.
 */
public final class Settings {
    public static final String PREFIX = "spark.pyrometer.";
    public static final int NO_PORT = -1;

    /** A setting with a value that means nothing; the message says which, and what it may be. */
    public static final class BadSettingException extends Exception {
        private static final long serialVersionUID = 1L;

        BadSettingException(String key, String value, String expected) {
            super(key + "=" + value + ": expected " + expected);
        }
    }

    /** How spans and metrics travel. */
    public enum Protocol {
        GRPC("grpc", 4317),
        HTTP("http/protobuf", 4318);

        private final String text;
        private final int port;

        Protocol(String text, int port) {
            this.text = text;
            this.port = port;
        }
    }

    public final boolean enabled;
    public final int metricsPort;
    public final String metricsHost;
    public final boolean otel;
    public final String endpoint;
    public final Protocol protocol;
    public final double samplingRatio;
    /** Null: the name of the application. */
    public final String serviceName;
    public final Map<String, String> resourceAttributes;
    public final Map<String, String> headers;
    public final long metricsIntervalMs;
    public final boolean fileSystems;
    public final long fileSystemsIntervalMs;
    /** As given; may be malformed. Null: none. */
    public final String traceParent;
    /** Where executors write which thread did which task when. Null: nowhere. */
    public final String traceDir;
    /** Whether beginnings and ends of tasks go to LTTng, too. */
    public final boolean traceLttng;
    /** To Jaeger, which takes neither metrics nor log records. */
    public final boolean onlySpans;
    /** What an orchestrator says of the run: dag_id, task_id, run_id. */
    public final Map<String, String> orchestrator;

    private final Function<String, String> conf;
    private final Function<String, String> environment;

    /**
     * @param conf a property by its key, or null
     * @param environment a variable by its name, or null
     */
    public Settings(Function<String, String> conf, Function<String, String> environment) throws BadSettingException {
        this.conf = conf;
        this.environment = environment;
        enabled = flag("enabled", true);
        metricsPort = port("metrics.port");
        metricsHost = text("metrics.host", "127.0.0.1");
        otel = flag("otel.enabled", false, "spark.opentelemetry.enabled")
                && !"none".equals(environment.apply("OTEL_TRACES_EXPORTER"));
        protocol = protocol();
        endpoint = endpoint();
        samplingRatio = ratio("otel.samplingRatio", 1, "OTEL_TRACES_SAMPLER_ARG");
        serviceName = text("otel.serviceName", null, "OTEL_SERVICE_NAME");
        resourceAttributes =
                pairs("otel.resourceAttributes", "spark.otel.resource.attributes", "OTEL_RESOURCE_ATTRIBUTES");
        headers = pairs("otel.headers", "OTEL_EXPORTER_OTLP_HEADERS");
        metricsIntervalMs = duration("otel.metricsInterval", 10_000, "OTEL_METRIC_EXPORT_INTERVAL");
        fileSystems = flag("fileSystems.enabled", true);
        fileSystemsIntervalMs = duration("fileSystems.interval", 10_000);
        traceParent = text("trace.parent", null, "TRACEPARENT");
        traceDir = folder("trace.dir");
        traceLttng = flag("trace.lttng", false);
        orchestrator = orchestrator();
        String exporter = text("otel.exporterType", "otlp");
        if (!exporter.equals("otlp") && !exporter.equals("jaeger")) {
            throw new BadSettingException(PREFIX + "otel.exporterType", exporter, "otlp or jaeger (OTLP to Jaeger)");
        }
        onlySpans = exporter.equals("jaeger");
    }

    /** Whether anything is asked for that watches the application. */
    public boolean watches() {
        return enabled && (otel || metricsPort != NO_PORT);
    }

    private static boolean isVariable(String alias) {
        return alias.equals(alias.toUpperCase(Locale.ROOT));
    }

    private String text(String key, String otherwise, String... aliases) {
        String value = conf.apply(PREFIX + key);
        for (int i = 0; i < aliases.length && value == null; i++) {
            value = isVariable(aliases[i]) ? environment.apply(aliases[i]) : conf.apply(aliases[i]);
        }
        value = value == null ? null : value.trim();
        return value == null || value.isEmpty() ? otherwise : value;
    }

    private boolean flag(String key, boolean otherwise, String... aliases) throws BadSettingException {
        String value = text(key, Boolean.toString(otherwise), aliases).toLowerCase(Locale.ROOT);
        if (!value.equals("true") && !value.equals("false")) {
            throw new BadSettingException(PREFIX + key, value, "true or false");
        }
        return value.equals("true");
    }

    private int port(String key) throws BadSettingException {
        String value = text(key, null);
        if (value == null) {
            return NO_PORT;
        }
        try {
            int port = Integer.parseInt(value);
            if (port >= 0 && port <= 65535) {
                return port;
            }
        } catch (NumberFormatException error) {
            // as below
        }
        throw new BadSettingException(PREFIX + key, value, "a port from 0 (any free one) to 65535");
    }

    private double ratio(String key, double otherwise, String... aliases) throws BadSettingException {
        String value = text(key, Double.toString(otherwise), aliases);
        try {
            double ratio = Double.parseDouble(value);
            if (ratio >= 0 && ratio <= 1) {
                return ratio;
            }
        } catch (NumberFormatException error) {
            // as below
        }
        throw new BadSettingException(PREFIX + key, value, "a number from 0 to 1");
    }

    /** Spark's form: a number with ms, s, m, min or h; without a unit milliseconds. At least 100 ms. */
    private long duration(String key, long otherwise, String... aliases) throws BadSettingException {
        String value = text(key, otherwise + "ms", aliases).toLowerCase(Locale.ROOT);
        int digits = 0;
        while (digits < value.length() && Character.isDigit(value.charAt(digits))) {
            digits++;
        }
        long unit;
        switch (value.substring(digits).trim()) {
            case "":
            case "ms":
                unit = 1;
                break;
            case "s":
                unit = 1000;
                break;
            case "m":
            case "min":
                unit = 60_000;
                break;
            case "h":
                unit = 3_600_000;
                break;
            default:
                unit = 0;
        }
        long ms = unit > 0 && digits > 0 && digits < 10 ? Long.parseLong(value.substring(0, digits)) * unit : 0;
        if (ms < 100) {
            throw new BadSettingException(PREFIX + key, value, "a duration of at least 100ms, such as 10s");
        }
        return ms;
    }

    /** Executors have other working folders than the driver: a path from there would be another one for each of them. */
    private String folder(String key) throws BadSettingException {
        String value = text(key, null);
        try {
            if (value == null || Paths.get(value).isAbsolute()) {
                return value;
            }
        } catch (InvalidPathException error) {
            // as below
        }
        throw new BadSettingException(PREFIX + key, value, "the absolute path of a folder");
    }

    private Protocol protocol() throws BadSettingException {
        String value = text("otel.protocol", null);
        // The variable is for all programs: http/json is HTTP, too, and what is unknown is for others.
        String variable = environment.apply("OTEL_EXPORTER_OTLP_PROTOCOL");
        if (value == null) {
            return variable != null && variable.trim().startsWith("http") ? Protocol.HTTP : Protocol.GRPC;
        }
        for (Protocol protocol : Protocol.values()) {
            if (protocol.text.equals(value) || (protocol == Protocol.HTTP && value.equals("http"))) {
                return protocol;
            }
        }
        throw new BadSettingException(PREFIX + "otel.protocol", value, "grpc or http/protobuf");
    }

    private String endpoint() throws BadSettingException {
        String value = text("otel.endpoint", "http://localhost:" + protocol.port,
                "spark.otel.exporter.otlp.endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT");
        try {
            URI uri = new URI(value);
            if (uri.getHost() != null && ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))) {
                return value.endsWith("/") ? value.substring(0, value.length() - 1) : value;
            }
        } catch (URISyntaxException error) {
            // as below
        }
        throw new BadSettingException(PREFIX + "otel.endpoint", value, "an address such as http://collector:4317");
    }

    private Map<String, String> pairs(String key, String... aliases) throws BadSettingException {
        String value = text(key, null, aliases);
        if (value == null) {
            return Collections.emptyMap();
        }
        // OpenTelemetry's variables are percent-encoded.
        boolean encoded = conf.apply(PREFIX + key) == null;
        Map<String, String> pairs = new LinkedHashMap<>();
        for (String pair : value.split(",")) {
            int equals = pair.indexOf('=');
            if (equals <= 0) {
                // Headers hold credentials, and messages go into logs.
                throw new BadSettingException(PREFIX + key, "...", "NAME=VALUE,NAME=VALUE");
            }
            String given = pair.substring(equals + 1).trim();
            pairs.put(pair.substring(0, equals).trim(), encoded ? PercentCode.decode(given) : given);
        }
        return Collections.unmodifiableMap(pairs);
    }

    /** Own settings first, then Airflow's variables, then what its OpenLineage provider hands to Spark: "dag.task" and a run. */
    private Map<String, String> orchestrator() {
        Map<String, String> found = new LinkedHashMap<>();
        put(found, "dag_id", text("orchestrator.dag_id", null, "AIRFLOW_CTX_DAG_ID"));
        put(found, "task_id", text("orchestrator.task_id", null, "AIRFLOW_CTX_TASK_ID"));
        put(found, "run_id", text("orchestrator.run_id", null, "AIRFLOW_CTX_DAG_RUN_ID"));
        String parent = conf.apply("spark.openlineage.parentJobName");
        int dot = parent == null ? -1 : endOfDag(parent, conf.apply("spark.openlineage.rootParentJobName"));
        if (dot > 0) {
            found.putIfAbsent("dag_id", parent.substring(0, dot));
            found.putIfAbsent("task_id", parent.substring(dot + 1));
        }
        String run = conf.apply("spark.openlineage.parentRunId");
        if (run != null) {
            found.putIfAbsent("run_id", run);
        }
        return Collections.unmodifiableMap(found);
    }

    /** Both may have dots (tasks in groups have): the outermost parent is the dag, where it is given. */
    private static int endOfDag(String parent, String root) {
        return root != null && parent.startsWith(root + ".") ? root.length() : parent.indexOf('.');
    }

    /** So that the event log has what only the driver's environment says. */
    public Map<String, String> forEventLog() {
        Map<String, String> keys = new LinkedHashMap<>();
        orchestrator.forEach((name, value) -> put(keys, PREFIX + "orchestrator." + name, value));
        put(keys, PREFIX + "trace.parent", traceParent);
        return keys;
    }

    private static void put(Map<String, String> map, String key, String value) {
        if (value != null) {
            map.put(key, value);
        }
    }
}
