/** What tasks spent their time on: the dashboard "Spark profiling" for a run of the past. */
import { useMemo } from "preact/hooks";
import { Bars } from "../charts/bars";
import { Heatmap } from "../charts/heatmap";
import { appAddress, available, useDocument } from "../data/documents";
import type { ExecutorRow, Report, StageRow, Timeline } from "../data/types";
import { bytes, callSite, count, duration, plural, share, times } from "../format";
import { type Durations, durationsOf, LENGTHS } from "../phases/durations";
import { link } from "../router";
import { Figure, Figures, Loaded, Section } from "../ui/parts";
import type { AppPageProps } from "./pages";
import { skewOf } from "./stage_columns";

const MOST = 10;
/** Fewer tasks have no skew to speak of. */
const LEAST_TASKS = 4;

interface Place {
    app: string;
    attempt: string;
}

function stageName(row: StageRow, place: Place) {
    const id = `${row.id}${row.attempt ? `.${row.attempt}` : ""}`;
    const text = `${id} ${callSite(row.name)}`;
    if (!available(`${appAddress(place.app, place.attempt)}/stages/${row.id}/${row.attempt}`)) return text;
    return <a href={link(["app", place.app, place.attempt, "stage", row.id, row.attempt])}>{text}</a>;
}

/** The stages with most of something. */
function Stages({
    title,
    note,
    rows,
    value,
    text,
    place,
}: {
    title: string;
    note: string;
    rows: StageRow[];
    value: (row: StageRow) => number | null;
    text: (value: number) => string;
    place: Place;
}) {
    const shown = rows
        .map((row) => ({ row, value: value(row) ?? 0 }))
        .filter((each) => each.value > 0)
        .sort((a, b) => b.value - a.value)
        .slice(0, MOST);
    if (!shown.length) return null;
    return (
        <Section title={title} note={note}>
            <Bars
                caption={title}
                bars={shown.map(({ row, value: most }) => ({
                    key: `${row.id}/${row.attempt}`,
                    name: stageName(row, place),
                    value: most,
                    text: text(most),
                }))}
            />
        </Section>
    );
}

function Totals({ report }: { report: Report }) {
    const { core } = report.accounting;
    const part = (...names: string[]) =>
        core.total_ms
            ? core.parts.filter(({ name }) => names.includes(name)).reduce((all, { ms }) => all + ms, 0) / core.total_ms
            : null;
    const run = report.stages.reduce((all, row) => all + row.run_ms, 0);
    const gc = report.stages.reduce((all, row) => all + row.gc_ms, 0);
    return (
        <Figures>
            <Figure
                name="Garbage collection"
                value={share(run > 0 ? gc / run : null)}
                hint="of the run time of tasks"
            />
            <Figure
                name="Serialization"
                value={share(part("deserialize", "result_serialize"))}
                hint="of the core time, of tasks and results"
            />
            <Figure
                name="Shuffle"
                value={share(part("shuffle_fetch_wait", "shuffle_write"))}
                hint="of the core time: waiting and writing"
            />
            <Figure
                name="Idle"
                value={share(part("idle_no_work", "idle_driver", "idle_wait"))}
                hint="of the core time: no task"
            />
            <Figure name="Spill (disk)" value={bytes(report.totals.disk_spill_bytes)} />
            <Figure name="Spill (memory)" value={bytes(report.totals.memory_spill_bytes)} />
        </Figures>
    );
}

function Lengths({ timeline }: { timeline: Timeline }) {
    const found = useMemo(() => durationsOf(timeline), [timeline]);
    if (!found.rows) return null;
    const names = Array.from({ length: found.rows }, (_, i) => {
        const row = found.first + found.rows - 1 - i;
        return row < LENGTHS.length ? `up to ${duration(LENGTHS[row])}` : "longer";
    });
    const { count: all, shown } = timeline.tasks;
    return (
        <Section
            title="Durations of tasks"
            note={
                shown < all
                    ? `the failed and the longest ${count(shown)} of ${plural(all, "task")}`
                    : plural(all, "task")
            }
        >
            <Heatmap
                label="How many tasks of each duration ended when"
                rows={names}
                columns={found.columns}
                values={found.values}
                most={found.most}
                from={0}
                to={timeline.end_ms - timeline.start_ms}
                text={(value) => plural(value, "task")}
            />
            <table class="off-screen">
                <caption>Tasks by duration</caption>
                <tbody>
                    {names.map((name, row) => (
                        <tr key={name}>
                            <th scope="row">{name}</th>
                            <td>{plural(tasksOf(found, row), "task")}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </Section>
    );
}

function tasksOf(found: Durations, row: number): number {
    const cells = found.values.subarray(row * found.columns, (row + 1) * found.columns);
    return cells.reduce((all, value) => all + (Number.isNaN(value) ? 0 : value), 0);
}

function Heaps({ rows }: { rows: ExecutorRow[] }) {
    const known = rows
        .filter((row) => row.heap_peak_bytes)
        .sort((a, b) => (b.heap_peak_bytes ?? 0) - (a.heap_peak_bytes ?? 0))
        .slice(0, MOST);
    if (!known.length) return null;
    return (
        <Section title="Peak heap" note="of the executors that used most">
            <Bars
                caption="Peak heap by executor"
                bars={known.map((row) => ({
                    key: `${row.id} ${row.added_ms}`,
                    name: `${row.id} ${row.host ?? ""}`,
                    value: row.heap_peak_bytes ?? 0,
                    text: bytes(row.heap_peak_bytes),
                }))}
            />
        </Section>
    );
}

function View({ report, timeline, place }: { report: Report; timeline: Timeline; place: Place }) {
    const { stages } = report;
    const idle = report.executors.filter((row) => row.id !== "driver" && row.tasks === 0).length;
    return (
        <>
            <Totals report={report} />
            {idle > 0 && <p class="soft">{`${plural(idle, "executor")} never had a task.`}</p>}
            <Lengths timeline={timeline} />
            <Stages
                title="Skew"
                note="the slowest task as a multiple of the median"
                rows={stages.filter((row) => row.tasks >= LEAST_TASKS)}
                value={skewOf}
                text={times}
                place={place}
            />
            <Stages
                title="Garbage collection"
                note="share of the run time of the stage's tasks"
                rows={stages}
                value={(row) => (row.run_ms > 0 ? row.gc_ms / row.run_ms : null)}
                text={share}
                place={place}
            />
            <Stages
                title="Spill"
                note="bytes that tasks wrote to disk for want of memory"
                rows={stages}
                value={(row) => row.disk_spill_bytes}
                text={bytes}
                place={place}
            />
            <Heaps rows={report.executors} />
        </>
    );
}

export function TaskTime({ app, attempt }: AppPageProps) {
    const report = useDocument<Report>(`${appAddress(app, attempt)}/report`);
    const timeline = useDocument<Timeline>(`${appAddress(app, attempt)}/timeline`);
    return (
        <div class="page">
            <h1>Task time</h1>
            <Loaded state={report} what="report">
                {(found) => (
                    <Loaded state={timeline} what="timeline">
                        {(tasks) => <View report={found} timeline={tasks} place={{ app, attempt }} />}
                    </Loaded>
                )}
            </Loaded>
        </div>
    );
}
