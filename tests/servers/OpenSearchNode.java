import org.codelibs.opensearch.runner.OpenSearchRunner;
import org.opensearch.http.HttpServerTransport;

/** One OpenSearch node on free ports of the loopback interface; its data goes below the given folder. */
public class OpenSearchNode {
    public static void main(String[] arguments) throws Exception {
        OpenSearchRunner runner = new OpenSearchRunner();
        runner.onBuild((number, settings) -> {
            settings.put("network.host", "127.0.0.1");
            settings.put("http.port", "0");
            settings.put("transport.port", "0");
            settings.put("discovery.type", "single-node");
            // What the runner sets for several nodes.
            settings.remove("cluster.initial_cluster_manager_nodes");
            settings.remove("discovery.seed_hosts");
            // A disk that is nearly full would make every index read-only.
            settings.put("cluster.routing.allocation.disk.threshold_enabled", false);
        });
        try {
            runner.build(OpenSearchRunner.newConfigs().basePath(arguments[0]).clusterName("pyrometer").numOfNode(1));
            runner.ensureYellow();
            HttpServerTransport http = runner.getNode(0).injector().getInstance(HttpServerTransport.class);
            System.out.println("listening on 127.0.0.1:" + http.boundAddress().publishAddress().getPort());
            Thread.currentThread().join();
        } catch (Throwable error) {
            error.printStackTrace(); // threads of the node would keep the process
            System.exit(1);
        }
    }
}
