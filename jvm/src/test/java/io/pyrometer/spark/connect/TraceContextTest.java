package io.pyrometer.spark.connect;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;

import org.junit.Test;

public class TraceContextTest {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String SPAN = "00f067aa0ba902b7";

    @Test
    public void readsWhatTheStandardAllows() {
        TraceContext context = TraceContext.parse("00-" + TRACE + "-" + SPAN + "-01",
                "airflow.dag_id=daily%20sums,task_id=load;p=1,other=x");
        assertEquals(TRACE, context.traceId);
        assertEquals(SPAN, context.spanId);
        assertEquals("{dag_id=daily sums, task_id=load}", context.orchestrator.toString());
        assertNotNull("a later version may say more", TraceContext.parse("01-" + TRACE + "-" + SPAN + "-01-more", null));
    }

    @Test
    public void refusesTheRest() {
        String zero = TRACE.replaceAll(".", "0");
        for (String text : new String[] {null, "", "x", "00-" + TRACE + "-" + SPAN, "ff-" + TRACE + "-" + SPAN + "-01",
            "00-" + zero + "-" + SPAN + "-01", "00-" + TRACE + "-0000000000000000-01",
            "00-" + TRACE.toUpperCase() + "-" + SPAN + "-01", "00-" + TRACE + "-" + SPAN + "-01-more",
            "00_" + TRACE + "-" + SPAN + "-01", "01-" + TRACE + "-" + SPAN + "-01more"}) {
            assertNull(text, TraceContext.parse(text, null));
        }
    }
}
