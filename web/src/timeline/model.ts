/** A timeline's document as typed columns: tasks by the row they are drawn in, bars of jobs, stages and findings in lanes. */
import type { Finding, Timeline } from "../data/types";
import { headlineOf, type LogError } from "../logs/files";
import { median } from "../statistics";
import { type Marks, marksOf, placesOf, spanOf } from "./places";
import { type ThreadStates, threadsOf } from "./threads";

export interface Bar {
    /** Milliseconds since the start of the run. */
    from: number;
    to: number;
    lane: number;
    label: string;
    /** What of the label fits anywhere: the number of a job or stage, empty for others. */
    number: string;
    /** Index in the list that it comes from. */
    index: number;
}

export interface TaskRow {
    executor: number;
    slot: number;
    /** Tasks of this row: [first, end) of the columns below, by launch. */
    first: number;
    end: number;
}

export interface TimelineModel {
    document: Timeline;
    length: number;
    jobs: Bar[];
    stages: Bar[];
    findings: (Bar & { finding: Finding })[];
    /** When text logs have errors: the first and the last of each kind. `index` is that of the kind. */
    errors: Bar[];
    /** Pauses of garbage collectors, of all processes. */
    pauses: Bar[];
    /** What the threads of tasks did, by executor. */
    threads: ThreadStates[];
    /** What findings are about. */
    marks: Marks;
    gaps: { from: number; to: number }[];
    rows: TaskRow[];
    /** First row of each executor, and one more. */
    rowsOf: number[];
    /** Columns of tasks in the order of their rows. */
    launch: Float64Array;
    duration: Float64Array;
    /** Index into document.stages; -1: not listed there. */
    stage: Int32Array;
    status: Uint8Array;
    /** Place in the document's columns. */
    source: Uint32Array;
    /** Median duration of each listed stage's tasks. */
    median: Float64Array;
}

/** The lowest lane that is free for each interval, in the order of their beginnings; at most `most` lanes. */
export function packLanes(intervals: { from: number; to: number }[], most = 64): number[] {
    const order = intervals.map((_, i) => i).sort((a, b) => intervals[a]!.from - intervals[b]!.from || a - b);
    const ends: number[] = [];
    const lanes = new Array<number>(intervals.length).fill(0);
    for (const i of order) {
        const interval = intervals[i]!;
        let lane = ends.findIndex((end) => end <= interval.from);
        if (lane < 0) lane = ends.length < most ? ends.length : most - 1;
        ends[lane] = Math.max(ends[lane] ?? 0, interval.to);
        lanes[i] = lane;
    }
    return lanes;
}

/** Median duration of the successful tasks of each stage. */
function medians(document: Timeline, stageOf: Int32Array): Float64Array {
    const { duration_ms: duration, status } = document.tasks.columns;
    const lists: number[][] = document.stages.map(() => []);
    for (let i = 0; i < stageOf.length; i++)
        if (stageOf[i]! >= 0 && status[i] === 0) lists[stageOf[i]!]!.push(duration[i]!);
    return Float64Array.from(lists, (values) => median(values.sort((a, b) => a - b)) ?? 0);
}

/** Tasks sorted into rows: those of one executor and slot, by launch. */
function intoRows(document: Timeline): { rows: TaskRow[]; rowsOf: number[]; order: Uint32Array } {
    const { executor, slot } = document.tasks.columns;
    const count = executor.length;
    const slots = document.executors.map((row) => Math.max(1, row.cores ?? 1));
    for (let i = 0; i < count; i++) {
        const e = executor[i]!;
        if (slot[i]! >= (slots[e] ?? 0)) slots[e] = slot[i]! + 1;
    }
    const rowsOf = [0];
    for (const number of slots) rowsOf.push(rowsOf[rowsOf.length - 1]! + number);
    const rowCount = rowsOf[rowsOf.length - 1]!;
    const starts = new Uint32Array(rowCount + 1);
    for (let i = 0; i < count; i++) starts[rowsOf[executor[i]!]! + slot[i]! + 1]!++;
    for (let r = 0; r < rowCount; r++) starts[r + 1]! += starts[r]!;
    const next = starts.slice();
    const order = new Uint32Array(count);
    for (let i = 0; i < count; i++) order[next[rowsOf[executor[i]!]! + slot[i]!]!++] = i;
    const rows: TaskRow[] = [];
    slots.forEach((number, e) => {
        for (let s = 0; s < number; s++) {
            const r = rowsOf[e]! + s;
            rows.push({ executor: e, slot: s, first: starts[r]!, end: starts[r + 1]! });
        }
    });
    return { rows, rowsOf, order };
}

function findingBars(document: Timeline, findings: Finding[]) {
    const bars = findings.flatMap((finding, index) => {
        const span = spanOf(document, placesOf(document, finding));
        return span ? [{ ...span, lane: 0, label: finding.title, number: "", index, finding }] : [];
    });
    packLanes(bars, 8).forEach((lane, i) => {
        bars[i]!.lane = lane;
    });
    return bars;
}

const NS_PER_MS = 1e6;

/** Pauses of one process that were merged stand for several. */
function pauseBars(document: Timeline): Bar[] {
    const code = document.codes?.indexOf("gc-pause") ?? -1;
    const bars = (document.tracks ?? []).flatMap((track) =>
        track.start_ns.flatMap((start, i) => {
            if (code < 0 || track.kind !== "spans" || track.code?.[i] !== code) return [];
            const from = start / NS_PER_MS;
            const many = (track.merged[i] ?? 1) > 1 ? `${track.merged[i]} GC pauses` : "GC pause";
            const label = track.name ? `${many} of ${track.name}` : many;
            return [
                { from, to: from + (track.duration_ns?.[i] ?? 0) / NS_PER_MS, lane: 0, label, number: "", index: i },
            ];
        }),
    );
    return bars.sort((a, b) => a.from - b.from);
}

function errorBars(document: Timeline, errors: LogError[]): Bar[] {
    const bars = errors.flatMap((error, index) => {
        const times = new Set([error.first_ms, error.last_ms, error.time_ms].filter((ms) => ms !== null));
        return [...times].map((ms) => {
            const from = ms - document.start_ms;
            return { from, to: from, lane: 0, label: headlineOf(error).slice(0, 200), number: "", index };
        });
    });
    return bars.sort((a, b) => a.from - b.from || a.index - b.index);
}

export function modelOf(document: Timeline, findings: Finding[], errors: LogError[] = []): TimelineModel {
    const start = document.start_ms;
    const length = Math.max(1, document.end_ms - start);
    const at = (ms: number | null, otherwise: number) => (ms === null ? otherwise : ms - start);
    const laned = (bars: Bar[]) => {
        packLanes(bars).forEach((lane, i) => {
            bars[i]!.lane = lane;
        });
        return bars;
    };
    const jobs = laned(
        document.jobs.map((job, index) => ({
            from: at(job.submitted_ms, 0),
            to: at(job.completed_ms, length),
            lane: 0,
            label: `Job ${job.id}`,
            number: String(job.id),
            index,
        })),
    );
    const ran = document.stages
        .map((stage, index) => ({ stage, index }))
        .filter(({ stage }) => stage.submitted_ms !== null);
    const stages = laned(
        ran.map(({ stage, index }) => {
            const number = `${stage.id}${stage.attempt ? `.${stage.attempt}` : ""}`;
            return {
                from: at(stage.submitted_ms, 0),
                to: at(stage.completed_ms, length),
                lane: 0,
                label: `Stage ${number}`,
                number,
                index,
            };
        }),
    );
    const columns = document.tasks.columns;
    const byId = new Map(document.stages.map((stage, i) => [`${stage.id}.${stage.attempt}`, i]));
    const stageOf = Int32Array.from(columns.stage, (id, i) => byId.get(`${id}.${columns.attempt[i]}`) ?? -1);
    const { rows, rowsOf, order } = intoRows(document);
    return {
        document,
        length,
        jobs,
        stages,
        findings: findingBars(document, findings),
        errors: errorBars(document, errors),
        pauses: pauseBars(document),
        threads: threadsOf(document),
        marks: marksOf(document, findings),
        gaps: document.driver_gaps.map((gap) => ({ from: gap.from_ms - start, to: gap.to_ms - start })),
        rows,
        rowsOf,
        launch: Float64Array.from(order, (i) => columns.launch_ms[i]!),
        duration: Float64Array.from(order, (i) => columns.duration_ms[i]!),
        stage: Int32Array.from(order, (i) => stageOf[i]!),
        status: Uint8Array.from(order, (i) => columns.status[i]!),
        source: order,
        median: medians(document, stageOf),
    };
}

/** The first task of a row that ends after `time`; tasks of a row follow each other. */
export function firstAfter(model: TimelineModel, row: TaskRow, time: number): number {
    let low = row.first;
    let high = row.end;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (model.launch[middle]! + model.duration[middle]! < time) low = middle + 1;
        else high = middle;
    }
    return low;
}

/** How many tasks ran, on average, in each of this number of equal parts of the run. */
export function concurrency(model: TimelineModel, bins: number): Float64Array {
    const level = new Float64Array(bins + 1);
    const width = model.length / bins;
    for (let i = 0; i < model.launch.length; i++) {
        const from = Math.min(model.length, Math.max(0, model.launch[i]!));
        const to = Math.min(model.length, Math.max(from, model.launch[i]! + model.duration[i]!));
        const first = Math.min(bins - 1, Math.floor(from / width));
        const last = Math.min(bins - 1, Math.floor(to / width));
        if (first === last) {
            level[first]! += (to - from) / width;
            continue;
        }
        level[first]! += first + 1 - from / width;
        level[last]! += to / width - last;
        for (let bin = first + 1; bin < last; bin++) level[bin]! += 1;
    }
    return level.subarray(0, bins);
}
