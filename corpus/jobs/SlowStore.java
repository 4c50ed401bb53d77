import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * Local files behind the manners of an object store: each request takes fs.store.latency.ms, each stream passes
 * fs.store.read.kbps or fs.store.write.kbps, and renaming copies.
 */
public class SlowStore extends RawLocalFileSystem {
    private static final URI NAME = URI.create("store:///");
    private long latency;
    private double readRate;
    private double writeRate;

    @Override
    public URI getUri() {
        return NAME;
    }

    @Override
    public String getScheme() {
        return "store";
    }

    @Override
    public void initialize(URI uri, Configuration conf) throws IOException {
        super.initialize(uri, conf);
        latency = conf.getLong("fs.store.latency.ms", 0);
        readRate = conf.getDouble("fs.store.read.kbps", 1e6);
        writeRate = conf.getDouble("fs.store.write.kbps", 1e6);
    }

    /** Waits for one request and for the bytes at a rate in KB/s, that is bytes a millisecond. */
    private void pass(long bytes, double rate, boolean request) throws IOException {
        try {
            Thread.sleep((request ? latency : 0) + (long) Math.ceil(bytes / rate));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IOException(stop);
        }
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
        pass(0, 1, true);
        return super.listStatus(path);
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        FileStatus status = getFileStatus(from);
        pass(status.isFile() ? status.getLen() : 0, writeRate, true);
        return super.rename(from, to);
    }

    @Override
    public FSDataInputStream open(Path path, int buffer) throws IOException {
        pass(0, 1, true);
        return new FSDataInputStream(new Input(super.open(path, buffer)));
    }

    @Override
    public FSDataOutputStream create(Path path, boolean overwrite, int buffer, short copies, long block,
            Progressable progress) throws IOException {
        return slow(super.create(path, overwrite, buffer, copies, block, progress));
    }

    @Override
    public FSDataOutputStream create(Path path, FsPermission mode, boolean overwrite, int buffer, short copies,
            long block, Progressable progress) throws IOException {
        return slow(super.create(path, mode, overwrite, buffer, copies, block, progress));
    }

    private FSDataOutputStream slow(OutputStream out) throws IOException {
        if (out instanceof FSDataOutputStream && ((FSDataOutputStream) out).getWrappedStream() instanceof Buffered) {
            return (FSDataOutputStream) out;
        }
        pass(0, 1, true);
        return new FSDataOutputStream(new Buffered(new Output(out)), null);
    }

    private static final class Buffered extends BufferedOutputStream {
        Buffered(OutputStream out) {
            super(out, 1 << 16);
        }
    }

    private final class Output extends OutputStream {
        private final OutputStream out;

        Output(OutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int value) throws IOException {
            out.write(value);
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            pass(length, writeRate, false);
            out.write(from, offset, length);
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }

    private final class Input extends FSInputStream {
        private final FSDataInputStream in;

        Input(FSDataInputStream in) {
            this.in = in;
        }

        @Override
        public int read() throws IOException {
            return in.read();
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int count = in.read(into, offset, Math.min(length, 1 << 18));
            pass(Math.max(count, 0), readRate, false);
            return count;
        }

        @Override
        public void seek(long position) throws IOException {
            if (position != in.getPos()) {
                pass(0, 1, true);
                in.seek(position);
            }
        }

        @Override
        public long getPos() throws IOException {
            return in.getPos();
        }

        @Override
        public boolean seekToNewSource(long position) {
            return false;
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }
}
