/** pyrometer.profile/1, and its series by process and unit. */

type Null<T> = T | null;

export interface ProfileSeries {
    process: number;
    /** Of one thread only. */
    thread: Null<string | number>;
    name: string;
    labels: Null<string>;
    unit: Null<string>;
    type: string;
    time_ms: number[];
    value: Null<number>[];
}

export interface ProfileMethod {
    event: string;
    function: string;
    file: Null<string>;
    unit: string;
    self: number;
    waiting: number;
    total: number;
    self_share: number;
    total_share: number;
}

export interface ProfileAllocation {
    class: string;
    function: Null<string>;
    bytes: number;
    share: number;
}

export interface ProfileProcess {
    id: number;
    name: string;
    host: Null<string>;
    samples: number;
    gc_pauses: number;
    gc_pause_ms: number;
    gc_longest_pause_ms: number;
}

export interface ProfileDocument {
    start_ms: Null<number>;
    end_ms: Null<number>;
    processes: ProfileProcess[];
    series: ProfileSeries[];
    top_methods: ProfileMethod[];
    top_allocations: ProfileAllocation[];
}

/** Series of one process that share an axis. */
export interface ProfileChart {
    process: ProfileProcess;
    unit: string;
    series: ProfileSeries[];
}

/** Lines of one chart; the others are in the table. */
const MOST_LINES = 8;

export function chartsOf(document: ProfileDocument): ProfileChart[] {
    const charts = new Map<string, ProfileChart>();
    const processes = new Map(document.processes.map((process) => [process.id, process]));
    for (const series of document.series) {
        const process = processes.get(series.process);
        // Counters only grow: what they are at one time says little. Threads are too many.
        if (!process || series.type === "counter" || series.thread !== null || series.time_ms.length < 2) continue;
        const unit = series.unit ?? "";
        const key = `${series.process} ${unit}`;
        const chart = charts.get(key) ?? { process, unit, series: [] };
        if (chart.series.length < MOST_LINES) chart.series.push(series);
        charts.set(key, chart);
    }
    return [...charts.values()].sort((a, b) => a.process.id - b.process.id || (a.unit < b.unit ? -1 : 1));
}

/** One column of times in seconds since `start`, and one of values for each series: null where it has no point. */
export function columnsOf(chart: ProfileChart, start: number): (number | null)[][] {
    const times = [...new Set(chart.series.flatMap((series) => series.time_ms))].sort((a, b) => a - b);
    const place = new Map(times.map((time, i) => [time, i]));
    const columns: (number | null)[][] = [times.map((time) => (time - start) / 1000)];
    for (const series of chart.series) {
        const values: (number | null)[] = times.map(() => null);
        series.time_ms.forEach((time, i) => {
            values[place.get(time)!] = series.value[i] ?? null;
        });
        columns.push(values);
    }
    return columns;
}

/** "heap.used", with what tells it from others of that name. */
export function nameOf(series: ProfileSeries): string {
    return series.labels ? `${series.name} ${series.labels}` : series.name;
}
