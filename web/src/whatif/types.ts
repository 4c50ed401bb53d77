/** pyrometer.whatif/1, as docs/schema/ describes it. */
type Null<T> = T | null;

export interface Scenario {
    executors: number;
    cores_per_executor: number;
    memory_bytes: Null<number>;
    settings: Record<string, string>;
    wall_ms: { low: number; expected: number; high: number };
    core_ms: Null<number>;
    cost: Null<number>;
    utilization: Null<number>;
    critical_path_ms: number;
    models: { name: string; effect: string; doubt_ms: { below: number; above: number } }[];
    findings: Null<{ vanish: Judged[]; appear: Judged[] }>;
}

export interface Judged {
    id: string;
    rule: string;
    title?: Null<string>;
}

export interface WhatIf {
    base: {
        measured_ms: number;
        replayed_ms: number;
        executors: number;
        cores_per_executor: number;
        memory_bytes: Null<number>;
        hosts: number;
        core_ms: number;
        utilization: Null<number>;
        critical_path_ms: number;
        replay_error_share: Null<number>;
        cost: Null<number>;
        currency: Null<string>;
    };
    /** The settings that are recommended for this run. */
    plan: Null<Record<string, string>>;
    scenarios: Scenario[];
}
