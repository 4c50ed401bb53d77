/** Files next to the event log of a run, and what is asked about them. */
import type { Report } from "../data/types";

type Artefact = NonNullable<Report["profiling"]>["artefacts"][number];

/** Kinds of files that have samples of stacks. */
const PROFILES = new Set(["jfr", "uber", "pyspark", "folded", "jstack", "spark-threads"]);

function filesOf(report: Report | null): Artefact[] {
    return report?.profiling?.artefacts ?? [];
}

export function textLogs(report: Report | null): Artefact[] {
    return filesOf(report).filter((file) => file.kind === "text-log");
}

export function hasTextLogs(report: Report | null): boolean {
    return textLogs(report).length > 0;
}

export function hasProfiles(report: Report | null): boolean {
    return filesOf(report).some((file) => PROFILES.has(file.kind));
}

/** Files about what the kernel did: a page of their own. */
const TRACES = new Set(["ctf", "task-threads"]);

/** Whether something was recorded that has a process and a time. */
export function hasRecords(report: Report | null): boolean {
    return filesOf(report).some((file) => file.kind !== "text-log" && !TRACES.has(file.kind));
}

/** Whether there is a trace of the kernel. */
export function hasTrace(report: Report | null): boolean {
    return filesOf(report).some((file) => file.kind === "ctf");
}

/** Executors that have text logs: the driver first, then by number. */
export function executorsOf(report: Report | null): string[] {
    const names = new Set(textLogs(report).flatMap((file) => (file.executor === null ? [] : [file.executor])));
    const number = (name: string) => (name === "driver" ? -1 : /^\d+$/.test(name) ? Number(name) : Infinity);
    return [...names].sort((a, b) => number(a) - number(b) || (a < b ? -1 : 1));
}

export const LEVELS = ["error", "warn", "info", "debug"] as const;

export interface LogQuestion {
    level: string;
    executor: string;
    grep: string;
}

export function questionOf(query: URLSearchParams): LogQuestion {
    const level = query.get("level") ?? "";
    return {
        level: (LEVELS as readonly string[]).includes(level) ? level : "",
        executor: query.get("executor") ?? "",
        grep: query.get("grep") ?? "",
    };
}

/** The part of an address behind the path: "?level=warn&limit=100". */
export function parametersOf(question: LogQuestion, limit: number): string {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(question)) if (value !== "") parameters.set(name, value);
    parameters.set("limit", String(limit));
    return `?${parameters}`;
}

type Null<T> = T | null;

/** pyrometer.errors/1 */
export interface LogErrors {
    files: number;
    lines: number;
    records: number;
    kinds: number;
    other: number;
    errors: LogError[];
    notes: { path: Null<string>; note?: string }[];
}

export interface LogError {
    time_ms: Null<number>;
    count: number;
    first_ms: Null<number>;
    last_ms: Null<number>;
    level: Null<string>;
    cause: Null<string>;
    logger: Null<string>;
    root: Null<{ class: string; message: Null<string> }>;
    classes: string[];
    executors: string[];
    stages: number[];
    tasks: number[];
    text: string;
}

/** pyrometer.chunks/1 */
export interface LogChunks {
    lines: number;
    found: number;
    chunks: LogChunk[];
}

export interface LogChunk {
    count: number;
    lines: string[];
    level: Null<string>;
    first_ms: Null<number>;
    last_ms: Null<number>;
    containers: string[];
    stages: number[];
    share: Null<number>;
}

/** What an error is called in one line: its root, or the first line of its text without time and level. */
export function headlineOf(error: LogError): string {
    if (error.root) return error.root.message ? `${error.root.class}: ${error.root.message}` : error.root.class;
    const first = error.text.split("\n", 1)[0] ?? "";
    const at = error.logger === null ? -1 : first.indexOf(error.logger.split(".").pop()!);
    const rest = at < 0 ? first : first.slice(at + error.logger!.split(".").pop()!.length).replace(/^[\s:\d-]+/, "");
    return rest || first;
}
