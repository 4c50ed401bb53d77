/** Two runs side by side, and the causes of their difference. */
import { useMemo, useState } from "preact/hooks";
import { type Choice, choicesOf, idOf, withChosen } from "../compare/choices";
import { useDocument, useLasting } from "../data/documents";
import type { Applications as List } from "../data/types";
import { bytes, count, duration, share, time, words } from "../format";
import { link, useReplaceQuery } from "../router";
import { Empty, Loaded, Section, SeverityBadge } from "../ui/parts";
import { useSettled } from "../ui/settled";
import { type Column, Table } from "../ui/table";
import type { RootPageProps } from "./pages";
import { CallSite } from "./stage_columns";

type Null<T> = T | null;

interface Run {
    id: Null<string>;
    name: Null<string>;
    attempt: Null<string>;
    start_ms: Null<number>;
    duration_ms: Null<number>;
    status: Null<string>;
    confidence: Null<number>;
}

interface Side {
    before_ms: number;
    after_ms: number;
    parts: { name: string; before_ms: number; after_ms: number }[];
}

interface StageSide {
    id: number;
    attempt: number;
    wall_ms: number;
    tasks: number;
    task_ms: Null<number>;
}

interface StagePair {
    call_site: Null<string>;
    status: string;
    difference_ms: number;
    before: Null<StageSide>;
    after: Null<StageSide>;
    causes: Record<string, number>;
}

interface Changed {
    id: string;
    rule: string;
    title: Null<string>;
    severity_before: Null<"low" | "moderate" | "severe" | "critical">;
    severity_after: Null<"low" | "moderate" | "severe" | "critical">;
}

/** pyrometer.comparison/1 */
interface Comparison {
    before: Run;
    after: Run;
    difference_ms: number;
    explanation: string[];
    caveats: string[];
    causes: { name: string; words: string; ms: number }[];
    wall: Side;
    core: Side;
    totals: { name: string; unit: string; before: Null<number>; after: Null<number> }[];
    stages: StagePair[];
    settings: { key: string; before: Null<string>; after: Null<string> }[];
    findings: { appeared: Changed[]; vanished: Changed[]; changed: Changed[] };
}

function signed(ms: number): string {
    return ms > 0 ? `+${duration(ms)}` : duration(ms);
}

/** Bars to the right are time that was added, to the left time that went away. */
function Causes({ causes }: { causes: Comparison["causes"] }) {
    const shown = causes.filter((cause) => cause.ms !== 0);
    const most = Math.max(1, ...shown.map((cause) => Math.abs(cause.ms)));
    if (!shown.length) return <Empty title="No difference" />;
    return (
        <table class="causes">
            <caption class="off-screen">What the difference is attributed to</caption>
            <thead class="off-screen">
                <tr>
                    <th scope="col">Cause</th>
                    <th scope="col">Change</th>
                    <th scope="col">Bar</th>
                </tr>
            </thead>
            <tbody>
                {shown.map((cause) => (
                    <tr key={cause.name}>
                        <th scope="row">{cause.words}</th>
                        <td class="number">{signed(cause.ms)}</td>
                        <td class="cause-bar" aria-hidden="true">
                            <span
                                class={cause.ms > 0 ? "longer" : "shorter"}
                                style={{ width: `${(Math.abs(cause.ms) / most) * 50}%` }}
                            />
                        </td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

function SideBySide({ title, side }: { title: string; side: Side }) {
    return (
        <Table
            caption={title}
            rows={side.parts.filter((part) => part.before_ms > 0 || part.after_ms > 0)}
            columns={[
                { name: title, cell: (row) => words(row.name) },
                { name: "Before", number: true, value: (row) => row.before_ms, cell: (row) => duration(row.before_ms) },
                { name: "After", number: true, value: (row) => row.after_ms, cell: (row) => duration(row.after_ms) },
                {
                    name: "Change",
                    number: true,
                    value: (row) => row.after_ms - row.before_ms,
                    cell: (row) => signed(row.after_ms - row.before_ms),
                },
            ]}
        />
    );
}

function Findings({ title, rows, after }: { title: string; rows: Changed[]; after: boolean }) {
    if (!rows.length) return null;
    return (
        <>
            <h3>{title}</h3>
            <ul class="plain">
                {rows.map((row) => {
                    const severity = after ? row.severity_after : row.severity_before;
                    return (
                        <li key={row.id}>
                            {severity && <SeverityBadge severity={severity} />} {row.title ?? row.rule}{" "}
                            <code class="meaning">{row.id}</code>
                        </li>
                    );
                })}
            </ul>
        </>
    );
}

function amount(value: Null<number>, unit: string): string {
    return unit === "ms" ? duration(value) : unit === "bytes" ? bytes(value) : count(value);
}

const STAGES: Column<StagePair>[] = [
    {
        name: "Stage",
        class: "clip",
        value: (row) => row.call_site,
        cell: (row) => <CallSite text={row.call_site} />,
    },
    {
        name: "In",
        value: (row) => row.status,
        cell: (row) => (row.status === "matched" ? "both" : row.status === "new" ? "after only" : "before only"),
    },
    { name: "Before", number: true, value: (row) => row.before?.wall_ms, cell: (row) => duration(row.before?.wall_ms) },
    { name: "After", number: true, value: (row) => row.after?.wall_ms, cell: (row) => duration(row.after?.wall_ms) },
    {
        name: "Change",
        number: true,
        value: (row) => Math.abs(row.difference_ms),
        cell: (row) => signed(row.difference_ms),
    },
    {
        name: "Causes",
        class: "meaning",
        cell: (row) =>
            Object.entries(row.causes)
                .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]))
                .slice(0, 3)
                .map(([name, ms]) => `${words(name)} ${signed(ms)}`)
                .join(", "),
    },
];

/** `id`: what the address calls it, where several runs have the id that their logs name. */
function RunLine({ name, run, id }: { name: string; run: Run; id: string }) {
    return (
        <p class="run-line">
            <b>{name}:</b>{" "}
            <a href={link(["app", id || "-", run.attempt ?? "-", "overview"])} title={run.id ?? ""}>
                {run.name ?? run.id}
            </a>
            {run.attempt !== null && ` (attempt ${run.attempt})`}, {time(run.start_ms)} UTC, {duration(run.duration_ms)}
            {run.confidence !== null && run.confidence < 1 && `, confidence ${share(run.confidence)}`}{" "}
            <small class="sub">
                <code>{run.id}</code>
            </small>
        </p>
    );
}

function View({ data, before, after }: { data: Comparison; before: string; after: string }) {
    const { findings } = data;
    const anyFinding = findings.appeared.length + findings.vanished.length + findings.changed.length > 0;
    return (
        <>
            <Section title="Summary">
                <RunLine name="Before" run={data.before} id={idOf(before)} />
                <RunLine name="After" run={data.after} id={idOf(after)} />
                {data.explanation.map((line, i) => (
                    <p key={line} class={i === 0 ? "lead" : ""}>
                        {line}
                    </p>
                ))}
                {data.caveats.map((line) => (
                    <p key={line} class="warning">
                        {line}
                    </p>
                ))}
            </Section>
            <Section title="Causes of the difference" note={`the sum is exactly ${signed(data.difference_ms)}`}>
                <Causes causes={data.causes} />
            </Section>
            <div class="columns">
                <Section title="Wall time">
                    <SideBySide title="Wall time" side={data.wall} />
                </Section>
                <Section title="Core time">
                    <SideBySide title="Core time" side={data.core} />
                </Section>
            </div>
            {anyFinding && (
                <Section title="Findings">
                    <Findings title="New" rows={findings.appeared} after />
                    <Findings title="Removed" rows={findings.vanished} after={false} />
                    <Findings title="Changed severity" rows={findings.changed} after />
                </Section>
            )}
            <Section title="Stages">
                <Table
                    caption="Stages of both runs"
                    rows={data.stages}
                    columns={STAGES}
                    initial={{ column: 4, descending: true }}
                    limit={30}
                />
            </Section>
            <div class="columns">
                <Section title="Settings that differ">
                    {data.settings.length ? (
                        <Table
                            caption="Settings that differ"
                            rows={data.settings}
                            columns={[
                                { name: "Setting", value: (row) => row.key, cell: (row) => <code>{row.key}</code> },
                                { name: "Before", class: "breaks", cell: (row) => row.before ?? "not set" },
                                { name: "After", class: "breaks", cell: (row) => row.after ?? "not set" },
                            ]}
                        />
                    ) : (
                        <Empty title="None" />
                    )}
                </Section>
                <Section title="Totals">
                    <Table
                        caption="Totals of both runs"
                        rows={data.totals}
                        columns={[
                            { name: "Total", cell: (row) => words(row.name) },
                            { name: "Before", number: true, cell: (row) => amount(row.before, row.unit) },
                            { name: "After", number: true, cell: (row) => amount(row.after, row.unit) },
                        ]}
                    />
                </Section>
            </div>
        </>
    );
}

function Pick({
    name,
    choices,
    value,
    onPick,
}: {
    name: string;
    choices: Choice[];
    value: string;
    onPick: (value: string) => void;
}) {
    return (
        <label>
            {name}{" "}
            <select
                value={value}
                title={choices.find((one) => one.value === value)?.title}
                onChange={(event) => onPick(event.currentTarget.value)}
            >
                <option value="">choose a run</option>
                {choices.map((one) => (
                    <option key={one.value} value={one.value} title={one.title}>
                        {one.text}
                    </option>
                ))}
            </select>
        </label>
    );
}

/** Runs to choose from: the latest whose name has what was typed, as the server finds them. */
const MOST_CHOICES = 200;

/** A chosen run that is not among the listed ones, as the server knows it. */
function useUnlisted(value: string, listed: Choice[] | null): Choice[] {
    const ask = value && listed && !listed.some((one) => one.value === value);
    const state = useDocument<List>(ask ? `applications?${new URLSearchParams({ search: idOf(value) })}` : null);
    return useMemo(() => (state.status === "ready" ? choicesOf(state.data) : []), [ask, state.status]);
}

function Picker({ before, after }: { before: string; after: string }) {
    const replaceQuery = useReplaceQuery();
    const [search, setSearch] = useState("");
    const asked = useSettled(search.trim());
    const parameters = new URLSearchParams({ limit: String(MOST_CHOICES), ...(asked ? { search: asked } : {}) });
    const state = useLasting<List>(`applications?${parameters}`);
    const found = state.status === "ready" ? state.data : null;
    const listed = useMemo(() => (found ? choicesOf(found) : []), [found]);
    const first = useUnlisted(before, found && listed);
    const second = useUnlisted(after, found && listed);
    const choices = useMemo(
        () => withChosen(listed, [before, after], [...first, ...second]),
        [listed, before, after, first, second],
    );
    return (
        <div class="filters">
            <input
                type="search"
                aria-label="Filter runs by name"
                placeholder="Filter by name"
                value={search}
                onInput={(event) => setSearch(event.currentTarget.value)}
            />
            <Pick name="Before" choices={choices} value={before} onPick={(value) => replaceQuery({ before: value })} />
            <Pick name="After" choices={choices} value={after} onPick={(value) => replaceQuery({ after: value })} />
            <button
                type="button"
                disabled={!before || !after}
                onClick={() => replaceQuery({ before: after, after: before })}
            >
                Swap
            </button>
            {found && found.total > found.applications.length && (
                <span class="note" role="status">
                    the latest {count(found.applications.length)} of {count(found.total)}: type a name to filter
                </span>
            )}
            {state.status === "error" && (
                <span class="warn" role="alert">
                    {state.error.message}
                </span>
            )}
        </div>
    );
}

export function Compare({ query }: RootPageProps) {
    const before = query.get("before") ?? "";
    const after = query.get("after") ?? "";
    const asked = before && after ? `compare?${new URLSearchParams({ before, after })}` : null;
    const state = useDocument<Comparison>(asked);
    return (
        <div class="page">
            <h1>Compare two runs</h1>
            <Picker before={before} after={after} />
            {asked ? (
                <Loaded state={state} what="comparison">
                    {(data) => <View data={data} before={before} after={after} />}
                </Loaded>
            ) : (
                <Empty title="Choose two runs">Pyrometer explains how the second run differs from the first.</Empty>
            )}
        </div>
    );
}
