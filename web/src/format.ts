/** Numbers as people read them; the same words as the text report's (src/text/humanize.c). */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export type Maybe<T> = T | null | undefined;

/** One decimal below ten, whole numbers above. */
function scaled(value: number, unit: number): string {
    const tenths = Math.floor(value / unit) < 10 ? Math.round((value * 10) / unit) : 100;
    if (tenths < 100) return tenths % 10 ? (tenths / 10).toFixed(1) : String(tenths / 10);
    return String(Math.round(value / unit));
}

function pair(ms: number, big: number, bigName: string, small: number, smallName: string): string {
    const units = Math.round(ms / small);
    const ratio = big / small;
    const rest = units % ratio;
    return Math.floor(units / ratio) + bigName + (rest ? ` ${rest}${smallName}` : "");
}

/** "35.5 s", "4 min 12 s", "1 h 12 min"; "-" for what is unknown. */
export function duration(ms: Maybe<number>): string {
    if (ms === null || ms === undefined || !Number.isFinite(ms)) return "-";
    if (ms < 0) return `-${duration(-ms)}`;
    if (ms < SECOND) return `${Math.round(ms)} ms`;
    if (ms < MINUTE - SECOND / 2) return `${scaled(ms, SECOND)} s`;
    if (ms < 10 * MINUTE - SECOND / 2) return pair(ms, MINUTE, " min", SECOND, " s");
    if (ms < HOUR - MINUTE / 2) return `${scaled(ms, MINUTE)} min`;
    if (ms < 2 * DAY) return pair(ms, HOUR, " h", MINUTE, " min");
    return pair(ms, DAY, " d", HOUR, " h");
}

/** "14-23 s", "up to 3 min", in the unit of the larger. */
export function durationRange(low: Maybe<number>, high: Maybe<number>): string {
    if (high === null || high === undefined) return "-";
    if (low === null || low === undefined || low < 0 || high < low) return duration(high);
    const [unit, name] =
        high < SECOND ? [1, "ms"] : high < 2 * MINUTE ? [SECOND, "s"] : high < 2 * HOUR ? [MINUTE, "min"] : [HOUR, "h"];
    const from = scaled(low, unit as number);
    const to = scaled(high, unit as number);
    if (from === to) return `${to} ${name}`;
    return from === "0" ? `up to ${to} ${name}` : `${from}-${to} ${name}`;
}

/** "56.2 MiB" */
export function bytes(value: Maybe<number>): string {
    if (value === null || value === undefined || !Number.isFinite(value)) return "-";
    if (value < 0) return `-${bytes(-value)}`;
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = 0;
    let size = 1;
    while (unit + 1 < units.length && value / size >= 1024) {
        size *= 1024;
        unit++;
    }
    return `${scaled(value, size)} ${units[unit]}`;
}

/** "1,234,567" */
export function count(value: Maybe<number>): string {
    if (value === null || value === undefined || !Number.isFinite(value)) return "-";
    return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** "1,234.50": as many decimals as are asked for. */
export function fixed(value: Maybe<number>, decimals: number): string {
    if (value === null || value === undefined || !Number.isFinite(value)) return "-";
    const [whole = "", rest] = Math.abs(value).toFixed(decimals).split(".");
    const sign = value < 0 && Number(value.toFixed(decimals)) !== 0 ? "-" : "";
    return sign + whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? `.${rest}` : "");
}

/** "0.00281", "12.4", "120,438": three digits that say something. */
export function significant(value: Maybe<number>): string {
    if (value === null || value === undefined || !Number.isFinite(value)) return "-";
    if (value === 0) return "0";
    const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
    const text = fixed(value, Math.min(decimals, 9));
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** "18.4 x": a multiple of something. */
export function times(value: Maybe<number>): string {
    return value === null || value === undefined || !Number.isFinite(value) ? "-" : `${fixed(value, 1)} x`;
}

/** "+12 %": a change. */
export function change(share: number): string {
    const text = fixed(share * 100, 0);
    return `${share > 0 && text !== "0" ? "+" : ""}${text} %`;
}

function decimal(value: number): string {
    if (value < 0) return `-${decimal(-value)}`;
    if (value > 0 && value < 0.005) return "<0.01";
    if (value > 0 && value < 0.05) return value.toFixed(2);
    if (value < 9.95) return scaled(value * 1000, 1000);
    return count(value);
}

/** 0.317 as "32 %" */
export function share(value: Maybe<number>): string {
    if (value === null || value === undefined || !Number.isFinite(value)) return "-";
    return `${decimal(value * 100)} %`;
}

/** A value of a finding's evidence, in the unit that the report names. */
export function quantity(value: Maybe<number>, unit: Maybe<string>): string {
    if (value === null || value === undefined) return "-";
    if (unit === "ms") return duration(value);
    if (unit === "bytes") return bytes(value);
    if (unit === "share") return share(value);
    if (unit === "ratio") return `${decimal(value)} x`;
    return unit && unit !== "count" ? `${decimal(value)} ${unit}` : decimal(value);
}

/** "4.20 USD" */
export function money(value: Maybe<number>, currency = ""): string {
    if (value === null || value === undefined) return "-";
    const text = value !== 0 && Math.abs(value) < 0.01 ? value.toPrecision(2) : fixed(value, 2);
    return currency ? `${text} ${currency}` : text;
}

const two = (value: number) => String(value).padStart(2, "0");

/** "2026-11-21 17:18:04" in UTC */
export function time(ms: Maybe<number>): string {
    if (ms === null || ms === undefined) return "-";
    const date = new Date(ms);
    if (Number.isNaN(date.getTime())) return "-";
    return date.toISOString().slice(0, 19).replace("T", " ");
}

/** "17:18:04" in UTC */
export function clock(ms: Maybe<number>): string {
    return ms === null || ms === undefined ? "-" : time(ms).slice(11);
}

/** A moment since the start of a run: "0:42", "1:07:42"; with tenths, milliseconds or microseconds where the step
 * is that small. */
export function offset(ms: number, step = SECOND): string {
    const sign = ms < 0 ? "-" : "";
    const micros = step < 1 ? Math.round(Math.abs(ms) * 1000) : 0;
    const whole = step < 1 ? Math.floor(micros / 1000) : Math.abs(Math.round(ms));
    const hours = Math.floor(whole / HOUR);
    const minutes = Math.floor((whole % HOUR) / MINUTE);
    const seconds = Math.floor((whole % MINUTE) / SECOND);
    const rest = whole % SECOND;
    const fraction =
        step >= SECOND
            ? ""
            : `.${String(rest)
                  .padStart(3, "0")
                  .slice(
                      0,
                      step >= 100 ? 1 : step >= 10 ? 2 : 3,
                  )}${step < 1 ? String(micros % 1000).padStart(3, "0") : ""}`;
    const tail = `${hours ? two(minutes) : minutes}:${two(seconds)}${fraction}`;
    return sign + (hours ? `${hours}:${tail}` : tail);
}

/**
 * Percentages with one decimal that add up to exactly 100.0 (largest remainder); all zero where there is nothing to
 * share. A value that is unequal to zero may still be shown as 0.0.
 */
export function percentages(values: number[]): string[] {
    const total = values.reduce((sum, value) => sum + value, 0);
    if (total <= 0) return values.map(() => "0.0");
    const exact = values.map((value) => (value * 1000) / total);
    const parts = exact.map(Math.floor);
    let missing = 1000 - parts.reduce((sum, value) => sum + value, 0);
    const order = exact.map((_, i) => i).sort((a, b) => exact[b]! - parts[b]! - (exact[a]! - parts[a]!) || a - b);
    for (const i of order) {
        if (missing-- <= 0) break;
        parts[i]!++;
    }
    return parts.map((part) => (part / 10).toFixed(1));
}

/** "shuffle_fetch_wait" as "shuffle fetch wait", "gc" as "GC" */
export function words(name: string): string {
    return name.replaceAll("_", " ").replace(/\b(gc|cpu|sql|jvm|io)\b/g, (part) => part.toUpperCase());
}

/** Metrics whose name without its unit would be another's, or not what the Spark UI calls it. */
const METRICS: Record<string, string> = {
    run_ms: "run time",
    cpu_ms: "CPU time",
    gc_ms: "GC time",
    deserialize_ms: "deserialization time",
    shuffle_write_ms: "shuffle write time",
    fetch_wait_ms: "shuffle fetch wait time",
    result_ms: "result time",
    spared_task_ms: "saved task time",
};

/** A metric's name as a heading: "slowest_task_ms" as "slowest task" (the value shows its unit). */
export function metricName(name: string): string {
    return METRICS[name] ?? words(name.replace(/_(ms|bytes|share|ratio|count)$/, ""));
}

/** "collect at /home/ann/etl.py:12" as "collect at etl.py:12": the folders are the same everywhere, and push the rest out. */
export function callSite(text: Maybe<string>): string {
    return (text ?? "").replace(/( at )(?:[a-z0-9]+:\/)?\/(?:[^\s/]+\/)+(?=[^\s/]+:\d+$)/i, "$1");
}

/** "1 task", "2 tasks" */
export function plural(value: number, word: string, many = `${word}s`): string {
    return `${count(value)} ${value === 1 ? word : many}`;
}
