/** One total as a bar of its parts, with the table that says the same. */
import { duration, percentages, words } from "../format";

export interface Part {
    name: string;
    ms: number;
}

/** What each part of the wall and core accounts means (docs/formulas.md). */
const MEANING: Record<string, string> = {
    resource_wait: "no executor was available",
    driver: "executors waited for the driver: no stage was active",
    scheduling: "a stage was active, no task ran",
    scheduler_delay: "tasks were on their way to and from executors",
    deserialize: "executors deserialized tasks",
    compute: "tasks computed",
    gc: "JVMs collected garbage",
    shuffle_fetch_wait: "tasks waited for shuffle blocks",
    shuffle_write: "tasks wrote shuffle files",
    result_serialize: "tasks serialized their results",
    getting_result: "the driver fetched results",
    failed_tasks: "work of failed tasks, which was discarded",
    idle_no_work: "a stage was active, but had no task for this slot",
    idle_driver: "no stage was active",
    idle_wait: "a task could have run, none did",
};

export function partColour(name: string): string {
    return `var(--part-${name.replaceAll("_", "-")}, var(--part-other))`;
}

export function StackedBar({
    title,
    total,
    parts,
    meaning = MEANING,
    colour = partColour,
    text = duration,
}: {
    title: string;
    total: number;
    parts: Part[];
    meaning?: Record<string, string>;
    colour?: (name: string) => string;
    text?: (ms: number) => string;
}) {
    const shown = parts.filter((part) => part.ms > 0);
    const shares = percentages(shown.map((part) => part.ms));
    const largest = shown.map((_, i) => i).sort((a, b) => shown[b]!.ms - shown[a]!.ms);
    return (
        <div class="account">
            <div class="stacked" aria-hidden="true">
                {shown.map((part, i) => (
                    <span
                        key={part.name}
                        style={{ flexGrow: part.ms, background: colour(part.name) }}
                        title={`${words(part.name)}: ${text(part.ms)}, ${shares[i]} %`}
                    />
                ))}
            </div>
            <table class="account-table">
                <caption class="off-screen">{title}</caption>
                <thead class="off-screen">
                    <tr>
                        <th scope="col">Part</th>
                        <th scope="col">Time</th>
                        <th scope="col">Share in percent</th>
                        <th scope="col">Meaning</th>
                    </tr>
                </thead>
                <tbody>
                    {largest.map((i) => {
                        const part = shown[i]!;
                        return (
                            <tr key={part.name}>
                                <th scope="row">
                                    <span class="swatch" style={{ background: colour(part.name) }} />
                                    {words(part.name)}
                                </th>
                                <td class="number">{text(part.ms)}</td>
                                <td class="number">{shares[i]} %</td>
                                <td class="meaning">{meaning[part.name] ?? ""}</td>
                            </tr>
                        );
                    })}
                </tbody>
                <tfoot>
                    <tr>
                        <th scope="row">Total</th>
                        <td class="number">{text(total)}</td>
                        <td class="number">{shown.length ? "100.0 %" : "-"}</td>
                        <td />
                    </tr>
                </tfoot>
            </table>
        </div>
    );
}
