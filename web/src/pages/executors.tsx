/** Executors: how busy they were over time, and what each did. */
import { useCallback, useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { Heatmap } from "../charts/heatmap";
import { countsOverTime, Plot } from "../charts/plot";
import { appAddress, useDocument } from "../data/documents";
import { bytes, count, duration, fixed, offset, plural, share } from "../format";
import { Empty, Loaded, Section } from "../ui/parts";
import { type Column, Table } from "../ui/table";
import { colour } from "../ui/theme";
import type { AppPageProps } from "./pages";

type Null<T> = T | null;

interface Row {
    id: string;
    host: Null<string>;
    cores: Null<number>;
    added_ms: Null<number>;
    requested_ms: Null<number>;
    registered_ms: Null<number>;
    removed_ms: Null<number>;
    remove_reason: Null<string>;
    tasks: number;
    failed_tasks: number;
    busy_ms: number;
    gc_ms: number;
    heap_peak_bytes: Null<number>;
    heap_limit_bytes: Null<number>;
    storage_peak_bytes: Null<number>;
    input_bytes: number;
    shuffle_read_bytes: number;
    shuffle_write_bytes: number;
    disk_spill_bytes: number;
    busy_share: Null<number>[];
    gc_share: Null<number>[];
}

/** pyrometer.executors/1 */
interface Executors {
    start_ms: number;
    step_ms: number;
    steps: number;
    executors: Row[];
    total: { running_tasks: number[]; slots: number[] };
}

const MOST_ROWS = 200;

function Usage({ data }: { data: Executors }) {
    const times = useMemo(() => data.total.slots.map((_, i) => ((i + 0.5) * data.step_ms) / 1000), [data]);
    const series = useMemo(
        () => [times, data.total.slots, data.total.running_tasks] as uPlot.AlignedData,
        [times, data],
    );
    const options = useCallback(
        () =>
            countsOverTime(
                { stroke: colour("line-strong"), fill: colour("raised") },
                { stroke: colour("part-compute"), fill: `${colour("part-compute")}55` },
            ),
        [],
    );
    const describe = useCallback(
        (i: number) => [
            `at ${offset((times[i] ?? 0) * 1000)}`,
            `${fixed(data.total.running_tasks[i], 1)} of ${fixed(data.total.slots[i], 1)} slots busy`,
        ],
        [times, data],
    );
    const slots = data.total.slots.reduce((sum, value) => sum + value, 0);
    const running = data.total.running_tasks.reduce((sum, value) => sum + value, 0);
    return (
        <Section
            title="Slots over time"
            note={`${share(slots > 0 ? running / slots : null)} of the allocated slots had a task`}
        >
            <Plot
                label="Running tasks and slots over time"
                height={220}
                data={series}
                options={options}
                describe={describe}
            />
            <p class="legend">
                <span>
                    <span class="swatch" style={{ background: "var(--part-compute)" }} />
                    running tasks
                </span>
                <span>
                    <span class="swatch" style={{ background: "var(--line-strong)" }} />
                    slots of live executors
                </span>
            </p>
        </Section>
    );
}

function Heat({
    data,
    what,
    title,
    of,
}: {
    data: Executors;
    what: "busy_share" | "gc_share";
    title: string;
    of: string;
}) {
    const rows = useMemo(() => [...data.executors].sort((a, b) => b.busy_ms - a.busy_ms).slice(0, MOST_ROWS), [data]);
    const [values, most] = useMemo(() => {
        const all = new Float64Array(rows.length * data.steps).fill(Number.NaN);
        let largest = 0;
        rows.forEach((row, r) => {
            row[what].forEach((value, c) => {
                if (value === null || c >= data.steps) return;
                all[r * data.steps + c] = value;
                largest = Math.max(largest, value);
            });
        });
        return [all, largest] as const;
    }, [rows, data, what]);
    const names = useMemo(() => rows.map((row) => `${row.id} ${row.host ?? ""}`), [rows]);
    if (most <= 0) return null;
    return (
        <Section
            title={title}
            note={rows.length < data.executors.length ? `the ${count(rows.length)} with the most task time` : of}
        >
            <Heatmap
                label={`${title}, by executor and time; the table below has the sums`}
                rows={names}
                columns={data.steps}
                values={values}
                most={what === "busy_share" ? 1 : most}
                from={0}
                to={data.steps * data.step_ms}
                text={share}
            />
        </Section>
    );
}

/** How long it took from its request to its registration, where the log says so. */
function started(row: Row): string | undefined {
    if (row.requested_ms === null || row.registered_ms === null || row.registered_ms < row.requested_ms)
        return undefined;
    return `registered ${duration(row.registered_ms - row.requested_ms)} after its request`;
}

function columns(data: Executors): Column<Row>[] {
    const lifetime = (row: Row): number | null =>
        row.added_ms === null ? null : (row.removed_ms ?? data.start_ms + data.steps * data.step_ms) - row.added_ms;
    const used = (row: Row): number | null => {
        const life = lifetime(row);
        return life && row.cores ? row.busy_ms / (life * row.cores) : null;
    };
    const heap = (row: Row): number | null =>
        row.heap_peak_bytes !== null && row.heap_limit_bytes ? row.heap_peak_bytes / row.heap_limit_bytes : null;
    const size = (name: string, value: (row: Row) => number | null): Column<Row> => ({
        name,
        number: true,
        value,
        cell: (row) => (value(row) ? bytes(value(row)) : ""),
    });
    return [
        { name: "Executor", value: (row) => (/^\d+$/.test(row.id) ? Number(row.id) : row.id), cell: (row) => row.id },
        { name: "Host", value: (row) => row.host, cell: (row) => row.host ?? "-" },
        { name: "Cores", number: true, value: (row) => row.cores, cell: (row) => count(row.cores) },
        {
            name: "Added",
            number: true,
            value: (row) => row.added_ms,
            cell: (row) =>
                row.added_ms === null ? "-" : <span title={started(row)}>{offset(row.added_ms - data.start_ms)}</span>,
        },
        {
            name: "Removed",
            number: true,
            value: (row) => row.removed_ms,
            cell: (row) =>
                row.removed_ms === null ? (
                    ""
                ) : (
                    <span title={row.remove_reason ?? ""}>{offset(row.removed_ms - data.start_ms)}</span>
                ),
        },
        {
            name: "Tasks",
            number: true,
            value: (row) => row.tasks,
            cell: (row) =>
                row.failed_tasks ? `${count(row.tasks)} (${count(row.failed_tasks)} failed)` : count(row.tasks),
        },
        { name: "Task time", number: true, value: (row) => row.busy_ms, cell: (row) => duration(row.busy_ms) },
        {
            name: "Slot usage",
            number: true,
            value: used,
            cell: (row) => share(used(row)),
            title: "Share of the time of its slots with a task",
        },
        { name: "GC", number: true, value: (row) => row.gc_ms, cell: (row) => (row.gc_ms ? duration(row.gc_ms) : "") },
        {
            name: "Heap peak",
            number: true,
            value: (row) => row.heap_peak_bytes,
            cell: (row) =>
                row.heap_peak_bytes === null
                    ? "-"
                    : `${bytes(row.heap_peak_bytes)}${heap(row) !== null ? ` (${share(heap(row))})` : ""}`,
        },
        size("Cache peak", (row) => row.storage_peak_bytes),
        size("Input", (row) => row.input_bytes),
        size("Shuffle read", (row) => row.shuffle_read_bytes),
        size("Shuffle write", (row) => row.shuffle_write_bytes),
        size("Spill (disk)", (row) => row.disk_spill_bytes),
    ];
}

function View({ data }: { data: Executors }) {
    const shown = useMemo(() => columns(data), [data]);
    if (!data.executors.length) return <Empty title="No executors">The log has no ExecutorAdded event.</Empty>;
    return (
        <>
            <Usage data={data} />
            <Heat
                data={data}
                what="busy_share"
                title="Slot usage"
                of="share of the slots of each executor with a task"
            />
            <Heat data={data} what="gc_share" title="Garbage collection" of="share of task time" />
            <Section title="Executors" note={plural(data.executors.length, "executor")}>
                <Table
                    caption="Executors"
                    rows={data.executors}
                    columns={shown}
                    initial={{ column: 6, descending: true }}
                />
            </Section>
        </>
    );
}

export function Executors({ app, attempt }: AppPageProps) {
    const state = useDocument<Executors>(`${appAddress(app, attempt)}/executors`);
    return (
        <div class="page">
            <h1>Executors</h1>
            <Loaded state={state} what="executors">
                {(data) => <View data={data} />}
            </Loaded>
        </div>
    );
}
