/** What profilers recorded, as a flame graph. */
import { useEffect, useState } from "preact/hooks";
import { appAddress, DocumentError, probe, serverAddress } from "../data/documents";
import { useReplaceQuery } from "../router";
import { Loading, Problem, Section } from "../ui/parts";
import type { AppPageProps } from "./pages";

const EVENTS: [string, string][] = [
    ["", "running threads"],
    ["cpu", "CPU"],
    ["wall", "all threads, waiting ones too"],
    ["alloc", "allocated bytes"],
    ["lock", "waiting for locks"],
    ["wait", "other waiting"],
];

interface Choice {
    event: string;
    stage: string;
    task: string;
}

function choiceOf(query: URLSearchParams): Choice {
    const number = (name: string) => (/^\d{1,9}$/.test(query.get(name) ?? "") ? query.get(name)! : "");
    const event = query.get("event") ?? "";
    return {
        event: EVENTS.some(([name]) => name === event) ? event : "",
        stage: number("stage"),
        task: number("task"),
    };
}

function addressOf(base: string, choice: Choice, format: string): string {
    const parameters = new URLSearchParams({ format });
    for (const [name, value] of Object.entries(choice)) if (value !== "") parameters.set(name, value);
    return `${base}/flame?${parameters}`;
}

/** A number that the address has. Empty: any. */
function NumberField({ name, label, value }: { name: string; label: string; value: string }) {
    const replaceQuery = useReplaceQuery();
    return (
        <label>
            {label}{" "}
            <input
                type="number"
                min="0"
                step="1"
                placeholder="any"
                value={value}
                onChange={(event) => replaceQuery({ [name]: event.currentTarget.value })}
            />
        </label>
    );
}

type Outcome = { address: string; error: DocumentError | null };

/** Whether the server can draw it: the frame itself cannot say why not. */
function useDrawn(address: string): Outcome | null {
    const [outcome, setOutcome] = useState<Outcome | null>(null);
    useEffect(() => {
        let live = true;
        const done = (error: DocumentError | null) => live && setOutcome({ address, error });
        probe(address).then(
            () => done(null),
            (error: unknown) =>
                done(error instanceof DocumentError ? error : new DocumentError("internal", String(error))),
        );
        return () => {
            live = false;
        };
    }, [address]);
    return outcome?.address === address ? outcome : null;
}

function Picture({ address }: { address: string }) {
    const outcome = useDrawn(address);
    if (!outcome) return <Loading what="flame graph" />;
    if (outcome.error)
        return <Problem title="No flame graph" message={outcome.error.message} code={outcome.error.code} />;
    return (
        <div class="flame-frame" role="region" aria-label="Flame graph" tabIndex={0}>
            <iframe
                class="flame"
                title="Flame graph: click a call to zoom in"
                src={serverAddress(address)}
                sandbox="allow-scripts"
            />
        </div>
    );
}

export function Flame({ app, attempt, query }: AppPageProps) {
    const replaceQuery = useReplaceQuery();
    const base = appAddress(app, attempt);
    const choice = choiceOf(query);
    const picture = addressOf(base, choice, "svg");
    return (
        <div class="page wide">
            <h1>Flame graph</h1>
            <form class="filters" onSubmit={(event) => event.preventDefault()}>
                <label>
                    Samples{" "}
                    <select
                        value={choice.event}
                        onChange={(event) => replaceQuery({ event: event.currentTarget.value })}
                    >
                        {EVENTS.map(([name, text]) => (
                            <option key={name} value={name}>
                                {text}
                            </option>
                        ))}
                    </select>
                </label>
                <NumberField name="stage" label="Stage" value={choice.stage} />
                <NumberField name="task" label="Task id" value={choice.task} />
            </form>
            <Section
                title="Calls"
                note="A call is as wide as its share of the samples. Its callers are below it."
                actions={
                    <span class="flame-links">
                        <a href={serverAddress(picture)} target="_blank" rel="noreferrer">
                            Picture
                        </a>{" "}
                        <a href={serverAddress(addressOf(base, choice, "folded"))} download="flame.folded">
                            Folded stacks
                        </a>{" "}
                        <a href={serverAddress(addressOf(base, choice, "speedscope"))} download="flame.speedscope.json">
                            speedscope
                        </a>
                    </span>
                }
            >
                <Picture address={picture} />
            </Section>
        </div>
    );
}
