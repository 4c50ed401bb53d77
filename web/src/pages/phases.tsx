/** Waiting, computing, writing: the dashboard "Spark job phases" for a run of the past. */
import { useCallback, useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { Lanes } from "../charts/lanes";
import { countsOverTime, Plot } from "../charts/plot";
import { StackedBar } from "../charts/stacked";
import { appAddress, useDocument } from "../data/documents";
import type { Report, StageRow } from "../data/types";
import { bytes, count, duration, offset, plural, share } from "../format";
import { executorsOverTime, phasesOf, sum } from "../phases/intervals";
import { Empty, Figure, Figures, Loaded, Section } from "../ui/parts";
import { type Column, Table } from "../ui/table";
import { colour } from "../ui/theme";
import type { AppPageProps } from "./pages";
import { stageColumns, wallOf } from "./stage_columns";

const MEANING: Record<string, string> = {
    resource_wait: "from the start to the first executor",
    compute: "a stage ran, and none that writes output",
    io_write: "a stage ran that writes output",
    driver: "no stage ran: the driver worked, or committed what was written",
};

function Totals({ report }: { report: Report }) {
    const { phases, core } = report.accounting;
    const computing = core.parts.find((part) => part.name === "compute")?.ms ?? null;
    const starter = report.application.orchestrator;
    return (
        <Figures>
            <Figure name="First executor" value={duration(phases.wait_ms)} hint="after the start" />
            <Figure name="Computing" value={duration(phases.compute_ms)} />
            <Figure name="Writing" value={duration(phases.write_ms)} />
            <Figure
                name="Compute efficiency"
                value={core.total_ms && computing !== null ? share(computing / core.total_ms) : "-"}
                hint="of the core time was tasks that computed"
            />
            {starter?.dag_id && <Figure name="DAG" value={starter.dag_id} hint={starter.run_id ?? undefined} />}
            {starter?.task_id && <Figure name="Task" value={starter.task_id} />}
        </Figures>
    );
}

function ExecutorsOverTime({ report, start, end }: { report: Report; start: number; end: number }) {
    const changes = useMemo(() => executorsOverTime(report), [report]);
    const data = useMemo(() => {
        const times: number[] = [0];
        const running: number[] = [0];
        changes.at.forEach((at, i) => {
            const second = Math.max(0, (at - start) / 1000);
            times.push(second, second);
            running.push(running.at(-1)!, changes.running[i]!);
        });
        times.push((end - start) / 1000);
        running.push(running.at(-1)!);
        return [times, running] as uPlot.AlignedData;
    }, [changes, start, end]);
    const options = useCallback(
        () => countsOverTime({ stroke: colour("part-compute"), fill: `${colour("part-compute")}33` }),
        [],
    );
    const describe = useCallback(
        (i: number) => [`from ${offset((data[0][i] ?? 0) * 1000)}`, plural(data[1]![i] ?? 0, "executor")],
        [data],
    );
    if (!changes.at.length) return null;
    return (
        <Section
            title="Executors"
            note={`at most ${count(changes.running.reduce((most, now) => Math.max(most, now), 0))} at a time`}
        >
            <Plot label="Executors over time" height={170} data={data} options={options} describe={describe} />
        </Section>
    );
}

/** Bytes of a write in each second of its stage. */
function rateOf(row: StageRow): number | null {
    const wall = wallOf(row);
    return wall && row.output_bytes ? (row.output_bytes * 1000) / wall : null;
}

function Writes({ report, place }: { report: Report; place: { app: string; attempt: string } }) {
    const rows = report.stages.filter((row) => row.output_bytes > 0);
    const p95: Column<StageRow> = {
        name: "p95 task",
        number: true,
        value: (row) => row.duration_ms.p95,
        cell: (row) => duration(row.duration_ms.p95),
        title: "95 % of its tasks took no longer",
    };
    const rate: Column<StageRow> = {
        name: "Written per second",
        number: true,
        value: rateOf,
        cell: (row) => (rateOf(row) === null ? "" : `${bytes(rateOf(row))}/s`),
    };
    const columns = stageColumns(place, rows).filter(({ name }) =>
        ["Stage", "Call site", "Duration", "Tasks", "Median task", "Output"].includes(name),
    );
    const slowest = report.stages.filter((row) => row.output_bytes === 0 && row.duration_ms.p95 !== null);
    const worst = slowest.reduce((most, row) => Math.max(most, row.duration_ms.p95 ?? 0), 0);
    if (!rows.length) return <Empty title="Nothing was written">No stage of this run wrote output.</Empty>;
    return (
        <Section
            title="Writes"
            note={worst ? `95 % of the tasks of any other stage took at most ${duration(worst)}` : undefined}
        >
            <Table
                caption="Stages that write"
                rows={rows}
                columns={[...columns, p95, rate]}
                initial={{ column: 2, descending: true }}
            />
            <p class="soft">
                The log has no requests, retries or refusals of the store. The Spark plugin measures them while an
                application runs.
            </p>
        </Section>
    );
}

function View({ report, place }: { report: Report; place: { app: string; attempt: string } }) {
    const phases = useMemo(() => phasesOf(report), [report]);
    const { start_ms: start, end_ms: end } = report.application;
    if (!phases || start === null || end === null)
        return <Empty title="No times">The log does not say when the application began or ended.</Empty>;
    const shares = Object.entries(phases).map(([name, intervals]) => ({ name, intervals }));
    // Stages may wait for the first executor, too: that is in both lanes, and once in the shares.
    const waited = report.accounting.phases.wait_ms ?? 0;
    const lanes = shares.map((lane) =>
        lane.name === "resource_wait" ? { ...lane, intervals: [{ from: start, to: start + waited }] } : lane,
    );
    return (
        <>
            <Totals report={report} />
            <Section title="Over time">
                <Lanes label="Phases over time; the table below has the sums" lanes={lanes} start={start} end={end} />
            </Section>
            <Section title="Shares" note={`of ${duration(end - start)}`}>
                <StackedBar
                    title="Phases"
                    total={end - start}
                    parts={shares.map((lane) => ({ name: lane.name, ms: sum(lane.intervals) }))}
                    meaning={MEANING}
                />
            </Section>
            <ExecutorsOverTime report={report} start={start} end={end} />
            <Writes report={report} place={place} />
        </>
    );
}

export function Phases({ app, attempt }: AppPageProps) {
    const state = useDocument<Report>(`${appAddress(app, attempt)}/report`);
    return (
        <div class="page">
            <h1>Phases</h1>
            <Loaded state={state} what="phases">
                {(report) => <View report={report} place={{ app, attempt }} />}
            </Loaded>
        </div>
    );
}
