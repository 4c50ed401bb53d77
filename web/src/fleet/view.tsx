/** One view: its pictures, its tables, and the questions that the store was asked. */
import { type ComponentChildren, createContext } from "preact";
import { useContext, useMemo } from "preact/hooks";
import { withoutOptions } from "../cost/missing";
import { useLasting } from "../data/documents";
import { metricName } from "../format";
import { link } from "../router";
import { CodeBlock, Empty, Loaded, Section, Status } from "../ui/parts";
import { type Column, Table } from "../ui/table";
import {
    type Cell,
    cellText,
    type Filters,
    type FleetTable,
    type FleetView,
    shownColumns,
    tablesOf,
    unitOf,
    type ViewInfo,
    viewAddress,
} from "./model";
import { PictureOf } from "./pictures";

/** The views of the server (pyrometer.fleet/1). */
export const Views = createContext<ViewInfo[]>([]);

const LONG = 24;
/** Tables that are open at first: the first ones of a page about one view, and short ones. */
const SHOWN = 2;
const FEW = 25;

/** Names of applications and runs lead to their pages. */
function cellOf(table: FleetTable, column: number, row: Cell[], filters: Filters): ComponentChildren {
    const value = row[column] ?? null;
    const text = cellText(value, unitOf(table, column, row));
    const name = table.columns[column];
    if (typeof value !== "string" || !value || value.startsWith("(")) return text; // "(other)", "(program)"
    if (name === "application") return <a href={applicationLink(value, filters)}>{value}</a>;
    if (name === "app_id") {
        const attempt = row[table.columns.indexOf("attempt")];
        return (
            <a href={link(["app", value, typeof attempt === "string" && attempt ? attempt : "-", "overview"])}>
                {value}
            </a>
        );
    }
    if (name === "rule")
        return (
            <a class="nowrap" href={link(["rules", value])}>
                {value}
            </a>
        );
    if (name === "status" || name === "outcome") return <Status status={value} />;
    if (name === "measure") return value === "core_ms" ? "core hours" : metricName(value);
    return value.length > LONG ? <span class="breaks">{value}</span> : value;
}

export function applicationLink(app: string, filters: Filters): string {
    return link(["fleet", "application"], { app, store: filters.store, since: filters.since, until: filters.until });
}

export function ViewTable({
    table,
    caption,
    filters,
    limit,
}: {
    table: FleetTable;
    caption: string;
    filters: Filters;
    limit: number;
}) {
    const columns = useMemo(
        (): Column<Cell[]>[] =>
            shownColumns(table).map((i) => ({
                name: table.titles[i] ?? table.columns[i]!,
                number: table.units[i] !== "text",
                value: (row) => row[i],
                cell: (row) => cellOf(table, i, row, filters),
            })),
        [table, filters],
    );
    if (!table.rows.length) return <p class="note">No rows.</p>;
    return <Table caption={caption} columns={columns} rows={table.rows} limit={limit} />;
}

function Query({ view }: { view: FleetView }) {
    const text = view.query.map((one) => JSON.stringify(one)).join("\n");
    return (
        <details class="fleet-query">
            <summary>Questions to the store ({view.query.length})</summary>
            <CodeBlock text={text} label="questions" />
        </details>
    );
}

/** `open`: the first table is shown, else behind a line. `title`: another one than the view's own. */
export function View({
    name,
    title: given,
    filters,
    open = false,
    actions,
    only,
}: {
    name: string;
    title?: string;
    filters: Filters;
    open?: boolean;
    actions?: ComponentChildren;
    /** How many of the pictures are drawn. */
    only?: number;
}) {
    const info = useContext(Views).find((view) => view.name === name) ?? { name, title: name, options: [] };
    const title = given ?? info.title;
    const state = useLasting<FleetView>(viewAddress(info, filters));
    return (
        <Section title={title} actions={actions} class="fleet-view">
            <Loaded state={state} what={title.toLowerCase()}>
                {(view) => <Body view={view} title={title} filters={filters} open={open} only={only} />}
            </Loaded>
        </Section>
    );
}

function Body({
    view,
    title,
    filters,
    open,
    only,
}: {
    view: FleetView;
    title: string;
    filters: Filters;
    open: boolean;
    only: number | undefined;
}) {
    const tables = useMemo(() => tablesOf(view), [view]);
    const pictures = view.rows.length ? view.pictures.slice(0, only) : [];
    return (
        <>
            {!view.rows.length && <Empty title="No runs">The store has no run that fits the filters.</Empty>}
            {pictures.length > 0 && (
                <div class="fleet-pictures">
                    {pictures.map((picture) => (
                        <PictureOf key={picture.title} view={view} picture={picture} />
                    ))}
                </div>
            )}
            {tables.map((table, i) => (
                <details
                    key={table.name}
                    class="fleet-table"
                    open={(open && i < SHOWN) || (i > 0 && table.rows.length > 0 && table.rows.length <= FEW)}
                >
                    <summary>
                        {table.title || "Table"} ({table.rows.length})
                    </summary>
                    <ViewTable
                        table={table}
                        caption={`${title}: ${table.title || "table"}`}
                        filters={filters}
                        limit={open ? 25 : 10}
                    />
                </details>
            ))}
            {view.notes.map((note) => (
                <p key={note} class="note">
                    {note.includes("--") ? withoutOptions(note) : note}
                </p>
            ))}
            <Query view={view} />
        </>
    );
}
