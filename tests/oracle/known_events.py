"""Every event class that Apache Spark 1.x to 4.x writes into event logs, as data.

Names are spelled as in a record's "Event" field: the scheduler's older events by their bare class name (Spark's
JsonProtocol writes them so), everything else by its full class name (written by Jackson).
Sources: for the scheduler, SQL and Connect, the classes in the published jars spark-core 1.6.3, 2.4.8, 3.5.6, 4.0.0 and
4.1.0, spark-sql 2.4.8, 3.5.6, 4.0.0 and 4.1.0, spark-connect 3.5.5 and 4.0.0. The Thrift server's and the catalog's
events and the names of Spark 2.0.0's streaming events are written from knowledge of Spark and not checked against a jar.
"""

from __future__ import annotations

from typing import FrozenSet, List

# JsonProtocol: bare names.
BARE: List[str] = [
    "SparkListenerApplicationEnd",
    "SparkListenerApplicationStart",
    "SparkListenerBlockManagerAdded",
    "SparkListenerBlockManagerRemoved",
    "SparkListenerBlockUpdated",
    "SparkListenerEnvironmentUpdate",
    "SparkListenerExecutorAdded",
    "SparkListenerExecutorMetricsUpdate",
    "SparkListenerExecutorRemoved",
    "SparkListenerJobEnd",
    "SparkListenerJobStart",
    "SparkListenerLogStart",
    "SparkListenerResourceProfileAdded",
    "SparkListenerStageCompleted",
    "SparkListenerStageExecutorMetrics",
    "SparkListenerStageSubmitted",
    "SparkListenerTaskEnd",
    "SparkListenerTaskGettingResult",
    "SparkListenerTaskStart",
    "SparkListenerUnpersistRDD",
]

# Jackson: full class names.
QUALIFIED: List[str] = [
    prefix + name
    for prefix, names in {
        "org.apache.spark.scheduler.SparkListener": [
            "ExecutorBlacklisted",
            "ExecutorBlacklistedForStage",
            "ExecutorExcluded",
            "ExecutorExcludedForStage",
            "ExecutorUnblacklisted",
            "ExecutorUnexcluded",
            "MiscellaneousProcessAdded",
            "NodeBlacklisted",
            "NodeBlacklistedForStage",
            "NodeExcluded",
            "NodeExcludedForStage",
            "NodeUnblacklisted",
            "NodeUnexcluded",
            "SpeculativeTaskSubmitted",
            "UnschedulableTaskSetAdded",
            "UnschedulableTaskSetRemoved",
        ],
        "org.apache.spark.sql.execution.ui.SparkListener": [
            "DriverAccumUpdates",
            "SQLAdaptiveExecutionUpdate",
            "SQLAdaptiveSQLMetricUpdates",
            "SQLExecutionEnd",
            "SQLExecutionStart",
        ],
        "org.apache.spark.sql.streaming.StreamingQueryListener$": [
            # Spark 2.0.0 had them without "Event".
            "QueryIdleEvent",
            "QueryProgress",
            "QueryProgressEvent",
            "QueryStarted",
            "QueryStartedEvent",
            "QueryTerminated",
            "QueryTerminatedEvent",
        ],
        "org.apache.spark.sql.connect.service.SparkListenerConnect": [
            "OperationAnalyzed",
            "OperationCanceled",
            "OperationClosed",
            "OperationFailed",
            "OperationFinished",
            "OperationReadyForExecution",
            "OperationStarted",
            "ServiceEnd",
            "ServiceStarted",
            "SessionClosed",
            "SessionStarted",
        ],
        "org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServer": [
            "OperationCanceled",
            "OperationClosed",
            "OperationError",
            "OperationFinish",
            "OperationParsed",
            "OperationStart",
            "OperationTimeout",
            "SessionClosed",
            "SessionCreated",
        ],
        "org.apache.spark.sql.catalyst.catalog.": [
            what + when
            for what in (
                "AlterDatabase",
                "AlterFunction",
                "AlterTable",
                "CreateDatabase",
                "CreateFunction",
                "CreateTable",
                "DropDatabase",
                "DropFunction",
                "DropTable",
                "RenameFunction",
                "RenameTable",
            )
            for when in ("Event", "PreEvent")
        ],
    }.items()
    for name in names
]

KNOWN_EVENTS: FrozenSet[str] = frozenset(BARE + QUALIFIED)
