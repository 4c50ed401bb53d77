/** All runs of a store together: what they use and waste, what is found, one application over time, comparisons. */
import { useContext, useState } from "preact/hooks";
import { useDocument } from "../data/documents";
import { type Filters, readFilters, takesFilter, type ViewInfo } from "../fleet/model";
import { View, Views } from "../fleet/view";
import { link, useReplaceQuery } from "../router";
import { Empty, Loaded } from "../ui/parts";
import type { RootPageProps } from "./pages";

/** pyrometer.fleet/1 */
interface Fleet {
    stores: { number: number; name: string }[];
    views: ViewInfo[];
}

const PERIODS = [
    ["", "all time"],
    ["24h", "24 hours"],
    ["7d", "7 days"],
    ["30d", "30 days"],
    ["90d", "90 days"],
    ["365d", "a year"],
] as const;

/** What can be summed by without knowing the store; settings and tags are typed. */
const FIELDS = ["application", "user", "queue", "type", "version", "spark_version", "status"];
const VALUES = [
    "duration_ms",
    "input_bytes",
    "core_ms",
    "agg.executors.totalCores.sum",
    "agg.stages.shuffleWriteBytes.sum",
];

function titleOf(views: ViewInfo[], name: string): string {
    return views.find((view) => view.name === name)?.title ?? name;
}

/** A field that is asked for once it is left, or by Enter. */
function Field({
    name,
    label,
    value,
    list,
    onChange,
}: {
    name: string;
    label: string;
    value: string;
    list?: string[];
    onChange: (value: string) => void;
}) {
    const [text, setText] = useState(value);
    const [told, tell] = useState(value);
    if (told !== value) {
        tell(value);
        setText(value);
    }
    return (
        <label>
            {label}{" "}
            <input
                name={name}
                value={text}
                list={list && `fleet-${name}`}
                onInput={(event) => setText(event.currentTarget.value)}
                onChange={() => onChange(text.trim())}
            />
            {list && (
                <datalist id={`fleet-${name}`}>
                    {list.map((one) => (
                        <option key={one} value={one} />
                    ))}
                </datalist>
            )}
        </label>
    );
}

function FilterForm({ view, filters, fleet }: { view: string; filters: Filters; fleet: Fleet }) {
    const replaceQuery = useReplaceQuery();
    const options = fleet.views.find(({ name }) => name === view)?.options ?? [];
    const field = (name: keyof Filters, label: string, list?: string[]) =>
        takesFilter(options, name) && (
            <Field
                name={name}
                label={label}
                value={filters[name] ?? ""}
                {...(list ? { list } : {})}
                onChange={(value) => replaceQuery({ [name]: value })}
            />
        );
    return (
        <form class="filters" onSubmit={(event) => event.preventDefault()}>
            {fleet.stores.length > 1 && (
                <label>
                    Store{" "}
                    <select
                        value={filters.store ?? "1"}
                        onChange={(event) => replaceQuery({ store: event.currentTarget.value })}
                    >
                        {fleet.stores.map((store) => (
                            <option key={store.number} value={String(store.number)}>
                                {store.name}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            <label>
                Started in{" "}
                <select
                    value={filters.since ?? ""}
                    onChange={(event) => replaceQuery({ since: event.currentTarget.value })}
                >
                    {PERIODS.map(([value, text]) => (
                        <option key={value} value={value}>
                            {text}
                        </option>
                    ))}
                    {filters.since && !PERIODS.some(([value]) => value === filters.since) && (
                        <option>{filters.since}</option>
                    )}
                </select>
            </label>
            {field("app", "Application")}
            {field("user", "User")}
            {field(
                "by",
                view === "compare" ? "Compare by" : "By",
                view === "compare" ? ["version", "date", "spark_version", "user"] : FIELDS,
            )}
            {field("value", "Value", VALUES)}
            {filters.by !== "date" && field("before", "Before")}
            {filters.by !== "date" && field("after", "After")}
            {filters.by === "date" && field("at", "Date")}
            {field("instance", "Instance type")}
        </form>
    );
}

function Navigation({ view, filters, fleet }: { view: string; filters: Filters; fleet: Fleet }) {
    const kept = {
        store: filters.store,
        since: filters.since,
        until: filters.until,
        app: filters.app,
        user: filters.user,
    };
    const links = [["", "Overview"], ...fleet.views.map(({ name, title }) => [name, title])] as [string, string][];
    return (
        <nav class="fleet-pages" aria-label="Views of the fleet">
            {links.map(([path, title]) => (
                <a
                    key={path}
                    href={link(path ? ["fleet", path] : ["fleet"], kept)}
                    aria-current={path === view ? "page" : undefined}
                >
                    {title}
                </a>
            ))}
        </nav>
    );
}

function More({ view, filters }: { view: string; filters: Filters }) {
    const title = titleOf(useContext(Views), view);
    return <a href={link(["fleet", view], { ...filters })}>All of {title.toLowerCase()}</a>;
}

function Overview({ filters }: { filters: Filters }) {
    return (
        <>
            <View
                name="usage"
                title="Usage over time"
                filters={{ by: "user", ...filters }}
                only={2}
                actions={<More view="usage" filters={filters} />}
            />
            <div class="fleet-two">
                <View name="waste" title="Waste" filters={filters} actions={<More view="waste" filters={filters} />} />
                <View
                    name="findings"
                    title="Findings"
                    filters={filters}
                    actions={<More view="findings" filters={filters} />}
                />
            </div>
            <View
                name="problems"
                title="Problems"
                filters={filters}
                actions={<More view="problems" filters={filters} />}
            />
            <View
                name="runs"
                title="Applications"
                filters={filters.app ? filters : { ...filters, by: "application" }}
                only={0}
                open
            />
        </>
    );
}

/** One application: the trend, how it ran, and its place. */
function Application({ filters }: { filters: Filters }) {
    if (!filters.app) return <Empty title="No application">Choose one in the overview, or type its name above.</Empty>;
    return (
        <>
            <View name="runs" title="Trend" filters={filters} />
            <div class="fleet-two">
                <View name="histogram" title="Durations" filters={filters} />
                <View name="findings" title="Findings" filters={filters} />
            </div>
            <View name="configurations" title="Configurations" filters={filters} only={0} open />
            <div class="fleet-two">
                <View name="idle" title="Idle executors" filters={filters} only={0} open />
                <View name="parallelism" title="Parallelism" filters={filters} only={0} open />
            </div>
            <p class="actions">
                <a href={link(["fleet", "compare"], { app: filters.app, store: filters.store, by: "date" })}>
                    Compare before and after the last change
                </a>
            </p>
        </>
    );
}

function Content({ view, filters }: { view: string; filters: Filters }) {
    if (view === "") return <Overview filters={filters} />;
    if (view === "application") return <Application filters={filters} />;
    return <View name={view} filters={filters} open />;
}

export function FleetPage({ rest, query }: RootPageProps) {
    const state = useDocument<Fleet>("fleet");
    const views = state.status === "ready" ? state.data.views : [];
    const view = rest[0] ?? "";
    const filters = readFilters(query);
    const heading =
        view === "application"
            ? (filters.app ?? "Application")
            : view
              ? `Fleet: ${titleOf(views, view).toLowerCase()}`
              : "Fleet";
    return (
        <div class="page">
            <h1 class="breaks">{heading}</h1>
            <Loaded state={state} what="views">
                {(fleet) =>
                    fleet.stores.length === 0 ? (
                        <Empty title="No store">
                            This server shows no store: start it with <code>pyrometer serve sqlite:FILE</code>.
                        </Empty>
                    ) : (
                        <Views.Provider value={fleet.views}>
                            <Navigation view={view} filters={filters} fleet={fleet} />
                            <FilterForm view={view} filters={filters} fleet={fleet} />
                            <Content view={view} filters={filters} />
                        </Views.Provider>
                    )
                }
            </Loaded>
        </div>
    );
}
