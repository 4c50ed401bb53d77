/** Logs from this machine to the server: by drag and drop, or chosen; each with its progress. */
import { useEffect, useRef, useState } from "preact/hooks";
import { forget } from "../data/documents";
import { type Server, takesUploads, useServer } from "../data/server";
import { bytes, count, plural, share } from "../format";
import { link } from "../router";
import { announce } from "../ui/announce";
import { Empty, Loading, Section } from "../ui/parts";
import { bytesOf, chosenFiles, filesOf, type Named, type Unit, unitsOf } from "../upload/files";
import { failed, type Phase, refusal, type Sent, sendUnit } from "../upload/send";
import type { RootPageProps } from "./pages";

interface Job {
    unit: Unit;
    size: number;
    phase: "waiting" | Phase;
    done: number;
    result: Sent | null;
    cancel: AbortController;
}

const PHASES: Record<Job["phase"], string> = {
    waiting: "Waiting for the uploads before it",
    packing: "Packing the files",
    sending: "Sending",
    reading: "The server reads the log",
};

function Outcome({ result }: { result: Sent }) {
    return (
        <>
            {result.applications.map((one) => (
                <p key={`${one.id}/${one.attempt}`}>
                    <a href={link(["app", one.id, one.attempt ?? "-", "overview"])}>{one.name ?? one.id}</a>{" "}
                    <span class="note">
                        <code>{one.id}</code> is ready.
                    </span>
                </p>
            ))}
            {result.files.map((one) => (
                <p key={one.kind}>
                    <a href={link(["app", one.application, one.attempt ?? "-", "overview"])}>
                        {one.name ?? one.application}
                    </a>{" "}
                    <span class="note">
                        <code>{one.application}</code> has this file ({one.kind}) now.
                    </span>
                </p>
            ))}
            {result.unreadable.map((one) => (
                <p key={one.path} class="warning">
                    {one.path}: {one.error}
                </p>
            ))}
            {result.error && (
                <p class="warning" role="alert">
                    {result.error}
                </p>
            )}
        </>
    );
}

function Row({ job, onCancel }: { job: Job; onCancel: () => void }) {
    const { result, unit } = job;
    return (
        <li>
            <div class="upload-head">
                <strong class="breaks">{unit.title}</strong>{" "}
                <span class="meaning nowrap">
                    {bytes(job.size)}
                    {unit.files.length > 1 && `, ${plural(unit.files.length, "file")}`}
                </span>
                {!result && (
                    <button type="button" class="quiet" onClick={onCancel}>
                        Cancel<span class="off-screen"> the upload of {unit.title}</span>
                    </button>
                )}
            </div>
            {result ? (
                <Outcome result={result} />
            ) : (
                <>
                    <progress max={job.size} value={job.done} aria-label={`Upload of ${unit.title}`}>
                        {share(job.done / job.size)}
                    </progress>
                    <p class="note">
                        {PHASES[job.phase]}
                        {job.phase === "sending" && `: ${bytes(job.done)}, ${share(job.done / job.size)}`}
                    </p>
                </>
            )}
        </li>
    );
}

/** A button that opens the browser's chooser, of files or of a folder. */
function Chooser({ folder, onFiles }: { folder: boolean; onFiles: (files: Named[]) => void }) {
    const input = useRef<HTMLInputElement>(null);
    useEffect(() => {
        input.current?.toggleAttribute("webkitdirectory", folder);
    }, [folder]);
    return (
        <>
            <button type="button" class={folder ? "" : "primary"} onClick={() => input.current?.click()}>
                {folder ? "Choose a folder" : "Choose files"}
            </button>
            <input
                ref={input}
                type="file"
                multiple={!folder}
                class="off-screen"
                tabIndex={-1}
                aria-label={folder ? "Folder of logs to upload" : "Logs to upload"}
                onChange={(event) => {
                    const files = event.currentTarget.files ? chosenFiles(event.currentTarget.files) : [];
                    event.currentTarget.value = "";
                    onFiles(files);
                }}
            />
        </>
    );
}

function Drop({ onFiles }: { onFiles: (files: Named[]) => void }) {
    const [over, setOver] = useState(false);
    return (
        // biome-ignore lint/a11y/noStaticElementInteractions: buttons next to the drop area do the same
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
                if (event.dataTransfer) onFiles(await filesOf(event.dataTransfer));
            }}
        >
            <p>Drop logs or folders here, or</p>
            <p class="actions">
                <Chooser folder={false} onFiles={onFiles} /> <Chooser folder={true} onFiles={onFiles} />
            </p>
        </div>
    );
}

/** One after the other, in the order in which they came. */
function useUploads(server: Server): { jobs: Job[]; add: (files: Named[]) => void; cancel: (some: Job[]) => void } {
    const jobs = useRef<Job[]>([]);
    const busy = useRef(false);
    const [, draw] = useState(0);
    const change = (job: Job, now: Partial<Job>) => {
        Object.assign(job, now);
        draw((n) => n + 1);
    };
    const finish = (job: Job, result: Sent) => {
        change(job, { result });
        if (!result.error) forget("applications");
        announce(result.error ? `${job.unit.title}: ${result.error}` : `${job.unit.title} was uploaded`);
    };
    const work = async () => {
        if (busy.current) return;
        busy.current = true;
        for (let job = jobs.current.find((one) => !one.result); job; job = jobs.current.find((one) => !one.result)) {
            const current = job;
            const result = await sendUnit(job.unit, job.cancel.signal, (phase, done) =>
                change(current, { phase, done: Math.min(done, current.size) }),
            );
            finish(job, result);
        }
        busy.current = false;
    };
    const add = (files: Named[]) => {
        for (const unit of unitsOf(files)) {
            const why = refusal(unit, server.upload_bytes);
            jobs.current.push({
                unit,
                size: bytesOf(unit),
                phase: "waiting",
                done: 0,
                result: why === null ? null : failed(why),
                cancel: new AbortController(),
            });
        }
        if (files.length && !jobs.current.length) announce("No log found");
        draw((n) => n + 1);
        void work();
    };
    const cancel = (some: Job[]) => {
        for (const job of some) {
            job.cancel.abort();
            if (job.phase === "waiting") change(job, { result: failed("Cancelled.") });
        }
    };
    // Leaving the page breaks off what is on its way.
    useEffect(() => () => cancel(jobs.current.filter((job) => !job.result)), []);
    return { jobs: jobs.current, add, cancel };
}

function Uploads({ server }: { server: Server }) {
    const { jobs, add, cancel } = useUploads(server);
    const open = jobs.filter((job) => !job.result);
    const failures = jobs.filter((job) => job.result?.error).length;
    return (
        <>
            <Section
                title="Event logs"
                note={`as Spark wrote them, compressed or not, zip archives, or whole folders${server.upload_bytes === null ? "" : `; at most ${bytes(server.upload_bytes)} each`}`}
            >
                <Drop onFiles={add} />
                <p class="note">
                    The files of a rolling log (a folder eventlog_v2_...) are uploaded together. Text logs and profiles
                    go to the application whose id they have. Logs stay on the server of this page.
                </p>
            </Section>
            {jobs.length > 0 && (
                <Section
                    title="Uploads"
                    note={
                        <span role="status">
                            {count(jobs.length - open.length)} of {count(jobs.length)} done
                            {failures > 0 && `, ${count(failures)} refused or cancelled`}
                        </span>
                    }
                    actions={
                        open.length > 1 && (
                            <button type="button" onClick={() => cancel(open)}>
                                Cancel all
                            </button>
                        )
                    }
                >
                    <ul class="plain uploads">
                        {jobs.map((job, i) => (
                            <Row key={i} job={job} onCancel={() => cancel([job])} />
                        ))}
                    </ul>
                </Section>
            )}
        </>
    );
}

export function Upload(_: RootPageProps) {
    const server = useServer();
    return (
        <div class="page">
            <h1>Upload</h1>
            {server === null ? (
                <Loading what="limits of the server" />
            ) : takesUploads(server) ? (
                <Uploads server={server} />
            ) : (
                <Empty title="No uploads here">
                    {server.uploads
                        ? "Your token allows reading, but not uploading."
                        : "This server does not accept uploads."}
                </Empty>
            )}
        </div>
    );
}
