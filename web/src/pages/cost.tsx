/** What the run was given, what became of it, what it costs, and how it could cost less. */
import { StackedBar } from "../charts/stacked";
import { withoutOptions } from "../cost/missing";
import { appAddress, fromDisk, useLasting } from "../data/documents";
import { duration, fixed, money, plural, share, significant, words } from "../format";
import { link, useReplaceQuery } from "../router";
import { Empty, Figure, Figures, Loaded, Section } from "../ui/parts";
import { type Column, Table } from "../ui/table";
import type { Place } from "./finding";
import type { AppPageProps } from "./pages";
import { CallSite } from "./stage_columns";

type Null<T> = T | null;

interface Amount {
    core_ms: number;
    memory_mib_ms: number;
    cost_micros: number;
}

interface StageCost extends Amount {
    id: number;
    attempt: number;
    name: Null<string>;
    job: Null<number>;
    sql: Null<number>;
}

interface Recommendation {
    kind: string;
    text: Null<string>;
    safety: Null<string>;
    executors: Null<number>;
    wall_ms: Null<number>;
    cost_micros: Null<number>;
    saves_micros: Null<number>;
    saves_share: Null<number>;
}

interface Bill extends Amount {
    parts: ({ name: string } & Amount)[];
    units: Record<string, Null<number>>;
    money: {
        known: boolean;
        currency: Null<string>;
        total: Null<number>;
        instance: Null<string>;
        lines: {
            text: string;
            quantity: number;
            unit: string;
            price: number;
            micros: number;
            source: Null<string>;
            dated: Null<string>;
        }[];
        missing: string[];
        notes: string[];
    };
    place: { platform: { name: string; confidence: number; reason: Null<string> }; region: Null<string> };
    stages: StageCost[];
    recommendations: Recommendation[];
}

/** pyrometer.cost/1 of one application */
interface Costs {
    applications: { cost: Bill }[];
}

const MICROS = 1_000_000;
const HOUR = 3_600_000;

const MEANING: Record<string, string> = {
    "right-size": "Number of executors",
    instance: "Instance type",
    spot: "Spot instances",
    reserved: "Reserved capacity",
    autoscale: "Autoscaling",
};

/** What became of what was paid for (docs/cost.md). */
const PARTS: Record<string, string> = {
    useful: "tasks did useful work",
    spill: "tasks spilled to disk (estimated)",
    gc: "JVMs collected garbage",
    waiting: "tasks waited for shuffle blocks, the scheduler or results",
    speculative: "speculative copies that were not needed",
    retried: "work that was discarded and repeated",
    idle_no_work: "a stage was active, but had no task for this slot",
    idle_driver: "no stage was active",
    idle_wait: "a task could have run, none did",
    driver: "the cores of the driver",
    unheld: "cores of nodes that no executor used",
};

const UNITS: Record<string, string> = {
    core_hours: "core hours",
    gib_hours: "GiB hours",
    mb_seconds: "YARN MB s",
    vcore_seconds: "YARN vcore s",
    dcu: "DCU",
    dbu: "DBU",
};

function stageColumns(place: Place, bill: Bill): Column<StageCost>[] {
    const known = bill.money.known;
    return [
        {
            name: "Stage",
            number: true,
            value: (row) => row.id,
            cell: (row) => (
                <a href={link(["app", place.app, place.attempt, "stage", row.id, row.attempt])}>
                    {row.id}
                    {row.attempt ? `.${row.attempt}` : ""}
                </a>
            ),
        },
        {
            name: "Call site",
            class: "clip",
            value: (row) => row.name,
            cell: (row) => <CallSite text={row.name} />,
        },
        { name: "SQL", number: true, value: (row) => row.sql, cell: (row) => row.sql ?? "" },
        { name: "Core time", number: true, value: (row) => row.core_ms, cell: (row) => duration(row.core_ms) },
        { name: "Share", number: true, value: (row) => row.core_ms, cell: (row) => share(row.core_ms / bill.core_ms) },
        ...(known
            ? [
                  {
                      name: "Cost",
                      number: true,
                      value: (row: StageCost) => row.cost_micros,
                      cell: (row: StageCost) => money(row.cost_micros / MICROS, bill.money.currency ?? ""),
                  },
              ]
            : []),
    ];
}

function Advice({ bill }: { bill: Bill }) {
    const currency = bill.money.currency ?? "";
    return (
        <ul class="plain advice-list">
            {bill.recommendations.map((one, i) => (
                <li key={i} class={one.text ? "" : "meaning"}>
                    <strong>{MEANING[one.kind] ?? words(one.kind)}</strong>
                    {one.text && (
                        <span class="advice-text">
                            {one.text}
                            {one.saves_micros !== null && one.saves_micros > 0 && (
                                <>
                                    : saves {money(one.saves_micros / MICROS, currency)} per run (
                                    {share(one.saves_share)})
                                </>
                            )}
                            {one.wall_ms !== null && <>, duration {duration(one.wall_ms)}</>}
                        </span>
                    )}
                    {one.safety && <small class="sub">{one.safety}</small>}
                </li>
            ))}
        </ul>
    );
}

/** What the bill lacks, and what to do about it: here, as who runs the server, or on the command line. */
function Missing({ missing }: { missing: string[] }) {
    if (!missing.length) return null;
    const lines = missing.map(withoutOptions).filter(Boolean);
    return (
        <div class="warning">
            <p>The cost is not known. Missing: {lines.join("; ") || "a price of the nodes"}.</p>
            {fromDisk ? (
                <p>
                    To price this run, name the instance type of its nodes:{" "}
                    <code>pyrometer cost --instance TYPE LOG</code>.
                </p>
            ) : (
                <p>
                    Enter the instance type of the nodes above. To set it for all runs, start{" "}
                    <code>pyrometer serve</code> with <code class="nowrap">--prices FILE</code>. The price sheet has a
                    row like <code>nodes: {"{instance: r5.2xlarge, region: us-east-1}"}</code>, or your own prices.
                </p>
            )}
        </div>
    );
}

/** The instance type and the region of the nodes, which the server's prices are then looked up for. */
function Nodes({ instance, region }: { instance: string; region: string }) {
    const replaceQuery = useReplaceQuery();
    const field = (name: "instance" | "region", label: string, value: string, example: string) => (
        <label>
            {label}{" "}
            <input
                type="text"
                size={14}
                spellcheck={false}
                placeholder={example}
                value={value}
                onChange={(event) => replaceQuery({ [name]: event.currentTarget.value.trim() })}
            />
        </label>
    );
    return (
        <form class="filters" onSubmit={(event) => event.preventDefault()}>
            {field("instance", "Instance type", instance, "r5.2xlarge")}
            {field("region", "Region", region, "us-east-1")}
            <button type="submit">Show the cost</button>
        </form>
    );
}

function View({ bill, place }: { bill: Bill; place: Place }) {
    const { money: cost } = bill;
    const parts = bill.parts.filter((part) => part.core_ms > 0).map((part) => ({ name: part.name, ms: part.core_ms }));
    return (
        <>
            <Figures>
                <Figure
                    name="Cost of the run"
                    value={cost.known ? money(cost.total, cost.currency ?? "") : "unknown"}
                    hint={cost.instance ?? undefined}
                />
                <Figure name="Core hours" value={fixed(bill.core_ms / HOUR, 3)} hint={duration(bill.core_ms)} />
                <Figure name="GiB hours" value={fixed(bill.memory_mib_ms / 1024 / HOUR, 3)} />
                <Figure
                    name="Platform"
                    value={bill.place.platform.name}
                    hint={`${share(bill.place.platform.confidence)} confidence`}
                />
            </Figures>
            <Missing missing={cost.missing} />
            <Section title="Use of the core time" note="allocated to the executors and the driver">
                <StackedBar title="Core time by use" total={bill.core_ms} parts={parts} meaning={PARTS} />
            </Section>
            <Section title="Recommendations">
                {bill.recommendations.length ? <Advice bill={bill} /> : <Empty title="No recommendations" />}
            </Section>
            {cost.lines.length > 0 && (
                <Section title="Bill">
                    <Table
                        caption="Lines of the bill"
                        rows={cost.lines}
                        columns={[
                            { name: "Item", cell: (row) => row.text },
                            { name: "Amount", number: true, cell: (row) => `${fixed(row.quantity, 4)} ${row.unit}` },
                            { name: "Price", number: true, cell: (row) => money(row.price, cost.currency ?? "") },
                            {
                                name: "Cost",
                                number: true,
                                cell: (row) => money(row.micros / MICROS, cost.currency ?? ""),
                            },
                            {
                                name: "Source of the price",
                                class: "meaning",
                                cell: (row) => [row.source, row.dated].filter(Boolean).join(", "),
                            },
                        ]}
                    />
                    {cost.notes.map((line) => (
                        <p key={line} class="note">
                            {line}
                        </p>
                    ))}
                </Section>
            )}
            <Section title="By stage" note={plural(bill.stages.length, "stage")}>
                <Table
                    caption="Cost by stage"
                    rows={bill.stages}
                    columns={stageColumns(place, bill)}
                    initial={{ column: 3, descending: true }}
                    limit={30}
                />
            </Section>
            <Section title="In other units">
                <Figures>
                    {Object.entries(bill.units)
                        .filter(([, value]) => value !== null)
                        .map(([name, value]) => (
                            <Figure key={name} name={UNITS[name] ?? words(name)} value={significant(value)} />
                        ))}
                </Figures>
            </Section>
        </>
    );
}

export function Cost({ app, attempt, query }: AppPageProps) {
    const instance = fromDisk ? "" : (query.get("instance") ?? "");
    const region = fromDisk ? "" : (query.get("region") ?? "");
    const asked = new URLSearchParams({ ...(instance && { instance }), ...(region && { region }) }).toString();
    const state = useLasting<Costs>(`${appAddress(app, attempt)}/cost${asked && `?${asked}`}`);
    return (
        <div class="page">
            <h1>Cost</h1>
            {!fromDisk && <Nodes instance={instance} region={region} />}
            <Loaded state={state} what="cost">
                {(document) =>
                    document.applications[0] ? (
                        <View bill={document.applications[0].cost} place={{ app, attempt }} />
                    ) : (
                        <Empty title="Nothing was allocated" />
                    )
                }
            </Loaded>
        </div>
    );
}
