/** What the server says of itself: applications that come, change, go and grow. */
import { useEffect, useRef } from "preact/hooks";
import { forget, fromDisk } from "./documents";

/** Data of an event of /pyrometer/v1/events. */
export interface Change {
    app: string;
    attempt: string | null;
    completed: boolean;
}

/** Logs grow in small steps; what shows them need not. */
const PAUSE_MS = 3000;

/**
 * Calls back, at most every few seconds, after the list of applications or one that runs has changed. Nothing happens
 * in a report from disk, or while `wanted` is false.
 */
export function useChanges(wanted: boolean, matters: (change: Change) => boolean, changed: () => void): void {
    const latest = useRef({ matters, changed });
    latest.current = { matters, changed };
    useEffect(() => {
        if (!wanted || fromDisk) return;
        const source = new EventSource("pyrometer/v1/events");
        let timer = 0;
        const heard = (event: MessageEvent<string>) => {
            let change: Change;
            try {
                change = JSON.parse(event.data) as Change;
            } catch {
                return; // of a newer server: the page is right when it is loaded again
            }
            if (!latest.current.matters(change) || timer) return;
            timer = window.setTimeout(() => {
                timer = 0;
                forget("applications");
                latest.current.changed();
            }, PAUSE_MS);
        };
        source.addEventListener("application", heard);
        source.addEventListener("progress", heard);
        return () => {
            window.clearTimeout(timer);
            source.close();
        };
    }, [wanted]);
}
