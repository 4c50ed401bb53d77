/** What tasks did while they did not compute, as traces of the kernel saw it. */
import { appAddress, available, useDocument } from "../data/documents";
import type { Report } from "../data/types";
import { bytes, count, duration, plural, share } from "../format";
import { link } from "../router";
import { StageTime, StateBar, StateLegend } from "../trace/parts";
import {
    clockText,
    mostOf,
    nanoseconds,
    problemsOf,
    queuedOf,
    runningOf,
    type TraceCall,
    type TraceDocument,
    type TraceProcess,
} from "../trace/states";
import { Empty, Figure, Figures, Loaded, Section, SeverityBadge } from "../ui/parts";
import { type Column, Table } from "../ui/table";
import type { Place } from "./finding";
import type { AppPageProps } from "./pages";

/** Stages in full; the others have their own pages. */
const MOST_STAGES = 6;

type TracedStage = TraceDocument["stages"][number];

function labelOf({ stage, attempt }: TracedStage): string {
    return `Stage ${stage}${attempt ? `.${attempt}` : ""}`;
}

function Totals({ trace, report }: { trace: TraceDocument; report: Report }) {
    const hosts = new Set(trace.traces.filter(({ kind }) => kind === "ctf").map(({ host }) => host));
    const all = report.totals.tasks ?? 0;
    return (
        <Figures>
            <Figure
                name="Traced"
                value={nanoseconds(trace.duration_ns)}
                hint={report.application.duration_ms ? `run: ${duration(report.application.duration_ms)}` : undefined}
            />
            <Figure name="Events" value={count(trace.events)} hint={`of ${plural(hosts.size, "host")}`} />
            <Figure
                name="Tasks traced"
                value={count(trace.tasks.traced)}
                hint={all > trace.tasks.traced ? `of ${count(all)}` : undefined}
            />
            <Figure name="Lost events" value={count(trace.lost_events)} />
        </Figures>
    );
}

function Problems({ trace }: { trace: TraceDocument }) {
    const texts = problemsOf(trace);
    return (
        <>
            {texts.map((text) => (
                <p key={text} class="warning">
                    {text}
                </p>
            ))}
        </>
    );
}

function Findings({ trace, report, place }: { trace: TraceDocument; report: Report; place: Place }) {
    const ids = new Set(trace.findings.map(({ id }) => id));
    const findings = report.findings.filter(({ id }) => ids.has(id));
    if (!trace.tasks.traced) return null;
    return (
        <Section title="Findings" note="of the rules that read traces">
            {findings.length ? (
                <ul class="trace-findings">
                    {findings.map((finding) => (
                        <li key={finding.id}>
                            <SeverityBadge severity={finding.severity} />{" "}
                            <a href={link(["app", place.app, place.attempt, "overview"], { finding: finding.id })}>
                                {finding.title}
                            </a>{" "}
                            <span class="note">{finding.cause}</span>
                        </li>
                    ))}
                </ul>
            ) : (
                <Empty title="No finding" />
            )}
        </Section>
    );
}

function StageLink({ stage, place }: { stage: TracedStage; place: Place }) {
    const address = `${appAddress(place.app, place.attempt)}/stages/${stage.stage}/${stage.attempt}`;
    if (!available(address)) return <>{labelOf(stage)}</>;
    return <a href={link(["app", place.app, place.attempt, "stage", stage.stage, stage.attempt])}>{labelOf(stage)}</a>;
}

/** All stages on one scale. */
function Stages({ stages, place }: { stages: TracedStage[]; place: Place }) {
    const most = stages.reduce((largest, stage) => Math.max(largest, stage.traced_ns), 0);
    const columns: Column<TracedStage>[] = [
        {
            name: "Stage",
            class: "nowrap",
            value: (row) => row.stage,
            cell: (row) => <StageLink stage={row} place={place} />,
        },
        { name: "Tasks", number: true, minor: true, value: (row) => row.tasks, cell: (row) => count(row.tasks) },
        {
            name: "Task time",
            number: true,
            title: "Of the tasks that were traced",
            value: (row) => row.traced_ns,
            cell: (row) => nanoseconds(row.traced_ns),
        },
        {
            name: "By state",
            class: "state-place",
            cell: (row) => (
                <div style={{ width: `${most > 0 ? (100 * row.traced_ns) / most : 0}%` }}>
                    <StateBar times={row.roots_ns} />
                </div>
            ),
        },
        {
            name: "Most",
            class: "nowrap",
            value: (row) => mostOf(row.roots_ns)?.name,
            cell: (row) => {
                const found = mostOf(row.roots_ns);
                return found ? `${found.name} ${share(found.share)}` : "";
            },
        },
    ];
    return (
        <Section title="Time of tasks by what it came down to" note={plural(stages.length, "stage")}>
            <StateLegend names={stages.flatMap((stage) => Object.keys(stage.roots_ns))} />
            <Table
                caption="Stages by what the time of their tasks came down to"
                rows={stages}
                columns={columns}
                initial={{ column: 2, descending: true }}
                limit={20}
            />
        </Section>
    );
}

function processColumns(all: number): Column<TraceProcess>[] {
    return [
        {
            name: "Process",
            class: "breaks",
            value: (row) => row.name,
            cell: (row) => (
                <>
                    {row.name ?? "?"}
                    {row.executor !== null && (
                        <small class="sub">{row.executor === "driver" ? "driver" : `executor ${row.executor}`}</small>
                    )}
                </>
            ),
        },
        { name: "PID", number: true, value: (row) => row.pid, cell: (row) => row.pid ?? "" },
        { name: "Running", number: true, value: runningOf, cell: (row) => nanoseconds(runningOf(row)) },
        {
            name: "Share",
            number: true,
            title: "Of the running time of all processes in this table",
            value: runningOf,
            cell: (row) => share(all > 0 ? runningOf(row) / all : null),
        },
        {
            name: "Runnable",
            number: true,
            title: "Could have run, but had no processor",
            value: queuedOf,
            cell: (row) => nanoseconds(queuedOf(row)),
        },
        {
            name: "Disk",
            number: true,
            minor: true,
            value: (row) => row.states_ns.disk ?? 0,
            cell: (row) => nanoseconds(row.states_ns.disk ?? 0),
        },
        { name: "Threads", number: true, minor: true, value: (row) => row.threads, cell: (row) => count(row.threads) },
        { name: "Host", minor: true, value: (row) => row.host, cell: (row) => row.host ?? "" },
    ];
}

function Processes({ rows }: { rows: TraceProcess[] }) {
    if (!rows.length) return null;
    const all = rows.reduce((sum, row) => sum + runningOf(row), 0);
    return (
        <Section title="Who took the processors" note="processes of the traced hosts, the busiest first">
            <Table
                caption="Processes by the time that their threads ran"
                rows={rows}
                columns={processColumns(all)}
                initial={{ column: 2, descending: true }}
                limit={10}
            />
        </Section>
    );
}

const CALL_COLUMNS: Column<TraceCall>[] = [
    { name: "Call", value: (row) => row.name, cell: (row) => <code>{row.name}</code> },
    { name: "Count", number: true, value: (row) => row.count, cell: (row) => count(row.count) },
    {
        name: "Time",
        number: true,
        title: "In all threads, with the waits in it",
        value: (row) => row.duration_ns,
        cell: (row) => nanoseconds(row.duration_ns),
    },
    {
        name: "Per call",
        number: true,
        value: (row) => (row.count ? row.duration_ns / row.count : null),
        cell: (row) => nanoseconds(row.count ? row.duration_ns / row.count : null),
    },
    { name: "Errors", number: true, minor: true, value: (row) => row.errors, cell: (row) => count(row.errors) },
    {
        name: "Bytes",
        number: true,
        value: (row) => row.bytes,
        cell: (row) => (row.bytes === null ? "" : bytes(row.bytes)),
    },
];

function Calls({ rows }: { rows: TraceCall[] }) {
    if (!rows.length) return null;
    return (
        <Section title="System calls" note="of all threads of the traced hosts, waits included">
            <Table
                caption="System calls by time"
                rows={rows}
                columns={CALL_COLUMNS}
                initial={{ column: 2, descending: true }}
                limit={10}
            />
        </Section>
    );
}

const FILE_COLUMNS: Column<TraceDocument["traces"][number]>[] = [
    { name: "File", class: "breaks", value: (row) => row.path, cell: (row) => <code>{row.path}</code> },
    {
        name: "Kind",
        value: (row) => row.kind,
        cell: (row) => (row.kind === "ctf" ? "kernel" : "threads of tasks"),
    },
    { name: "Host", value: (row) => row.host, cell: (row) => row.host ?? "" },
    { name: "Records", number: true, value: (row) => row.events, cell: (row) => count(row.events) },
    { name: "Bytes", number: true, value: (row) => row.bytes, cell: (row) => bytes(row.bytes) },
];

function Files({ trace }: { trace: TraceDocument }) {
    const unused = trace.event_classes.filter(({ known }) => !known);
    const names = unused.map(({ name, count: number }) => `${name} (${count(number)})`).join(", ");
    return (
        <Section title="Traces" note={plural(trace.traces.length, "file")}>
            <Table caption="Files of the traces" rows={trace.traces} columns={FILE_COLUMNS} limit={20} />
            {clockText(trace) && <p class="soft">{clockText(trace)}</p>}
            {unused.length > 0 && <p class="soft">Events that are only counted: {names}.</p>}
        </Section>
    );
}

function View({ trace, report, place }: { trace: TraceDocument; report: Report; place: Place }) {
    const stages = [...trace.stages].sort((a, b) => b.traced_ns - a.traced_ns);
    if (!trace.traces.length)
        return (
            <Empty title="No trace of the kernel">
                Record the next run with: pyrometer trace record -- spark-submit ...
            </Empty>
        );
    return (
        <>
            <Totals trace={trace} report={report} />
            <Problems trace={trace} />
            <Findings trace={trace} report={report} place={place} />
            {stages.length > 0 && <Stages stages={stages} place={place} />}
            {stages.slice(0, MOST_STAGES).map((stage) => (
                <Section
                    key={labelOf(stage)}
                    title={labelOf(stage)}
                    note={`${plural(stage.tasks, "task")} traced`}
                    actions={<StageLink stage={stage} place={place} />}
                >
                    <StageTime name={`stage ${stage.stage}.${stage.attempt}`} waits={stage} />
                </Section>
            ))}
            {stages.length > MOST_STAGES && (
                <p class="soft">
                    {plural(stages.length - MOST_STAGES, "more stage")} with less task time: see the pages of the
                    stages.
                </p>
            )}
            <Processes rows={trace.processes} />
            <Calls rows={trace.calls} />
            <Files trace={trace} />
        </>
    );
}

export function OffCpu({ app, attempt }: AppPageProps) {
    const base = appAddress(app, attempt);
    const trace = useDocument<TraceDocument>(`${base}/trace`);
    const report = useDocument<Report>(`${base}/report`);
    return (
        <div class="page">
            <h1>Off-CPU</h1>
            <Loaded state={report} what="report">
                {(found) => (
                    <Loaded state={trace} what="trace">
                        {(document) => <View trace={document} report={found} place={{ app, attempt }} />}
                    </Loaded>
                )}
            </Loaded>
        </div>
    );
}
