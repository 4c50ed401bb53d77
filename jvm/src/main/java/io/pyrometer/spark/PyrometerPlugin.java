package io.pyrometer.spark;

import io.pyrometer.spark.driver.DriverSide;
import io.pyrometer.spark.executor.ExecutorSide;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/** {@code spark.plugins=io.pyrometer.spark.PyrometerPlugin}: metrics and traces of a running application. */
public final class PyrometerPlugin implements SparkPlugin {
    @Override
    public DriverPlugin driverPlugin() {
        return new DriverSide();
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new ExecutorSide();
    }
}
