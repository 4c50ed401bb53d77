/** One stage attempt: its tasks against each other, executors over time, and why the slow ones were slow. */
import { useCallback, useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import { Heatmap } from "../charts/heatmap";
import { axis, Plot } from "../charts/plot";
import { BYTE_STEPS, COUNT_STEPS, TIME_STEPS } from "../charts/steps";
import { appAddress, available, embeddedBelow, fromDisk, useDocument } from "../data/documents";
import type { Finding, Report, StageDocument } from "../data/types";
import { bytes, count, duration, fixed, metricName, offset, plural, share, times, words } from "../format";
import { go, link } from "../router";
import { byExecutor, column, type HeatKind, heat, histogram, metricText, points } from "../stage/numbers";
import { StageOffCpu } from "../trace/parts";
import { Empty, Figure, Figures, Loaded, Section, SeverityBadge, Status } from "../ui/parts";
import { Table } from "../ui/table";
import { colour } from "../ui/theme";
import { FindingCard, type Place } from "./finding";
import type { AppPageProps } from "./pages";
import { byTaskTime, stageColumns } from "./stage_columns";

const CAUSES: Record<string, string> = {
    data: "more data",
    gc: "garbage collection",
    fetch_wait: "waited for shuffle blocks",
    host: "slow host",
    locality: "far from its data",
    scheduler_delay: "waited to be scheduled",
    deserialize: "task deserialization",
    shuffle_write: "writing shuffle files",
    result: "serialized and sent its result",
    spill: "spilled to disk",
    computing: "more work for the same data",
    retry: "retry after a failure",
    cpu_starved: "too little CPU time",
    waiting: "waited for something outside Spark",
    processor: "others had its processor",
    throttled: "held back by its quota",
    disk: "waited for a disk",
    network: "waited for the network",
    lock: "waited for other threads",
    page_faults: "waited for pages from disk",
    unknown: "unknown",
};

/** Metrics that are not the same for all tasks: the others say nothing. */
function metricsOf(stage: StageDocument): string[] {
    return Object.keys(stage.quantiles).filter((name) => (stage.quantiles[name]!.max ?? 0) > 0);
}

function taskLines(stage: StageDocument, i: number, ...metrics: string[]): string[] {
    const executor = column(stage, "executor")[i];
    const outlier = stage.outliers.find((one) => one.task === column(stage, "task")[i]);
    return [
        `Task ${column(stage, "index")[i]}${column(stage, "attempt")[i] ? `.${column(stage, "attempt")[i]}` : ""}, executor ${stage.executors[executor ?? -1] ?? "?"}`,
        ...[...new Set(metrics)].map(
            (name) =>
                `${metricName(name)} ${name === "launch_ms" ? offset(column(stage, name)[i] ?? 0, 100) : metricText(name, column(stage, name)[i])}`,
        ),
        ...(outlier ? [CAUSES[outlier.cause] ?? outlier.cause] : []),
    ];
}

function Choice({
    label,
    value,
    values,
    onChange,
}: {
    label: string;
    value: string;
    values: string[];
    onChange: (value: string) => void;
}) {
    return (
        <label>
            {label}{" "}
            <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
                {values.map((name) => (
                    <option key={name} value={name}>
                        {name === "launch_ms" ? "start" : metricName(name)}
                    </option>
                ))}
            </select>
        </label>
    );
}

/** What tasks probably depend on: their data where they have different amounts, else when they started. */
function usualX(stage: StageDocument): string {
    const spread = (name: string) => {
        const row = stage.quantiles[name];
        return row?.max && row.median !== null ? row.max - (row.min ?? 0) : 0;
    };
    const inputs = ["shuffle_read_bytes", "input_bytes"].filter((name) => spread(name) > 0);
    return (
        inputs.sort((a, b) => (stage.quantiles[b]!.median ?? 0) - (stage.quantiles[a]!.median ?? 0))[0] ?? "launch_ms"
    );
}

/** Round marks in the metric's own unit. */
function steps(metric: string): Partial<uPlot.Axis> {
    if (metric.endsWith("_bytes")) return { incrs: BYTE_STEPS };
    return { incrs: metric.endsWith("_ms") ? TIME_STEPS : COUNT_STEPS };
}

function Scatter({ stage }: { stage: StageDocument }) {
    const metrics = useMemo(() => metricsOf(stage), [stage]);
    const [x, setX] = useState(() => usualX(stage));
    const [y, setY] = useState("duration_ms");
    const [log, setLog] = useState(false);
    const made = useMemo(() => points(stage, x, y, log ? 1 : -Infinity), [stage, x, y, log]);
    const data = useMemo(() => [made.x, ...made.y] as uPlot.AlignedData, [made]);
    const options = useCallback(() => {
        const dots = (name: string, size: number): uPlot.Series => ({
            stroke: "transparent",
            paths: () => null,
            points: { show: true, size, width: 0, fill: colour(name), stroke: colour(name) },
        });
        return {
            scales: {
                x: { time: false },
                y: log
                    ? { distr: 3 as const }
                    : { range: (_: uPlot, __: number, most: number): [number, number] => [0, (most || 1) * 1.06] },
            },
            axes: [
                axis((value) => (x === "launch_ms" ? offset(value) : metricText(x, value)), steps(x)),
                axis((value) => metricText(y, value), { size: 68, ...steps(y) }),
            ],
            series: [{}, dots("chart-1", 4), dots("chart-2", 7), dots("bad", 7)],
        };
    }, [x, y, log]);
    const describe = useCallback((i: number) => taskLines(stage, made.rows[i]!, y, x), [stage, made, x, y]);
    return (
        <Section
            title="Tasks"
            note="one point per task"
            actions={
                <span class="choices">
                    <Choice
                        label="X axis"
                        value={x}
                        values={["launch_ms", ...metrics.filter((name) => name !== y)]}
                        onChange={setX}
                    />
                    <Choice label="Y axis" value={y} values={metrics} onChange={setY} />
                    <button type="button" aria-pressed={log} onClick={() => setLog(!log)}>
                        Log scale
                    </button>
                </span>
            }
        >
            <Plot
                label={`${metricName(y)} of ${plural(stage.tasks, "task")} by ${x === "launch_ms" ? "start" : metricName(x)}; the tables below show quantiles and the slowest tasks`}
                height={300}
                data={data}
                options={options}
                describe={describe}
            />
            <p class="legend">
                <span>
                    <span class="swatch" style={{ background: "var(--chart-1)" }} />
                    task
                </span>
                <span>
                    <span class="swatch" style={{ background: "var(--chart-2)" }} />
                    much slower than the median
                </span>
                <span>
                    <span class="swatch" style={{ background: "var(--bad)" }} />
                    failed or killed
                </span>
            </p>
        </Section>
    );
}

function Distribution({ stage }: { stage: StageDocument }) {
    const metrics = useMemo(() => metricsOf(stage), [stage]);
    const [metric, setMetric] = useState("duration_ms");
    const made = useMemo(() => histogram(column(stage, metric)), [stage, metric]);
    const data = useMemo(
        () =>
            [
                made.counts.map((_, i) => made.from + (i + 0.5) * made.width),
                made.counts.map((value) => value || null),
            ] as uPlot.AlignedData,
        [made],
    );
    const options = useCallback(
        () => ({
            scales: {
                x: {
                    time: false,
                    range: [made.from, made.from + made.width * Math.max(1, made.counts.length)] as [number, number],
                },
                y: { range: (_: uPlot, __: number, most: number): [number, number] => [0, (most || 1) * 1.06] },
            },
            axes: [
                axis((value) => metricText(metric, value), steps(metric)),
                axis(count, { size: 48, incrs: COUNT_STEPS }),
            ],
            series: [
                {},
                {
                    fill: colour("chart-1"),
                    stroke: colour("chart-1"),
                    width: 0,
                    paths: uPlot.paths.bars!({ size: [0.92, 80] }),
                    points: { show: false },
                },
            ],
        }),
        [made, metric],
    );
    const range = (i: number) =>
        `${metricText(metric, made.from + i * made.width)} to ${metricText(metric, made.from + (i + 1) * made.width)}`;
    return (
        <Section
            title="Distribution"
            actions={<Choice label="Metric" value={metric} values={metrics} onChange={setMetric} />}
        >
            <Plot label={`Number of tasks by ${metricName(metric)}`} height={240} data={data} options={options} />
            <details>
                <summary>Show as a table</summary>
                <Table
                    caption={`Tasks by ${metricName(metric)}`}
                    rows={made.counts.map((value, i) => ({ range: range(i), value }))}
                    columns={[
                        { name: metricName(metric), cell: (row) => row.range },
                        { name: "Tasks", number: true, cell: (row) => count(row.value) },
                    ]}
                />
            </details>
        </Section>
    );
}

const HEATS: Record<HeatKind, { name: string; text: (value: number) => string }> = {
    duration: { name: "task duration", text: (value) => duration(value) },
    running: { name: "running tasks", text: (value) => `${fixed(value, 1)} tasks` },
    gc: { name: "garbage collection", text: (value) => share(value) },
};

function ExecutorHeat({ stage }: { stage: StageDocument }) {
    const [kind, setKind] = useState<HeatKind>("duration");
    const made = useMemo(() => heat(stage, kind), [stage, kind]);
    const names = useMemo(() => made.rows.map((id) => `Executor ${stage.executors[id] ?? "?"}`), [made, stage]);
    const rows = useMemo(() => byExecutor(stage), [stage]);
    return (
        <Section
            title="Executors over time"
            actions={
                <label>
                    Color by{" "}
                    <select value={kind} onChange={(event) => setKind(event.currentTarget.value as HeatKind)}>
                        {Object.entries(HEATS).map(([value, { name }]) => (
                            <option key={value} value={value}>
                                {name}
                            </option>
                        ))}
                    </select>
                </label>
            }
        >
            <Heatmap
                label={`${HEATS[kind].name} of each executor over time; the table below has the sums`}
                rows={names}
                columns={made.columns}
                values={made.values}
                most={made.most}
                from={made.from}
                to={made.to}
                text={HEATS[kind].text}
            />
            <details open={rows.length <= 8}>
                <summary>Show as a table</summary>
                <Table
                    caption="Executors of this stage"
                    rows={rows}
                    limit={20}
                    initial={{ column: 2, descending: true }}
                    columns={[
                        {
                            name: "Executor",
                            value: (row) => row.executor,
                            cell: (row) => stage.executors[row.executor] ?? "?",
                        },
                        { name: "Tasks", number: true, value: (row) => row.tasks, cell: (row) => count(row.tasks) },
                        {
                            name: "Task time",
                            number: true,
                            value: (row) => row.time,
                            cell: (row) => duration(row.time),
                        },
                        {
                            name: "Median task",
                            number: true,
                            value: (row) => row.median,
                            cell: (row) => duration(row.median),
                        },
                        { name: "Max task", number: true, value: (row) => row.max, cell: (row) => duration(row.max) },
                        { name: "GC", number: true, value: (row) => row.gcShare, cell: (row) => share(row.gcShare) },
                        {
                            name: "Failed",
                            number: true,
                            value: (row) => row.failed,
                            cell: (row) => (row.failed ? count(row.failed) : ""),
                        },
                    ]}
                />
            </details>
        </Section>
    );
}

const QUANTILES = ["min", "p25", "median", "p75", "p95", "max"] as const;
const HEADS = { min: "Min", p25: "p25", median: "Median", p75: "p75", p95: "p95", max: "Max" };

function Quantiles({ stage }: { stage: StageDocument }) {
    const rows = metricsOf(stage).map((name) => ({ name, values: stage.quantiles[name]! }));
    return (
        <Section title="Quantiles" note="of the tasks that succeeded; metrics that are always zero are left out">
            {rows.length ? (
                <Table
                    caption="Quantiles of the tasks' metrics"
                    rows={rows}
                    columns={[
                        { name: "Metric", cell: (row) => metricName(row.name) },
                        ...QUANTILES.map((quantile) => ({
                            name: HEADS[quantile],
                            number: true,
                            cell: (row: (typeof rows)[number]) => metricText(row.name, row.values[quantile]),
                        })),
                    ]}
                />
            ) : (
                <Empty title="No task has metrics" />
            )}
        </Section>
    );
}

function Outliers({ stage }: { stage: StageDocument }) {
    const causes = new Map<string, number>();
    for (const outlier of stage.outliers) causes.set(outlier.cause, (causes.get(outlier.cause) ?? 0) + 1);
    const summary = [...causes]
        .sort((a, b) => b[1] - a[1])
        .map(([cause, number]) => `${plural(number, "task")}: ${CAUSES[cause] ?? words(cause)}`)
        .join(" · ");
    return (
        <Section title="Causes of slow tasks" note={summary || undefined}>
            {stage.outliers.length ? (
                <Table
                    caption="Slow tasks and their causes"
                    rows={stage.outliers}
                    limit={25}
                    initial={{ column: 1, descending: true }}
                    columns={[
                        { name: "Task", number: true, value: (row) => row.index, cell: (row) => row.index },
                        {
                            name: "Duration",
                            number: true,
                            value: (row) => row.duration_ms,
                            cell: (row) => duration(row.duration_ms),
                        },
                        {
                            name: "Times the median",
                            number: true,
                            value: (row) => row.times_median,
                            cell: (row) => times(row.times_median),
                        },
                        {
                            name: "Cause",
                            value: (row) => row.cause,
                            cell: (row) => <b class="cause-name">{CAUSES[row.cause] ?? words(row.cause)}</b>,
                        },
                        { name: "Details", class: "meaning", cell: (row) => row.text },
                    ]}
                />
            ) : (
                <Empty title="No task was much slower than the median" />
            )}
        </Section>
    );
}

/** Whether a finding is about this stage attempt, alone or with others. */
function isAbout({ where, stages }: Finding, { id, attempt }: StageDocument): boolean {
    if (stages?.id.some((one, i) => one === id && stages.attempt[i] === attempt)) return true;
    return where.stage === id && (where.attempt === null || where.attempt === attempt);
}

function StageFindings({ report, stage, place }: { report: Report; stage: StageDocument; place: Place }) {
    const findings = report.findings.filter((finding) => isAbout(finding, stage));
    if (!findings.length) return null;
    return (
        <Section title="Findings">
            {findings.map((finding) => (
                <details key={finding.id} class="finding-line">
                    <summary>
                        <SeverityBadge severity={finding.severity} /> <b>{finding.title}</b>{" "}
                        {(finding.costs?.wall_ms ?? 0) > 0 && (
                            <span>costs {duration(finding.costs?.wall_ms ?? 0)}</span>
                        )}{" "}
                        <span class="note">{finding.cause}</span>
                    </summary>
                    <FindingCard finding={finding} report={report} place={place} />
                </details>
            ))}
        </Section>
    );
}

function Head({ stage, report, place }: { stage: StageDocument; report: Report | null; place: Place }) {
    const row = report?.stages.find((one) => one.id === stage.id && one.attempt === stage.attempt);
    const base = appAddress(place.app, place.attempt);
    const sum = (name: string) => column(stage, name).reduce<number>((total, value) => total + (value ?? 0), 0);
    const took = row?.completed_ms && row.submitted_ms ? row.completed_ms - row.submitted_ms : null;
    const slots = stage.quantiles.duration_ms;
    return (
        <>
            <div class="page-head">
                <h1>
                    Stage {stage.id}
                    {stage.attempt ? `.${stage.attempt}` : ""} <Status status={stage.status} />
                </h1>
                <p class="where">
                    <code class="call-site">{stage.call_site ?? stage.name ?? ""}</code>
                    {row?.job !== null && row?.job !== undefined && <span>Job {row.job}</span>}
                    {row?.sql !== null && row?.sql !== undefined && (
                        <span>
                            {available(`${base}/sql/${row.sql}`) ? (
                                <a href={link(["app", place.app, place.attempt, "sql", row.sql])}>SQL {row.sql}</a>
                            ) : (
                                `SQL ${row.sql}`
                            )}
                        </span>
                    )}
                    {stage.parents.length > 0 && (
                        <span>
                            after{" "}
                            {stage.parents.map((id, i) => (
                                <span key={id}>
                                    {i > 0 && ", "}
                                    {available(`${base}/stages/${id}/0`) ? (
                                        <a href={link(["app", place.app, place.attempt, "stage", id, 0])}>stage {id}</a>
                                    ) : (
                                        `stage ${id}`
                                    )}
                                </span>
                            ))}
                        </span>
                    )}
                    <a href={link(["app", place.app, place.attempt, "timeline"], { stage: stage.id })}>
                        show on the timeline
                    </a>
                </p>
            </div>
            {row?.failure && <pre class="failure wrap">{row.failure}</pre>}
            <Figures>
                <Figure name="Duration" value={duration(took)} />
                <Figure
                    name="Tasks"
                    value={count(stage.tasks)}
                    hint={row?.failed_tasks ? `${count(row.failed_tasks)} failed` : undefined}
                />
                <Figure name="Task time" value={duration(row?.task_ms ?? sum("duration_ms"))} />
                <Figure name="Median task" value={duration(slots?.median)} />
                <Figure
                    name="Max task"
                    value={duration(slots?.max)}
                    hint={slots?.median && slots.max ? `${times(slots.max / slots.median)} the median` : undefined}
                />
                <Figure name="Input" value={bytes(row?.input_bytes ?? sum("input_bytes"))} />
                <Figure name="Shuffle read" value={bytes(row?.shuffle_read_bytes ?? sum("shuffle_read_bytes"))} />
                <Figure name="Shuffle write" value={bytes(row?.shuffle_write_bytes ?? sum("shuffle_write_bytes"))} />
                <Figure name="Spill (disk)" value={bytes(row?.disk_spill_bytes ?? sum("disk_spill_bytes"))} />
                <Figure
                    name="Executors"
                    value={count(stage.executors.length)}
                    hint={plural(stage.hosts.length, "host")}
                />
            </Figures>
        </>
    );
}

function View({ stage, report, place }: { stage: StageDocument; report: Report | null; place: Place }) {
    const drawn = column(stage, "task").length;
    return (
        <>
            <Head stage={stage} report={report} place={place} />
            {report && <StageFindings report={report} stage={stage} place={place} />}
            {drawn < stage.tasks && drawn > 0 && (
                <p class="warning">
                    This page shows the longest {count(drawn)} of {plural(stage.tasks, "task")}.
                </p>
            )}
            {drawn > 0 ? (
                <>
                    <Outliers stage={stage} />
                    <StageOffCpu stage={stage} all={link(["app", place.app, place.attempt, "offcpu"])} />
                    <div class="columns">
                        <Scatter stage={stage} />
                        <Distribution stage={stage} />
                    </div>
                    <ExecutorHeat stage={stage} />
                    <Quantiles stage={stage} />
                </>
            ) : (
                <Empty title="No task of this stage ended">The log ends earlier, or the stage was cancelled.</Empty>
            )}
        </>
    );
}

/** The stages themselves, where the address names none. */
function StageList({ report, place }: { report: Report; place: Place }) {
    const base = appAddress(place.app, place.attempt);
    const embedded = embeddedBelow(`${base}/stages/`).length;
    const columns = useMemo(() => stageColumns(place, report.stages), [place.app, place.attempt, report.stages]);
    return (
        <Section
            title="Stages"
            note={
                fromDisk && embedded < report.stages.length
                    ? `this report has the details of ${count(embedded)} of ${count(report.stages.length)}: those with findings and the longest`
                    : plural(report.stages.length, "stage attempt")
            }
        >
            {report.stages.length ? (
                <Table caption="Stages" rows={report.stages} initial={byTaskTime(columns)} columns={columns} />
            ) : (
                <Empty title="No stage ran" />
            )}
        </Section>
    );
}

export function Stage({ app, attempt, rest }: AppPageProps) {
    const base = appAddress(app, attempt);
    const [id, stageAttempt = "0"] = rest;
    const report = useDocument<Report>(`${base}/report`);
    const stage = useDocument<StageDocument>(
        id === undefined ? null : `${base}/stages/${encodeURIComponent(id)}/${encodeURIComponent(stageAttempt)}`,
    );
    const place = { app, attempt };
    const step = (by: number) => {
        if (report.status !== "ready") return;
        const rows = report.data.stages.filter((row) => available(`${base}/stages/${row.id}/${row.attempt}`));
        const at = rows.findIndex((row) => String(row.id) === id && String(row.attempt) === stageAttempt);
        const next = rows[at + by];
        if (at >= 0 && next) go(link(["app", app, attempt, "stage", next.id, next.attempt]));
    };
    if (id === undefined)
        return (
            <div class="page">
                <h1>Stages</h1>
                <Loaded state={report} what="report">
                    {(data) => <StageList report={data} place={place} />}
                </Loaded>
            </div>
        );
    return (
        <div class="page">
            <p class="steps">
                <a href={link(["app", app, attempt, "stage"])}>All stages</a>
                <button type="button" class="quiet" onClick={() => step(-1)}>
                    Previous
                </button>
                <button type="button" class="quiet" onClick={() => step(1)}>
                    Next
                </button>
            </p>
            <Loaded state={stage} what={`stage ${id}`}>
                {(data) => (
                    <View
                        key={`${id}/${stageAttempt}`}
                        stage={data}
                        report={report.status === "ready" ? report.data : null}
                        place={place}
                    />
                )}
            </Loaded>
        </div>
    );
}
