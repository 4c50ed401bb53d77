package io.pyrometer.spark.connect;

import java.lang.reflect.Method;
import org.sparkproject.connect.grpc.ForwardingServerCallListener;
import org.sparkproject.connect.grpc.Metadata;
import org.sparkproject.connect.grpc.ServerCall;
import org.sparkproject.connect.grpc.ServerCallHandler;
import org.sparkproject.connect.grpc.ServerInterceptor;

/**
 * {@code spark.connect.grpc.interceptor.classes}: reads the trace context that a client sends with its requests, so that the spans of
 * an operation belong to the client's trace. PySpark sends it when the address says so:
 * {@code sc://host:port/;traceparent=00-...}.
 */
public final class TraceContextInterceptor implements ServerInterceptor {
    private static final Metadata.Key<String> PARENT = Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> BAGGAGE = Metadata.Key.of("baggage", Metadata.ASCII_STRING_MARSHALLER);

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        ServerCall.Listener<Q> listener = next.startCall(call, headers);
        String parent = headers.get(PARENT);
        if (!call.getMethodDescriptor().getFullMethodName().endsWith("/ExecutePlan")) {
            return listener;
        }
        TraceContext context = TraceContext.parse(parent, headers.get(BAGGAGE));
        if (parent != null && context == null) {
            Requests.countMalformed();
        }
        return new ForwardingServerCallListener.SimpleForwardingServerCallListener<Q>(listener) {
            @Override
            public void onMessage(Q message) {
                note(message, context);
                super.onMessage(message);
            }
        };
    }

    /** The request's class is generated, and relocated in some versions of Spark: its ids are asked for by name. */
    private static void note(Object message, TraceContext context) {
        try {
            long now = System.currentTimeMillis();
            String operation = text(message, "getOperationId");
            if (operation.isEmpty()) {
                Requests.addSession(text(message, "getSessionId"), now, context);
            } else {
                Requests.addOperation(operation, now, context);
            }
        } catch (ReflectiveOperationException | RuntimeException error) {
            Requests.countMalformed();
        }
    }

    private static String text(Object message, String getter) throws ReflectiveOperationException {
        Method method = message.getClass().getMethod(getter);
        return String.valueOf(method.invoke(message));
    }
}
