/** Where the page is: the part of the address behind '#', "/app/ID/ATTEMPT/timeline?from=1&to=2". */
import { useCallback, useEffect, useState } from "preact/hooks";

export interface Location {
    path: string;
    segments: string[];
    query: URLSearchParams;
}

function decode(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return text; // not ours: an address typed by hand
    }
}

export function parse(hash: string): Location {
    const text = hash.replace(/^#/, "") || "/";
    const mark = text.indexOf("?");
    const path = mark < 0 ? text : text.slice(0, mark);
    return {
        path,
        segments: path.split("/").filter(Boolean).map(decode),
        query: new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1)),
    };
}

export type Query = Record<string, string | number | null | undefined>;

/** An address of this page; empty and unknown values of the query are left out. */
export function link(segments: (string | number)[], query: Query = {}): string {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
        if (value !== null && value !== undefined && value !== "") parameters.set(name, String(value));
    const tail = parameters.toString();
    return `#/${segments.map((segment) => encodeURIComponent(segment)).join("/")}${tail ? `?${tail}` : ""}`;
}

export function go(address: string): void {
    window.location.hash = address.replace(/^#/, "");
}

/** Changes the query without a new entry in the history: a zoom is not a page. */
function replaceQuery(changes: Query): void {
    const { path, query } = parse(window.location.hash);
    for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === undefined || value === "") query.delete(name);
        else query.set(name, String(value));
    }
    const tail = query.toString();
    const address = `#${path}${tail ? `?${tail}` : ""}`;
    if (address !== window.location.hash) {
        window.history.replaceState(window.history.state, "", address);
        window.dispatchEvent(new CustomEvent("pyrometer:query"));
    }
}

/** replaceQuery() of the page that asks for it. A field that loses the focus because its page goes changes no other's address. */
export function useReplaceQuery(): (changes: Query) => void {
    const { path } = useLocation();
    return useCallback(
        (changes) => {
            if (parse(window.location.hash).path === path) replaceQuery(changes);
        },
        [path],
    );
}

export function useLocation(): Location {
    const [location, setLocation] = useState(() => parse(window.location.hash));
    useEffect(() => {
        const update = () => setLocation(parse(window.location.hash));
        window.addEventListener("hashchange", update);
        window.addEventListener("pyrometer:query", update);
        return () => {
            window.removeEventListener("hashchange", update);
            window.removeEventListener("pyrometer:query", update);
        };
    }, []);
    return location;
}
