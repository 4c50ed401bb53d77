/** What the pages about traces share: bars of states, and tables of waits. */
import { StackedBar } from "../charts/stacked";
import type { StageDocument } from "../data/types";
import { count, plural, share } from "../format";
import { Section } from "../ui/parts";
import { type Column, Table } from "../ui/table";
import { nanoseconds, partsOf, STATES, type StageWaits, stateColour, type Wait } from "./states";

const NS_PER_MS = 1e6;

function State({ name }: { name: string }) {
    return (
        <>
            <span class="swatch" style={{ background: stateColour(name) }} />
            {name}
        </>
    );
}

/** Without the table of its parts. */
export function StateBar({ times }: { times: Record<string, number> }) {
    return (
        <div class="stacked states" aria-hidden="true">
            {partsOf(times).map(({ name, ms }) => (
                <span
                    key={name}
                    style={{ flexGrow: ms, background: stateColour(name) }}
                    title={`${name}: ${nanoseconds(ms * NS_PER_MS)}`}
                />
            ))}
        </div>
    );
}

/** The states that occur. */
export function StateLegend({ names }: { names: Iterable<string> }) {
    const shown = new Set(names);
    return (
        <p class="legend">
            {Object.keys(STATES)
                .filter((name) => shown.has(name))
                .map((name) => (
                    <span key={name} title={STATES[name]}>
                        <State name={name} />
                    </span>
                ))}
        </p>
    );
}

function waitColumns(whole: number): Column<Wait>[] {
    return [
        { name: "Did", class: "nowrap", value: (row) => row.state, cell: (row) => <State name={row.state} /> },
        {
            name: "Came down to",
            class: "nowrap",
            title: "The same through all threads that it waited for",
            value: (row) => row.root,
            cell: (row) => (row.root === row.state ? "" : <State name={row.root} />),
        },
        {
            name: "Time",
            number: true,
            value: (row) => row.duration_ns,
            cell: (row) => nanoseconds(row.duration_ns),
        },
        {
            name: "Share",
            number: true,
            minor: true,
            value: (row) => row.duration_ns,
            cell: (row) => share(whole > 0 ? row.duration_ns / whole : null),
        },
        {
            name: "Count",
            number: true,
            minor: true,
            title: "Of running-system: system calls",
            value: (row) => row.count,
            cell: (row) => count(row.count),
        },
        {
            name: "What",
            class: "breaks",
            minor: true,
            title: "System call or device",
            value: (row) => row.what,
            cell: (row) => row.what ?? "",
        },
        {
            name: "By",
            class: "breaks",
            title: "Who ran, or kept the device busy: a thread of the same process, or a process with its number",
            value: (row) => row.by,
            cell: (row) => row.by ?? "",
        },
    ];
}

/** The time of a stage's tasks as a bar with its table, and the longest waits. */
export function StageTime({ name, waits }: { name: string; waits: StageWaits }) {
    return (
        <>
            <StackedBar
                title={`Time of the tasks of ${name} by what it came down to`}
                total={waits.traced_ns / NS_PER_MS}
                parts={partsOf(waits.roots_ns)}
                meaning={STATES}
                colour={stateColour}
                text={(ms) => nanoseconds(ms * NS_PER_MS)}
            />
            {waits.waits.length > 0 && (
                <Table
                    caption={`What the tasks of ${name} did and waited for`}
                    rows={waits.waits}
                    columns={waitColumns(waits.traced_ns)}
                    initial={{ column: 2, descending: true }}
                />
            )}
        </>
    );
}

/** The same on the page of a stage, where it was traced; `all` is the address of the page about traces. */
export function StageOffCpu({ stage, all }: { stage: StageDocument; all: string }) {
    const { waits } = stage;
    if (!waits) return null;
    return (
        <Section
            title="Off-CPU"
            note={`${nanoseconds(waits.traced_ns)} of ${plural(waits.tasks, "task")}, as the kernel saw it`}
            actions={<a href={all}>All stages, processes and calls</a>}
        >
            <StageTime name={`stage ${stage.id}`} waits={waits} />
        </Section>
    );
}
