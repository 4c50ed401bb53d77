/** Recommended settings next to the current ones, to copy, and all properties of the run. */
import { useMemo, useState } from "preact/hooks";
import { appAddress, available, useDocument } from "../data/documents";
import { plural } from "../format";
import { link } from "../router";
import { CodeBlock, Empty, Loaded, Section } from "../ui/parts";
import { type Column, Table } from "../ui/table";
import type { Place } from "./finding";
import type { AppPageProps } from "./pages";

type Null<T> = T | null;

interface Change {
    key: string;
    actual: Null<string>;
    default: Null<string>;
    recommended: Null<string>;
    findings: string[];
    why: Null<string>;
    verify: Null<string>;
    applies: Null<string>;
    note: Null<string>;
}

/** pyrometer.configuration/1 */
interface Configuration {
    platform: Null<string>;
    changes: Change[];
    unchanged: Change[];
    spark_submit: string;
    spark_defaults: string;
    python: string;
}

/** pyrometer.environment/1 */
interface Environment {
    spark: Record<string, Null<string>>;
    system: Record<string, Null<string>>;
    hadoop: Record<string, Null<string>>;
    jvm: Record<string, Null<string>>;
    metrics: Record<string, Null<string>>;
    classpath: string[];
    redacted: number;
}

function columns(place: Place): Column<Change>[] {
    return [
        { name: "Setting", value: (row) => row.key, cell: (row) => <code>{row.key}</code> },
        {
            name: "Current",
            cell: (row) => (row.actual === null ? <span class="meaning">default</span> : <code>{row.actual}</code>),
        },
        { name: "Recommended", cell: (row) => (row.recommended === null ? "-" : <code>{row.recommended}</code>) },
        { name: "Reason", class: "meaning", cell: (row) => [row.why, row.note].filter(Boolean).join(" ") },
        {
            name: "Findings",
            cell: (row) =>
                row.findings.length ? (
                    <a href={link(["app", place.app, place.attempt, "overview"])}>
                        {plural(row.findings.length, "finding")}
                    </a>
                ) : (
                    ""
                ),
        },
        {
            name: "Takes effect",
            value: (row) => row.applies,
            cell: (row) => (row.applies === "runtime" ? "immediately" : "at the next start"),
        },
    ];
}

const FORMS = [
    ["spark_submit", "spark-submit"],
    ["spark_defaults", "spark-defaults.conf"],
    ["python", "Python"],
] as const;

function CopyAs({ document: it }: { document: Configuration }) {
    const [form, setForm] = useState<(typeof FORMS)[number][0]>("spark_submit");
    const name = FORMS.find(([key]) => key === form)?.[1] ?? "";
    return (
        <Section
            title="Changes to copy"
            actions={FORMS.map(([key, title]) => (
                <button key={key} type="button" aria-pressed={form === key} onClick={() => setForm(key)}>
                    {title}
                </button>
            ))}
        >
            <CodeBlock text={it[form].trimEnd()} label={name} />
        </Section>
    );
}

function Recommended({ document: it, place }: { document: Configuration; place: Place }) {
    const shown = useMemo(() => columns(place), [place]);
    return (
        <>
            <Section title="Recommended changes" note={it.platform ? `for ${it.platform}` : undefined}>
                {it.changes.length ? (
                    <Table caption="Recommended changes" rows={it.changes} columns={shown} />
                ) : (
                    <Empty title="Nothing to change">No setting would make this run faster or safer.</Empty>
                )}
            </Section>
            {it.changes.length > 0 && <CopyAs document={it} />}
            <Section title="Unchanged settings" note={plural(it.unchanged.length, "setting")}>
                <Table
                    caption="Unchanged settings"
                    rows={it.unchanged}
                    columns={[
                        { name: "Setting", value: (row) => row.key, cell: (row) => <code>{row.key}</code> },
                        {
                            name: "Current",
                            class: "clip",
                            cell: (row) =>
                                row.actual === null ? (
                                    <span class="meaning">default</span>
                                ) : (
                                    <code title={row.actual}>{row.actual}</code>
                                ),
                        },
                        {
                            name: "Reason",
                            class: "meaning",
                            cell: (row) => [row.why, row.note].filter(Boolean).join(" "),
                        },
                    ]}
                />
            </Section>
        </>
    );
}

const KINDS = ["spark", "jvm", "hadoop", "system", "metrics"] as const;

function Properties({ document: it }: { document: Environment }) {
    const [search, setSearch] = useState("");
    const [kind, setKind] = useState<(typeof KINDS)[number] | "classpath">("spark");
    const rows = useMemo(() => {
        const part = search.toLowerCase();
        const all: [string, string | null][] =
            kind === "classpath" ? it.classpath.map((path) => [path, null]) : Object.entries(it[kind]);
        return all.filter(
            ([key, value]) => key.toLowerCase().includes(part) || (value ?? "").toLowerCase().includes(part),
        );
    }, [it, kind, search]);
    return (
        <Section
            title="Properties of the run"
            note={it.redacted ? `${plural(it.redacted, "secret")} redacted` : undefined}
        >
            <div class="filters">
                <input
                    type="search"
                    aria-label="Search properties"
                    placeholder="Search"
                    value={search}
                    onInput={(event) => setSearch(event.currentTarget.value)}
                />
                <label>
                    Kind{" "}
                    <select value={kind} onChange={(event) => setKind(event.currentTarget.value as typeof kind)}>
                        {[...KINDS, "classpath" as const].map((one) => (
                            <option key={one} value={one}>
                                {one}
                            </option>
                        ))}
                    </select>
                </label>
            </div>
            {rows.length ? (
                <Table
                    caption="Properties"
                    rows={rows}
                    columns={[
                        { name: "Property", value: (row) => row[0], cell: (row) => <code>{row[0]}</code> },
                        {
                            name: "Value",
                            class: "breaks",
                            cell: (row) => (row[1] === null ? "" : <code>{row[1]}</code>),
                        },
                    ]}
                />
            ) : (
                <Empty title="No matching property" />
            )}
        </Section>
    );
}

export function Configuration({ app, attempt }: AppPageProps) {
    const place = useMemo(() => ({ app, attempt }), [app, attempt]);
    const base = appAddress(app, attempt);
    const state = useDocument<Configuration>(`${base}/configuration`);
    const environment = useDocument<Environment>(available(`${base}/environment`) ? `${base}/environment` : null);
    return (
        <div class="page">
            <h1>Configuration</h1>
            <Loaded state={state} what="configuration">
                {(document) => <Recommended document={document} place={place} />}
            </Loaded>
            {available(`${base}/environment`) && (
                <Loaded state={environment} what="properties">
                    {(document) => <Properties document={document} />}
                </Loaded>
            )}
        </div>
    );
}
