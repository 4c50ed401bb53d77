package io.pyrometer.spark.executor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/** The kernel's ids of this process and its threads, where it says them: on Linux. */
final class NativeThread {
    static final long UNKNOWN = -1;
    private static final Path THREAD = Paths.get("/proc/thread-self");
    private static final Path PROCESS = Paths.get("/proc/self");
    /** A thread keeps its id. */
    private static final ThreadLocal<Long> OWN = ThreadLocal.withInitial(() -> lastNumber(THREAD));

    private NativeThread() {}

    /** Of the calling thread. */
    static long id() {
        return OWN.get();
    }

    /** Of the calling process. */
    static long process() {
        return lastNumber(PROCESS);
    }

    /** Such as 5 of a link to 4/task/5. */
    private static long lastNumber(Path link) {
        try {
            return Long.parseLong(Files.readSymbolicLink(link).getFileName().toString());
        } catch (IOException | RuntimeException error) {
            return UNKNOWN;
        }
    }
}
