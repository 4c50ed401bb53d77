/** What profilers recorded, as a flame graph. */
import { useRef, useState } from "preact/hooks";
import samples from "samples";
import { appAddress, DocumentError, probe, serverAddress } from "../data/documents";
import { useReplaceQuery } from "../router";
import { Loading, Problem, Section } from "../ui/parts";
import type { AppPageProps } from "./pages";

const EVENTS: [string, string][] = [
    ["", "running threads"],
    ...samples.map(({ name, meaning }): [string, string] => [
        name,
        `${name}: ${meaning[0]!.toLowerCase()}${meaning.slice(1)}`,
    ]),
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

/** What became of the graph at an address. */
interface Outcome {
    address: string;
    error: DocumentError | null;
}

/** The status with which the server answered the frame; 0: this browser does not tell. */
function statusOf(frame: HTMLIFrameElement): number {
    const answers = performance.getEntriesByName(frame.src);
    return (answers.at(-1) as { responseStatus?: number } | undefined)?.responseStatus ?? 0;
}

/** The frame asks for the graph. What it shows cannot be read here, so only where there is none the server is asked why. */
async function outcomeOf(address: string, frame: HTMLIFrameElement): Promise<Outcome> {
    if (statusOf(frame) === 200) return { address, error: null };
    try {
        await probe(address);
        return { address, error: null };
    } catch (error) {
        return {
            address,
            error: error instanceof DocumentError ? error : new DocumentError("internal", String(error)),
        };
    }
}

function Picture({ address }: { address: string }) {
    const [last, setLast] = useState<Outcome | null>(null);
    const wanted = useRef(address);
    wanted.current = address;
    const end = (one: Outcome) => one.address === wanted.current && setLast(one);
    const outcome = last?.address === address ? last : null;
    if (outcome?.error)
        return <Problem title="No flame graph" message={outcome.error.message} code={outcome.error.code} />;
    return (
        <>
            {!outcome && <Loading what="flame graph" />}
            <div class="flame-frame" role="region" aria-label="Flame graph" tabIndex={0} hidden={!outcome}>
                <iframe
                    key={address}
                    class="flame"
                    title="Flame graph: click a call to zoom in"
                    src={serverAddress(address)}
                    sandbox="allow-scripts"
                    onLoad={(event) => void outcomeOf(address, event.currentTarget).then(end)}
                />
            </div>
        </>
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
