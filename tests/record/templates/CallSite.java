package pyrometer.test;

import java.util.Set;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.config.plugins.Plugin;
import org.apache.logging.log4j.core.pattern.ConverterKeys;
import org.apache.logging.log4j.core.pattern.LogEventPatternConverter;

/**
 * %site: class, method and line of the statement that logs, such as org.apache.spark.executor.Executor.run:123.
 *
 * Log4j's own %l gives the same line for all of Spark, that of its trait Logging.
 */
@Plugin(name = "CallSite", category = "Converter")
@ConverterKeys({"site"})
public final class CallSite extends LogEventPatternConverter {
    private static final StackWalker WALKER = StackWalker.getInstance();
    private static final Set<String> FORWARDERS =
        Set.of("logTrace", "logDebug", "logInfo", "logWarning", "logError", "logBasedOnLevel", "withLogContext");
    private static final String[] PLUMBING = {
        "pyrometer.test.", "org.apache.logging.", "org.apache.log4j.", "org.slf4j.", "org.apache.commons.logging.",
        "java.util.logging.", "org.sparkproject.jetty.util.log.", "org.apache.spark.internal.Logging",
        "org.apache.spark.internal.SparkLogger"};

    private CallSite() {
        super("CallSite", "site");
    }

    public static CallSite newInstance(String[] options) {
        return new CallSite();
    }

    private static boolean isPlumbing(StackWalker.StackFrame frame) {
        for (String prefix : PLUMBING) {
            if (frame.getClassName().startsWith(prefix)) {
                return true;
            }
        }
        return FORWARDERS.contains(frame.getMethodName().replace("$", ""));
    }

    @Override
    public void format(LogEvent event, StringBuilder text) {
        StackWalker.StackFrame site =
            WALKER.walk(frames -> frames.dropWhile(CallSite::isPlumbing).findFirst().orElse(null));
        if (site == null) {
            text.append("?:0");
        } else {
            text.append(site.getClassName()).append('.').append(site.getMethodName()).append(':').append(site.getLineNumber());
        }
    }
}
