package io.pyrometer.spark.executor;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A file that says which thread of this executor did which task when, on the clock that the kernel's traces can have. Threads of
 * tasks hand their records to a queue and never wait: where it is full, records are lost and counted. A thread of its own writes
 * them many at a time.
 */
final class TaskThreads {
    static final int CAPACITY = 16_384;
    /** With this number of records the thread is woken. */
    private static final int HURRY = CAPACITY / 4;
    private static final int AT_ONCE = 1024;
    private static final long PAUSE_NS = 100_000_000;
    private static final long CLOCK_NS = 10_000_000_000L;
    /** In which the name of the application has to come. */
    private static final long NAME_NS = 30_000_000_000L;
    private static final String REFUSED =
            "threads have no ids of the kernel here: /proc/thread-self is missing, which Linux has";

    /** The beginning or the end of a task on a thread. */
    static final class Record {
        final long task;
        final int stage;
        final int attempt;
        final int partition;
        final long tid;
        final long startNs;
        /** Of an end only. */
        final long endNs;
        /** Null: the task begins. */
        final String status;

        Record(long task, int stage, int attempt, int partition, long tid, long startNs, long endNs, String status) {
            this.task = task;
            this.stage = stage;
            this.attempt = attempt;
            this.partition = partition;
            this.tid = tid;
            this.startNs = startNs;
            this.endNs = endNs;
            this.status = status;
        }

        Record ended(long ns, String how) {
            return new Record(task, stage, attempt, partition, tid, startNs, ns, how);
        }

        private void write(Writer to) throws IOException {
            String where = ",\"stage\":" + stage + ",\"attempt\":" + attempt;
            if (status == null) {
                to.write("{\"begins\":" + task + where + ",\"tid\":" + tid + ",\"start_ns\":" + startNs + "}\n");
            } else {
                to.write("{\"task\":" + task + where + ",\"partition\":" + partition + ",\"tid\":" + tid
                        + ",\"start_ns\":" + startNs + ",\"end_ns\":" + endNs + ",\"status\":\"" + status + "\"}\n");
            }
        }
    }

    private final Path folder;
    private final Supplier<String> application;
    private final String executor;
    private final Consumer<Throwable> failed;
    private final boolean refused;
    private final BlockingQueue<Record> records;
    private final AtomicLong dropped = new AtomicLong();
    private final Children children = new Children();
    private final Thread thread = new Thread(this::work, "pyrometer-task-threads");
    private volatile boolean resting;
    private volatile boolean stopping;
    private volatile boolean off;

    /**
     * @param application its id; null as long as it has none
     * @param failed takes what went wrong with the file; tasks go on without records
     */
    TaskThreads(String folder, Supplier<String> application, String executor, Consumer<Throwable> failed) {
        this(folder, application, executor, failed, CAPACITY, NativeThread.id() == NativeThread.UNKNOWN);
    }

    TaskThreads(String folder, Supplier<String> application, String executor, Consumer<Throwable> failed, int capacity,
            boolean refused) {
        this.folder = Paths.get(folder);
        this.application = application;
        this.executor = executor;
        this.failed = failed;
        this.refused = refused;
        records = new ArrayBlockingQueue<>(capacity);
    }

    void start() {
        thread.setDaemon(true);
        thread.start();
    }

    void add(Record record) {
        if (off || refused) {
            return;
        }
        if (!records.offer(record)) {
            dropped.incrementAndGet();
        }
        if (resting && records.size() >= HURRY) {
            resting = false;
            LockSupport.unpark(thread);
        }
    }

    private void work() {
        try {
            String name = applicationName();
            Files.createDirectories(folder);
            Path file = folder.resolve("task-threads-" + safe(name) + '-' + safe(executor) + '-'
                    + NativeThread.process() + ".jsonl");
            try (Writer to = Files.newBufferedWriter(file, StandardCharsets.UTF_8)) {
                writeHead(to, name);
                write(to);
            }
        } catch (Throwable error) { // also a full disk, and full memory
            failed.accept(error);
        } finally {
            off = true;
            records.clear();
        }
    }

    /** A local master starts its executor before the application has its id. Tasks start later. */
    private String applicationName() {
        long until = System.nanoTime() + NAME_NS;
        String name = application.get();
        while (name == null && !stopping && records.isEmpty() && System.nanoTime() - until < 0) {
            LockSupport.parkNanos(this, PAUSE_NS);
            name = application.get();
        }
        return name == null ? "unknown" : name;
    }

    private void writeHead(Writer to, String name) throws IOException {
        to.write("{\"Pyrometer\":\"task-threads\",\"version\":1,\"application\":" + quoted(name) + ",\"executor\":"
                + quoted(executor) + ",\"host\":" + quoted(HostName.get()) + ",\"pid\":" + NativeThread.process()
                + (refused ? ",\"refused\":" + quoted(REFUSED) : "") + "}\n");
        writeClock(to);
        if (children.isKnown()) {
            to.write("{\"children\":[]}\n");
        }
        to.flush();
    }

    private void writeChildren(Writer to, boolean now) throws IOException {
        List<Long> fresh = children.due(now);
        if (!fresh.isEmpty()) {
            to.write("{\"children\":" + fresh.toString().replace(" ", "") + "}\n");
        }
    }

    private static void writeClock(Writer to) throws IOException {
        Clocks now = Clocks.read();
        to.write("{\"clock\":{\"monotonic_ns\":" + now.monotonicNs + ",\"utc_ns\":" + now.utcNs + "}}\n");
    }

    private void write(Writer to) throws IOException {
        List<Record> taken = new ArrayList<>(AT_ONCE);
        long clockNs = System.nanoTime();
        while (!stopping || !records.isEmpty()) {
            if (records.drainTo(taken, AT_ONCE) == 0) {
                to.flush(); // of what came together, once
                resting = true;
                LockSupport.parkNanos(this, PAUSE_NS);
                resting = false;
            }
            for (Record record : taken) {
                record.write(to);
            }
            taken.clear();
            writeChildren(to, false);
            if (System.nanoTime() - clockNs >= CLOCK_NS) {
                clockNs = System.nanoTime();
                writeClock(to);
                to.flush();
            }
        }
        writeClock(to);
        writeChildren(to, true);
        to.write("{\"dropped\":" + dropped.get() + "}\n");
    }

    /** Writes what is left; at most for `ms`. */
    void stop(long ms) throws InterruptedException {
        stopping = true;
        LockSupport.unpark(thread);
        thread.join(Math.max(1, ms));
    }

    private static String safe(String name) {
        return name.replaceAll("[^A-Za-z0-9._-]", "_");
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
