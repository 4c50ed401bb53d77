package io.pyrometer.spark.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** Answers GET /metrics, on the address that the user chose. */
public final class Endpoint implements AutoCloseable {
    private final HttpServer server;
    private final ExecutorService threads;

    public Endpoint(String host, int port, Supplier<String> metrics) throws IOException {
        for (String limit : new String[] {"maxReqTime", "maxRspTime"}) {
            // Seconds; read once in a JVM. Without it a client that sends half a request holds a thread without limit.
            if (System.getProperty("sun.net.httpserver." + limit) == null) {
                System.setProperty("sun.net.httpserver." + limit, "10");
            }
        }
        server = HttpServer.create(new InetSocketAddress(InetAddress.getByName(host), port), 16);
        threads = Executors.newFixedThreadPool(2, task -> {
            Thread thread = new Thread(task, "pyrometer-metrics");
            thread.setDaemon(true);
            return thread;
        });
        server.setExecutor(threads);
        server.createContext("/metrics", exchange -> answer(exchange, metrics));
        server.start();
    }

    public int port() {
        return server.getAddress().getPort();
    }

    public String address() {
        InetAddress address = server.getAddress().getAddress();
        String host = address instanceof java.net.Inet6Address ? '[' + address.getHostAddress() + ']' : address.getHostAddress();
        return "http://" + host + ':' + port() + "/metrics";
    }

    private static void answer(HttpExchange exchange, Supplier<String> metrics) throws IOException {
        try (HttpExchange open = exchange) {
            String method = open.getRequestMethod();
            if (!method.equals("GET") && !method.equals("HEAD")) {
                open.getResponseHeaders().set("Allow", "GET, HEAD");
                open.sendResponseHeaders(405, -1);
                return;
            }
            if (!open.getRequestURI().getPath().equals("/metrics")) {
                open.sendResponseHeaders(404, -1);
                return;
            }
            byte[] body = metrics.get().getBytes(StandardCharsets.UTF_8);
            open.getResponseHeaders().set("Content-Type", PrometheusText.CONTENT_TYPE);
            if (method.equals("HEAD")) {
                open.sendResponseHeaders(200, -1);
                return;
            }
            open.sendResponseHeaders(200, body.length);
            open.getResponseBody().write(body);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
