/** What this is, and what it is made of. */
import licences from "licences";
import { fromDisk, useDocument } from "../data/documents";
import { Section } from "../ui/parts";

interface Version {
    version: string;
    features?: { name: string; built: boolean }[];
}

function ServerVersion() {
    const state = useDocument<Version>("version");
    if (state.status !== "ready") return null;
    const missing = (state.data.features ?? []).filter((feature) => !feature.built);
    return (
        <p>
            This server is version {state.data.version}.
            {missing.length > 0 && <> Built without: {missing.map((feature) => feature.name).join(", ")}.</>}
        </p>
    );
}

export function About() {
    return (
        <div class="page narrow">
            <h1>About</h1>
            <Section title="Pyrometer">
                <p>
                    Reads what an Apache Spark application leaves behind and says why it was slow, what it cost, and
                    what to change.
                </p>
                {fromDisk ? <p>This page works without a network: it contains its data.</p> : <ServerVersion />}
                <p>Licence: Apache-2.0.</p>
            </Section>
            <Section title="Libraries in this page">
                {licences.map((library) => (
                    <details key={library.name}>
                        <summary>
                            {library.name} {library.version} ({library.licence})
                        </summary>
                        <pre class="wrap">{library.text}</pre>
                    </details>
                ))}
            </Section>
        </div>
    );
}
