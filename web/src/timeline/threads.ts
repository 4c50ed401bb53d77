/** What the threads of tasks did as the kernel saw it: one row each, under its executor. */
import type { Timeline } from "../data/types";
import { nanoseconds, STATES } from "../trace/states";
import type { Viewport } from "./viewport";

const NS_PER_MS = 1e6;

export interface ThreadStates {
    /** Number of the thread in the document. */
    thread: number;
    /** Index in document.executors. */
    executor: number;
    label: string;
    /** Milliseconds since the start of the run, ascending. */
    from: Float64Array;
    to: Float64Array;
    /** Number in `states` of the document. */
    code: Uint8Array;
    /** How many states each mark stands for. */
    merged: Uint32Array;
    /** Task, NaN: not known. */
    task: Float64Array;
}

type Track = NonNullable<Timeline["tracks"]>[number];

function readTrack(track: Track, executor: number): ThreadStates {
    const from = Float64Array.from(track.start_ns, (ns) => ns / NS_PER_MS);
    return {
        thread: track.thread,
        executor,
        label: track.tid === null || track.tid === undefined ? "thread" : `thread ${track.tid}`,
        from,
        to: Float64Array.from(from, (start, i) => start + (track.duration_ns?.[i] ?? 0) / NS_PER_MS),
        code: Uint8Array.from(track.code ?? []),
        merged: Uint32Array.from(track.merged),
        task: Float64Array.from(track.value, (value) => value ?? Number.NaN),
    };
}

/** Threads with tasks by executor; those of executors that the run does not have are left out. */
export function threadsOf({ executors, tracks }: Timeline): ThreadStates[] {
    const threads = (tracks ?? []).flatMap((track) => {
        const executor = track.kind === "states" ? executors.findIndex(({ id }) => id === track.executor) : -1;
        return executor < 0 ? [] : [readTrack(track, executor)];
    });
    return threads.sort((a, b) => a.executor - b.executor || a.thread - b.thread);
}

const NOTHING = {
    from: new Float64Array(0),
    to: new Float64Array(0),
    code: new Uint8Array(0),
    merged: new Uint32Array(0),
    task: new Float64Array(0),
};

/** The same rows with the marks of a part of the run, which has them in more detail. */
export function inDetail(threads: ThreadStates[], part: Timeline): ThreadStates[] {
    const detailed = new Map(threadsOf(part).map((one) => [one.thread, one]));
    return threads.map((one) => detailed.get(one.thread) ?? { ...one, ...NOTHING });
}

/** A part of the run around what is in view, that stays the same while the view moves a little; null: the whole run. */
export function partOf(view: Viewport, length: number): Viewport | null {
    const span = view.to - view.from;
    if (!(span > 0) || span > length / 2) return null;
    const size = length / 2 ** Math.floor(Math.log2(length / span));
    const from = Math.floor(view.from / size) * size;
    return { from, to: Math.min(length, from + 2 * size) };
}

/** The first mark that ends after `time`. */
export function firstMark(thread: ThreadStates, time: number): number {
    let low = 0;
    let high = thread.to.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (thread.to[middle]! < time) low = middle + 1;
        else high = middle;
    }
    return low;
}

/** Lines about a mark. */
export function describeMark(thread: ThreadStates, mark: number, states: string[]): string[] {
    const state = states[thread.code[mark]!] ?? "unknown";
    const merged = thread.merged[mark]!;
    const task = thread.task[mark]!;
    return [
        `${state}: ${STATES[state] ?? ""}`,
        `${nanoseconds((thread.to[mark]! - thread.from[mark]!) * NS_PER_MS)}${merged > 1 ? `, the longest of ${merged} states` : ""}`,
        `${thread.label}${Number.isNaN(task) ? "" : `, task ${task}`}`,
    ];
}
