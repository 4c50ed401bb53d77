/** What became of a run, as the list of applications shows it. */
import type { Applications } from "../data/types";

export const OUTCOMES = ["completed", "failed", "running", "truncated"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export type Attempt = Applications["applications"][number]["attempts"][number];

export const OUTCOME_TITLES: Record<Outcome, string> = {
    completed: "The application has ended",
    failed: "The application has ended with a failure",
    running: "The log has no end event yet",
    truncated: "The log ends without an end event and has not grown for a day",
};

/** Servers and reports that do not say it yet, or say something newer, know whether the run has ended. */
export function outcomeOf({ outcome, completed }: Pick<Attempt, "completed"> & { outcome?: string }): Outcome {
    return OUTCOMES.find((one) => one === outcome) ?? (completed ? "completed" : "running");
}

/** The same of a report's status. */
export function outcomeOfStatus(status: string | null | undefined): Outcome {
    return status === "in_progress" ? "running" : (OUTCOMES.find((one) => one === status) ?? "completed");
}
