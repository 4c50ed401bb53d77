/** When an application waited, computed, wrote, and only its driver worked: the phases of docs/formulas.md, as intervals. */
import type { Report, StageRow } from "../data/types";

export type PhaseName = "resource_wait" | "compute" | "io_write" | "driver";

export interface Interval {
    from: number;
    to: number;
}

/** What overlaps or touches becomes one. */
export function union(intervals: Interval[]): Interval[] {
    const merged: Interval[] = [];
    for (const { from, to } of [...intervals].sort((a, b) => a.from - b.from)) {
        const last = merged.at(-1);
        if (to <= from) continue;
        if (last && from <= last.to) last.to = Math.max(last.to, to);
        else merged.push({ from, to });
    }
    return merged;
}

/** What of `all` is in none of `others`; both are unions, and so in order. */
export function without(all: Interval[], others: Interval[]): Interval[] {
    const left: Interval[] = [];
    let first = 0;
    for (const { from, to } of all) {
        let at = from;
        while (first < others.length && others[first]!.to <= from) first++;
        for (let i = first; i < others.length && others[i]!.from < to; i++) {
            const other = others[i]!;
            if (other.from > at) left.push({ from: at, to: other.from });
            at = Math.max(at, other.to);
        }
        if (at < to) left.push({ from: at, to });
    }
    return left;
}

/** Intervals with gaps of less than `least` between them as one: what a picture can show. */
export function joined(intervals: Interval[], least: number): Interval[] {
    const merged: Interval[] = [];
    for (const { from, to } of intervals) {
        const last = merged.at(-1);
        if (last && from - last.to < least) last.to = to;
        else merged.push({ from, to });
    }
    return merged;
}

export function sum(intervals: Interval[]): number {
    return intervals.reduce((total, { from, to }) => total + to - from, 0);
}

/** Of the application's time; null where the log does not say when it began or ended. */
export function phasesOf(report: Report): Record<PhaseName, Interval[]> | null {
    const { start_ms: start, end_ms: end } = report.application;
    if (start === null || end === null) return null;
    const inside = (row: StageRow): Interval => ({
        from: Math.max(start, row.submitted_ms ?? start),
        to: Math.min(end, row.completed_ms ?? end),
    });
    const known = report.stages.filter((row) => row.submitted_ms !== null);
    const writing = union(known.filter((row) => row.output_bytes > 0).map(inside));
    const active = union(known.map(inside));
    const waited = report.accounting.phases.wait_ms ?? 0;
    const waiting = waited > 0 ? without([{ from: start, to: Math.min(end, start + waited) }], active) : [];
    return {
        resource_wait: waiting,
        compute: without(active, writing),
        io_write: writing,
        driver: without([{ from: start, to: end }], union([...active, ...waiting])),
    };
}

/** Running executors, at each moment at which their number changes. */
export function executorsOverTime(report: Report): { at: number[]; running: number[] } {
    const changes: { at: number; by: number }[] = [];
    for (const row of report.executors) {
        if (row.id === "driver" || row.added_ms === null) continue;
        changes.push({ at: row.added_ms, by: 1 });
        if (row.removed_ms !== null) changes.push({ at: row.removed_ms, by: -1 });
    }
    const at: number[] = [];
    const running: number[] = [];
    let now = 0;
    for (const change of changes.sort((a, b) => a.at - b.at || b.by - a.by)) {
        now += change.by;
        if (at.at(-1) === change.at) running[running.length - 1] = now;
        else {
            at.push(change.at);
            running.push(now);
        }
    }
    return { at, running };
}
