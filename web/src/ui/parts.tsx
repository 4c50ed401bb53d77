/** Small parts that all pages use. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { State } from "../data/documents";
import type { Severity } from "../data/types";
import { words } from "../format";
import { announce } from "./announce";

/** A document once it is loaded; before that a note, after a failure the reason and what to do. */
export function Loaded<T>({
    state,
    what,
    children,
}: {
    state: State<T>;
    what: string;
    children: (data: T) => ComponentChildren;
}) {
    if (state.status === "ready") return <>{children(state.data)}</>;
    if (state.status === "loading") return <Loading what={what} />;
    return <Problem title={`No ${what}`} message={state.error.message} code={state.error.code} retry={state.reload} />;
}

/** Said only when it takes longer than a blink. */
export function Loading({ what }: { what: string }) {
    const [slow, setSlow] = useState(false);
    useEffect(() => {
        const timer = window.setTimeout(() => setSlow(true), 250);
        return () => window.clearTimeout(timer);
    }, []);
    return (
        <div class="loading" role="status">
            {slow && (
                <>
                    <span class="loading-bar" aria-hidden="true" />
                    Loading {what}
                </>
            )}
        </div>
    );
}

export function Problem({
    title,
    message,
    code,
    retry,
}: {
    title: string;
    message: string;
    code?: string | undefined;
    retry?: (() => void) | undefined;
}) {
    return (
        <div class="problem" role="alert">
            <h2>{title}</h2>
            <p>{message}</p>
            <p class="actions">
                {retry && code !== "not_embedded" && (
                    <button type="button" onClick={retry}>
                        Try again
                    </button>
                )}
                <a href="#/">All applications</a>
            </p>
        </div>
    );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
    return (
        <div class="empty">
            <p class="empty-title">{title}</p>
            {children && <p>{children}</p>}
        </div>
    );
}

/** A part of a page with its heading. */
export function Section({
    title,
    note,
    actions,
    children,
    class: className,
}: {
    title: string;
    note?: ComponentChildren;
    actions?: ComponentChildren;
    children: ComponentChildren;
    class?: string;
}) {
    const id = useId();
    return (
        <section class={`panel ${className ?? ""}`} aria-labelledby={id}>
            <header class="panel-head">
                <h2 id={id}>{title}</h2>
                {note && <span class="note">{note}</span>}
                {actions && <span class="panel-actions">{actions}</span>}
            </header>
            {children}
        </section>
    );
}

export function SeverityBadge({ severity }: { severity: Severity }) {
    return <span class={`badge severity-${severity}`}>{severity}</span>;
}

/** States that Spark and the reports name, by what they mean to people. */
export function kindOf(status: string): "bad" | "warn" | "busy" | "good" | "neutral" {
    if (/fail/.test(status)) return "bad";
    if (/truncat|stopped/.test(status)) return "warn";
    if (/progress|running|active|pending/.test(status)) return "busy";
    return /succe|complete/.test(status) ? "good" : "neutral";
}

export function Status({ status, title }: { status: string; title?: string }) {
    return (
        <span class={`status status-${kindOf(status)}`} title={title}>
            {words(status)}
        </span>
    );
}

/** One number with its name. */
export function Figure({ name, value, hint }: { name: string; value: string; hint?: string | undefined }) {
    return (
        <div class="figure">
            <dt>{name}</dt>
            <dd>
                {value}
                {hint && <small>{hint}</small>}
            </dd>
        </div>
    );
}

export function Figures({ children }: { children: ComponentChildren }) {
    return <dl class="figures">{children}</dl>;
}

/** A button that copies text, and says so. */
export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
    const [done, setDone] = useState(false);
    const copy = async () => {
        let copied = true;
        try {
            await navigator.clipboard.writeText(text);
        } catch {
            copied = copyByHand(text);
        }
        setDone(copied);
        announce(copied ? "Copied" : "Copying is not allowed here: select the text instead");
        window.setTimeout(() => setDone(false), 1500);
    };
    return (
        <button type="button" class="copy" onClick={copy}>
            {done ? "Copied" : label}
        </button>
    );
}

/** Pages from disk have no clipboard interface. */
function copyByHand(text: string): boolean {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "off-screen";
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
}

export function CodeBlock({ text, label }: { text: string; label: string }) {
    return (
        <div class="code">
            <pre tabIndex={0} role="region" aria-label={label}>
                {text}
            </pre>
            <Copy text={text} label={`Copy ${label}`} />
        </div>
    );
}

/** A modal dialog of the browser's own. */
export function Dialog({
    title,
    onClose,
    children,
}: {
    title: string;
    onClose: () => void;
    children: ComponentChildren;
}) {
    const ref = useRef<HTMLDialogElement>(null);
    const id = useId();
    /* Before anything is painted: who had the focus is known only until then. */
    useLayoutEffect(() => {
        const dialog = ref.current;
        const before = document.activeElement as HTMLElement | null;
        dialog?.showModal();
        return () => {
            dialog?.close();
            before?.focus();
        };
    }, []);
    return (
        <dialog ref={ref} aria-labelledby={id} onClose={onClose}>
            <header class="panel-head">
                <h2 id={id}>{title}</h2>
                <button type="button" class="quiet" onClick={() => ref.current?.close()}>
                    Close
                </button>
            </header>
            {children}
        </dialog>
    );
}
