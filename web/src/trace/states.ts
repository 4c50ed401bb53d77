/** What threads do as the kernel sees it (src/model/tracks/kernel_states.def), and the document of traces. */
import { count, duration, fixed, plural } from "../format";

type Null<T> = T | null;

/** By name, in the order in which bars show them. */
export const STATES: Record<string, string> = {
    "running-user": "ran the program's own code",
    "running-system": "ran in the kernel: a system call",
    runnable: "could have run, but its processor ran another thread",
    throttled: "could have run, but its cgroup had used up its quota",
    disk: "waited for a block device",
    network: "waited for a socket, or for any of several files",
    futex: "waited for another thread: a lock, a condition, a queue",
    "kernel-lock": "waited for a lock inside the kernel",
    timer: "slept until a time, or waited until a time limit",
    "page-fault": "waited for a page that had to be read",
    pipe: "waited for the other end of a pipe",
    "python-worker": "waited for a Python worker",
    stopped: "was stopped by a signal or a debugger",
    waiting: "slept, and the trace does not say what for",
    unknown: "the trace does not say: events are missing",
};

export function stateColour(name: string): string {
    return `var(--state-${name}, var(--state-unknown))`;
}

export interface Wait {
    state: string;
    root: string;
    what: Null<string>;
    by: Null<string>;
    duration_ns: number;
    count: number;
    bytes: Null<number>;
}

/** What the tasks of a stage did and waited for. */
export interface StageWaits {
    tasks: number;
    traced_ns: number;
    roots_ns: Record<string, number>;
    waits: Wait[];
}

export interface TraceProcess {
    name: Null<string>;
    pid: Null<number>;
    host: Null<string>;
    executor: Null<string>;
    threads: number;
    states_ns: Record<string, number>;
}

export interface TraceCall {
    name: string;
    count: number;
    duration_ns: number;
    errors: number;
    bytes: Null<number>;
}

/** pyrometer.trace/1 */
export interface TraceDocument {
    events: number;
    lost_events: number;
    start_ms: Null<number>;
    duration_ns: Null<number>;
    traces: {
        kind: string;
        path: string;
        host: Null<string>;
        executor: Null<string>;
        events: Null<number>;
        bytes: Null<number>;
        clock: Null<{ base: string; method: string; matches: number; drift_ppb: number; error_ns: number }>;
        problems: Null<string>;
    }[];
    losses: {
        reason: string;
        cpu: Null<number>;
        start_ns: Null<number>;
        end_ns: Null<number>;
        events: Null<number>;
    }[];
    tasks: { traced: number; torn: number };
    residual: Null<{ tasks: number; p50_ms: Null<number>; p99_ms: Null<number>; max_ms: Null<number> }>;
    stages: (StageWaits & { stage: number; attempt: number })[];
    processes: TraceProcess[];
    calls: TraceCall[];
    event_classes: { name: string; count: number; known: boolean }[];
    findings: { id: string; rule: string }[];
}

const NS_PER_MS = 1e6;

/** "12 µs", "1.4 ms", else as milliseconds are written. */
export function nanoseconds(ns: Null<number>): string {
    if (ns === null) return "-";
    if (ns > 0 && ns < 1000) return `${Math.round(ns)} ns`;
    if (ns > 0 && ns < NS_PER_MS) return `${Math.round(ns / 1000)} µs`;
    if (ns > 0 && ns < 10 * NS_PER_MS) return `${fixed(ns / NS_PER_MS, 1).replace(".0", "")} ms`;
    return duration(ns / NS_PER_MS);
}

/** Times by state as parts of a bar, in the order of STATES. */
export function partsOf(times_ns: Record<string, number>): { name: string; ms: number }[] {
    const known = Object.keys(STATES).filter((name) => (times_ns[name] ?? 0) > 0);
    const others = Object.keys(times_ns).filter((name) => !(name in STATES));
    return [...known, ...others].map((name) => ({ name, ms: times_ns[name]! / NS_PER_MS }));
}

/** The state with most time, and its share. */
export function mostOf(times_ns: Record<string, number>): { name: string; share: number } | null {
    const parts = partsOf(times_ns);
    const all = parts.reduce((sum, part) => sum + part.ms, 0);
    const most = parts.reduce<{ name: string; ms: number } | null>((a, b) => (a && a.ms >= b.ms ? a : b), null);
    return most && all > 0 ? { name: most.name, share: most.ms / all } : null;
}

export function runningOf(process: TraceProcess): number {
    return (process.states_ns["running-user"] ?? 0) + (process.states_ns["running-system"] ?? 0);
}

export function queuedOf(process: TraceProcess): number {
    return (process.states_ns.runnable ?? 0) + (process.states_ns.throttled ?? 0);
}

function lossTexts(trace: TraceDocument): string[] {
    if (!trace.losses.length) return [];
    const reasons = new Map<string, number>();
    for (const { reason } of trace.losses) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    const events = trace.lost_events ? ` At least ${plural(trace.lost_events, "event")} are lost.` : "";
    const torn = trace.tasks.torn
        ? ` The rules do not judge ${plural(trace.tasks.torn, "task")} of that time.`
        : " No task is affected.";
    return [...reasons]
        .map(([reason, places]) => `Events are missing in ${plural(places, "place")}: ${reason}.`)
        .concat(`${events}${torn}`.trim());
}

/** What is missing in the traces or could not be read, in sentences. */
export function problemsOf(trace: TraceDocument): string[] {
    const texts = lossTexts(trace);
    for (const { path, problems } of trace.traces) if (problems !== null) texts.push(`${path}: ${problems}`);
    if (trace.events > 0 && trace.tasks.traced === 0)
        texts.push(
            "The trace does not say which thread had which task. The Spark plugin writes that: record the run with pyrometer trace record, or set spark.pyrometer.trace.dir.",
        );
    if (trace.traces.some(({ kind, clock }) => kind === "ctf" && clock?.method === "unknown"))
        texts.push("The clock of the trace is not the clock of the event log, and nothing connects them.");
    return texts;
}

/** How far the clocks of trace and event log agree. */
export function clockText({ residual }: TraceDocument): string | undefined {
    if (!residual || residual.p50_ms === null) return undefined;
    const most = residual.p99_ms === null ? "" : `, 99 % of them at most ${duration(residual.p99_ms)}`;
    return `The threads of ${count(residual.tasks)} tasks began ${duration(residual.p50_ms)} after the launch in the event log (median)${most}.`;
}
