/** One upload to the server. XMLHttpRequest, since fetch does not tell how much was sent. */
import { bytes, count } from "../format";
import { bytesOf, type Unit } from "./files";
import { MOST_ZIP_BYTES, zipOf } from "./zip";

export interface Sent {
    applications: { id: string; attempt: string | null; name?: string | null }[];
    /** Files other than event logs, and the application that each belongs to. */
    files: { application: string; attempt: string | null; name: string | null; kind: string }[];
    unreadable: { path: string; error: string }[];
    error: string | null;
}

/** As many files as the server reads of one archive. */
const MOST_MEMBERS = 1000;

export const failed = (error: string): Sent => ({ applications: [], files: [], unreadable: [], error });

/** Why sending it at all is useless; null: it may be useful. */
export function refusal(unit: Unit, most: number | null): string | null {
    const size = bytesOf(unit);
    if (most !== null && size > most)
        return `The log has ${bytes(size)}; this server accepts at most ${bytes(most)} per upload. Compress it (zstd), or let pyrometer serve read its folder.`;
    if (!unit.joined) return null;
    if (unit.files.length > MOST_MEMBERS)
        return `The log has ${count(unit.files.length)} files; an upload may have at most ${count(MOST_MEMBERS)}. Let pyrometer serve read its folder.`;
    if (size > MOST_ZIP_BYTES - 1024 * 1024)
        return `The files have ${bytes(size)} together; a page can pack at most 4 GiB. Let pyrometer serve read their folder.`;
    return null;
}

/** What a refusal means to the user; the words of the server where they say more. */
export function explain(status: number, message: string | undefined, size: number): string {
    const words = message ? message.charAt(0).toUpperCase() + message.slice(1) : "";
    switch (status) {
        case 401:
            return "You are no longer logged in. Reload the page and log in.";
        case 413:
            return `The log has ${bytes(size)}, more than this server accepts per upload. Compress it (zstd), or let pyrometer serve read its folder.`;
        case 507:
            return `The server has no room for the log (${bytes(size)}): ${message ?? "its disk is full"}. Remove uploads that are not needed, or ask the administrator of the server.`;
        default:
            return words || `The server answered ${status}.`;
    }
}

function answerOf(request: XMLHttpRequest, size: number): Sent {
    let value: {
        applications?: Sent["applications"];
        files?: Sent["files"];
        unreadable?: Sent["unreadable"];
        error?: { message?: string };
    } = {};
    try {
        value = JSON.parse(request.responseText || "{}");
    } catch {
        // its status says it
    }
    const good = request.status >= 200 && request.status < 300;
    return {
        applications: value.applications ?? [],
        files: value.files ?? [],
        unreadable: value.unreadable ?? [],
        error: good ? null : explain(request.status, value.error?.message, size),
    };
}

function post(name: string, body: Blob, signal: AbortSignal, progress: (sent: number) => void): Promise<Sent> {
    return new Promise((resolve) => {
        const request = new XMLHttpRequest();
        signal.addEventListener("abort", () => request.abort());
        request.upload.onprogress = (event) => progress(event.loaded);
        request.onload = () => resolve(answerOf(request, body.size));
        request.onerror = () =>
            resolve(
                failed(
                    `The connection broke off. The server may have no room for ${bytes(body.size)}, or be gone; the file may have changed meanwhile.`,
                ),
            );
        request.onabort = () => resolve(failed("Cancelled."));
        request.open("POST", `pyrometer/v1/uploads?${new URLSearchParams({ name })}`);
        request.setRequestHeader("Content-Type", "application/octet-stream");
        request.send(body);
    });
}

export type Phase = "packing" | "sending" | "reading";

/** `progress`: of the bytes of its files. */
export async function sendUnit(
    unit: Unit,
    signal: AbortSignal,
    progress: (phase: Phase, done: number) => void,
): Promise<Sent> {
    const send = (name: string, body: Blob) =>
        post(name, body, signal, (sent) => progress(sent < body.size ? "sending" : "reading", sent));
    if (signal.aborted) return failed("Cancelled.");
    if (!unit.joined) return send(unit.files[0]!.name, unit.files[0]!.file);
    let packed = 0;
    try {
        const body = await zipOf(unit.files, signal, (some) => {
            packed += some;
            progress("packing", packed);
        });
        return await send(`${unit.title}.zip`, body);
    } catch (problem) {
        if (signal.aborted) return failed("Cancelled.");
        return failed(`It cannot be read: ${problem instanceof Error ? problem.message : String(problem)}`);
    }
}
