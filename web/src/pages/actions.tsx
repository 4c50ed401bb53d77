/** What to do: each action with what it sets, what it saves, and the findings that it cures. */
import { fromDisk } from "../data/documents";
import type { Action, Plan, Report } from "../data/types";
import { duration, durationRange, money, plural } from "../format";
import { link } from "../router";
import { CodeBlock, Section } from "../ui/parts";
import type { Place } from "./finding";

function savesOf(action: Action, report: Report): string {
    const { wall_ms: wall, core_ms: core, cost } = action.saves;
    const parts = [];
    if (wall.high) parts.push(durationRange(wall.low, wall.high));
    if (core && core > 0) parts.push(`${duration(core)} of core time`);
    if (cost && cost > 0 && report.cost?.currency) parts.push(money(cost, report.cost.currency));
    if (parts.length) return `Saves ${parts.join(", ")}`;
    return action.saves.basis ? "Saves no time" : "What it saves is not known";
}

function ActionItem({ action, report, place }: { action: Action; report: Report; place: Place }) {
    const settings = Object.entries(action.config).map(([key, value]) => `${key}=${value}`);
    const titles = new Map(report.findings.map((finding) => [finding.id, finding.title]));
    return (
        <li>
            <p>{action.text}</p>
            {settings.length > 0 && <CodeBlock text={settings.join("\n")} label="settings" />}
            {action.code && <CodeBlock text={action.code} label="example" />}
            <p class="meaning">
                {savesOf(action, report)}. Effort: {action.effort}, risk: {action.risk}. Cures{" "}
                {action.cures.map((id, index) => (
                    <span key={id}>
                        {index > 0 && ", "}
                        <a href={link(["app", place.app, place.attempt], { finding: id })}>{titles.get(id) ?? id}</a>
                    </span>
                ))}
                .
            </p>
            {action.check && <p class="meaning">Next time: {action.check}</p>}
        </li>
    );
}

/** What a plan does: the time before and after, and the cost. */
export function PlanTimes({ plan, report }: { plan: Pick<Plan, "wall_ms" | "cost">; report: Report }) {
    const { cost } = report;
    const price =
        plan.cost === null || !cost?.currency
            ? ""
            : `, ${money(cost.total ?? null, cost.currency)} → ${money(plan.cost, cost.currency)}`;
    return (
        <>
            {duration(report.replay.measured_ms)} → <strong>{duration(plan.wall_ms.expected)}</strong> (
            {durationRange(plan.wall_ms.low, plan.wall_ms.high)}){price}
        </>
    );
}

export function Actions({ actions, report, place }: { actions: Action[]; report: Report; place: Place }) {
    const { together } = report;
    return (
        <Section title="What to do" note="each simulated once, and all of it together">
            <ol class="actions">
                {actions.map((action) => (
                    <ActionItem key={action.id} action={action} report={report} place={place} />
                ))}
            </ol>
            {together && (
                <p>
                    {actions.length === 1 ? "With it" : `All ${plural(actions.length, "action")} together`}:{" "}
                    <PlanTimes plan={together} report={report} />.{" "}
                    {!fromDisk && report.plan && (
                        <a href={link(["app", place.app, place.attempt, "whatif"], { plan: "true" })}>
                            Simulate these settings
                        </a>
                    )}
                </p>
            )}
        </Section>
    );
}
