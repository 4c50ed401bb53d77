/** What profilers and garbage collectors recorded: series of each process on one axis of time, methods, allocations. */
import { useCallback, useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { axis, Plot } from "../charts/plot";
import { BYTE_STEPS, SECOND_STEPS } from "../charts/steps";
import { appAddress, useDocument } from "../data/documents";
import { bytes, count, duration, offset, plural, share, significant } from "../format";
import {
    chartsOf,
    columnsOf,
    nameOf,
    type ProfileAllocation,
    type ProfileChart,
    type ProfileDocument,
    type ProfileMethod,
    type ProfileProcess,
} from "../logs/profile";
import { Empty, Loaded, Section } from "../ui/parts";
import { type Column, Table } from "../ui/table";
import { colour } from "../ui/theme";
import type { AppPageProps } from "./pages";

function textOf(unit: string): (value: number) => string {
    if (unit === "bytes") return bytes;
    if (unit === "share") return share;
    return (value) => `${significant(value)}${unit ? ` ${unit}` : ""}`;
}

function Chart({ chart, from, to }: { chart: ProfileChart; from: number; to: number }) {
    const columns = useMemo(() => columnsOf(chart, from) as uPlot.AlignedData, [chart, from]);
    const text = textOf(chart.unit);
    const options = useCallback(
        () => ({
            scales: {
                x: { time: false, range: [0, Math.max(1, (to - from) / 1000)] as [number, number] },
                y: {
                    range: (_: uPlot, __: number, most: number) => [0, most > 0 ? most * 1.08 : 1] as [number, number],
                },
            },
            axes: [
                axis((value) => offset(value * 1000), { incrs: SECOND_STEPS }),
                axis(text, { size: 74, ...(chart.unit === "bytes" ? { incrs: BYTE_STEPS } : {}) }),
            ],
            series: [
                {},
                ...chart.series.map((_, i) => ({
                    stroke: colour(`chart-${(i % 8) + 1}`),
                    width: 1.5,
                    spanGaps: true,
                    points: { show: false },
                })),
            ],
        }),
        [chart, from, to],
    );
    const describe = useCallback(
        (i: number) => [
            `at ${offset((columns[0][i] ?? 0) * 1000)}`,
            ...chart.series.flatMap((series, k) => {
                const value = columns[k + 1]?.[i];
                return value === null || value === undefined ? [] : [`${nameOf(series)}: ${text(value)}`];
            }),
        ],
        [chart, columns],
    );
    return (
        <>
            <Plot
                label={`${chart.process.name}: ${chart.series.map(nameOf).join(", ")} over time`}
                height={150}
                data={columns}
                options={options}
                describe={describe}
            />
            <p class="legend">
                {chart.series.map((series, i) => (
                    <span key={i}>
                        <span class="swatch" style={{ background: `var(--chart-${(i % 8) + 1})` }} />
                        {nameOf(series)}
                    </span>
                ))}
            </p>
        </>
    );
}

/** The largest value of each series: the table next to its charts. */
function Maxima({ charts }: { charts: ProfileChart[] }) {
    const rows = charts.flatMap((chart) => chart.series.map((series) => ({ series, text: textOf(chart.unit) })));
    const most = (values: (number | null)[]) =>
        values.reduce<number | null>((a, b) => (b !== null && (a === null || b > a) ? b : a), null);
    return (
        <details>
            <summary>Highest values</summary>
            <Table
                caption="Highest values of the series"
                rows={rows}
                columns={[
                    { name: "Series", value: ({ series }) => nameOf(series), cell: ({ series }) => nameOf(series) },
                    {
                        name: "Highest",
                        number: true,
                        value: ({ series }) => most(series.value),
                        cell: ({ series, text }) => text(most(series.value) ?? 0),
                    },
                    {
                        name: "Points",
                        number: true,
                        value: ({ series }) => series.value.length,
                        cell: ({ series }) => count(series.value.length),
                    },
                ]}
            />
        </details>
    );
}

function factsOf(process: ProfileProcess): string {
    return [
        process.host,
        process.samples > 0 && plural(process.samples, "sample"),
        process.gc_pauses > 0 &&
            `${plural(process.gc_pauses, "GC pause")} of ${duration(process.gc_pause_ms)}, the longest ${duration(process.gc_longest_pause_ms)}`,
    ]
        .filter(Boolean)
        .join(", ");
}

const EVENT_TITLES: Record<string, string> = {
    cpu: "Methods by CPU samples",
    wall: "Methods by wall-clock samples",
    alloc: "Methods by allocated bytes",
    lock: "Methods by time of waiting for locks",
};

function amount(row: ProfileMethod, value: number): string {
    return row.unit === "bytes" ? bytes(value) : row.unit === "ns" ? duration(value / 1e6) : count(value);
}

const METHOD_COLUMNS: Column<ProfileMethod>[] = [
    { name: "Own share", number: true, value: (row) => row.self_share, cell: (row) => share(row.self_share) },
    { name: "Own", number: true, value: (row) => row.self, cell: (row) => amount(row, row.self) },
    { name: "With callees", number: true, value: (row) => row.total, cell: (row) => share(row.total_share) },
    {
        name: "Method",
        class: "breaks",
        value: (row) => row.function,
        cell: (row) => (
            <>
                <code>{row.function}</code>
                {row.file && <small class="sub">{row.file}</small>}
            </>
        ),
    },
];

function Methods({ rows }: { rows: ProfileMethod[] }) {
    const events = [...new Set(rows.map((row) => row.event))];
    return (
        <>
            {events.map((event) => (
                <Section key={event} title={EVENT_TITLES[event] ?? `Methods by ${event}`}>
                    <Table
                        caption={EVENT_TITLES[event] ?? event}
                        rows={rows.filter((row) => row.event === event)}
                        columns={METHOD_COLUMNS}
                        limit={15}
                    />
                </Section>
            ))}
        </>
    );
}

const ALLOCATION_COLUMNS: Column<ProfileAllocation>[] = [
    { name: "Share", number: true, value: (row) => row.share, cell: (row) => share(row.share) },
    { name: "Bytes", number: true, value: (row) => row.bytes, cell: (row) => bytes(row.bytes) },
    { name: "Class", class: "breaks", value: (row) => row.class, cell: (row) => <code>{row.class}</code> },
    {
        name: "Allocated by",
        class: "breaks",
        value: (row) => row.function,
        cell: (row) => <code>{row.function ?? "-"}</code>,
    },
];

function View({ data }: { data: ProfileDocument }) {
    const charts = useMemo(() => chartsOf(data), [data]);
    const from = data.start_ms ?? 0;
    const to = data.end_ms ?? from;
    const shown = data.processes.filter(
        (process) => process.gc_pauses > 0 || process.samples > 0 || charts.some((chart) => chart.process === process),
    );
    if (!shown.length) return <Empty title="Nothing was recorded">The files have no samples, pauses or series.</Empty>;
    return (
        <>
            {shown.map((process) => {
                const own = charts.filter((chart) => chart.process === process);
                return (
                    <Section key={process.id} title={process.name} note={factsOf(process)}>
                        {own.map((chart) => (
                            <Chart key={chart.unit} chart={chart} from={from} to={to} />
                        ))}
                        {own.length > 0 && <Maxima charts={own} />}
                    </Section>
                );
            })}
            <Methods rows={data.top_methods} />
            {data.top_allocations.length > 0 && (
                <Section title="Allocations">
                    <Table
                        caption="Allocations by class and method"
                        rows={data.top_allocations}
                        columns={ALLOCATION_COLUMNS}
                        limit={15}
                    />
                </Section>
            )}
        </>
    );
}

export function Profile({ app, attempt }: AppPageProps) {
    const state = useDocument<ProfileDocument>(`${appAddress(app, attempt)}/profile`);
    return (
        <div class="page">
            <h1>Profile</h1>
            <Loaded state={state} what="profile">
                {(data) => <View data={data} />}
            </Loaded>
        </div>
    );
}
