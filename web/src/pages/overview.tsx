/** Where the time went, and what to change. */
import { useMemo } from "preact/hooks";
import { StackedBar } from "../charts/stacked";
import { appAddress, fromDisk, useDocument } from "../data/documents";
import type { Finding, Report } from "../data/types";
import { bytes, count, duration, money, plural, share } from "../format";
import { link } from "../router";
import { CodeBlock, Empty, Figure, Figures, Loaded, Section } from "../ui/parts";
import { Table } from "../ui/table";
import { Actions, PlanTimes } from "./actions";
import { FindingCard, type Place } from "./finding";
import type { AppPageProps } from "./pages";
import { byTaskTime, stageColumns } from "./stage_columns";

function verdictOf(report: Report): string {
    const serious = report.findings.filter((finding) => finding.severity !== "low");
    if (!serious.length)
        return report.findings.length
            ? `No finding above low severity; ${plural(report.findings.length, "finding")} of low severity.`
            : "No findings.";
    const costOf = (finding: Finding) => (finding.costs ? finding.costs.wall_ms : finding.saves.wall_ms.expected) ?? 0;
    const best = serious.reduce((a, b) => (costOf(b) > costOf(a) ? b : a));
    const lost = costOf(best);
    const gain = lost
        ? ` The largest, ${best.title.toLowerCase()}, costs about ${duration(lost)} of ${duration(report.application.duration_ms)}.`
        : "";
    return `${plural(serious.length, "finding")} above low severity.${gain}`;
}

function Totals({ report }: { report: Report }) {
    const { totals, memory } = report;
    const failed = (name: string) => {
        const value = totals[name] ?? 0;
        return value ? `${count(value)} failed` : undefined;
    };
    const cost = report.cost?.total;
    return (
        <Figures>
            <Figure name="Wall time" value={duration(report.application.duration_ms)} />
            <Figure
                name="Core time"
                value={duration(report.accounting.core.total_ms)}
                hint={`at most ${plural(totals.cores_peak ?? 0, "core")}`}
            />
            {typeof cost === "number" && <Figure name="Cost" value={money(cost, report.cost?.currency ?? "")} />}
            <Figure name="Jobs" value={count(totals.jobs)} hint={failed("failed_jobs")} />
            <Figure name="Stages" value={count(totals.stages)} hint={failed("failed_stages")} />
            <Figure name="Tasks" value={count(totals.tasks)} hint={failed("failed_tasks")} />
            <Figure name="Executors" value={count(totals.executors)} />
            <Figure name="Input" value={bytes(totals.input_bytes)} />
            <Figure name="Output" value={bytes(totals.output_bytes)} />
            <Figure name="Shuffle write" value={bytes(totals.shuffle_write_bytes)} />
            <Figure name="Spill (disk)" value={bytes(totals.disk_spill_bytes)} />
            <Figure
                name="Executor heap"
                value={share(memory.executor_heap_used_share)}
                hint={memory.executor_heap_limit_bytes ? `of ${bytes(memory.executor_heap_limit_bytes)}` : undefined}
            />
        </Figures>
    );
}

function Findings({ report, place, wanted }: { report: Report; place: Place; wanted: string | null }) {
    if (!report.findings.length)
        return (
            <Empty title="Nothing to change">
                {`${plural(Object.keys(report.rules).length, "rule")} checked this run and found nothing to change.`}
            </Empty>
        );
    const cards = (findings: Finding[]) => (
        <ol class="findings">
            {findings.map((finding) => (
                <li key={finding.id}>
                    <FindingCard finding={finding} report={report} place={place} wanted={finding.id === wanted} />
                </li>
            ))}
        </ol>
    );
    const low = report.findings.filter((finding) => !finding.folded && finding.severity === "low");
    const folded = report.findings.filter((finding) => finding.folded);
    const rest = report.findings.filter((finding) => !finding.folded && finding.severity !== "low");
    // Low ones are below a line, unless there is nothing else to see.
    const hidden = rest.length > 0 || low.length > 4;
    return (
        <>
            {cards(hidden ? rest : [...rest, ...low])}
            {hidden && low.length > 0 && (
                <details>
                    <summary>{plural(low.length, "finding")} of low severity</summary>
                    {cards(low)}
                </details>
            )}
            {folded.length > 0 && (
                <details>
                    <summary>{plural(folded.length, "finding")} marked as false for this application</summary>
                    {cards(folded)}
                </details>
            )}
        </>
    );
}

function Bounds({ report }: { report: Report }) {
    const wall = report.application.duration_ms ?? 0;
    const rows = [
        { name: "This run", ms: wall, means: "measured" },
        { name: "Full cores", ms: report.bounds.ideal_ms, means: "the task time spread evenly over the same cores" },
        {
            name: "Critical path",
            ms: report.bounds.critical_path_ms,
            means: "unlimited cores: the longest chain of tasks",
        },
        {
            name: "Driver only",
            ms: report.bounds.driver_ms,
            means: "no stage ran: driver work, and waiting for executors",
        },
        { name: "One core", ms: report.bounds.one_core_ms, means: "all tasks one after another" },
    ];
    const scale = Math.max(1, ...rows.map((row) => row.ms ?? 0));
    return (
        <table class="bars">
            <caption class="off-screen">Bounds of the wall time</caption>
            <tbody>
                {rows.map((row) => (
                    <tr key={row.name}>
                        <th scope="row">{row.name}</th>
                        <td class="number">{duration(row.ms)}</td>
                        <td class="bar-cell" aria-hidden="true">
                            <span class="bar" style={{ width: `${((row.ms ?? 0) * 100) / scale}%` }} />
                        </td>
                        <td class="meaning">{row.means}</td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

/** What all recommended settings do together, and all changes of the program. */
function Plans({ report, place }: { report: Report; place: Place }) {
    const settings = Object.entries(report.config_changes).map(([key, value]) => `${key}=${value}`);
    const plan = report.plan ?? null; // reports of earlier versions have none
    const code = report.code_plan ?? null;
    if (report.actions?.length) return <Actions actions={report.actions} report={report} place={place} />;
    if (!plan && !code) return null;
    return (
        <Section title="What to do" note="simulated together; savings of single findings overlap">
            {plan && (
                <>
                    <p>
                        {plural(settings.length, "recommended setting")}: <PlanTimes plan={plan} report={report} />.{" "}
                        {!fromDisk && (
                            <a href={link(["app", place.app, place.attempt, "whatif"], { plan: "true" })}>
                                Simulate these settings
                            </a>
                        )}
                    </p>
                    <CodeBlock text={settings.join("\n")} label="configuration" />
                </>
            )}
            {code && (
                <p>
                    Changes of the program for {plural(code.findings.length, "finding")}:{" "}
                    <PlanTimes plan={code} report={report} />.
                </p>
            )}
        </Section>
    );
}

/** Why the application failed, before everything else. */
function Failure({ report, place }: { report: Report; place: Place }) {
    const { failure } = report;
    if (!failure || failure.job === null) return null;
    const what = [failure.exception, failure.message].filter(Boolean).join(": ") || "the log does not say why";
    return (
        <p class="warning" role="alert">
            <strong>Failed: {what}</strong>
            {failure.frame && (
                <>
                    , at <code>{failure.frame}</code>
                </>
            )}{" "}
            (job {failure.job}
            {failure.stage !== null && (
                <>
                    , <a href={link(["app", place.app, place.attempt, "stages"])}>stage {failure.stage}</a>
                </>
            )}
            {failure.failed_tasks ? `, ${plural(failure.failed_tasks, "failed task")}` : ""}).
        </p>
    );
}

function View({ report, place, wanted }: { report: Report; place: Place; wanted: string | null }) {
    const { wall, core } = report.accounting;
    const columns = useMemo(() => stageColumns(place, report.stages), [place.app, place.attempt, report.stages]);
    return (
        <>
            <Failure report={report} place={place} />
            <p class="lead">{verdictOf(report)}</p>
            {report.integrity.confidence < 0.9 && (
                <p class="warning">
                    The log {report.integrity.contradictory ? "contradicts itself" : "is incomplete"} (confidence{" "}
                    {share(report.integrity.confidence)}):{" "}
                    <a href={link(["app", place.app, place.attempt, "integrity"])}>see what is wrong</a>.
                </p>
            )}
            <Plans report={report} place={place} />
            <Totals report={report} />
            <div class="columns">
                <Section
                    title="Wall time"
                    note={`${duration(wall.total_ms)}: what the application waited for at each moment`}
                >
                    <StackedBar title="Wall time in its parts" total={wall.total_ms} parts={wall.parts} />
                </Section>
                <Section
                    title="Core time"
                    note={`${duration(core.total_ms)}: what the cores of the executors did while they were allocated`}
                >
                    {core.total_ms > 0 ? (
                        <StackedBar title="Core time in its parts" total={core.total_ms} parts={core.parts} />
                    ) : (
                        <Empty title="Not known">The log has no executor events.</Empty>
                    )}
                </Section>
            </div>
            <Section title="Findings" note={report.findings.length ? "in the order of what to do" : undefined}>
                <Findings report={report} place={place} wanted={wanted} />
            </Section>
            <Section title="Bounds of the wall time">
                <Bounds report={report} />
            </Section>
            <Section title="Stages" note={plural(report.stages.length, "stage attempt")}>
                {report.stages.length ? (
                    <Table
                        caption="Stages"
                        rows={report.stages}
                        columns={columns}
                        initial={byTaskTime(columns)}
                        limit={20}
                    />
                ) : (
                    <Empty title="No stage ran" />
                )}
            </Section>
        </>
    );
}

export function Overview({ app, attempt, query }: AppPageProps) {
    const state = useDocument<Report>(`${appAddress(app, attempt)}/report`);
    return (
        <div class="page">
            <h1 class="off-screen">Overview</h1>
            <Loaded state={state} what="report">
                {(report) => <View report={report} place={{ app, attempt }} wanted={query.get("finding")} />}
            </Loaded>
        </div>
    );
}
