package io.pyrometer.spark.conf;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.junit.Test;

public class SettingsTest {
    private static Settings read(String... pairs) throws Settings.BadSettingException {
        Map<String, String> conf = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            conf.put(pairs[i], pairs[i + 1]);
        }
        return new Settings(conf::get, conf::get);
    }

    @Test
    public void nothingIsOnUnlessAskedFor() throws Settings.BadSettingException {
        Settings settings = read();
        assertFalse(settings.otel);
        assertEquals(Settings.NO_PORT, settings.metricsPort);
        assertFalse(settings.watches());
        assertNull(settings.traceDir);
        assertFalse(settings.traceLttng);
        assertEquals("127.0.0.1", settings.metricsHost);
        assertEquals("http://localhost:4317", settings.endpoint);
    }

    @Test
    public void ownKeysWinOverAliases() throws Settings.BadSettingException {
        Settings settings = read("spark.opentelemetry.enabled", "true", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1",
                "spark.otel.exporter.otlp.endpoint", "http://b:1/", "spark.pyrometer.otel.serviceName", "mine",
                "OTEL_SERVICE_NAME", "other", "OTEL_RESOURCE_ATTRIBUTES", "a=1,b=2", "TRACEPARENT", "00-x");
        assertTrue(settings.otel);
        assertEquals("http://b:1", settings.endpoint);
        assertEquals("mine", settings.serviceName);
        assertEquals("{a=1, b=2}", settings.resourceAttributes.toString());
        assertEquals("00-x", settings.traceParent);
        assertEquals("http://localhost:4318", read("spark.pyrometer.otel.protocol", "http/protobuf").endpoint);
    }

    @Test
    public void wrongValuesAreNamed() {
        String[][] wrong = {
            {"spark.pyrometer.otel.samplingRatio", "1.5"}, {"spark.pyrometer.otel.protocol", "udp"},
            {"spark.pyrometer.metrics.port", "70000"}, {"spark.pyrometer.otel.enabled", "yes"},
            {"spark.pyrometer.otel.endpoint", "collector:4317"}, {"spark.pyrometer.fileSystems.interval", "10 parsecs"},
            {"spark.pyrometer.otel.exporterType", "zipkin"}, {"spark.pyrometer.otel.resourceAttributes", "a"},
            {"spark.pyrometer.trace.dir", "traces"}, {"spark.pyrometer.trace.lttng", "1"},
        };
        for (String[] pair : wrong) {
            Settings.BadSettingException error = assertThrows(Settings.BadSettingException.class, () -> read(pair));
            assertTrue(error.getMessage(), error.getMessage().startsWith(pair[0] + "="));
        }
        Settings.BadSettingException error =
                assertThrows(Settings.BadSettingException.class, () -> read("spark.pyrometer.otel.headers", "secret"));
        assertFalse("headers hold credentials", error.getMessage().contains("secret"));
    }

    /** They are for all programs of a host: what others need does not turn the plugin off. */
    @Test
    public void variablesOfOpenTelemetryAreRead() throws Settings.BadSettingException {
        assertEquals(Settings.Protocol.HTTP, read("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json").protocol);
        assertEquals(Settings.Protocol.GRPC, read("OTEL_EXPORTER_OTLP_PROTOCOL", "carrier-pigeon").protocol);
        assertEquals("{Authorization=Bearer a b}",
                read("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20a%20b").headers.toString());
        assertEquals("{a=%20}", read("spark.pyrometer.otel.resourceAttributes", "a=%20").resourceAttributes.toString());
        assertEquals("{a=1}", read("spark.otel.resource.attributes", "a=1").resourceAttributes.toString());
        assertFalse(read("spark.pyrometer.otel.enabled", "true", "OTEL_TRACES_EXPORTER", "none").otel);
        assertTrue(read("spark.pyrometer.otel.enabled", "true", "OTEL_TRACES_EXPORTER", "console").otel);
        assertEquals(0.25, read("OTEL_TRACES_SAMPLER_ARG", "0.25").samplingRatio, 0);
        assertEquals(5000, read("OTEL_METRIC_EXPORT_INTERVAL", "5000").metricsIntervalMs);
        assertTrue(read("spark.pyrometer.otel.exporterType", "jaeger").onlySpans);
    }

    @Test
    public void orchestratorsAreFound() throws Settings.BadSettingException {
        assertEquals("{dag_id=daily, task_id=load.sums, run_id=r}", read("spark.openlineage.parentJobName",
                "daily.load.sums", "spark.openlineage.parentRunId", "r").orchestrator.toString());
        assertEquals("{dag_id=daily.eu, task_id=load}", read("spark.openlineage.parentJobName", "daily.eu.load",
                "spark.openlineage.rootParentJobName", "daily.eu").orchestrator.toString());
        Settings given = read("AIRFLOW_CTX_DAG_ID", "d", "AIRFLOW_CTX_TASK_ID", "t", "TRACEPARENT", "00-x",
                "AIRFLOW_CTX_DAG_RUN_ID", "manual", "spark.openlineage.parentJobName", "other.load");
        assertEquals("{dag_id=d, task_id=t, run_id=manual}", given.orchestrator.toString());
        assertEquals("{spark.pyrometer.orchestrator.dag_id=d, spark.pyrometer.orchestrator.task_id=t, "
                + "spark.pyrometer.orchestrator.run_id=manual, spark.pyrometer.trace.parent=00-x}",
                given.forEventLog().toString());
        assertEquals(Collections.emptyMap(), read().orchestrator);
    }
}
