/** The list of applications: search, filter, sort, and how long the same one took before. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { OUTCOME_TITLES, OUTCOMES, outcomeOf } from "../applications/outcome";
import {
    addressOf,
    answer,
    endOf,
    PAGE,
    type Question,
    readQuestion,
    type Sort,
    startsDescending,
} from "../applications/question";
import { Sparkline } from "../charts/sparkline";
import { fromDisk, type State, unreadable, useLasting } from "../data/documents";
import { useChanges } from "../data/events";
import type { Applications as List } from "../data/types";
import { bytes, count, duration, plural, time, words } from "../format";
import { go, link, type Query, useReplaceQuery } from "../router";
import { Empty, Loaded, Section, Status } from "../ui/parts";
import { type Column, Table } from "../ui/table";
import type { RootPageProps } from "./pages";

interface Row {
    id: string;
    name: string | null;
    past: number[];
    attempt: List["applications"][number]["attempts"][number];
}

function rowsOf(list: List): Row[] {
    return list.applications.flatMap((application) =>
        application.attempts.map((attempt) => ({
            id: application.id,
            name: application.name,
            past: application.past_runs_ms,
            attempt,
        })),
    );
}

function address(row: Row): string {
    return link(["app", row.id, row.attempt.attempt ?? "-", "overview"]);
}

/** What the server sorts a column by. */
interface ListColumn extends Column<Row> {
    sort?: Sort;
}

const COLUMNS: ListColumn[] = [
    {
        name: "Application",
        class: "run-name",
        sort: "name",
        cell: (row) => (
            <>
                <a class="row-link breaks" href={address(row)}>
                    {row.name ?? row.id}
                </a>
                <small class="sub">
                    <code>{row.id}</code>
                    {row.attempt.attempt !== null && ` attempt ${row.attempt.attempt}`}
                </small>
            </>
        ),
    },
    {
        name: "State",
        cell: (row) => {
            const outcome = outcomeOf(row.attempt);
            return <Status status={outcome} title={OUTCOME_TITLES[outcome]} />;
        },
    },
    { name: "User", sort: "user", minor: true, cell: (row) => row.attempt.user ?? "-" },
    {
        name: "Started (UTC)",
        minor: true,
        sort: "start",
        cell: (row) => <span class="nowrap">{time(row.attempt.start_ms)}</span>,
    },
    {
        name: "Ended (UTC)",
        sort: "end",
        cell: (row) =>
            outcomeOf(row.attempt) === "truncated" ? (
                <span class="nowrap" title="The last event in the log">
                    {time(endOf(row.attempt))}
                </span>
            ) : (
                <span class="nowrap">{row.attempt.completed ? time(row.attempt.end_ms) : "-"}</span>
            ),
    },
    { name: "Duration", sort: "duration", number: true, cell: (row) => duration(row.attempt.duration_ms) },
    { name: "Past runs", minor: true, cell: (row) => <Sparkline values={row.past} /> },
    { name: "Spark", sort: "version", minor: true, cell: (row) => row.attempt.spark_version ?? "-" },
    {
        name: "Log",
        minor: true,
        sort: "bytes",
        number: true,
        cell: (row) =>
            row.attempt.stored ? (
                <span title="The log was removed or cannot be read. Only the overview and the findings are available">
                    report only
                </span>
            ) : (
                bytes(row.attempt.log_bytes)
            ),
    },
];

/** Columns for the table, which sorts by those that have a value. */
function columnsFor(rows: Row[]): ListColumn[] {
    const past = rows.some((row) => row.past.length > 1);
    return COLUMNS.filter((column) => past || column.name !== "Past runs").map((column) =>
        column.sort ? { ...column, value: () => null } : column,
    );
}

/** Words are asked for when the user has not typed for a moment. */
const TYPING_MS = 200;

function Filters({ question, list }: { question: Question; list: List }) {
    const replaceQuery = useReplaceQuery();
    const [search, setSearch] = useState(question.search);
    const told = useRef(question.search); // what the address says of it, as far as this field knows
    useEffect(() => {
        if (question.search === told.current) return;
        told.current = question.search;
        setSearch(question.search);
    }, [question.search]);
    useEffect(() => {
        if (search === told.current) return;
        const timer = window.setTimeout(() => {
            told.current = search;
            replaceQuery({ search, page: null });
        }, TYPING_MS);
        return () => window.clearTimeout(timer);
    }, [search]);
    const choose = (changes: Query) => replaceQuery({ ...changes, page: null });
    return (
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
            <label>
                <span class="off-screen">Search by name, id, user or log</span>
                <input
                    type="search"
                    placeholder="Name, id, user or log ( / )"
                    value={search}
                    onInput={(event) => setSearch(event.currentTarget.value)}
                />
            </label>
            <label>
                User{" "}
                <select value={question.user} onChange={(event) => choose({ user: event.currentTarget.value })}>
                    <option value="">all</option>
                    {list.users.map((name) => (
                        <option key={name}>{name}</option>
                    ))}
                </select>
            </label>
            <label>
                State{" "}
                <select value={question.status} onChange={(event) => choose({ status: event.currentTarget.value })}>
                    <option value="">all</option>
                    {OUTCOMES.map((outcome) => (
                        <option key={outcome} value={outcome}>
                            {words(outcome)}
                        </option>
                    ))}
                </select>
            </label>
            <span class="note" role="status">
                {list.total === list.all
                    ? plural(list.all, "application")
                    : `${count(list.total)} of ${plural(list.all, "application")}`}
            </span>
        </form>
    );
}

/** From one page of the list to another. */
function Pages({ question, list }: { question: Question; list: List }) {
    const replaceQuery = useReplaceQuery();
    const pages = Math.max(1, Math.ceil(list.total / PAGE));
    const first = (question.page - 1) * PAGE;
    const turn = (page: number) => {
        replaceQuery({ page: page > 1 ? page : null });
        window.scrollTo(0, 0);
    };
    if (pages === 1 && question.page === 1) return null;
    return (
        <nav class="list-pages" aria-label="Pages of the list">
            <button type="button" disabled={question.page <= 1} onClick={() => turn(question.page - 1)}>
                Previous
            </button>
            <span>
                {count(first + 1)} to {count(first + list.applications.length)} of {count(list.total)}
            </span>
            <button type="button" disabled={question.page >= pages} onClick={() => turn(question.page + 1)}>
                Next
            </button>
        </nav>
    );
}

function ListView({ list, question }: { list: List; question: Question }) {
    const replaceQuery = useReplaceQuery();
    const rows = useMemo(() => rowsOf(list), [list]);
    const columns = useMemo(() => columnsFor(rows), [rows]);
    const at = columns.findIndex((column) => column.sort === question.sort);
    // A page beyond the end: the list has become shorter, or the address is made up.
    const last = Math.ceil(list.total / PAGE);
    useEffect(() => {
        if (!rows.length && last > 0 && question.page > last) replaceQuery({ page: last > 1 ? last : null });
    }, [rows, last, question.page]);
    return (
        <>
            <Filters question={question} list={list} />
            {rows.length ? (
                <Table
                    caption="Applications"
                    columns={columns}
                    rows={rows}
                    order={{
                        sorting: at < 0 ? null : { column: at, descending: question.descending },
                        onSort: ({ column }) => {
                            const sort = columns[column]?.sort ?? "end";
                            const descending = sort === question.sort ? !question.descending : startsDescending(sort);
                            replaceQuery({ sort, order: descending ? "desc" : "asc", page: null });
                        },
                    }}
                />
            ) : (
                <Empty title={list.all ? "No matching application" : "No application yet"}>
                    {!list.all ? (
                        "The served folders contain no event log. New logs appear here."
                    ) : (
                        <button type="button" onClick={() => go(link([]))}>
                            Show all {count(list.all)}
                        </button>
                    )}
                </Empty>
            )}
            <Pages question={question} list={list} />
        </>
    );
}

/** Files that were taken for logs and are none, or not whole ones. */
function Unreadable({ files }: { files: { path: string; error: string }[] }) {
    if (!files.length) return null;
    return (
        <Section title="Unreadable files" note={plural(files.length, "file")}>
            <Table
                caption="Unreadable files"
                rows={files}
                limit={10}
                columns={[
                    { name: "File", class: "breaks", cell: (row) => <code>{row.path}</code> },
                    { name: "Reason", class: "meaning", cell: (row) => row.error },
                ]}
            />
        </Section>
    );
}

/** The page of the list that the address asks for. */
function useList(question: Question): State<List> {
    const state = useLasting<List>(fromDisk ? "applications" : addressOf(question));
    return fromDisk && state.status === "ready" ? { ...state, data: answer(state.data, question) } : state;
}

export function Applications({ query }: RootPageProps) {
    const question = readQuestion(query);
    const state = useList(question);
    useChanges(
        state.status === "ready",
        () => true,
        () => state.reload(),
    );
    // A report about one application has no list worth looking at.
    useEffect(() => {
        if (fromDisk && !unreadable().length && state.status === "ready") {
            const rows = rowsOf(state.data);
            if (rows.length === 1) go(address(rows[0]!));
        }
    }, [state]);
    return (
        <div class="page">
            <h1>Applications</h1>
            <Loaded state={state} what="list of applications">
                {(list) => <ListView list={list} question={question} />}
            </Loaded>
            <Unreadable files={fromDisk || state.status !== "ready" ? unreadable() : state.data.unreadable} />
        </div>
    );
}
