/** Logs from this machine to the server: by drag and drop, or chosen; each with its progress. */
import { useRef, useState } from "preact/hooks";
import { forget } from "../data/documents";
import { bytes, share } from "../format";
import { link } from "../router";
import { announce } from "../ui/announce";
import { Section } from "../ui/parts";
import { filesOf } from "../upload/files";
import { type Sent, sendFile } from "../upload/send";
import type { RootPageProps } from "./pages";

interface Job {
    name: string;
    size: number;
    sent: number;
    result: Sent | null;
    cancel: (() => void) | null;
}

function Row({ job }: { job: Job }) {
    const { result } = job;
    return (
        <li>
            <div class="upload-head">
                <strong>{job.name}</strong> <span class="meaning">{bytes(job.size)}</span>
                {!result && job.cancel && (
                    <button type="button" class="quiet" onClick={job.cancel}>
                        Cancel
                    </button>
                )}
            </div>
            {!result && (
                <progress max={Math.max(1, job.size)} value={job.sent} aria-label={`Upload of ${job.name}`}>
                    {share(job.sent / Math.max(1, job.size))}
                </progress>
            )}
            {!result && job.sent >= job.size && job.size > 0 && <p class="note">Reading it</p>}
            {result?.applications.map((one) => (
                <p key={`${one.id}/${one.attempt}`}>
                    <a href={link(["app", one.id, one.attempt ?? "-", "overview"])}>{one.id}</a> is there.
                </p>
            ))}
            {result?.unreadable.map((one) => (
                <p key={one.path} class="warning">
                    {one.path}: {one.error}
                </p>
            ))}
            {result?.error && (
                <p class="warning" role="alert">
                    {result.error}
                </p>
            )}
        </li>
    );
}

export function Upload(_: RootPageProps) {
    const [jobs, setJobs] = useState<Job[]>([]);
    const [over, setOver] = useState(false);
    const input = useRef<HTMLInputElement>(null);

    const change = (job: Job, now: Partial<Job>) => {
        Object.assign(job, now);
        setJobs((all) => [...all]);
    };
    const start = async (files: { name: string; file: File }[]) => {
        const added: Job[] = files.map(({ name, file }) => ({
            name,
            size: file.size,
            sent: 0,
            result: null,
            cancel: null,
        }));
        setJobs((all) => [...added, ...all]);
        for (const [i, { name, file }] of files.entries()) {
            const job = added[i];
            if (!job || job.result) continue;
            const { done, cancel } = sendFile(name, file, (sent) => change(job, { sent }));
            change(job, { cancel });
            const result = await done;
            change(job, { result, sent: job.size });
            forget("applications");
            announce(result.error ?? `${name} was uploaded`);
        }
    };
    return (
        <div class="page">
            <h1>Upload</h1>
            <Section title="Event logs" note="as Spark wrote them, compressed or not, zip archives, or whole folders">
                {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping has a button beside it that does the same */}
                <div
                    class={`drop ${over ? "over" : ""}`}
                    onDragOver={(event) => {
                        event.preventDefault();
                        setOver(true);
                    }}
                    onDragLeave={() => setOver(false)}
                    onDrop={async (event) => {
                        event.preventDefault();
                        setOver(false);
                        if (event.dataTransfer) await start(await filesOf(event.dataTransfer));
                    }}
                >
                    <p>Drop logs here, or</p>
                    <button type="button" class="primary" onClick={() => input.current?.click()}>
                        Choose files
                    </button>
                    <input
                        ref={input}
                        type="file"
                        multiple
                        class="off-screen"
                        tabIndex={-1}
                        aria-label="Logs to upload"
                        onChange={async (event) => {
                            const files = [...(event.currentTarget.files ?? [])];
                            event.currentTarget.value = "";
                            await start(files.map((file) => ({ name: file.name, file })));
                        }}
                    />
                </div>
                <p class="note">Logs stay on the server that this page came from.</p>
            </Section>
            {jobs.length > 0 && (
                <Section title="Uploads">
                    <ul class="plain uploads">
                        {jobs.map((job, i) => (
                            <Row key={jobs.length - i} job={job} />
                        ))}
                    </ul>
                </Section>
            )}
        </div>
    );
}
