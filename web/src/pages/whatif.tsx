/** The run predicted with other executors, memory, settings or amounts of data, by the simulator behind the server. */
import { useId, useMemo } from "preact/hooks";
import { appAddress, available, fromDisk, useDocument } from "../data/documents";
import { bytes, change, count, duration, durationRange, plural, share } from "../format";
import { useReplaceQuery } from "../router";
import { Empty, Figure, Figures, Loaded, Section } from "../ui/parts";
import { useSettled } from "../ui/settled";
import { type Asked, FIELDS, readAsked, requestOf, takesPlan } from "../whatif/asked";
import { nearest, sweepValues, valuesOf } from "../whatif/pareto";
import { costText, isChosen, Sweeps } from "../whatif/sweeps";
import type { WhatIf } from "../whatif/types";
import type { AppPageProps } from "./pages";

const MIB = 1024 * 1024;

/** An <output> would be what a label around it names: it says by `for` that it is the slider. */
function Slider({
    name,
    value,
    fallback,
    most,
    step = 1,
    least = 1,
    text,
    onChange,
}: {
    name: string;
    value: string;
    fallback: number;
    most: number;
    step?: number;
    least?: number;
    text: (value: number) => string;
    onChange: (value: string) => void;
}) {
    const now = value ? Number(value) : fallback;
    const id = useId();
    return (
        <label class="slider" for={id}>
            <span>
                {name} <output>{text(now)}</output>
                {value && value !== String(fallback) && <small>was {text(fallback)}</small>}
            </span>
            <input
                id={id}
                type="range"
                min={least}
                max={Math.max(most, now)}
                step={step}
                value={now}
                aria-valuetext={text(now)}
                onInput={(event) => {
                    const next = event.currentTarget.value;
                    onChange(Number(next) === fallback ? "" : next);
                }}
            />
        </label>
    );
}

function Outcome({ data }: { data: WhatIf }) {
    const { base } = data;
    const scenario = data.scenarios[0];
    if (!scenario) return <Empty title="No scenario" />;
    const { findings } = scenario;
    return (
        <div aria-live="polite">
            <Figures>
                <Figure name="Predicted range" value={durationRange(scenario.wall_ms.low, scenario.wall_ms.high)} />
                <Figure
                    name="Expected"
                    value={duration(scenario.wall_ms.expected)}
                    hint={change((scenario.wall_ms.expected - base.replayed_ms) / base.replayed_ms)}
                />
                <Figure
                    name="Measured"
                    value={duration(base.measured_ms)}
                    hint={`replay error ${share(base.replay_error_share)}`}
                />
                <Figure name="Cost" value={costText(scenario, base)} />
                <Figure name="Slot usage" value={share(scenario.utilization)} hint={`was ${share(base.utilization)}`} />
                <Figure
                    name="Unlimited slots"
                    value={duration(scenario.critical_path_ms)}
                    hint="from the start: not less"
                />
            </Figures>
            {findings && findings.vanish.length + findings.appear.length > 0 && (
                <ul class="plain">
                    {findings.vanish.map((one) => (
                        <li key={one.id} class="gone">
                            removed: {one.title ?? one.rule}
                        </li>
                    ))}
                    {findings.appear.map((one) => (
                        <li key={one.id} class="warn">
                            new: {one.title ?? one.rule}
                        </li>
                    ))}
                </ul>
            )}
            {scenario.models.length > 0 && (
                <details>
                    <summary>How this was predicted ({plural(scenario.models.length, "model")})</summary>
                    <ul>
                        {scenario.models.map((model) => (
                            <li key={model.name}>
                                <strong>{model.name}</strong>: {model.effect}; error up to{" "}
                                {duration(Math.max(model.doubt_ms.below, model.doubt_ms.above))}
                            </li>
                        ))}
                    </ul>
                </details>
            )}
        </div>
    );
}

/** What the report recommends: all settings, or what fixes single findings. */
function Recommended({ plan, asked }: { plan: WhatIf["plan"]; asked: Asked }) {
    const replaceQuery = useReplaceQuery();
    const settings = Object.entries(plan ?? {});
    const fixed = asked.fix.split("\n").filter((id) => id.trim());
    return (
        <>
            {settings.length > 0 && (
                <label class="recommended">
                    <input
                        type="checkbox"
                        checked={takesPlan(asked, true)}
                        onChange={(event) => replaceQuery({ plan: event.currentTarget.checked ? "true" : "false" })}
                    />{" "}
                    Recommended settings{" "}
                    <small>{settings.map(([key, value]) => `${key.replace("spark.", "")}=${value}`).join(", ")}</small>
                </label>
            )}
            {fixed.map((id) => (
                <label class="recommended" key={id}>
                    <input
                        type="checkbox"
                        checked
                        onChange={() => replaceQuery({ fix: fixed.filter((one) => one !== id).join("\n") })}
                    />{" "}
                    Fixed: <code>{id}</code>
                </label>
            ))}
        </>
    );
}

function Controls({ base, asked }: { base: WhatIf["base"]; asked: Asked }) {
    const replaceQuery = useReplaceQuery();
    const change = (name: keyof Asked) => (value: string) => replaceQuery({ [name]: value });
    const memory = base.memory_bytes === null ? 1024 : Math.round(base.memory_bytes / MIB);
    return (
        <div class="sliders">
            <Slider
                name="Executors"
                value={asked.executors}
                fallback={base.executors}
                most={Math.max(16, base.executors * 4)}
                text={count}
                onChange={change("executors")}
            />
            <Slider
                name="Cores per executor"
                value={asked.cores}
                fallback={base.cores_per_executor}
                most={Math.max(8, base.cores_per_executor * 2)}
                text={count}
                onChange={change("cores")}
            />
            <Slider
                name="Heap per executor"
                value={asked.memory}
                fallback={memory}
                least={512}
                step={256}
                most={Math.max(16384, memory * 4)}
                text={(value) => bytes(value * MIB)}
                onChange={change("memory")}
            />
            <Slider
                name="Data size"
                value={asked.data}
                fallback={1}
                least={0.25}
                step={0.25}
                most={10}
                text={(value) => `${value} x`}
                onChange={change("data")}
            />
            <label class="slider">
                <span>
                    Hosts <small>same, new or a number; the run has {count(base.hosts)}</small>
                </span>
                <input
                    type="text"
                    pattern="same|new|[1-9][0-9]*"
                    placeholder={base.hosts === 1 ? "same" : "new"}
                    value={asked.hosts}
                    onChange={(event) => change("hosts")(event.currentTarget.value.trim())}
                />
            </label>
            <label class="slider">
                <span>Shuffle partitions</span>
                <input
                    type="number"
                    min={1}
                    max={100000}
                    placeholder="unchanged"
                    value={asked.partitions}
                    onChange={(event) => change("partitions")(event.currentTarget.value)}
                />
            </label>
            <label class="slider wide">
                <span>
                    Other settings <small>one KEY=VALUE per line</small>
                </span>
                <textarea
                    rows={3}
                    placeholder="spark.sql.adaptive.enabled=true"
                    onChange={(event) => change("more")(event.currentTarget.value)}
                >
                    {asked.more}
                </textarea>
            </label>
            <button type="button" onClick={() => replaceQuery(Object.fromEntries(FIELDS.map((name) => [name, ""])))}>
                Reset
            </button>
        </div>
    );
}

function Live({ base, address, query }: { base: WhatIf; address: string; query: URLSearchParams }) {
    const asked = readAsked(query);
    const request = useSettled(requestOf(asked, base.plan !== null));
    const state = useDocument<WhatIf>(request === null ? null : `${address}/${request}`);
    return (
        <Section title="Scenario" note="simulated from the tasks of this run">
            <Recommended plan={base.plan} asked={asked} />
            <Controls base={base.base} asked={asked} />
            {request === null ? (
                <Outcome data={base} />
            ) : (
                <Loaded state={state} what="prediction">
                    {(data) => <Outcome data={data} />}
                </Loaded>
            )}
        </Section>
    );
}

function OnServer({ address, query }: { address: string; query: URLSearchParams }) {
    const base = useDocument<WhatIf>(`${address}/whatif`);
    const known = base.status === "ready" ? base.data.base : null;
    const asked = readAsked(query);
    const { hosts } = asked;
    const sweep = useMemo(() => {
        if (!known) return null;
        const parameters = new URLSearchParams();
        parameters.append("sweep", `executors=${sweepValues(known.executors).join(",")}`);
        parameters.append(
            "sweep",
            `cores=${[...new Set([Math.max(1, Math.floor(known.cores_per_executor / 2)), known.cores_per_executor, known.cores_per_executor * 2])].join(",")}`,
        );
        if (hosts) parameters.set("hosts", hosts);
        return `${address}/whatif?${parameters}`;
    }, [address, known, hosts]);
    const sweeps = useDocument<WhatIf>(sweep);
    const choice = useMemo(
        () => ({
            executors: Number(asked.executors) || (known?.executors ?? 0),
            cores: Number(asked.cores) || (known?.cores_per_executor ?? 0),
        }),
        [asked.executors, asked.cores, known],
    );
    return (
        <Loaded state={base} what="prediction">
            {(data) => (
                <>
                    <Live base={data} address={address} query={query} />
                    <Loaded state={sweeps} what="other configurations">
                        {(all) => <Sweeps data={all} choice={choice} hosts={hosts} />}
                    </Loaded>
                </>
            )}
        </Loaded>
    );
}

/** A slider that stops only at what was predicted. */
function Stops({
    name,
    values,
    value,
    was,
    onChange,
}: {
    name: string;
    values: number[];
    value: number;
    was: number;
    onChange: (value: number) => void;
}) {
    const at = Math.max(0, values.indexOf(value));
    const id = useId();
    return (
        <label class="slider" for={id}>
            <span>
                {name} <output>{count(value)}</output>
                {value !== was && <small>was {count(was)}</small>}
            </span>
            <input
                id={id}
                type="range"
                min={0}
                max={values.length - 1}
                step={1}
                value={at}
                disabled={values.length < 2}
                aria-valuetext={count(value)}
                onInput={(event) => onChange(values[Number(event.currentTarget.value)] ?? value)}
            />
            <small>{values.map(count).join(" · ")}</small>
        </label>
    );
}

/** The predictions that came with the report, and sliders from one to another. */
function Saved({ data, query }: { data: WhatIf; query: URLSearchParams }) {
    const replaceQuery = useReplaceQuery();
    const { base } = data;
    const executors = useMemo(() => valuesOf(data.scenarios, "executors"), [data]);
    const cores = useMemo(() => valuesOf(data.scenarios, "cores_per_executor"), [data]);
    const asked = { executors: query.get("executors"), cores: query.get("cores") };
    const chosen = useMemo(
        () => ({
            executors: nearest(executors, Number(asked.executors) || base.executors),
            cores: nearest(cores, Number(asked.cores) || base.cores_per_executor),
        }),
        [executors, cores, asked.executors, asked.cores, base],
    );
    const scenario = data.scenarios.find((one) => isChosen(one, chosen));
    return (
        <>
            <Section title="Scenario" note="from the predictions in this report">
                <div class="sliders">
                    <Stops
                        name="Executors"
                        values={executors}
                        value={chosen.executors}
                        was={base.executors}
                        onChange={(value) => replaceQuery({ executors: value === base.executors ? null : value })}
                    />
                    <Stops
                        name="Cores per executor"
                        values={cores}
                        value={chosen.cores}
                        was={base.cores_per_executor}
                        onChange={(value) => replaceQuery({ cores: value === base.cores_per_executor ? null : value })}
                    />
                </div>
                <Outcome data={{ base, plan: null, scenarios: scenario ? [scenario] : [] }} />
                <p class="note">
                    A saved report has no simulator: the sliders stop at {plural(data.scenarios.length, "prediction")}{" "}
                    in the report. To try other numbers, memory, settings and data sizes, run pyrometer serve or
                    pyrometer whatif.
                </p>
            </Section>
            <Sweeps data={data} choice={chosen} hosts="" />
        </>
    );
}

/** A report from disk brings a sweep along, and has no simulator. */
function FromDisk({ address, query }: { address: string; query: URLSearchParams }) {
    const there = available(`${address}/whatif`);
    const state = useDocument<WhatIf>(there ? `${address}/whatif` : null);
    if (!there) return <Empty title="Not in this report">To see it, open the log with: pyrometer serve FOLDER</Empty>;
    return (
        <Loaded state={state} what="prediction">
            {(data) => <Saved data={data} query={query} />}
        </Loaded>
    );
}

export function WhatIfPage({ app, attempt, query }: AppPageProps) {
    const address = appAddress(app, attempt);
    return (
        <div class="page">
            <h1>What if</h1>
            {fromDisk ? <FromDisk address={address} query={query} /> : <OnServer address={address} query={query} />}
        </div>
    );
}
