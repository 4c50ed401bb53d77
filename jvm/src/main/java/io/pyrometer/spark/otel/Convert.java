package io.pyrometer.spark.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Values in the form of OpenTelemetry. */
final class Convert {
    /** Names of attributes are few, and their keys are not cheap to make. */
    private static final int KEYS = 500;
    private static final Map<String, AttributeKey<Long>> LONGS = new ConcurrentHashMap<>();
    private static final Map<String, AttributeKey<String>> TEXTS = new ConcurrentHashMap<>();

    private Convert() {}

    static long nanos(long ms) {
        return ms * 1_000_000;
    }

    private static AttributeKey<Long> longKey(String name) {
        return LONGS.size() < KEYS ? LONGS.computeIfAbsent(name, AttributeKey::longKey)
                : LONGS.getOrDefault(name, AttributeKey.longKey(name));
    }

    private static AttributeKey<String> textKey(String name) {
        return TEXTS.size() < KEYS ? TEXTS.computeIfAbsent(name, AttributeKey::stringKey)
                : TEXTS.getOrDefault(name, AttributeKey.stringKey(name));
    }

    static Attributes attributes(Map<String, Object> values) {
        AttributesBuilder builder = Attributes.builder();
        for (Map.Entry<String, Object> entry : values.entrySet()) {
            String key = entry.getKey();
            Object value = entry.getValue();
            if (value instanceof Long) {
                builder.put(longKey(key), (Long) value);
            } else if (value instanceof Double) {
                builder.put(AttributeKey.doubleKey(key), (Double) value);
            } else if (value instanceof Boolean) {
                builder.put(AttributeKey.booleanKey(key), (Boolean) value);
            } else {
                builder.put(textKey(key), value.toString());
            }
        }
        return builder.build();
    }
}
