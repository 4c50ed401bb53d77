import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Recording;

/** A little of everything that a profiler records: ProfiledWork [FILE.jfr [EVENT...]] */
public class ProfiledWork {
    static final Object LOCK = new Object();
    static volatile double sink;
    static volatile Object kept;

    static void compute(int steps) {
        double sum = 0;
        for (int i = 1; i < steps; i++)
            sum += Math.sin(i) * Math.log(i);
        sink = sum;
    }

    static void allocate(int times) {
        List<Object> some = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            some.add(new byte[4096]);
            some.add(new String[16]);
            if (some.size() > 1000)
                some.clear();
        }
        kept = new long[3_000_000];
        some.add(kept);
    }

    static void compete() throws InterruptedException {
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int k = 0; k < 3; k++) {
                    synchronized (LOCK) {
                        try {
                            Thread.sleep(15);
                        } catch (InterruptedException e) {
                            return;
                        }
                    }
                }
            }, "rival-" + i);
            threads[i].start();
        }
        for (Thread thread : threads)
            thread.join();
    }

    static void pause() throws InterruptedException {
        synchronized (LOCK) {
            LOCK.wait(20);
        }
        LockSupport.parkNanos(LOCK, 20_000_000);
        Thread.sleep(20);
    }

    static void files() throws Exception {
        Path path = Files.createTempFile("profiled", ".bin");
        try (java.io.FileOutputStream out = new java.io.FileOutputStream(path.toFile())) {
            out.write(new byte[123_456]);
        }
        try (java.io.FileInputStream in = new java.io.FileInputStream(path.toFile())) {
            in.read(new byte[200_000]);
        }
        Files.delete(path);
    }

    static void sockets() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread sender = new Thread(() -> {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort())) {
                    Thread.sleep(30);
                    socket.getOutputStream().write(new byte[777]);
                } catch (Exception e) {
                    throw new RuntimeException(e);
                }
            }, "sender \u00fc\u4e16");
            sender.start();
            try (Socket socket = server.accept(); InputStream in = socket.getInputStream()) {
                while (in.read(new byte[1000]) > 0) {
                }
            }
            sender.join();
        }
    }

    static void work() throws Exception {
        compute(12_000_000);
        allocate(30_000);
        compete();
        pause();
        files();
        sockets();
        System.gc();
        Thread.sleep(120);
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0) {
            work();
            return;
        }
        try (Recording recording = new Recording()) {
            for (int i = 1; i < arguments.length; i++)
                recording.enable(arguments[i]).withStackTrace().withThreshold(Duration.ZERO);
            recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(10)).withStackTrace();
            recording.enable("jdk.NativeMethodSample").withPeriod(Duration.ofMillis(20)).withStackTrace();
            recording.enable("jdk.CPULoad").withPeriod(Duration.ofMillis(100));
            recording.enable("jdk.ThreadCPULoad").withPeriod(Duration.ofMillis(100));
            recording.start();
            work();
            // A second recording makes the JVM begin another chunk.
            try (Recording other = new Recording()) {
                other.enable("jdk.ThreadStart");
                other.start();
                compute(6_000_000);
                pause();
            }
            recording.stop();
            recording.dump(Path.of(arguments[0]));
        }
    }
}
