/** What a bar says of itself in the room that it has. */

export type Measure = (text: string) => number;

/** A text that says less than this does not help. */
const FEWEST_LETTERS = 6;

/** The text, or as much of its beginning as there is room for; empty where that would be a few letters. */
export function clipped(text: string, room: number, measure: Measure): string {
    if (measure(text) <= room) return text;
    let low = 0;
    let high = text.length;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (measure(`${text.slice(0, middle)}…`) <= room) low = middle;
        else high = middle - 1;
    }
    return low < FEWEST_LETTERS ? "" : `${text.slice(0, low).trimEnd()}…`;
}

/** "Job 12  collect at etl.py:3", "Job 12  collect…", "Job 12", "12", or nothing: the number is whole wherever it is shown. */
export function barText(label: string, number: string, name: string, room: number, measure: Measure): string {
    if (!number) return clipped(label, room, measure);
    const head = `${label}  `;
    const rest = name ? clipped(name, room - measure(head), measure) : "";
    return [rest && head + rest, label, number].find((text) => text && measure(text) <= room) ?? "";
}
