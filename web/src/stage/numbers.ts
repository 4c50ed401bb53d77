/** What the stage page computes from the columns of a stage's tasks. */
import type { StageDocument } from "../data/types";
import { bytes, count, duration } from "../format";
import { median } from "../statistics";

export type Column = (number | null)[];

export function column(stage: StageDocument, name: string): Column {
    return stage.columns[name] ?? [];
}

/** A metric's value as people read it, by the unit in its name. */
export function metricText(metric: string, value: number | null | undefined): string {
    if (metric.endsWith("_ms")) return duration(value);
    if (metric.endsWith("_bytes")) return bytes(value);
    return count(value);
}

export interface Histogram {
    from: number;
    width: number;
    counts: number[];
}

/** Equal parts of the range of values; at most `most` of them, fewer where there are few values. */
export function histogram(values: Column, most = 48): Histogram {
    const known = values.filter((value): value is number => value !== null);
    if (!known.length) return { from: 0, width: 1, counts: [] };
    let low = Infinity;
    let high = -Infinity;
    for (const value of known) {
        low = Math.min(low, value);
        high = Math.max(high, value);
    }
    const bins = low === high ? 1 : Math.max(4, Math.min(most, Math.ceil(2 * Math.sqrt(known.length))));
    const width = low === high ? 1 : (high - low) / bins;
    const counts = new Array<number>(bins).fill(0);
    for (const value of known) counts[Math.min(bins - 1, Math.floor((value - low) / width))]!++;
    return { from: low, width, counts };
}

export type HeatKind = "running" | "duration" | "gc";

export interface Heat {
    /** Executors as rows, from their first task on; values by row, then column; NaN: no task. */
    rows: number[];
    columns: number;
    from: number;
    to: number;
    values: Float64Array;
    most: number;
}

interface Span {
    from: number;
    to: number;
}

export function spanOf(stage: StageDocument): Span {
    const launch = column(stage, "launch_ms");
    const length = column(stage, "duration_ms");
    let from = Infinity;
    let to = -Infinity;
    launch.forEach((start, i) => {
        if (start === null) return;
        from = Math.min(from, start);
        to = Math.max(to, start + (length[i] ?? 0));
    });
    return from <= to ? { from, to: Math.max(to, from + 1) } : { from: 0, to: 1 };
}

/**
 * Executors over time. `running`: tasks that ran at a time, on average; `duration`: how long the tasks there took in all,
 * weighted by their time in the cell; `gc`: share of task time that went to garbage collection.
 */
export function heat(stage: StageDocument, kind: HeatKind, columns = 96): Heat {
    const { from, to } = spanOf(stage);
    const launch = column(stage, "launch_ms");
    const length = column(stage, "duration_ms");
    const gc = column(stage, "gc_ms");
    const executor = column(stage, "executor");
    const rows = [...new Set(executor.filter((value): value is number => value !== null))].sort((a, b) => a - b);
    const rowOf = new Map(rows.map((id, row) => [id, row]));
    const width = (to - from) / columns;
    const time = new Float64Array(rows.length * columns);
    const weighted = new Float64Array(rows.length * columns);
    launch.forEach((start, i) => {
        const row = rowOf.get(executor[i] ?? -1);
        const took = length[i] ?? 0;
        if (start === null || row === undefined) return;
        const weight = kind === "gc" ? (gc[i] ?? 0) / Math.max(1, took) : took;
        const first = Math.min(columns - 1, Math.floor((start - from) / width));
        const last = Math.min(columns - 1, Math.floor((start + took - from) / width));
        for (let c = first; c <= last; c++) {
            const inside = Math.min(start + took, from + (c + 1) * width) - Math.max(start, from + c * width);
            if (inside <= 0) continue;
            time[row * columns + c]! += inside;
            weighted[row * columns + c]! += inside * weight;
        }
    });
    const values = time.map((inside, i) =>
        inside <= 0 ? Number.NaN : kind === "running" ? inside / width : weighted[i]! / inside,
    );
    let most = 0;
    for (const value of values) if (value > most) most = value;
    return { rows, columns, from, to, values, most: most || 1 };
}

export interface ExecutorSummary {
    executor: number;
    tasks: number;
    failed: number;
    time: number;
    median: number | null;
    max: number | null;
    gcShare: number;
}

/** One row an executor: the same facts as the heat map. */
export function byExecutor(stage: StageDocument): ExecutorSummary[] {
    const executor = column(stage, "executor");
    const length = column(stage, "duration_ms");
    const gc = column(stage, "gc_ms");
    const status = column(stage, "status");
    const lists = new Map<number, number[]>();
    executor.forEach((id, i) => {
        if (id === null) return;
        const list = lists.get(id);
        if (list) list.push(i);
        else lists.set(id, [i]);
    });
    return [...lists].map(([id, tasks]) => {
        const durations = tasks.map((i) => length[i] ?? 0).sort((a, b) => a - b);
        const time = durations.reduce((sum, value) => sum + value, 0);
        return {
            executor: id,
            tasks: tasks.length,
            failed: tasks.filter((i) => status[i] === 1).length,
            time,
            median: median(durations),
            max: durations[durations.length - 1] ?? null,
            gcShare: time ? tasks.reduce((sum, i) => sum + (gc[i] ?? 0), 0) / time : 0,
        };
    });
}

export interface Points {
    x: number[];
    /** Succeeded, slow (among the outliers), failed or killed; NaN-free: null where the task is of another kind. */
    y: [(number | null)[], (number | null)[], (number | null)[]];
    /** Row of each point in the document's columns. */
    rows: number[];
}

/** Tasks as points, by x. On logarithmic axes what is below one is at one. */
export function points(stage: StageDocument, xName: string, yName: string, least = -Infinity): Points {
    const [xs, ys, status, task] = [xName, yName, "status", "task"].map((name) => column(stage, name)) as [
        Column,
        Column,
        Column,
        Column,
    ];
    const slow = new Set(stage.outliers.map((outlier) => outlier.task));
    const rows = xs.map((_, i) => i).filter((i) => xs[i] !== null && ys[i] !== null);
    rows.sort((a, b) => xs[a]! - xs[b]! || a - b);
    const kind = (i: number) => (status[i] ? 2 : slow.has(task[i] ?? -1) ? 1 : 0);
    const y = [0, 1, 2].map((wanted) => rows.map((i) => (kind(i) === wanted ? Math.max(least, ys[i]!) : null)));
    return { x: rows.map((i) => xs[i]!), y: y as Points["y"], rows };
}
