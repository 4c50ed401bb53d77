package io.pyrometer.spark.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import java.util.Map;

/** Values in the form of OpenTelemetry. */
final class Convert {
    private Convert() {}

    static long nanos(long ms) {
        return ms * 1_000_000;
    }

    static Attributes attributes(Map<String, Object> values) {
        AttributesBuilder builder = Attributes.builder();
        values.forEach((key, value) -> {
            if (value instanceof Long) {
                builder.put(AttributeKey.longKey(key), (Long) value);
            } else if (value instanceof Double) {
                builder.put(AttributeKey.doubleKey(key), (Double) value);
            } else if (value instanceof Boolean) {
                builder.put(AttributeKey.booleanKey(key), (Boolean) value);
            } else {
                builder.put(AttributeKey.stringKey(key), value.toString());
            }
        });
        return builder.build();
    }
}
