/** SQL executions, and the plan of one with what each operator took. */
import { useMemo, useState } from "preact/hooks";
import { appAddress, available, useDocument } from "../data/documents";
import { bytes, count, duration, plural, share, time, words } from "../format";
import { PlanGraph } from "../plan/graph";
import { MOST_NODES, stagesOf } from "../plan/layout";
import type { Plan, PlanNode, SqlExecution, SqlList, SqlPlan } from "../plan/types";
import { link, useReplaceQuery } from "../router";
import { Empty, Figure, Figures, Loaded, Section, Status } from "../ui/parts";
import { type Column, Table } from "../ui/table";
import type { Place } from "./finding";
import type { AppPageProps } from "./pages";
import { CallSite } from "./stage_columns";

function listColumns({ app, attempt }: Place): Column<SqlExecution>[] {
    const base = appAddress(app, attempt);
    return [
        {
            name: "SQL",
            number: true,
            value: (row) => row.id,
            cell: (row) =>
                available(`${base}/sql/${row.id}`) ? (
                    <a href={link(["app", app, attempt, "sql", row.id])}>{row.id}</a>
                ) : (
                    row.id
                ),
        },
        {
            name: "Description",
            class: "clip",
            value: (row) => row.description,
            cell: (row) => <CallSite text={row.description ?? row.call_site} />,
        },
        { name: "State", minor: true, value: (row) => row.status, cell: (row) => <Status status={row.status} /> },
        {
            name: "Started (UTC)",
            class: "nowrap",
            minor: true,
            value: (row) => row.start_ms,
            cell: (row) => time(row.start_ms),
        },
        {
            name: "Duration",
            number: true,
            value: (row) => row.duration_ms,
            cell: (row) => duration(row.duration_ms),
        },
        { name: "Jobs", number: true, value: (row) => row.jobs.length, cell: (row) => count(row.jobs.length) },
        { name: "Stages", number: true, value: (row) => row.stages.length, cell: (row) => count(row.stages.length) },
        { name: "Tasks", number: true, value: (row) => row.tasks, cell: (row) => count(row.tasks) },
        {
            name: "Plan changes",
            number: true,
            value: (row) => row.plan_changes,
            cell: (row) => (row.plan_changes ? count(row.plan_changes) : ""),
        },
    ];
}

function List({ place }: { place: Place }) {
    const state = useDocument<SqlList>(`${appAddress(place.app, place.attempt)}/sql`);
    return (
        <Loaded state={state} what="list of SQL executions">
            {({ executions }) =>
                executions.length ? (
                    <Table
                        caption="SQL executions"
                        rows={executions}
                        columns={listColumns(place)}
                        initial={{ column: 4, descending: true }}
                    />
                ) : (
                    <Empty title="No SQL">This application ran no SQL or DataFrame query.</Empty>
                )
            }
        </Loaded>
    );
}

function nodeColumns(total: number): Column<PlanNode>[] {
    return [
        { name: "Operator", value: (row) => row.name, cell: (row) => row.name },
        {
            name: "Own time",
            number: true,
            value: (row) => row.own_ms,
            cell: (row) => (row.own_ms === null ? "" : duration(row.own_ms)),
        },
        {
            name: "Share",
            number: true,
            value: (row) => row.own_ms,
            cell: (row) => (row.own_ms === null || total <= 0 ? "" : share(row.own_ms / total)),
        },
        {
            name: "Rows",
            number: true,
            value: (row) => row.rows,
            cell: (row) => (row.rows === null ? "" : count(row.rows)),
        },
        {
            name: "Bytes",
            number: true,
            value: (row) => row.bytes,
            cell: (row) => (row.bytes === null ? "" : bytes(row.bytes)),
        },
        { name: "Stages", class: "nowrap", cell: (row) => stagesOf(row).join(", ") },
        {
            name: "Details",
            class: "clip",
            cell: (row) => <span title={row.detail ?? ""}>{row.detail ?? ""}</span>,
        },
    ];
}

function Operator({ node, place }: { node: PlanNode; place: Place }) {
    const metrics = node.metrics.filter((metric) => metric.value !== null);
    return (
        <Section
            title={node.name}
            note={
                node.own_ms === null
                    ? "its own time is not known"
                    : `${duration(node.own_ms)} of its own, sum over all tasks`
            }
        >
            {node.detail && <pre class="wrap plan-detail">{node.detail}</pre>}
            {node.stages.length > 0 && (
                <p>
                    Runs in{" "}
                    {stagesOf(node).map((stage, i) => (
                        <span key={stage}>
                            {i > 0 && ", "}
                            <a href={link(["app", place.app, place.attempt, "stage", stage, 0])}>stage {stage}</a>
                        </span>
                    ))}
                </p>
            )}
            {metrics.length ? (
                <Table
                    caption={`Metrics of ${node.name}`}
                    rows={metrics}
                    columns={[
                        { name: "Metric", value: (row) => row.name, cell: (row) => row.name },
                        { name: "All tasks", number: true, value: (row) => row.value, cell: (row) => row.text },
                    ]}
                />
            ) : (
                <p class="note">The operator has no metrics.</p>
            )}
        </Section>
    );
}

function Versions({ plans, current, onPick }: { plans: Plan[]; current: number; onPick: (index: number) => void }) {
    if (plans.length < 2) return null;
    return (
        <p class="plan-versions">
            Plan:{" "}
            {plans.map((plan, i) => (
                <button key={plan.number} type="button" aria-pressed={i === current} onClick={() => onPick(i)}>
                    {i === 0 ? "initial" : `${words(plan.reason)} ${i}`}
                    {i === plans.length - 1 ? ", final" : ""}
                </button>
            ))}
        </p>
    );
}

function PlanView({ document: it, place, query }: { document: SqlPlan; place: Place; query: URLSearchParams }) {
    const replaceQuery = useReplaceQuery();
    const [version, setVersion] = useState(it.final);
    const plan = it.plans[version];
    const asked = query.get("node");
    const chosen = plan?.nodes.find((node) => String(node.id) === asked) ?? null;
    const work = useMemo(() => (plan?.nodes ?? []).filter((node) => !node.frame), [plan]);
    const total = work.reduce((sum, node) => sum + (node.own_ms ?? 0), 0);
    const columns = useMemo(() => nodeColumns(total), [total]);
    return (
        <>
            <p class="lead">{it.description ?? it.call_site ?? `SQL execution ${it.id}`}</p>
            <Figures>
                <Figure name="State" value={it.status} />
                <Figure name="Duration" value={duration(it.duration_ms)} />
                <Figure name="Jobs" value={count(it.jobs.length)} hint={plural(it.stages.length, "stage")} />
                <Figure name="Tasks" value={count(it.tasks)} hint={duration(it.task_ms)} />
                <Figure name="Outside operators" value={duration(it.other_ms)} hint="of task time" />
            </Figures>
            {it.failure && <pre class="wrap warning">{it.failure}</pre>}
            {plan ? (
                <>
                    <Section
                        title="Plan"
                        note="darker: more own time; thicker lines: more rows"
                        actions={<Versions plans={it.plans} current={version} onPick={setVersion} />}
                    >
                        {work.length > MOST_NODES ? (
                            <Empty title="Too large to draw">
                                The plan has {plural(work.length, "operator")}. The table below lists them.
                            </Empty>
                        ) : (
                            <PlanGraph
                                plan={plan}
                                chosen={chosen?.id ?? null}
                                onChoose={(node) => replaceQuery({ node: node.id === chosen?.id ? null : node.id })}
                            />
                        )}
                    </Section>
                    {chosen && <Operator node={chosen} place={place} />}
                    <Section title="Operators" note={plural(work.length, "operator")}>
                        <Table
                            caption="Operators of the plan"
                            rows={work}
                            columns={columns}
                            initial={{ column: 1, descending: true }}
                        />
                    </Section>
                </>
            ) : (
                <Empty title="No plan">The log has no plan of this execution.</Empty>
            )}
        </>
    );
}

function One({ place, id, query }: { place: Place; id: string; query: URLSearchParams }) {
    const state = useDocument<SqlPlan>(`${appAddress(place.app, place.attempt)}/sql/${encodeURIComponent(id)}`);
    return (
        <>
            <p class="note">
                <a href={link(["app", place.app, place.attempt, "sql"])}>All SQL executions</a>
            </p>
            <Loaded state={state} what={`SQL execution ${id}`}>
                {(document) => <PlanView key={id} document={document} place={place} query={query} />}
            </Loaded>
        </>
    );
}

export function Sql({ app, attempt, rest, query }: AppPageProps) {
    const [id] = rest;
    return (
        <div class="page">
            <h1>{id === undefined ? "SQL" : `SQL ${id}`}</h1>
            {id === undefined ? (
                <List place={{ app, attempt }} />
            ) : (
                <One place={{ app, attempt }} id={id} query={query} />
            )}
        </div>
    );
}
