/** Durations of tasks over time: how many of each length ended in each part of the run. */
import type { Timeline } from "../data/types";

/** Upper ends in ms, as those of the plugin's histogram; the last row has no end. */
export const LENGTHS = [
    100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000,
];

export interface Durations {
    /** By row of LENGTHS from the longest, then column; NaN: none. */
    values: Float64Array;
    rows: number;
    columns: number;
    most: number;
    /** The shortest row that is shown. */
    first: number;
}

export function rowOf(duration: number): number {
    const row = LENGTHS.findIndex((end) => duration <= end);
    return row < 0 ? LENGTHS.length : row;
}

/** Rows without any task at both ends are left out. */
export function durationsOf(timeline: Timeline, columns = 60): Durations {
    const { launch_ms, duration_ms } = timeline.tasks.columns;
    const counts = Array.from({ length: LENGTHS.length + 1 }, () => new Float64Array(columns));
    const whole = Math.max(1, timeline.end_ms - timeline.start_ms);
    let low = LENGTHS.length;
    let high = -1;
    for (let i = 0; i < launch_ms.length; i++) {
        const duration = duration_ms[i]!;
        const end = launch_ms[i]! + duration;
        const column = Math.floor((end * columns) / whole);
        const row = rowOf(duration);
        counts[row]![Math.min(columns - 1, Math.max(0, column))]!++;
        low = Math.min(low, row);
        high = Math.max(high, row);
    }
    if (high < 0) return { values: new Float64Array(0), rows: 0, columns, most: 0, first: 0 };
    const rows = high - low + 1;
    const values = new Float64Array(rows * columns).fill(Number.NaN);
    let most = 0;
    for (let row = low; row <= high; row++)
        for (let column = 0; column < columns; column++) {
            const value = counts[row]![column]!;
            if (!value) continue;
            values[(high - row) * columns + column] = value;
            most = Math.max(most, value);
        }
    return { values, rows, columns, most, first: low };
}
