/** One finding: what it costs, how sure that is, why it is so, what to do, and whether it was right. */
import { useEffect, useRef, useState } from "preact/hooks";
import { appAddress, available, fromDisk } from "../data/documents";
import { takesFeedback, useServer } from "../data/server";
import type { Advice, Finding, Report } from "../data/types";
import { say, type Verdict } from "../feedback";
import { duration, durationRange, metricName, money, plural, quantity, share } from "../format";
import { link } from "../router";
import { announce } from "../ui/announce";
import { CodeBlock, SeverityBadge } from "../ui/parts";

/** The application that a finding is about. */
export interface Place {
    app: string;
    attempt: string;
}

function WhereLinks({ finding, place }: { finding: Finding; place: Place }) {
    const { where } = finding;
    const base = appAddress(place.app, place.attempt);
    const to = (...rest: (string | number)[]) => link(["app", place.app, place.attempt, ...rest]);
    const parts = [];
    if (where.stage !== null) {
        const attempt = where.attempt ?? 0;
        const name = `Stage ${where.stage}${attempt ? `.${attempt}` : ""}`;
        parts.push(
            available(`${base}/stages/${where.stage}/${attempt}`) ? (
                <a href={to("stage", where.stage, attempt)}>{name}</a>
            ) : (
                <span>{name}</span>
            ),
        );
    }
    const others = (finding.stages?.count ?? 0) - (where.stage === null ? 0 : 1);
    if (where.stage !== null && others > 0) parts.push(<span>and {plural(others, "more stage")}</span>);
    if (where.job !== null) parts.push(<span>Job {where.job}</span>);
    if (where.sql !== null)
        parts.push(
            available(`${base}/sql/${where.sql}`) ? (
                <a href={to("sql", where.sql)}>SQL {where.sql}</a>
            ) : (
                <span>SQL {where.sql}</span>
            ),
        );
    if (where.executor !== null) parts.push(<span>Executor {where.executor}</span>);
    if (where.host !== null) parts.push(<span>Host {where.host}</span>);
    if (where.call_site) parts.push(<code class="call-site">{where.call_site}</code>);
    const placed = [where.stage, where.job, where.sql, where.executor, where.host].some((one) => one !== null);
    if ((placed || finding.category === "driver" || finding.rule === "driver-bound") && available(`${base}/timeline`))
        parts.push(
            <a
                href={link(["app", place.app, place.attempt, "timeline"], {
                    stage: others > 0 ? null : where.stage,
                    finding: finding.id,
                })}
            >
                show on the timeline
            </a>,
        );
    return (
        <p class="where">
            {parts.map((part, i) => (
                <span key={i}>{part}</span>
            ))}
        </p>
    );
}

function Saves({ finding, report }: { finding: Finding; report: Report }) {
    const { wall_ms: wall, core_ms: core, cost, stage_share: stageShare } = finding.saves;
    const total = report.application.duration_ms ?? 0;
    const lost = finding.costs?.wall_ms ?? null;
    return (
        <dl class="saves">
            {lost !== null && lost > 0 && (
                <div>
                    <dt>Costs</dt>
                    <dd>
                        <strong>{duration(lost)}</strong>
                        {total > 0 && <small>{share(lost / total)} of the run</small>}
                    </dd>
                </div>
            )}
            {wall.high !== null && wall.high > 0 && (
                <div>
                    <dt>Saves</dt>
                    <dd>
                        <strong>{durationRange(wall.low, wall.high)}</strong>
                        {wall.expected !== null && total > 0 && (
                            <small>{share(wall.expected / total)} of the run</small>
                        )}
                    </dd>
                </div>
            )}
            {stageShare !== null && stageShare > 0 && (
                <div>
                    <dt>Of the stage</dt>
                    <dd>{share(stageShare)}</dd>
                </div>
            )}
            {core !== null && core > 0 && (
                <div>
                    <dt>Core time</dt>
                    <dd>{duration(core)}</dd>
                </div>
            )}
            {cost !== null && (
                <div>
                    <dt>Cost</dt>
                    <dd>{money(cost, report.cost?.currency ?? "")}</dd>
                </div>
            )}
            <div>
                <dt>Confidence</dt>
                <dd>
                    <meter min={0} max={1} value={finding.confidence} aria-label="Confidence" />{" "}
                    {share(finding.confidence)}
                </dd>
            </div>
        </dl>
    );
}

/** Opens What if with what fixes this finding. A saved report has no simulator. */
function Simulate({ finding, place }: { finding: Finding; place: Place }) {
    if (fromDisk || !finding.saves.basis) return null;
    return (
        <p>
            <a class="button" href={link(["app", place.app, place.attempt, "whatif"], { fix: finding.id })}>
                Simulate this
            </a>{" "}
            <small>
                {finding.saves.basis === "settings"
                    ? "with the settings below"
                    : "with the change of the program below"}
            </small>
        </p>
    );
}

function EvidenceTable({ finding }: { finding: Finding }) {
    if (!finding.evidence.length) return null;
    const expected = finding.evidence.some((row) => row.expected !== null);
    return (
        <table class="evidence">
            <caption>Evidence</caption>
            <thead>
                <tr>
                    <th scope="col">Metric</th>
                    <th scope="col" class="number">
                        Value
                    </th>
                    {expected && (
                        <th scope="col" class="number">
                            Expected
                        </th>
                    )}
                </tr>
            </thead>
            <tbody>
                {finding.evidence.map((row) => (
                    <tr key={row.metric}>
                        <th scope="row">{metricName(row.metric)}</th>
                        <td class="number">{quantity(row.value, row.unit)}</td>
                        {expected && (
                            <td class="number">{row.expected === null ? "" : quantity(row.expected, row.unit)}</td>
                        )}
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

function AdviceItem({ advice }: { advice: Advice }) {
    const settings = Object.entries(advice.config ?? {}).map(([key, value]) => `${key}=${value}`);
    return (
        <li>
            <p>{advice.text}</p>
            {settings.length > 0 && <CodeBlock text={settings.join("\n")} label="configuration" />}
            {advice.code && <CodeBlock text={advice.code} label="code" />}
            {advice.verify && (
                <p class="note">
                    <b>Check:</b> {advice.verify}
                </p>
            )}
        </li>
    );
}

const VERDICTS: { verdict: Verdict; label: string }[] = [
    { verdict: "confirmed", label: "Yes" },
    { verdict: "false-positive", label: "False alarm" },
    { verdict: "fixed", label: "Fixed since" },
];

function Feedback({ finding, place }: { finding: Finding; place: Place }) {
    const [said, setSaid] = useState<Verdict | null>(null);
    const [error, setError] = useState<string | null>(null);
    if (!takesFeedback(useServer())) return null;
    const judge = async (verdict: Verdict) => {
        const why = await say(place.app, place.attempt, { finding: finding.id, verdict });
        setError(why);
        if (why !== null) return;
        setSaid(verdict);
        announce("Feedback saved. Thank you");
    };
    return (
        <div class="feedback" role="group" aria-label={`Was "${finding.title}" right?`}>
            <span class="note">Was this right?</span>
            {VERDICTS.map(({ verdict, label }) => (
                <button
                    key={verdict}
                    type="button"
                    class="quiet"
                    aria-pressed={said === verdict}
                    onClick={() => judge(verdict)}
                >
                    {label}
                </button>
            ))}
            {error && (
                <span class="warn" role="alert">
                    {error}
                </span>
            )}
        </div>
    );
}

export function FindingCard({
    finding,
    report,
    place,
    wanted = false,
}: {
    finding: Finding;
    report: Report;
    place: Place;
    /** The address names it. */
    wanted?: boolean;
}) {
    const card = useRef<HTMLElement>(null);
    useEffect(() => {
        if (!wanted) return;
        // It may be below a line that hides what is less important.
        card.current?.closest("details")?.setAttribute("open", "");
        card.current?.focus();
        card.current?.scrollIntoView({ block: "start" });
    }, [wanted]);
    return (
        <article
            ref={card}
            tabIndex={-1}
            class={`finding edge-${finding.severity} ${wanted ? "wanted" : ""}`}
            id={finding.id}
        >
            <header>
                <h3>
                    <SeverityBadge severity={finding.severity} /> {finding.title}
                </h3>
                <Saves finding={finding} report={report} />
            </header>
            <WhereLinks finding={finding} place={place} />
            <p class="cause">{finding.cause}</p>
            <div class="finding-body">
                <EvidenceTable finding={finding} />
                <div class="advice">
                    <h4>Recommendations</h4>
                    <Simulate finding={finding} place={place} />
                    <ol>
                        {finding.advice.map((advice) => (
                            <AdviceItem key={advice.text} advice={advice} />
                        ))}
                    </ol>
                </div>
            </div>
            <footer>
                <span class="note">
                    Rule{" "}
                    {fromDisk ? (
                        <code>{finding.rule}</code>
                    ) : (
                        <a href={link(["rules", finding.rule])}>{finding.rule}</a>
                    )}
                </span>
                <Feedback finding={finding} place={place} />
            </footer>
        </article>
    );
}
