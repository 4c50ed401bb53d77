/**
 * Where documents come from: those that the page brings along (a report from disk), else the server that the page came
 * from. Addresses are paths below /pyrometer/v1/; those of one application lie below "applications/ID/ATTEMPT/".
 */
import { useEffect, useReducer, useRef } from "preact/hooks";
import { outcomeOfReport } from "../applications/outcome";
import type { Applications, Report } from "./types";

interface EmbeddedReport {
    documents: Record<string, unknown>;
}

/** What `diagnose --format html` writes: one application, or several. */
interface Embedded {
    documents?: Record<string, unknown>;
    reports?: EmbeddedReport[];
    unreadable?: { path: string; error: string }[];
}

export class DocumentError extends Error {
    constructor(
        readonly code: string,
        message: string,
        readonly status = 0,
    ) {
        super(message);
    }
}

interface Identity {
    id: string | null;
    attempt: string | null;
    start_ms: number | null;
}

/** An id for each run. Different runs may have one id and attempt: the later ones get ID~START, as a server gives them. */
export function uniqueIds(runs: Identity[]): string[] {
    const taken = new Set<string>();
    return runs.map(({ id, attempt, start_ms }) => {
        const candidates = [id ?? "-", `${id ?? "-"}~${start_ms ?? 0}`];
        for (let i = 2; candidates.length < runs.length + 3; i++) candidates.push(`${candidates[1]}~${i}`);
        const unique = candidates.find((one) => !taken.has(appAddress(one, attempt)))!;
        taken.add(appAddress(unique, attempt));
        return unique;
    });
}

/** What the page brings along: documents by address, long ones as text in base64 until a page shows them. */
interface Brought {
    documents: Map<string, unknown>;
    unreadable: { path: string; error: string }[];
}

interface Packed {
    gzip: string;
}

function isPacked(value: unknown): value is Packed {
    return typeof (value as Partial<Packed> | null)?.gzip === "string";
}

async function unpack(packed: Packed): Promise<unknown> {
    const bytes = Uint8Array.from(atob(packed.gzip), (byte) => byte.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const element = typeof document === "undefined" ? null : document.getElementById("pyrometer-data");

export const fromDisk = Boolean(element?.textContent);

async function readEmbedded(text: string): Promise<Brought> {
    const data = JSON.parse(text) as Embedded;
    const documents = new Map<string, unknown>();
    const list: Listed[] = [];
    const all = data.reports ?? [{ documents: data.documents ?? {} }];
    const reports: (EmbeddedApplication | undefined)[] = [];
    for (const { documents: own } of all)
        reports.push((isPacked(own.report) ? await unpack(own.report) : own.report) as EmbeddedApplication | undefined);
    const none: Identity = { id: null, attempt: null, start_ms: null };
    const ids = uniqueIds(reports.map((report) => report?.application ?? none));
    all.forEach((one, i) => {
        const report = reports[i];
        const base = appAddress(ids[i]!, report?.application.attempt ?? null);
        for (const [path, value] of Object.entries(one.documents)) documents.set(`${base}/${path}`, value);
        if (!report) return;
        documents.set(`${base}/report`, report);
        list.push({ id: ids[i]!, report });
    });
    documents.set("applications", applicationsOf(list));
    return { documents, unreadable: data.unreadable ?? [] };
}

type EmbeddedApplication = Pick<Report, "application" | "source" | "integrity">;

interface Listed {
    id: string;
    report: EmbeddedApplication;
}

/** The list of applications that a server would answer. */
function applicationsOf(reports: Listed[]): Applications {
    return {
        total: reports.length,
        all: reports.length,
        users: [],
        applications: reports.map(({ id, report: { application, source, integrity } }) => ({
            id,
            name: application.name,
            attempts: [
                {
                    attempt: application.attempt,
                    user: application.user,
                    start_ms: application.start_ms,
                    end_ms: application.end_ms,
                    duration_ms: application.duration_ms,
                    completed: application.status !== "in_progress",
                    outcome: outcomeOfReport(application),
                    spark_version: application.spark_version,
                    log: source.path,
                    log_bytes: integrity.bytes,
                },
            ],
            past_runs_ms: [],
        })),
        unreadable: [],
    };
}

export function appAddress(app: string, attempt: string | null): string {
    return `applications/${encodeURIComponent(app)}/${encodeURIComponent(attempt ?? "-")}`;
}

/** Null: there is a server, or `ready` is not. */
let embedded: Brought | null = null;

/** Nothing is shown before. */
export const ready: Promise<void> = fromDisk
    ? readEmbedded(element?.textContent ?? "").then((brought) => {
          embedded = brought;
      })
    : Promise.resolve();

export function unreadable(): Brought["unreadable"] {
    return embedded?.unreadable ?? [];
}

async function loadEmbedded(documents: Map<string, unknown>, address: string): Promise<unknown> {
    let value = documents.get(address);
    if (value === undefined)
        throw new DocumentError(
            "not_embedded",
            "This report does not contain it. To see it, open the log with: pyrometer serve FOLDER",
        );
    if (isPacked(value)) {
        value = await unpack(value);
        documents.set(address, value);
    }
    return value;
}

/** Whether a document can be had at all: always true of a server. */
export function available(address: string): boolean {
    return embedded === null || embedded.documents.has(address);
}

/** Addresses of embedded documents that begin so; empty where there is a server. */
export function embeddedBelow(prefix: string): string[] {
    return embedded === null ? [] : [...embedded.documents.keys()].filter((address) => address.startsWith(prefix));
}

/** Where the server has it: for pictures, which are not documents. */
export function serverAddress(address: string): string {
    return `pyrometer/v1/${address}`;
}

/** Whether the server has it, which is thrown away; a failure says why not. */
export async function probe(address: string): Promise<void> {
    await request("GET", address, undefined, undefined, true);
}

async function request(
    method: string,
    address: string,
    body?: BodyInit,
    type?: string,
    ignored = false,
): Promise<unknown> {
    let response: Response;
    try {
        response = await fetch(serverAddress(address), {
            method,
            credentials: "same-origin",
            headers: type ? { "Content-Type": type, Accept: "application/json" } : { Accept: "application/json" },
            ...(body === undefined ? {} : { body }),
        });
    } catch {
        throw new DocumentError("unreachable", "The server does not answer. Is pyrometer serve still running?");
    }
    const text = await response.text();
    if (ignored && response.ok) return null;
    let value: unknown = null;
    try {
        value = text ? JSON.parse(text) : null;
    } catch {
        if (response.ok) throw new DocumentError("unreadable", "The server's answer is not JSON.", response.status);
    }
    if (response.ok) return value;
    const error = (value as { error?: { code?: string; message?: string } } | null)?.error;
    throw new DocumentError(
        error?.code ?? `http_${response.status}`,
        error?.message ?? `The server answered ${response.status} ${response.statusText}.`,
        response.status,
    );
}

/** Documents asked for lately. Those of an application that ended do not change; `reload` asks again. */
const cache = new Map<string, Promise<unknown>>();
const CACHE_ENTRIES = 64;

export function load<T>(address: string): Promise<T> {
    if (embedded) return loadEmbedded(embedded.documents, address) as Promise<T>;
    let answer = cache.get(address);
    if (answer) {
        cache.delete(address); // to the end: asked for last
    } else {
        answer = request("GET", address);
        answer.catch(() => cache.delete(address));
    }
    cache.set(address, answer);
    for (const oldest of cache.keys()) {
        if (cache.size <= CACHE_ENTRIES) break;
        cache.delete(oldest);
    }
    return answer as Promise<T>;
}

export function forget(prefix: string): void {
    for (const address of [...cache.keys()]) if (address.startsWith(prefix)) cache.delete(address);
}

const REFRESHED = "pyrometer:refreshed";

/** Asks again for the documents whose address begins so, wherever they are shown. */
export function refresh(prefix: string): void {
    forget(prefix);
    window.dispatchEvent(new CustomEvent<string>(REFRESHED, { detail: prefix }));
}

/** Sends something to the server. */
export async function send<T>(method: string, address: string, body?: BodyInit, type?: string): Promise<T> {
    if (embedded) throw new DocumentError("from_disk", "A saved report has no server to send this to.");
    return (await request(method, address, body, type)) as T;
}

export type State<T> =
    | { status: "loading"; reload: () => void }
    | { status: "ready"; data: T; reload: () => void }
    | { status: "error"; error: DocumentError; reload: () => void };

type Held = { address: string | null; data?: unknown; error?: DocumentError };

/** While the next document is on its way the last one stays, so that a list does not disappear at every letter of a
 * search. */
export function useLasting<T>(address: string | null): State<T> {
    const state = useDocument<T>(address);
    const last = useRef<State<T>>(state);
    if (state.status !== "loading") last.current = state;
    return last.current.status === "ready" && state.status === "loading"
        ? { ...last.current, reload: state.reload }
        : state;
}

/** A document for a component; null asks for nothing and stays loading. */
export function useDocument<T>(address: string | null): State<T> {
    const [generation, reload] = useReducer((value: number, _action: void) => value + 1, 0);
    const [held, hold] = useReducer((_: Held, next: Held) => next, { address: null } as Held);
    useEffect(() => {
        let live = true;
        if (address !== null)
            load<T>(address).then(
                (data) => live && hold({ address, data }),
                (error: unknown) =>
                    live &&
                    hold({
                        address,
                        error: error instanceof DocumentError ? error : new DocumentError("internal", String(error)),
                    }),
            );
        return () => {
            live = false;
        };
    }, [address, generation]);
    useEffect(() => {
        if (address === null) return;
        const refreshed = (event: Event) => {
            if (address.startsWith((event as CustomEvent<string>).detail)) reload();
        };
        window.addEventListener(REFRESHED, refreshed);
        return () => window.removeEventListener(REFRESHED, refreshed);
    }, [address]);
    const again = () => {
        if (address !== null) forget(address);
        reload();
    };
    if (address === null || held.address !== address) return { status: "loading", reload: again };
    if (held.error) return { status: "error", error: held.error, reload: again };
    return { status: "ready", data: held.data as T, reload: again };
}
