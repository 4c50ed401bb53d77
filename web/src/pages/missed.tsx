/** The form in which people say what no rule has found in a run. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useDocument } from "../data/documents";
import { MOST_CHARACTERS, missedOf, say } from "../feedback";
import { Dialog } from "../ui/parts";
import type { Place } from "./finding";

interface Rule {
    id: string;
    category: string;
    title: string;
}

type Outcome = { kind: "asking" } | { kind: "sending" } | { kind: "kept" } | { kind: "refused"; why: string };

function RuleChoice({ value, onChange }: { value: string; onChange: (rule: string) => void }) {
    const state = useDocument<{ rules: Rule[] }>("rules");
    const rules = state.status === "ready" ? state.data.rules : [];
    const categories = [...new Set(rules.map((rule) => rule.category))];
    return (
        <label class="field">
            Kind of problem
            <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
                <option value="">something else, described below</option>
                {categories.map((category) => (
                    <optgroup key={category} label={category}>
                        {rules
                            .filter((rule) => rule.category === category)
                            .map((rule) => (
                                <option key={rule.id} value={rule.id}>
                                    {rule.title}
                                </option>
                            ))}
                    </optgroup>
                ))}
            </select>
        </label>
    );
}

/** Said instead of the form once the server has it. */
function Kept({ onClose }: { onClose: () => void }) {
    const close = useRef<HTMLButtonElement>(null);
    useEffect(() => close.current?.focus(), []);
    return (
        <>
            <p role="status" class="good">
                Your report is saved with this run. Thank you.
            </p>
            <p class="actions">
                <button type="button" ref={close} class="primary" onClick={onClose}>
                    Done
                </button>
            </p>
        </>
    );
}

/** `about`: where on the page it was asked for, "Stage 4", as the beginning of the description. */
export function MissedDialog({ place, about, onClose }: { place: Place; about: string; onClose: () => void }) {
    const [rule, setRule] = useState("");
    const [text, setText] = useState(about ? `${about}: ` : "");
    const [outcome, setOutcome] = useState<Outcome>({ kind: "asking" });
    const [empty, setEmpty] = useState(false);
    const area = useRef<HTMLTextAreaElement>(null);
    const submit = async (event: Event) => {
        event.preventDefault();
        const said = missedOf(rule, text.trim() === `${about}:` ? "" : text);
        setEmpty(said === null);
        if (said === null) {
            area.current?.focus();
            return;
        }
        setOutcome({ kind: "sending" });
        const why = await say(place.app, place.attempt, said);
        setOutcome(why === null ? { kind: "kept" } : { kind: "refused", why });
    };
    return (
        <Dialog title="Report a missed problem" onClose={onClose}>
            {outcome.kind === "kept" ? (
                <Kept onClose={onClose} />
            ) : (
                <form class="missed" onSubmit={submit} noValidate>
                    <p class="note">
                        What is wrong with this run that no rule found? The server saves your report in its store, for{" "}
                        <code>pyrometer evaluate</code>.
                    </p>
                    <RuleChoice value={rule} onChange={setRule} />
                    <label class="field">
                        {rule ? "Comment" : "Description"}
                        <textarea
                            ref={area}
                            rows={4}
                            maxLength={MOST_CHARACTERS}
                            required={!rule}
                            aria-invalid={empty}
                            aria-describedby={empty ? "missed-empty" : undefined}
                            value={text}
                            onInput={(event) => {
                                setText(event.currentTarget.value);
                                setEmpty(false);
                            }}
                        />
                    </label>
                    {empty && (
                        <p id="missed-empty" class="warn" role="alert">
                            Choose a kind of problem, or describe it.
                        </p>
                    )}
                    {outcome.kind === "refused" && (
                        <p class="warning" role="alert">
                            The report was not saved: {outcome.why}
                        </p>
                    )}
                    <p class="actions">
                        <button type="submit" class="primary" disabled={outcome.kind === "sending"}>
                            Report
                        </button>
                        <button type="button" onClick={onClose}>
                            Cancel
                        </button>
                    </p>
                </form>
            )}
        </Dialog>
    );
}
