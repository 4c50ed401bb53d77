/** What people say of a run: whether a finding was right, and what no rule has found. docs/feedback.md names the verdicts. */
import { appAddress, send } from "./data/documents";

export type Verdict = "confirmed" | "false-positive" | "fixed";

export type Said =
    | { finding: string; verdict: Verdict }
    /** The id of a rule, with a comment where there is one; or what was missed in words. */
    | { missed: string; comment?: string };

/** As many characters as the server keeps of a text. */
export const MOST_CHARACTERS = 1000;

/** null: it is kept; else why not. */
export async function say(app: string, attempt: string, said: Said): Promise<string | null> {
    try {
        await send("POST", `${appAddress(app, attempt)}/feedback`, JSON.stringify(said), "application/json");
        return null;
    } catch (problem) {
        return problem instanceof Error ? problem.message : String(problem);
    }
}

/** What the form says of a problem that was missed; null: nothing yet. */
export function missedOf(rule: string, text: string): Said | null {
    const words = text.trim();
    if (rule) return words ? { missed: rule, comment: words } : { missed: rule };
    return words ? { missed: words } : null;
}
