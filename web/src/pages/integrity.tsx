/** What the log itself is worth: what is missing, broken, repeated or unknown. */
import { appAddress, useDocument } from "../data/documents";
import type { Reject, Report } from "../data/types";
import { bytes, count, duration, plural, share } from "../format";
import { Figure, Figures, Loaded, Section } from "../ui/parts";
import { Table } from "../ui/table";
import type { AppPageProps } from "./pages";

interface Check {
    name: string;
    found: string;
    good: boolean;
    means: string;
}

function checksOf(report: Report): Check[] {
    const it = report.integrity;
    const missing = it.tasks_started - it.tasks_ended;
    const unknown = Object.values(it.unknown_events).reduce((sum, value) => sum + value, 0);
    const check = (name: string, found: string, good: boolean, means: string): Check => ({ name, found, good, means });
    return [
        check(
            "End of the application",
            it.in_progress ? "missing" : "found",
            !it.in_progress,
            "Without it the log is still being written, or the driver was killed.",
        ),
        check(
            "Truncated",
            it.truncated ? "yes" : "no",
            !it.truncated,
            "The last record is cut off. What followed it is unknown.",
        ),
        check(
            "Compacted",
            it.compacted ? "yes" : "no",
            !it.compacted,
            "Spark removed events of finished jobs from rolling logs. Totals are lower bounds.",
        ),
        check(
            "Missing parts",
            count(it.missing_parts),
            it.missing_parts === 0,
            "Files of a rolling log that are missing.",
        ),
        check(
            "Beginning missing",
            it.beginning_missing ? "yes" : "no",
            !it.beginning_missing,
            "There is no start of the application. What happened before the first event is unknown.",
        ),
        check(
            "Settings",
            it.settings_unknown ? "unknown" : "known",
            !it.settings_unknown,
            "Without them, rules that need settings do not apply, and none is recommended.",
        ),
        check(
            "Tasks without an end",
            count(Math.max(0, missing)),
            missing <= 0,
            "Their end is not in the log: Spark dropped events or lost executors.",
        ),
        check(
            "Rejected lines",
            count(it.bad_lines),
            it.bad_lines === 0,
            "Lines that are not valid events. They are not counted.",
        ),
        check(
            "Repeated events",
            count(it.repeated_events),
            it.repeated_events === 0,
            "The same event more than once. Each one counts, as in Spark.",
        ),
        check(
            "Unknown events",
            count(unknown),
            unknown === 0,
            "Events of other programs or newer Spark versions. They are ignored.",
        ),
        check(
            "Repaired characters",
            count(it.replaced_characters),
            it.replaced_characters === 0,
            "Bytes that are not valid UTF-8, shown as a replacement character.",
        ),
    ];
}

function verdict(confidence: number, contradictory: boolean): string {
    if (contradictory) return "The log contradicts itself. Values that others contradict are not used; see the notes.";
    if (confidence >= 0.99) return "The log is complete. Findings are based on the whole run.";
    if (confidence >= 0.9) return "The log is nearly complete. The missing events change little.";
    return "The log is incomplete. Treat findings as hints; the checks below show what is missing.";
}

function View({ report }: { report: Report }) {
    const it = report.integrity;
    const events = Object.entries(it.events).map(([name, number]) => ({
        name,
        number,
        known: !(name in it.unknown_events),
    }));
    const columns = Object.keys(report.rejects[0] ?? {});
    const replay = report.replay;
    return (
        <>
            <Section title="Log quality">
                <p class={it.confidence >= 0.9 ? "lead" : "lead warn"}>{verdict(it.confidence, it.contradictory)}</p>
                <Figures>
                    <Figure name="Confidence" value={share(it.confidence)} />
                    <Figure name="Size" value={bytes(it.bytes)} hint={plural(it.lines, "line")} />
                    <Figure name="Tasks" value={count(it.tasks_ended)} hint={`${count(it.tasks_started)} started`} />
                    <Figure
                        name="Replay error"
                        value={share(replay.error_share)}
                        hint={`${duration(replay.replayed_ms)} replayed, ${duration(replay.measured_ms)} measured`}
                    />
                </Figures>
                {it.notes.length > 0 && (
                    <ul>
                        {it.notes.map((note) => (
                            <li key={note}>{note}</li>
                        ))}
                    </ul>
                )}
            </Section>
            <Section title="Checks">
                <Table
                    caption="Checks of the log"
                    rows={checksOf(report)}
                    columns={[
                        {
                            name: "Check",
                            cell: (row) => (
                                <span class={row.good ? "check good" : "check bad"}>
                                    <span aria-hidden="true">{row.good ? "✓" : "!"}</span> {row.name}
                                </span>
                            ),
                        },
                        { name: "Found", cell: (row) => row.found },
                        { name: "What it means", class: "meaning", cell: (row) => row.means },
                    ]}
                />
            </Section>
            {report.rejects.length > 0 && (
                <Section
                    title="Rejected lines"
                    note={
                        it.bad_lines > report.rejects.length ? `the first ${count(report.rejects.length)}` : undefined
                    }
                >
                    <Table
                        caption="Rejected lines"
                        rows={report.rejects}
                        columns={columns.map((name) => ({
                            name: name.replaceAll("_", " "),
                            number: typeof report.rejects[0]?.[name] === "number",
                            cell: (row: Reject) => String(row[name] ?? "-"),
                        }))}
                    />
                </Section>
            )}
            <Section title="Events">
                <Table
                    caption="Events by name"
                    rows={events}
                    initial={{ column: 1, descending: true }}
                    columns={[
                        { name: "Event", value: (row) => row.name, cell: (row) => <code>{row.name}</code> },
                        { name: "Count", number: true, value: (row) => row.number, cell: (row) => count(row.number) },
                        {
                            name: "Known",
                            value: (row) => (row.known ? 1 : 0),
                            cell: (row) => (row.known ? "yes" : "no"),
                        },
                    ]}
                />
            </Section>
            <p class="note">
                Log: <code>{report.source.path ?? "-"}</code>
            </p>
        </>
    );
}

export function Integrity({ app, attempt }: AppPageProps) {
    const state = useDocument<Report>(`${appAddress(app, attempt)}/report`);
    return (
        <div class="page">
            <h1>Data quality</h1>
            <Loaded state={state} what="report">
                {(report) => <View report={report} />}
            </Loaded>
        </div>
    );
}
