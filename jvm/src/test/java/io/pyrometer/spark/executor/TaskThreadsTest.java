package io.pyrometer.spark.executor;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class TaskThreadsTest {
    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private Path below() {
        return folder.getRoot().toPath().resolve("made/here");
    }

    private TaskThreads threads(int capacity, boolean refused) {
        return new TaskThreads(below().toString(), () -> "app-\"1\"/x", "dri ver", failure::set, capacity, refused);
    }

    private List<String> lines() throws IOException {
        try (Stream<Path> files = Files.list(below())) {
            List<Path> all = files.collect(Collectors.toList());
            assertEquals(1, all.size());
            assertTrue(all.get(0).toString(), all.get(0).getFileName().toString().matches(
                    "task-threads-app-_1__x-dri_ver--?[0-9]+\\.jsonl"));
            return Files.readAllLines(all.get(0), StandardCharsets.UTF_8).stream()
                    .filter(line -> !line.startsWith("{\"children\"")).collect(Collectors.toList());
        }
    }

    private List<String> children() throws IOException {
        try (Stream<Path> files = Files.list(below())) {
            return Files.readAllLines(files.findFirst().get(), StandardCharsets.UTF_8).stream()
                    .filter(line -> line.startsWith("{\"children\"")).collect(Collectors.toList());
        }
    }

    @Test
    public void processesThatWereStartedAreListed() throws Exception {
        assumeTrue(new Children().isKnown());
        Process sleeper = new ProcessBuilder("sleep", "30").start();
        try {
            TaskThreads threads = threads(100, false);
            threads.start();
            threads.stop(5000);
            assertEquals("{\"children\":[]}", children().get(0));
            assertTrue(children().get(1), children().get(1).matches("\\{\"children\":\\[\\d+(,\\d+)*\\]\\}"));
        } finally {
            sleeper.destroy();
        }
    }

    private static TaskThreads.Record beginning(long task) {
        return new TaskThreads.Record(task, 3, 1, 7, 4711, 1000, 0, null);
    }

    @Test
    public void beginningsAndEndsAreLines() throws Exception {
        TaskThreads threads = threads(100, false);
        threads.start();
        threads.add(beginning(5));
        threads.add(beginning(5).ended(2000, "FAILED"));
        threads.stop(5000);
        List<String> lines = lines();
        assertTrue(lines.get(0), lines.get(0).startsWith("{\"Pyrometer\":\"task-threads\",\"version\":1,"
                + "\"application\":\"app-\\\"1\\\"/x\",\"executor\":\"dri ver\",\"host\":\""));
        assertTrue(lines.get(1), lines.get(1).matches("\\{\"clock\":\\{\"monotonic_ns\":-?\\d+,\"utc_ns\":\\d{19}\\}\\}"));
        assertEquals("{\"begins\":5,\"stage\":3,\"attempt\":1,\"tid\":4711,\"start_ns\":1000}", lines.get(2));
        assertEquals("{\"task\":5,\"stage\":3,\"attempt\":1,\"partition\":7,\"tid\":4711,\"start_ns\":1000,"
                + "\"end_ns\":2000,\"status\":\"FAILED\"}", lines.get(3));
        assertTrue(lines.get(4), lines.get(4).startsWith("{\"clock\":"));
        assertEquals("{\"dropped\":0}", lines.get(5));
        assertEquals(6, lines.size());
        assertEquals(null, failure.get());
    }

    @Test
    public void whatTheQueueCannotTakeIsCounted() throws Exception {
        TaskThreads threads = threads(10, false);
        for (int i = 0; i < 25; i++) {
            threads.add(beginning(i));
        }
        threads.start();
        threads.stop(5000);
        assertEquals("{\"dropped\":15}", lines().get(13));
    }

    /** Killed executors lose what was not written yet. */
    @Test
    public void recordsAreWrittenWhileTasksRun() throws Exception {
        TaskThreads threads = threads(100, false);
        threads.start();
        threads.add(beginning(1));
        long until = System.nanoTime() + 5_000_000_000L;
        while ((!Files.isDirectory(below()) || lines().size() < 3) && System.nanoTime() < until) {
            Thread.sleep(10);
        }
        assertTrue(lines().get(2).startsWith("{\"begins\":1,"));
        threads.stop(5000);
    }

    @Test
    public void otherSystemsSayWhyTheyHaveNone() throws Exception {
        TaskThreads threads = threads(100, true);
        threads.start();
        threads.add(beginning(1));
        threads.stop(5000);
        assertTrue(lines().get(0), lines().get(0).contains(",\"refused\":\"threads have no ids"));
        assertEquals("{\"dropped\":0}", lines().get(3));
    }

    @Test
    public void foldersThatCannotBeMadeHarmNothing() throws Exception {
        Path file = folder.newFile("file").toPath();
        TaskThreads threads = new TaskThreads(file.resolve("below").toString(), () -> null, "1", failure::set, 10, false);
        threads.start();
        threads.stop(5000);
        threads.add(beginning(1));
        assertTrue(String.valueOf(failure.get()), failure.get() instanceof IOException);
    }

    @Test
    public void threadsHaveIds() throws InterruptedException {
        assumeTrue(Files.exists(java.nio.file.Paths.get("/proc/thread-self")));
        long[] ids = new long[2];
        ids[0] = NativeThread.id();
        Thread other = new Thread(() -> ids[1] = NativeThread.id());
        other.start();
        other.join();
        assertTrue(ids[0] > 0 && ids[1] > 0);
        assertNotEquals(ids[0], ids[1]);
        assertEquals(ids[0], NativeThread.id());
    }

    @Test
    public void clocksAreReadTogether() {
        Clocks first = Clocks.read();
        Clocks second = Clocks.read();
        long drift = second.utcNs - first.utcNs - (second.monotonicNs - first.monotonicNs);
        assertTrue("" + drift, Math.abs(drift) < 50_000_000);
    }
}
