/** Text logs of the driver and the executors: errors, and what takes most of the lines. */
import { useEffect, useRef, useState } from "preact/hooks";
import { appAddress, useDocument, useLasting } from "../data/documents";
import type { Report } from "../data/types";
import { clock, count, plural, share, time, words } from "../format";
import {
    executorsOf,
    headlineOf,
    LEVELS,
    type LogChunk,
    type LogChunks,
    type LogError,
    type LogErrors,
    type LogQuestion,
    parametersOf,
    questionOf,
} from "../logs/files";
import { link, useReplaceQuery } from "../router";
import { CodeBlock, Empty, Loaded, Section } from "../ui/parts";
import { type Column, Table } from "../ui/table";
import type { Place } from "./finding";
import type { AppPageProps } from "./pages";

const MOST_ERRORS = 200;
const MOST_CHUNKS = 50;
/** An expression is asked for when the user has not typed for a moment. */
const TYPING_MS = 300;

function Filters({ question, executors }: { question: LogQuestion; executors: string[] }) {
    const replaceQuery = useReplaceQuery();
    const [grep, setGrep] = useState(question.grep);
    const told = useRef(question.grep);
    useEffect(() => {
        if (grep === told.current) return;
        const timer = window.setTimeout(() => {
            told.current = grep;
            replaceQuery({ grep });
        }, TYPING_MS);
        return () => window.clearTimeout(timer);
    }, [grep]);
    return (
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
            <label>
                <span class="off-screen">Only records that match a regular expression</span>
                <input
                    type="search"
                    placeholder="Regular expression ( / )"
                    value={grep}
                    onInput={(event) => setGrep(event.currentTarget.value)}
                />
            </label>
            <label>
                Level{" "}
                <select value={question.level} onChange={(event) => replaceQuery({ level: event.currentTarget.value })}>
                    <option value="">all</option>
                    {LEVELS.map((level) => (
                        <option key={level} value={level}>
                            {level === "error" ? "error" : `${level} and worse`}
                        </option>
                    ))}
                </select>
            </label>
            <label>
                Process{" "}
                <select
                    value={question.executor}
                    onChange={(event) => replaceQuery({ executor: event.currentTarget.value })}
                >
                    <option value="">all</option>
                    {executors.map((name) => (
                        <option key={name} value={name}>
                            {name === "driver" ? name : `executor ${name}`}
                        </option>
                    ))}
                </select>
            </label>
        </form>
    );
}

function processes(names: string[]): string {
    if (names.length === 1) return names[0] === "driver" ? "driver" : `executor ${names[0]}`;
    if (names.length > 3) return `${count(names.length)} processes`;
    return names.includes("driver") ? names.join(", ") : `executors ${names.join(", ")}`;
}

function ErrorLine({ error, place }: { error: LogError; place: Place }) {
    const several = error.count > 1;
    return (
        <details class="log-error">
            <summary>
                <span class="log-time">{error.time_ms === null ? "-" : clock(error.time_ms)}</span>
                <span class="log-headline">{headlineOf(error)}</span>
                <span class="log-facts">
                    {error.cause && <span class="badge log-cause">{words(error.cause)}</span>}
                    {several && <span>{count(error.count)} x</span>}
                    {error.executors.length > 0 && <span>{processes(error.executors)}</span>}
                </span>
            </summary>
            <p class="note">
                {error.level ?? "no level"}
                {error.logger && (
                    <>
                        {" "}
                        by <code>{error.logger}</code>
                    </>
                )}
                {several && `, from ${time(error.first_ms)} to ${time(error.last_ms)} UTC`}
                {!several && `, at ${time(error.time_ms)} UTC`}
                {error.executors.length > 1 && `, on ${error.executors.join(", ")}`}
                {error.stages.length > 0 && (
                    <>
                        {", stages "}
                        {error.stages.slice(0, 10).map((stage) => (
                            <span key={stage}>
                                <a href={link(["app", place.app, place.attempt, "timeline"], { stage })}>
                                    {stage}
                                </a>{" "}
                            </span>
                        ))}
                    </>
                )}
            </p>
            <CodeBlock text={error.text} label="text of the error" />
        </details>
    );
}

function Errors({ data, place }: { data: LogErrors; place: Place }) {
    const left = data.kinds - data.errors.length + data.other;
    return (
        <Section
            title="Errors"
            note={`${plural(data.kinds, "kind")} in ${plural(data.lines, "line")} of ${plural(data.files, "file")}, newest first`}
        >
            {data.errors.length ? (
                <div class="log-errors">
                    {data.errors.map((error, i) => (
                        <ErrorLine key={i} error={error} place={place} />
                    ))}
                </div>
            ) : (
                <Empty title="No error" />
            )}
            {left > 0 && <p class="note">{plural(left, "other kind")} not shown: filter to see them.</p>}
        </Section>
    );
}

function Lines({ chunk }: { chunk: LogChunk }) {
    const [first = "", ...rest] = chunk.lines;
    if (!rest.length) return <code class="log-line">{first}</code>;
    return (
        <details>
            <summary>
                <code class="log-line">{first}</code> <span class="note">and {plural(rest.length, "more line")}</span>
            </summary>
            <pre class="log-block">{rest.join("\n")}</pre>
        </details>
    );
}

const CHUNK_COLUMNS: Column<LogChunk>[] = [
    { name: "Share", number: true, value: (row) => row.share, cell: (row) => share(row.share), title: "Of all lines" },
    { name: "Count", number: true, value: (row) => row.count, cell: (row) => count(row.count) },
    { name: "Level", value: (row) => row.level, cell: (row) => row.level ?? "-" },
    { name: "Lines", class: "meaning", cell: (row) => <Lines chunk={row} /> },
    {
        name: "First (UTC)",
        minor: true,
        value: (row) => row.first_ms,
        cell: (row) => <span class="nowrap">{clock(row.first_ms)}</span>,
    },
    {
        name: "Last (UTC)",
        minor: true,
        value: (row) => row.last_ms,
        cell: (row) => <span class="nowrap">{clock(row.last_ms)}</span>,
    },
    {
        name: "Logs",
        number: true,
        minor: true,
        value: (row) => row.containers.length,
        cell: (row) => count(row.containers.length),
    },
];

function Chunks({ data }: { data: LogChunks }) {
    return (
        <Section
            title="Most of the lines"
            note={`${count(data.chunks.length)} of ${plural(data.found, "template or block")}`}
        >
            {data.chunks.length ? (
                <Table
                    caption="Messages and blocks of lines that take most of the logs"
                    rows={data.chunks}
                    columns={CHUNK_COLUMNS}
                    limit={20}
                />
            ) : (
                <Empty title="No record" />
            )}
        </Section>
    );
}

export function Logs({ app, attempt, query }: AppPageProps) {
    const base = appAddress(app, attempt);
    const question = questionOf(query);
    const report = useDocument<Report>(`${base}/report`);
    const errors = useLasting<LogErrors>(`${base}/logs/errors${parametersOf(question, MOST_ERRORS)}`);
    const chunks = useLasting<LogChunks>(`${base}/logs/top${parametersOf(question, MOST_CHUNKS)}`);
    return (
        <div class="page">
            <h1>Logs</h1>
            <Filters question={question} executors={executorsOf(report.status === "ready" ? report.data : null)} />
            <Loaded state={errors} what="errors of the logs">
                {(data) => <Errors data={data} place={{ app, attempt }} />}
            </Loaded>
            <Loaded state={chunks} what="messages of the logs">
                {(data) => <Chunks data={data} />}
            </Loaded>
        </div>
    );
}
