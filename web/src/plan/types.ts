/** pyrometer.sql_list/1 and pyrometer.sql_plan/1, as docs/schema/ describes them. */
type Null<T> = T | null;

export interface SqlExecution {
    id: number;
    root_id: Null<number>;
    description: Null<string>;
    call_site: Null<string>;
    start_ms: Null<number>;
    end_ms: Null<number>;
    duration_ms: Null<number>;
    status: string;
    failure: Null<string>;
    jobs: number[];
    stages: number[];
    tasks: number;
    task_ms: Null<number>;
    plan_changes: number;
}

export interface SqlList {
    executions: SqlExecution[];
}

export interface PlanMetric {
    name: string;
    type: string;
    value: Null<number>;
    min: Null<number>;
    median: Null<number>;
    max: Null<number>;
    text: string;
}

export interface PlanNode {
    id: number;
    name: string;
    detail: Null<string>;
    /** Wraps others and does no work of its own: a code generation stage, an adaptive plan. */
    frame: boolean;
    stages: number[];
    rows: Null<number>;
    bytes: Null<number>;
    own_ms: Null<number>;
    metrics: PlanMetric[];
}

export interface Plan {
    number: number;
    reason: string;
    at_ms: Null<number>;
    nodes: PlanNode[];
    /** From an operator to the one that it feeds. */
    edges: [number, number][];
}

export interface SqlPlan extends SqlExecution {
    other_ms: Null<number>;
    plans: Plan[];
    final: number;
}
