package io.pyrometer.spark.executor;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;

/** The name of this host, as its kernel says it: it asks no name server, which may be slow. */
final class HostName {
    private HostName() {}

    static String get() {
        try {
            byte[] text = Files.readAllBytes(Paths.get("/proc/sys/kernel/hostname"));
            return new String(text, StandardCharsets.UTF_8).trim();
        } catch (IOException | RuntimeException error) {
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (IOException none) {
                return "unknown";
            }
        }
    }
}
