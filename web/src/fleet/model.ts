/** Views of fleets (pyrometer.fleet_VIEW/1): their tables, and what pictures draw of them. */
import { bytes, count, duration, fixed, share, significant, time } from "../format";

export type Cell = number | string | null;

export interface FleetTable {
    name: string;
    title: string;
    columns: string[];
    titles: string[];
    units: string[];
    rows: Cell[][];
}

export interface Picture {
    kind: "area" | "bars" | "histogram" | "points";
    title: string;
    table: string;
    x: string | null;
    y: string | null;
    series: string | null;
    mark: string | null;
    size: string | null;
    only: string | null;
    value: string | null;
}

export interface FleetView {
    schema: string;
    query: unknown[];
    columns: string[];
    titles: string[];
    units: string[];
    rows: Cell[][];
    tables: FleetTable[];
    pictures: Picture[];
    notes: string[];
}

/** No picture has more. */
export const MOST_MARKS = 5000;
const MOST_BARS = 20;
/** Colors of charts (styles/colours.css). */
const COLOURS = 8;
/** What the smaller series are summed up as. */
const OTHER = "(other)";
/** What a series is called where its value is not known. */
const UNKNOWN = "(unknown)";

export function tablesOf(view: FleetView): FleetTable[] {
    const { columns, titles, units, rows } = view;
    return [{ name: "rows", title: "", columns, titles, units, rows }, ...view.tables];
}

export function tableOf(view: FleetView, name: string): FleetTable {
    return tablesOf(view).find((table) => table.name === name) ?? tablesOf(view)[0]!;
}

const HOUR = 3600e3;

/** A value as people read it. */
export function cellText(value: Cell, unit: string): string {
    if (value === null) return "-";
    if (typeof value === "string") return value;
    switch (unit) {
        case "ms":
            return duration(value);
        case "bytes":
            return bytes(value);
        case "time":
            return time(value);
        case "share":
            return share(value);
        case "count":
            return count(value);
        case "core_ms":
            return hours(value / HOUR);
        case "mib_ms":
            return hours(value / HOUR / 1024);
        case "flag":
            return value > 0 ? "yes" : "no";
        default:
            return significant(value);
    }
}

function hours(value: number): string {
    return Math.abs(value) >= 100 ? count(value) : Math.abs(value) >= 10 ? fixed(value, 1) : significant(value);
}

/** The unit of a cell; that of a comparison is in its row. */
export function unitOf(table: FleetTable, column: number, row: Cell[]): string {
    const unit = table.units[column] ?? "ratio";
    return unit === "row" ? String(row[table.columns.indexOf("unit")] ?? "ratio") : unit;
}

/** Columns that pages show: units are shown with their values. */
export function shownColumns(table: FleetTable): number[] {
    return table.columns.map((_, i) => i).filter((i) => !(table.columns[i] === "unit" && table.units.includes("row")));
}

function label(value: Cell): string {
    return value === null || value === "" ? UNKNOWN : String(value);
}

function place(table: FleetTable, name: string | null): number {
    return name === null ? -1 : table.columns.indexOf(name);
}

function number(row: Cell[], column: number): number | null {
    const value = row[column];
    return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Rows that the picture is about. */
function rowsOf(table: FleetTable, picture: Picture): Cell[][] {
    const only = place(table, picture.only);
    const rows = only < 0 ? table.rows : table.rows.filter((row) => String(row[only] ?? "") === picture.value);
    return rows.slice(0, MOST_MARKS);
}

/**
 * Names of series in the order in which they are drawn: the largest first, what is summed up last. By `measure`, so that
 * all pictures of a table have the same colors.
 */
export function seriesOf(table: FleetTable, picture: Picture, measure = picture.y): string[] {
    const [series, y] = [place(table, picture.series), place(table, measure)];
    if (series < 0) return [""];
    const sums = new Map<string, number>();
    for (const row of rowsOf(table, picture)) {
        const name = label(row[series] ?? null);
        sums.set(name, (sums.get(name) ?? 0) + Math.abs(number(row, y) ?? 0));
    }
    const numbers = [...sums.keys()].every((name) => name !== "" && Number.isFinite(Number(name)));
    if (numbers) return [...sums.keys()].sort((a, b) => Number(a) - Number(b));
    const names = [...sums.keys()].sort(
        (a, b) => Number(a === OTHER) - Number(b === OTHER) || sums.get(b)! - sums.get(a)! || (a < b ? -1 : 1),
    );
    return names;
}

export function colourOf(series: number, name: string): string {
    return name === OTHER ? "part-other" : `chart-${(series % COLOURS) + 1}`;
}

export interface Areas {
    names: string[];
    x: number[];
    /** By series, then x: what it has by itself. */
    own: number[][];
    /** The same, stacked: the first series is on top. */
    stacked: number[][];
}

/** Values over time, stacked. At most MOST_MARKS values: beyond that the smallest series are left out. */
export function areasOf(table: FleetTable, picture: Picture, measure = picture.y): Areas {
    const [xAt, yAt, seriesAt] = [place(table, picture.x), place(table, picture.y), place(table, picture.series)];
    const rows = rowsOf(table, picture);
    const times = [...new Set(rows.map((row) => number(row, xAt) ?? 0))].sort((a, b) => a - b);
    const span = times.length > 1 ? Math.min(...times.slice(1).map((at, i) => at - times[i]!)) : 0;
    const x: number[] = [];
    for (const at of times) {
        // A gap is nothing, not a slope.
        const last = x[x.length - 1];
        if (last !== undefined && at - last > span) {
            x.push(last + span);
            if (at - span > last + span) x.push(at - span);
        }
        x.push(at);
    }
    const most = Math.max(1, Math.floor(MOST_MARKS / Math.max(1, x.length)));
    const names = seriesOf(table, picture, measure).slice(0, most);
    const index = new Map(x.map((at, i) => [at, i]));
    const own = names.map(() => x.map(() => 0));
    const known = new Map(names.map((name, i) => [name, i]));
    for (const row of rows) {
        const series = known.get(seriesAt < 0 ? "" : label(row[seriesAt] ?? null));
        const at = index.get(number(row, xAt) ?? 0);
        if (series !== undefined && at !== undefined) own[series]![at]! += number(row, yAt) ?? 0;
    }
    const stacked = own.map(() => x.map(() => 0));
    for (let i = 0; i < x.length; i++) {
        let sum = 0;
        for (let s = names.length - 1; s >= 0; s--) {
            sum += own[s]![i]!;
            stacked[s]![i] = sum;
        }
    }
    return { names, x, own, stacked };
}

export interface Points {
    names: string[];
    x: number[];
    /** By series: a value at its own points, null elsewhere. */
    y: (number | null)[][];
    /** Of the table, by point. */
    rows: Cell[][];
    marked: boolean[];
    /** Pixels. */
    sizes: number[];
}

const SMALLEST = 4;
const LARGEST = 14;

/** Marks, by ascending x. */
export function pointsOf(table: FleetTable, picture: Picture): Points {
    const [xAt, yAt] = [place(table, picture.x), place(table, picture.y)];
    const [seriesAt, markAt, sizeAt] = [
        place(table, picture.series),
        place(table, picture.mark),
        place(table, picture.size),
    ];
    const rows = rowsOf(table, picture)
        .filter((row) => number(row, xAt) !== null && number(row, yAt) !== null)
        .sort((a, b) => number(a, xAt)! - number(b, xAt)!);
    const all = seriesOf(table, picture);
    const names = all.length > COLOURS ? [...all.slice(0, COLOURS - 1), OTHER] : all;
    const known = new Map(names.map((name, i) => [name, i]));
    const largest = Math.max(...rows.map((row) => number(row, sizeAt) ?? 0), 1);
    const y = names.map(() => rows.map((): number | null => null));
    rows.forEach((row, i) => {
        const name = seriesAt < 0 ? "" : label(row[seriesAt] ?? null);
        y[known.get(name) ?? names.length - 1]![i] = number(row, yAt);
    });
    return {
        names,
        x: rows.map((row) => number(row, xAt)!),
        y,
        rows,
        marked: rows.map((row) => (number(row, markAt) ?? 0) > 0),
        sizes: rows.map((row) =>
            sizeAt < 0
                ? SMALLEST + 1
                : SMALLEST + (LARGEST - SMALLEST) * Math.sqrt((number(row, sizeAt) ?? 0) / largest),
        ),
    };
}

export interface Bar {
    name: string;
    value: number;
}

/** The largest values, each with its name. */
export function barsOf(table: FleetTable, picture: Picture): Bar[] {
    const [series, y] = [place(table, picture.series), place(table, picture.y)];
    return rowsOf(table, picture)
        .map((row) => ({ name: label(row[series] ?? null), value: number(row, y) ?? 0 }))
        .filter((bar) => bar.value > 0)
        .sort((a, b) => b.value - a.value)
        .slice(0, MOST_BARS);
}

export interface Bins {
    from: number[];
    to: number[];
    counts: number[];
}

/** Of several series the sum. */
export function binsOf(table: FleetTable, picture: Picture): Bins {
    const [fromAt, toAt, y] = [place(table, picture.x), place(table, "to"), place(table, picture.y)];
    const bins: Bins = { from: [], to: [], counts: [] };
    for (const row of rowsOf(table, picture)) {
        const from = number(row, fromAt) ?? 0;
        const last = bins.from.length - 1;
        if (last >= 0 && bins.from[last] === from) {
            bins.counts[last]! += number(row, y) ?? 0;
            continue;
        }
        bins.from.push(from);
        bins.to.push(number(row, toAt) ?? from);
        bins.counts.push(number(row, y) ?? 0);
    }
    return bins;
}

/* ---- What is asked ---- */

/** The filters of a page, as its address has them. */
export const FILTERS = [
    "store",
    "app",
    "user",
    "since",
    "until",
    "by",
    "tag",
    "value",
    "before",
    "after",
    "at",
    "instance",
] as const;
export type Filters = Partial<Record<(typeof FILTERS)[number], string>>;

export function readFilters(query: URLSearchParams): Filters {
    const filters: Filters = {};
    for (const name of FILTERS) {
        const value = query.get(name);
        if (value) filters[name] = value;
    }
    return filters;
}

/** A view, as pyrometer.fleet/1 lists it. */
export interface ViewInfo {
    name: string;
    title: string;
    meaning: string;
    /** What it takes beyond the filters that all views take. */
    options: string[];
}

/** `options`: those of the view; the page has fields for all but prices, regions and currencies. */
export function takesFilter(options: string[], name: string): boolean {
    return ["store", "app", "user", "since", "until", "tag"].includes(name) || options.includes(name);
}

/** The address of a view's document. */
export function viewAddress(view: Pick<ViewInfo, "name" | "options">, filters: Filters): string {
    const parameters = new URLSearchParams();
    for (const name of FILTERS) {
        const value = filters[name];
        if (value && takesFilter(view.options, name)) parameters.set(name, value);
    }
    const tail = parameters.toString();
    return `fleet/${view.name}${tail ? `?${tail}` : ""}`;
}
