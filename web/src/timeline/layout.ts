/** Where things are on the canvas, from its top: findings, jobs, stages, then each executor with its rows and threads. */
import type { TimelineModel } from "./model";

export const AXIS = 24;
/** Room for names on the left; a phone has less. */
export function labelsOf(width: number): number {
    return width < 520 ? 84 : 148;
}
const LANE = 17;
const GAP = 8;
export const HEAD = 19;

export type TrackKind = "findings" | "errors" | "pauses" | "jobs" | "stages" | "executor" | "row" | "thread";

export interface Track {
    kind: TrackKind;
    top: number;
    height: number;
    /** Lane of bars, index of the executor, index of the row, or index of the thread. */
    index: number;
}

export interface Layout {
    tracks: Track[];
    height: number;
    laneHeight: number;
    rowHeight: number;
}

function lanesOf(bars: { lane: number }[]): number {
    return bars.reduce((most, bar) => Math.max(most, bar.lane + 1), 0);
}

export function layoutOf(model: TimelineModel, rowHeight: number): Layout {
    const tracks: Track[] = [];
    let top = AXIS + 4;
    const lanes = (kind: TrackKind, number: number) => {
        for (let i = 0; i < number; i++) {
            tracks.push({ kind, top, height: LANE, index: i });
            top += LANE;
        }
        if (number) top += GAP;
    };
    lanes("findings", lanesOf(model.findings));
    lanes("errors", lanesOf(model.errors));
    lanes("pauses", lanesOf(model.pauses));
    lanes("jobs", lanesOf(model.jobs));
    lanes("stages", lanesOf(model.stages));
    model.document.executors.forEach((_, e) => {
        tracks.push({ kind: "executor", top, height: HEAD, index: e });
        top += HEAD;
        for (let r = model.rowsOf[e]!; r < model.rowsOf[e + 1]!; r++) {
            tracks.push({ kind: "row", top, height: rowHeight, index: r });
            top += rowHeight;
        }
        model.threads.forEach((thread, index) => {
            if (thread.executor !== e) return;
            tracks.push({ kind: "thread", top, height: rowHeight, index });
            top += rowHeight;
        });
        top += GAP;
    });
    return { tracks, height: top + 4, laneHeight: LANE, rowHeight };
}

/** The first track that reaches below `y`. */
export function firstTrack(layout: Layout, y: number): number {
    let low = 0;
    let high = layout.tracks.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        const track = layout.tracks[middle]!;
        if (track.top + track.height <= y) low = middle + 1;
        else high = middle;
    }
    return low;
}

export function trackAt(layout: Layout, y: number): Track | null {
    const track = layout.tracks[firstTrack(layout, y)];
    return track && track.top <= y ? track : null;
}
