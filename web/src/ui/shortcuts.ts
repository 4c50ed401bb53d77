/** Keys: one character, or "g o": one after the other. Keys do nothing while the user types. */
import { useEffect } from "preact/hooks";

export type Shortcuts = Record<string, () => void>;

const PAUSE_MS = 1200;

function types(target: EventTarget | null): boolean {
    return (
        target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
    );
}

export function useShortcuts(shortcuts: Shortcuts): void {
    useEffect(() => {
        let first = "";
        let timer = 0;
        const pressed = (event: KeyboardEvent) => {
            if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || types(event.target)) return;
            if (document.querySelector("dialog[open]")) return;
            const action = shortcuts[first ? `${first} ${event.key}` : event.key];
            window.clearTimeout(timer);
            if (action) {
                event.preventDefault();
                first = "";
                action();
            } else if (!first && event.key === "g") {
                first = "g";
                timer = window.setTimeout(() => {
                    first = "";
                }, PAUSE_MS);
            } else {
                first = "";
            }
        };
        window.addEventListener("keydown", pressed);
        return () => {
            window.clearTimeout(timer);
            window.removeEventListener("keydown", pressed);
        };
    }, [shortcuts]);
}
