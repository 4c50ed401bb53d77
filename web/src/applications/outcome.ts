/** What became of a run: the one word that lists, reports and pages show (docs/reports.md#outcomes). */
import type { Applications } from "../data/types";

export const OUTCOMES = ["completed", "job_failed", "failed", "stopped", "truncated", "running"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export type Attempt = Applications["applications"][number]["attempts"][number];

export const OUTCOME_TITLES: Record<Outcome, string> = {
    completed: "The application has ended",
    job_failed: "The application has ended, but its last job failed",
    failed: "The application has ended with a failure",
    stopped: "The application has ended, and its last job or streaming query was stopped",
    truncated: "The log ends without an end event, and nothing writes it any more",
    running: "The log is still written and has no end event yet",
};

/** Servers and reports that do not say it yet, or say something newer, know whether the run has ended. */
export function outcomeOf({ outcome, completed }: Pick<Attempt, "completed"> & { outcome?: string }): Outcome {
    return OUTCOMES.find((one) => one === outcome) ?? (completed ? "completed" : "running");
}

/** The same of a report; those that were made before say only their status. */
export function outcomeOfReport(row: { outcome?: string | null; status: string | null | undefined }): Outcome {
    const word = row.outcome ?? row.status;
    return word === "in_progress" ? "running" : (OUTCOMES.find((one) => one === word) ?? "completed");
}
