/** Light or dark: what the system prefers, or what was chosen here. Charts ask for colors and hear of changes. */
import { useEffect, useReducer } from "preact/hooks";

export type Theme = "light" | "dark";
const KEY = "pyrometer.theme";
const EVENT = "pyrometer:theme";

function chosen(): Theme | null {
    try {
        const value = window.localStorage.getItem(KEY);
        return value === "light" || value === "dark" ? value : null;
    } catch {
        return null; // a page from disk may have no storage
    }
}

function preferred(): Theme {
    return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

let current: Theme = "light";

function apply(theme: Theme): void {
    current = theme;
    document.documentElement.dataset.theme = theme;
    window.dispatchEvent(new CustomEvent(EVENT));
}

export function startTheme(): void {
    apply(chosen() ?? preferred());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        if (!chosen()) apply(preferred());
    });
    // Paper is light.
    let before: Theme = current;
    window.addEventListener("beforeprint", () => {
        before = current;
        apply("light");
    });
    window.addEventListener("afterprint", () => apply(before));
}

export function toggleTheme(): void {
    const next = current === "dark" ? "light" : "dark";
    try {
        window.localStorage.setItem(KEY, next);
    } catch {
        // it lasts as long as the page
    }
    apply(next);
}

export function useTheme(): Theme {
    const [, update] = useReducer((value: number, _action: void) => value + 1, 0);
    useEffect(() => {
        const changed = () => update();
        window.addEventListener(EVENT, changed);
        return () => window.removeEventListener(EVENT, changed);
    }, []);
    return current;
}

/** A color of the style sheet (styles/colours.css), for canvases. */
export function colour(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
