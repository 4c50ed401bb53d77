/** The documents that pages show, as docs/schema/ describes them. Only members that some page reads are listed. */

import type { StageWaits } from "../trace/states";

export type Null<T> = T | null;

export interface Parts {
    total_ms: number;
    parts: { name: string; ms: number }[];
}

export interface Advice {
    text: string;
    config: Record<string, string>;
    code: Null<string>;
    verify: Null<string>;
}

export interface Evidence {
    metric: string;
    value: Null<number>;
    unit: Null<string>;
    expected: Null<number>;
}

export type Severity = "critical" | "severe" | "moderate" | "low";

export interface Where {
    job: Null<number>;
    stage: Null<number>;
    attempt: Null<number>;
    sql: Null<number>;
    executor: Null<string>;
    host: Null<string>;
    call_site: Null<string>;
}

export interface Finding {
    id: string;
    rule: string;
    category: string;
    severity: Severity;
    confidence: number;
    title: string;
    where: Where;
    /** The stage attempts that it is about: the first thousand, and how many there are. Older reports do not have it. */
    stages?: { count: number; id: number[]; attempt: number[] };
    cause: string;
    evidence: Evidence[];
    advice: Advice[];
    /** Its part of the run; older reports do not have it. */
    costs?: { wall_ms: Null<number>; core_ms: Null<number> };
    /** What the action saves that cures it. */
    saves: {
        wall_ms: { low: Null<number>; expected: Null<number>; high: Null<number> };
        stage_share: Null<number>;
        core_ms: Null<number>;
        cost: Null<number>;
        /** What was simulated: its settings, or a change of the program. Older reports do not have it. */
        basis?: Null<"settings" | "code">;
    };
    /** Said to be false for this application before; shown, but not in full. */
    folded?: boolean;
}

export interface Quantiles {
    min: Null<number>;
    p25: Null<number>;
    median: Null<number>;
    p75: Null<number>;
    p95: Null<number>;
    max: Null<number>;
}

export interface StageRow {
    id: number;
    attempt: number;
    name: Null<string>;
    call_site: Null<string>;
    job: Null<number>;
    sql: Null<number>;
    status: string;
    submitted_ms: Null<number>;
    completed_ms: Null<number>;
    tasks: number;
    duration_ms: Quantiles;
    failure: Null<string>;
    failed_tasks: number;
    task_ms: number;
    run_ms: number;
    gc_ms: number;
    input_bytes: number;
    output_bytes: number;
    shuffle_read_bytes: number;
    shuffle_write_bytes: number;
    memory_spill_bytes: number;
    disk_spill_bytes: number;
}

export interface ExecutorRow {
    id: string;
    host: Null<string>;
    cores: Null<number>;
    added_ms: Null<number>;
    removed_ms: Null<number>;
    remove_reason: Null<string>;
    busy_ms: number;
    gc_ms: number;
    heap_peak_bytes: Null<number>;
    tasks: number;
    failed_tasks: number;
}

export interface JobRow {
    id: number;
    name: Null<string>;
    sql: Null<number>;
    status: string;
    failure: Null<string>;
    submitted_ms: Null<number>;
    completed_ms: Null<number>;
    stages: number;
    tasks: number;
    failed_tasks: number;
    critical_ms: Null<number>;
}

export interface Reject {
    [column: string]: string | number | null;
}

export interface ConfigurationRow {
    key: string;
    current: Null<string>;
    recommended: Null<string>;
    reason: Null<string>;
    verify: Null<string>;
    applies: Null<string>;
    note: Null<string>;
    finding: Null<string>;
}

/** The run with all that is advised, simulated once. */
export interface Plan {
    settings?: Record<string, string>;
    findings: string[];
    wall_ms: { low: number; expected: number; high: number };
    core_ms: Null<number>;
    cost: Null<number>;
}

/** What to do: one set of settings or one change of the program. */
export interface Action {
    id: string;
    title: string;
    kind: "settings" | "code";
    config: Record<string, string>;
    code: Null<string>;
    effort: "setting" | "code" | "data" | "cluster";
    risk: "low" | "medium" | "high";
    /** Ids of findings. */
    cures: string[];
    saves: Finding["saves"];
    check: Null<string>;
    text: string;
}

/** pyrometer.report/1 */
export interface Report {
    schema: string;
    application: {
        id: Null<string>;
        name: Null<string>;
        attempt: Null<string>;
        user: Null<string>;
        spark_version: Null<string>;
        /** What started it; documents before that member do not say it. */
        orchestrator?: Null<{ dag_id: Null<string>; task_id: Null<string>; run_id: Null<string> }>;
        master: Null<string>;
        start_ms: Null<number>;
        end_ms: Null<number>;
        duration_ms: Null<number>;
        status: string;
        exit_code: Null<number>;
        /** What became of it (applications/outcome.ts); reports that were made before do not say it. */
        outcome?: Null<string>;
    };
    integrity: {
        bytes: number;
        lines: number;
        events: Record<string, number>;
        unknown_events: Record<string, number>;
        bad_lines: number;
        truncated: boolean;
        compacted: boolean;
        in_progress: boolean;
        tasks_started: number;
        tasks_ended: number;
        confidence: number;
        repeated_events: number;
        replaced_characters: number;
        missing_parts: number;
        beginning_missing: boolean;
        settings_unknown: boolean;
        contradictory: boolean;
        notes: string[];
    };
    /** What other files than the event log say; missing where there are none. */
    profiling?: {
        artefacts: {
            kind: string;
            path: string;
            executor: Null<string>;
            host: Null<string>;
            bytes: Null<number>;
            records: Null<number>;
            problems: Null<string>;
        }[];
    };
    totals: Record<string, Null<number>>;
    accounting: { wall: Parts; core: Parts; phases: Record<string, Null<number>> };
    bounds: {
        critical_path_ms: Null<number>;
        ideal_ms: Null<number>;
        one_core_ms: Null<number>;
        driver_ms: Null<number>;
    };
    memory: Record<string, Null<number>>;
    stages: StageRow[];
    executors: ExecutorRow[];
    findings: Finding[];
    config_changes: Record<string, string>;
    plan: Null<Plan>;
    code_plan: Null<Plan>;
    /** Reports of earlier versions have none. */
    actions?: Action[];
    together?: Null<Pick<Plan, "wall_ms" | "core_ms" | "cost">>;
    cost: Null<{ currency?: Null<string>; total?: Null<number>; [member: string]: unknown }>;
    source: { path: Null<string>; codec: Null<string> };
    jobs: JobRow[];
    rules: Record<string, string>;
    rejects: Reject[];
    suppressed: { id: string; rule: string; reason: Null<string> }[];
    failure: Null<{
        exception: Null<string>;
        message: Null<string>;
        frame: Null<string>;
        job: Null<number>;
        stage: Null<number>;
        failed_tasks: Null<number>;
        finding: Null<string>;
    }>;
    replay: {
        measured_ms: Null<number>;
        replayed_ms: Null<number>;
        error_share: Null<number>;
        worst_job_ms: Null<number>;
    };
    configuration?: ConfigurationRow[];
}

/** pyrometer.applications/1 */
export interface Applications {
    /** On all pages of the answer. */
    total: number;
    all: number;
    users: string[];
    applications: {
        id: string;
        name: Null<string>;
        attempts: {
            attempt: Null<string>;
            user: Null<string>;
            start_ms: Null<number>;
            end_ms: Null<number>;
            duration_ms: Null<number>;
            completed: boolean;
            /** What became of it (applications/outcome.ts); servers before that do not say it. */
            outcome?: string;
            /** Of its end or, where that is missing, of its last event. */
            last_event_ms?: Null<number>;
            spark_version: Null<string>;
            log: Null<string>;
            log_bytes: Null<number>;
            /** There is only the report that a store keeps. */
            stored?: boolean;
        }[];
        past_runs_ms: number[];
    }[];
    unreadable: { path: string; error: string }[];
}

/** pyrometer.timeline/1 */
export interface Timeline {
    start_ms: number;
    end_ms: number;
    executors: {
        id: string;
        host: Null<string>;
        cores: Null<number>;
        added_ms: Null<number>;
        removed_ms: Null<number>;
        remove_reason: Null<string>;
    }[];
    jobs: {
        id: number;
        name: Null<string>;
        submitted_ms: Null<number>;
        completed_ms: Null<number>;
        status: string;
        sql: Null<number>;
        stages: number[];
    }[];
    stages: {
        id: number;
        attempt: number;
        name: Null<string>;
        submitted_ms: Null<number>;
        completed_ms: Null<number>;
        status: string;
        tasks: number;
        job: Null<number>;
    }[];
    driver_gaps: { from_ms: number; to_ms: number }[];
    /** What a number in a track's `code` means. */
    codes?: string[];
    /** What it means where the track is of states. */
    states?: string[];
    /** What logs, profilers and traces recorded. */
    tracks?: {
        kind: "spans" | "series" | "states";
        thread: number;
        name: Null<string>;
        /** Of states: where the thread runs. */
        executor?: Null<string>;
        tid?: Null<number>;
        series: Null<string>;
        labels: Null<string>;
        unit: Null<string>;
        start_ns: number[];
        duration_ns?: number[];
        code?: number[];
        value: Null<number>[];
        merged: number[];
    }[];
    tasks: {
        count: number;
        shown: number;
        columns: {
            stage: number[];
            attempt: number[];
            executor: number[];
            slot: number[];
            launch_ms: number[];
            duration_ms: number[];
            status: number[];
            index: number[];
        };
    };
}

/** pyrometer.stage/1 */
export interface StageDocument {
    id: number;
    attempt: number;
    name: Null<string>;
    call_site: Null<string>;
    status: string;
    tasks: number;
    parents: number[];
    quantiles: Record<string, Quantiles>;
    columns: Record<string, (number | null)[]>;
    executors: string[];
    hosts: string[];
    outliers: {
        task: number;
        index: number;
        duration_ms: number;
        times_median: Null<number>;
        cause: string;
        text: string;
    }[];
    /** What its tasks did and waited for; only where they were traced. */
    waits?: StageWaits;
}
