/** The list of applications: search, filter, sort, and how long the same one took before. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { Sparkline } from "../charts/sparkline";
import { fromDisk, unreadable, useDocument } from "../data/documents";
import { useChanges } from "../data/events";
import type { Applications as List } from "../data/types";
import { bytes, count, duration, time } from "../format";
import { go, link, replaceQuery } from "../router";
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

const COLUMNS: Column<Row>[] = [
    {
        name: "Application",
        value: (row) => row.name,
        cell: (row) => (
            <>
                <a class="row-link" href={address(row)}>
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
        value: (row) => (row.attempt.completed ? 1 : 0),
        cell: (row) => <Status status={row.attempt.completed ? "completed" : "running"} />,
    },
    { name: "User", value: (row) => row.attempt.user, cell: (row) => row.attempt.user ?? "-" },
    {
        name: "Started (UTC)",
        value: (row) => row.attempt.start_ms,
        cell: (row) => <span class="nowrap">{time(row.attempt.start_ms)}</span>,
    },
    {
        name: "Ended (UTC)",
        value: (row) => row.attempt.end_ms,
        cell: (row) => <span class="nowrap">{row.attempt.completed ? time(row.attempt.end_ms) : "-"}</span>,
    },
    {
        name: "Duration",
        number: true,
        value: (row) => row.attempt.duration_ms,
        cell: (row) => duration(row.attempt.duration_ms),
    },
    { name: "Past runs", cell: (row) => <Sparkline values={row.past} /> },
    { name: "Spark", value: (row) => row.attempt.spark_version, cell: (row) => row.attempt.spark_version ?? "-" },
    { name: "Log", number: true, value: (row) => row.attempt.log_bytes, cell: (row) => bytes(row.attempt.log_bytes) },
];

function usersOf(rows: Row[]): string[] {
    return [...new Set(rows.map((row) => row.attempt.user).filter((user): user is string => !!user))].sort();
}

function matches(row: Row, search: string, user: string, state: string): boolean {
    if (user && row.attempt.user !== user) return false;
    if (state && (state === "completed") !== row.attempt.completed) return false;
    const needle = search.trim().toLowerCase();
    return !needle || `${row.name ?? ""}\n${row.id}\n${row.attempt.log ?? ""}`.toLowerCase().includes(needle);
}

function ListView({ list, query }: { list: List; query: URLSearchParams }) {
    const rows = useMemo(() => rowsOf(list), [list]);
    const columns = useMemo(
        () =>
            rows.some((row) => row.past.length > 1) ? COLUMNS : COLUMNS.filter((column) => column.name !== "Past runs"),
        [rows],
    );
    const [search, setSearch] = useState(query.get("search") ?? "");
    const [user, setUser] = useState(query.get("user") ?? "");
    const [state, setState] = useState(query.get("status") ?? "");
    const shown = useMemo(() => rows.filter((row) => matches(row, search, user, state)), [rows, search, user, state]);
    useEffect(() => replaceQuery({ search, user, status: state }), [search, user, state]);
    return (
        <>
            <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
                <label>
                    <span class="off-screen">Search by name, id or log</span>
                    <input
                        type="search"
                        placeholder="Name, id or log ( / )"
                        value={search}
                        onInput={(event) => setSearch(event.currentTarget.value)}
                    />
                </label>
                <label>
                    User{" "}
                    <select value={user} onChange={(event) => setUser(event.currentTarget.value)}>
                        <option value="">all</option>
                        {usersOf(rows).map((name) => (
                            <option key={name}>{name}</option>
                        ))}
                    </select>
                </label>
                <label>
                    State{" "}
                    <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
                        <option value="">all</option>
                        <option value="completed">completed</option>
                        <option value="running">running</option>
                    </select>
                </label>
                <span class="note" role="status">
                    {shown.length === rows.length
                        ? count(rows.length)
                        : `${count(shown.length)} of ${count(rows.length)}`}
                    {list.total > list.applications.length && `, the latest of ${count(list.total)} applications`}
                </span>
            </form>
            {shown.length ? (
                <Table
                    caption="Applications"
                    columns={columns}
                    rows={shown}
                    initial={{ column: 4, descending: true }}
                />
            ) : (
                <Empty title={rows.length ? "No application is like this" : "No application yet"}>
                    {rows.length
                        ? "Take away a filter."
                        : "The folder that is served holds no event log. Logs appear here as they are written."}
                </Empty>
            )}
        </>
    );
}

export function Applications({ query }: RootPageProps) {
    const state = useDocument<List>(fromDisk ? "applications" : "applications?sort=end&order=desc&limit=1000");
    useChanges(
        state.status === "ready",
        () => true,
        () => state.reload(),
    );
    // A report about one application has no list worth looking at.
    useEffect(() => {
        if (fromDisk && !unreadable.length && state.status === "ready") {
            const rows = rowsOf(state.data);
            if (rows.length === 1) go(address(rows[0]!));
        }
    }, [state]);
    return (
        <div class="page">
            <h1>Applications</h1>
            <Loaded state={state} what="list of applications">
                {(list) => <ListView list={list} query={query} />}
            </Loaded>
            {unreadable.length > 0 && (
                <Section title="Could not be read">
                    <ul class="plain">
                        {unreadable.map((input) => (
                            <li key={input.path}>
                                <code>{input.path}</code> {input.error}
                            </li>
                        ))}
                    </ul>
                </Section>
            )}
        </div>
    );
}
