package io.pyrometer.spark.executor;

import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/**
 * LTTng's agent for java.util.logging, where its classes and its native library are. This JAR does not contain them. Without a session
 * daemon, and for loggers that no session asked for, its handler drops records.
 */
final class Lttng {
    private static final String HANDLER = "org.lttng.ust.agent.jul.LttngLogHandler";

    private Lttng() {}

    /** A new handler. The first one waits seconds for the session daemon, if none runs. */
    static Handler handler() throws ReflectiveOperationException {
        return (Handler) Class.forName(HANDLER).getConstructor().newInstance();
    }

    /** A record that says all that the agent asks for: it would else look for the caller on the stack. */
    static LogRecord record(String logger, Level level, String message, String source, String method) {
        LogRecord record = new LogRecord(level, message);
        record.setLoggerName(logger);
        record.setSourceClassName(source);
        record.setSourceMethodName(method);
        return record;
    }
}
