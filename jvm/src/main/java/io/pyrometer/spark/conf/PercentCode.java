package io.pyrometer.spark.conf;

import java.io.UnsupportedEncodingException;
import java.net.URLDecoder;

/** Values of baggage and of OpenTelemetry's variables. */
public final class PercentCode {
    private PercentCode() {}

    /** As it is where it is malformed; plus signs stay. */
    public static String decode(String value) {
        try {
            return URLDecoder.decode(value.replace("+", "%2B"), "UTF-8");
        } catch (UnsupportedEncodingException | IllegalArgumentException error) {
            return value;
        }
    }
}
