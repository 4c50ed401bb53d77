/** When what ran: executors, jobs, stages and tasks over time, with findings where they are. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { appAddress, available, fromDisk, useDocument } from "../data/documents";
import type { Finding, Report, Timeline as TimelineDocument } from "../data/types";
import { count, duration, offset, plural } from "../format";
import { hasTextLogs, type LogErrors, parametersOf } from "../logs/files";
import { link, useReplaceQuery } from "../router";
import { describe, findingsAt, type Hit, Minimap, TimelineCanvas } from "../timeline/canvas";
import type { Colouring } from "../timeline/draw";
import { modelOf, type TimelineModel } from "../timeline/model";
import { stagesOf } from "../timeline/places";
import { inDetail, partOf } from "../timeline/threads";
import { around, CLOSEST_MS, CLOSEST_TRACED_MS, clamp, type Viewport, zoom } from "../timeline/viewport";
import { StateLegend } from "../trace/parts";
import { Empty, Loaded, Section, SeverityBadge, Status } from "../ui/parts";
import { type Column, Table } from "../ui/table";
import type { Place } from "./finding";
import type { AppPageProps } from "./pages";
import { CallSite } from "./stage_columns";

function closestOf(model: TimelineModel): number {
    return model.threads.length && !fromDisk ? CLOSEST_TRACED_MS : CLOSEST_MS;
}

function startView(query: URLSearchParams, model: TimelineModel, chosen: Set<number> | null): Viewport {
    const [from, to] = [query.get("from"), query.get("to")];
    if (from !== null && to !== null && Number(to) > Number(from))
        return clamp({ from: Number(from), to: Number(to) }, model.length, closestOf(model));
    const about = model.findings.find(({ finding }) => finding.id === query.get("finding"));
    if (about) return around(about.from, about.to, model.length);
    const bars = chosen ? model.stages.filter((bar) => chosen.has(bar.index)) : [];
    if (bars.length)
        return around(Math.min(...bars.map((bar) => bar.from)), Math.max(...bars.map((bar) => bar.to)), model.length);
    return { from: 0, to: model.length };
}

/** Rows of the list of stages that ?stage=3 names, all attempts, or that ?finding=... is about. */
function chosenOf(model: TimelineModel, id: string | null, finding: Finding | undefined): Set<number> | null {
    const found = id
        ? model.document.stages.flatMap((stage, i) => (String(stage.id) === id ? [i] : []))
        : finding
          ? stagesOf(model.document, finding)
          : [];
    return found.length ? new Set(found) : null;
}

/** The stage that the address names besides a finding: none where it is about several. */
function stageOf(finding: Finding | undefined): number | null | undefined {
    return (finding?.stages?.count ?? 0) > 1 ? null : finding?.where.stage;
}

type StageBar = TimelineModel["stages"][number];

function stageColumns(model: TimelineModel, place: Place, show: (bar: StageBar) => void): Column<StageBar>[] {
    const stage = (bar: StageBar) => model.document.stages[bar.index]!;
    const base = appAddress(place.app, place.attempt);
    return [
        {
            name: "Stage",
            class: "nowrap",
            value: (bar) => stage(bar).id,
            cell: (bar) => {
                const { id, attempt } = stage(bar);
                return available(`${base}/stages/${id}/${attempt}`) ? (
                    <a href={link(["app", place.app, place.attempt, "stage", id, attempt])}>{bar.label}</a>
                ) : (
                    bar.label
                );
            },
        },
        {
            name: "Call site",
            class: "clip",
            value: (bar) => stage(bar).name,
            cell: (bar) => <CallSite text={stage(bar).name} />,
        },
        {
            name: "State",
            minor: true,
            value: (bar) => stage(bar).status,
            cell: (bar) => <Status status={stage(bar).status} />,
        },
        {
            name: "Job",
            number: true,
            minor: true,
            value: (bar) => stage(bar).job,
            cell: (bar) => stage(bar).job ?? "-",
        },
        { name: "Start", number: true, value: (bar) => bar.from, cell: (bar) => offset(bar.from, 100) },
        {
            name: "Duration",
            number: true,
            value: (bar) => bar.to - bar.from,
            cell: (bar) => duration(bar.to - bar.from),
        },
        { name: "Tasks", number: true, value: (bar) => stage(bar).tasks, cell: (bar) => count(stage(bar).tasks) },
        {
            name: "Median task",
            number: true,
            minor: true,
            value: (bar) => model.median[bar.index],
            cell: (bar) => duration(model.median[bar.index]),
        },
        {
            name: "Show",
            cell: (bar) => (
                <button type="button" class="copy" onClick={() => show(bar)}>
                    Show<span class="off-screen"> {bar.label}</span>
                </button>
            ),
        },
    ];
}

function Executors({ document }: { document: TimelineDocument }) {
    const since = (ms: number | null) => (ms === null ? "-" : offset(ms - document.start_ms));
    return (
        <Table
            caption="Executors"
            rows={document.executors}
            limit={20}
            columns={[
                { name: "Executor", value: (row) => Number(row.id) || row.id, cell: (row) => row.id },
                { name: "Host", value: (row) => row.host, cell: (row) => row.host ?? "-" },
                { name: "Cores", number: true, value: (row) => row.cores, cell: (row) => count(row.cores) },
                { name: "Added", number: true, value: (row) => row.added_ms, cell: (row) => since(row.added_ms) },
                { name: "Removed", number: true, value: (row) => row.removed_ms, cell: (row) => since(row.removed_ms) },
                { name: "Reason", value: (row) => row.remove_reason, cell: (row) => row.remove_reason ?? "" },
            ]}
        />
    );
}

function Controls({
    colouring,
    setColouring,
    dense,
    setDense,
    onZoom,
    onAll,
}: {
    colouring: Colouring;
    setColouring: (value: Colouring) => void;
    dense: boolean;
    setDense: (value: boolean) => void;
    onZoom: (factor: number) => void;
    onAll: () => void;
}) {
    return (
        <>
            <label>
                Color by{" "}
                <select value={colouring} onChange={(event) => setColouring(event.currentTarget.value as Colouring)}>
                    <option value="stage">stage</option>
                    <option value="outcome">outcome</option>
                    <option value="length">duration relative to the median</option>
                </select>
            </label>{" "}
            <button type="button" aria-pressed={dense} onClick={() => setDense(!dense)}>
                Dense
            </button>{" "}
            <button type="button" aria-label="Zoom in" onClick={() => onZoom(0.5)}>
                +
            </button>{" "}
            <button type="button" aria-label="Zoom out" onClick={() => onZoom(2)}>
                −
            </button>{" "}
            <button type="button" onClick={onAll}>
                Whole run
            </button>
        </>
    );
}

const LEGEND: Record<Colouring, [string, string][]> = {
    stage: [
        ["bad", "failed"],
        ["warn", "killed"],
        ["raised", "only the driver was busy"],
    ],
    outcome: [
        ["part-compute", "succeeded"],
        ["bad", "failed"],
        ["warn", "killed"],
        ["raised", "only the driver was busy"],
    ],
    length: [
        ["part-compute", "below 1.5 x the median of the stage"],
        ["chart-6", "1.5 x to 2 x"],
        ["chart-2", "2 x to 5 x"],
        ["bad", "5 x or more, or failed"],
        ["raised", "only the driver was busy"],
    ],
};

/** Errors that text logs have in view, and the longest pauses. */
function Marks({
    model,
    view,
    place,
    reading,
}: {
    model: TimelineModel;
    view: Viewport;
    place: Place;
    reading: boolean;
}) {
    const inView = (bar: { from: number; to: number }) => bar.to >= view.from && bar.from <= view.to;
    const errors = model.errors.filter(inView);
    const pauses = model.pauses.filter(inView);
    const logs = `${appAddress(place.app, place.attempt)}/logs/errors`;
    if (!model.errors.length && !model.pauses.length) return null;
    const shown = reading ? "reading the logs for errors" : plural(errors.length, "error");
    return (
        <Section
            title="Errors and GC pauses in view"
            note={`${shown}, ${plural(pauses.length, "pause")}`}
            actions={
                model.errors.length > 0 && available(logs) ? (
                    <a href={link(["app", place.app, place.attempt, "logs"])}>All errors of the logs</a>
                ) : null
            }
        >
            <Table
                caption="Errors and GC pauses in view"
                rows={[...errors.map((bar) => ({ bar, error: true })), ...pauses.map((bar) => ({ bar, error: false }))]}
                limit={10}
                initial={{ column: 0, descending: false }}
                columns={[
                    {
                        name: "At",
                        number: true,
                        value: ({ bar }) => bar.from,
                        cell: ({ bar }) => offset(bar.from, 10),
                    },
                    {
                        name: "What",
                        value: ({ error }) => (error ? "error" : "pause"),
                        cell: ({ error }) => (error ? "error" : "GC pause"),
                    },
                    {
                        name: "Duration",
                        number: true,
                        value: ({ bar, error }) => (error ? null : bar.to - bar.from),
                        cell: ({ bar, error }) => (error ? "" : duration(bar.to - bar.from)),
                    },
                    { name: "Text", class: "meaning", value: ({ bar }) => bar.label, cell: ({ bar }) => bar.label },
                ]}
            />
        </Section>
    );
}

/** States that a track has. */
function statesIn(document: TimelineDocument, track: NonNullable<TimelineDocument["tracks"]>[number]): string[] {
    if (track.kind !== "states") return [];
    return [...new Set(track.code)].flatMap((code) => document.states?.[code] ?? []);
}

/** What threads did, in as much detail as the view needs: the server has it for each part of the run. */
function useDetail(whole: TimelineModel, view: Viewport, place: Place): TimelineModel {
    const part = whole.threads.length && !fromDisk ? partOf(view, whole.length) : null;
    const { from = 0, to = 0 } = part ?? {};
    const [asked, ask] = useState<Viewport | null>(null);
    useEffect(() => {
        const timer = window.setTimeout(() => ask(to > from ? { from, to } : null), 120);
        return () => window.clearTimeout(timer);
    }, [from, to]);
    const range = asked && `from_ns=${Math.floor(asked.from * 1e6)}&to_ns=${Math.max(1, Math.ceil(asked.to * 1e6))}`;
    const detail = useDocument<TimelineDocument>(
        range === null ? null : `${appAddress(place.app, place.attempt)}/timeline?max=1&${range}`,
    );
    const found = detail.status === "ready" ? detail.data : null;
    const detailed = useMemo(
        () => (found ? { ...whole, threads: inDetail(whole.threads, found) } : null),
        [whole, found],
    );
    return detailed && asked && view.from >= asked.from && view.to <= asked.to ? detailed : whole;
}

/** Marks of the timeline; more errors than pixels say nothing. */
const MOST_ERRORS = 500;

function View({
    report,
    errors,
    reading,
    document,
    place,
    query,
}: {
    report: Report | null;
    errors: LogErrors | null;
    /** The errors of the logs are still to come. */
    reading: boolean;
    document: TimelineDocument;
    place: Place;
    query: URLSearchParams;
}) {
    const replaceQuery = useReplaceQuery();
    const whole = useMemo(() => modelOf(document, report?.findings ?? [], errors?.errors), [document, report, errors]);
    const stageId = query.get("stage");
    const wanted = report?.findings.find((finding) => finding.id === query.get("finding"));
    const chosen = useMemo(() => chosenOf(whole, stageId, wanted), [whole, stageId, wanted]);
    const unmarked = (report?.findings ?? []).filter(
        ({ folded, stages }) => !folded && stages && stages.count > stages.id.length,
    );
    const [view, setView] = useState<Viewport>(() => startView(query, whole, chosen));
    const model = useDetail(whole, view, place);
    const closest = closestOf(whole);
    const [colouring, setColouring] = useState<Colouring>("stage");
    const [dense, setDense] = useState(model.rows.length > 160);
    const [picked, setPicked] = useState<Hit | null>(() => {
        const bar = model.findings.find(({ finding }) => finding.id === query.get("finding"));
        return bar ? { kind: "finding", bar } : null;
    });

    // Of a run that goes on, the whole stays the whole as it grows.
    const length = useRef(model.length);
    useEffect(() => {
        if (view.from <= 0 && view.to >= length.current) setView({ from: 0, to: model.length });
        length.current = model.length;
    }, [model.length]);

    // The address follows once things rest.
    const timer = useRef(0);
    useEffect(() => {
        window.clearTimeout(timer.current);
        timer.current = window.setTimeout(() => {
            const all = view.from <= 0 && view.to >= model.length;
            const exact = (time: number) =>
                view.to - view.from < CLOSEST_MS ? Number(time.toFixed(4)) : Math.round(time);
            replaceQuery({ from: all ? null : exact(view.from), to: all ? null : exact(view.to) });
        }, 250);
        return () => window.clearTimeout(timer.current);
    }, [view, model]);

    const show = useCallback(
        (bar: StageBar) => {
            setView(around(bar.from, bar.to, model.length));
            replaceQuery({ stage: model.document.stages[bar.index]!.id });
        },
        [model],
    );
    const pick = (hit: Hit | null) => {
        setPicked(hit);
        replaceQuery({ finding: hit?.kind === "finding" ? report?.findings[hit.bar.index]?.id : null });
        if (hit === null) replaceQuery({ stage: null });
        else if (hit.kind === "stage") replaceQuery({ stage: document.stages[hit.bar.index]!.id });
        else if (hit.kind === "finding") replaceQuery({ stage: stageOf(report?.findings[hit.bar.index]) });
    };
    const visible = model.stages.filter(
        (bar) => bar.to >= view.from && bar.from <= view.to && (!chosen || chosen.has(bar.index)),
    );
    const { tasks } = document;
    const precision = view.to - view.from < CLOSEST_MS ? 0.001 : 100;
    return (
        <>
            <Section
                title="Timeline"
                class="timeline"
                note={`${offset(view.from, precision)} to ${offset(view.to, precision)} of ${duration(model.length)}, ${plural(tasks.count, "task")}${tasks.shown < tasks.count ? `, the longest ${count(tasks.shown)} drawn` : ""}`}
                actions={
                    <Controls
                        colouring={colouring}
                        setColouring={setColouring}
                        dense={dense}
                        setDense={setDense}
                        onZoom={(factor) =>
                            setView(zoom(view, factor, (view.from + view.to) / 2, model.length, closest))
                        }
                        onAll={() => setView({ from: 0, to: model.length })}
                    />
                }
            >
                <Minimap model={model} view={view} onView={setView} />
                <TimelineCanvas
                    model={model}
                    view={view}
                    onView={setView}
                    closest={closest}
                    chosen={chosen}
                    colouring={colouring}
                    rowHeight={dense ? 4 : model.rows.length > 24 ? 10 : 15}
                    onPick={pick}
                    task={picked?.kind === "task" ? picked.task : -1}
                />
                {unmarked.map(({ id, title, stages }) => (
                    <p key={id} class="note">
                        {title}: the first {count(stages?.id.length)} of {plural(stages?.count ?? 0, "stage")} are
                        marked.
                    </p>
                ))}
                <p class="timeline-foot">
                    <span class="legend">
                        {LEGEND[colouring].map(([name, meaning]) => (
                            <span key={name}>
                                <span class="swatch" style={{ background: `var(--${name})` }} />
                                {meaning}
                            </span>
                        ))}
                        {model.findings.length > 0 && (
                            <span>
                                <span class="finding-mark" aria-hidden="true">
                                    !
                                </span>
                                has a finding (driver gaps: hatched)
                            </span>
                        )}
                    </span>
                    <span class="note">Drag to move. Ctrl + wheel zooms. Double-click a bar to zoom to it.</span>
                </p>
                {model.threads.length > 0 && (
                    <StateLegend names={(document.tracks ?? []).flatMap((track) => statesIn(document, track))} />
                )}
                <Picked model={model} hit={picked} place={place} stage={stageId} />
            </Section>
            <Section
                title={!chosen ? "Stages in view" : stageId ? `Stage ${stageId}` : `Stages of: ${wanted?.title}`}
                note={plural(visible.length, "stage attempt")}
                actions={
                    chosen && (
                        <button type="button" onClick={() => pick(null)}>
                            All stages
                        </button>
                    )
                }
            >
                {visible.length ? (
                    <Table
                        caption="Stages in view"
                        rows={visible}
                        columns={stageColumns(model, place, show)}
                        limit={20}
                    />
                ) : (
                    <Empty title="No stage ran in this time range" />
                )}
            </Section>
            <Marks model={model} view={view} place={place} reading={reading} />
            <Section title="Executors added and removed">
                <Executors document={document} />
            </Section>
        </>
    );
}

/** What was clicked, in words that stay. */
function Picked({
    model,
    hit,
    place,
    stage,
}: {
    model: TimelineModel;
    hit: Hit | null;
    place: Place;
    stage: string | null;
}) {
    const lines = hit ? describe(model, hit) : [];
    const target =
        hit?.kind === "task"
            ? model.document.stages[model.stage[hit.task]!]
            : model.document.stages.find((row) => String(row.id) === stage);
    const open = target && available(`${appAddress(place.app, place.attempt)}/stages/${target.id}/${target.attempt}`);
    return (
        <div class="picked" role="status">
            {lines.join(" · ")}{" "}
            {target && open && (
                <a href={link(["app", place.app, place.attempt, "stage", target.id, target.attempt])}>
                    Open stage {target.id}
                </a>
            )}{" "}
            {findingsAt(model, hit).map((finding) => (
                <span key={finding.id} class="nowrap">
                    <SeverityBadge severity={finding.severity} />{" "}
                    <a href={link(["app", place.app, place.attempt, "overview"], { finding: finding.id })}>
                        {finding.title}
                    </a>{" "}
                </span>
            ))}
        </div>
    );
}

export function Timeline({ app, attempt, query }: AppPageProps) {
    const base = appAddress(app, attempt);
    const timeline = useDocument<TimelineDocument>(`${base}/timeline`);
    const report = useDocument<Report>(`${base}/report`);
    const logs = `${base}/logs/errors`;
    const wanted = report.status === "ready" && hasTextLogs(report.data) && available(logs);
    const none = { level: "", executor: "", grep: "" };
    const errors = useDocument<LogErrors>(wanted ? `${logs}${parametersOf(none, MOST_ERRORS)}` : null);
    return (
        <div class="page wide">
            <h1 class="off-screen">Timeline</h1>
            <Loaded state={timeline} what="timeline">
                {(document) =>
                    report.status === "loading" ? null : (
                        <View
                            report={report.status === "ready" ? report.data : null}
                            errors={errors.status === "ready" ? errors.data : null}
                            reading={wanted && errors.status === "loading"}
                            document={document}
                            place={{ app, attempt }}
                            query={query}
                        />
                    )
                }
            </Loaded>
        </div>
    );
}
