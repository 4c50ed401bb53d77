/** Runs to choose from, by name and start. */
import type { Applications } from "../data/types";
import { duration, time } from "../format";

export interface Choice {
    /** What the address and the server call it: ID/ATTEMPT, with - for the attempt without an id. */
    value: string;
    text: string;
    /** Its ids, for those who know it by them. */
    title: string;
}

export function choicesOf(list: Applications): Choice[] {
    return list.applications.flatMap(({ id, name, attempts }) =>
        attempts.map(({ attempt, start_ms, duration_ms }) => ({
            value: `${id}/${attempt ?? "-"}`,
            text: [
                `${name ?? id}${attempt === null ? "" : ` (attempt ${attempt})`}`,
                start_ms === null ? "" : `${time(start_ms)} UTC`,
                duration_ms === null ? "" : duration(duration_ms),
            ]
                .filter(Boolean)
                .join(", "),
            title: attempt === null ? id : `${id}, attempt ${attempt}`,
        })),
    );
}

/** The id in a choice's value: it may have a slash itself, an attempt has none. */
export function idOf(value: string): string {
    const slash = value.lastIndexOf("/");
    return slash < 0 ? value : value.slice(0, slash);
}

/** The listed runs and, first, those that are chosen and not among them. */
export function withChosen(listed: Choice[], chosen: string[], known: Choice[]): Choice[] {
    const missing = [...new Set(chosen)].filter((value) => value && !listed.some((one) => one.value === value));
    return [
        ...missing.map(
            (value) =>
                known.find((one) => one.value === value) ?? { value, text: value.replace(/\/-$/, ""), title: value },
        ),
        ...listed,
    ];
}
