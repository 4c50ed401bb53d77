/** A value once nothing has changed for a moment: a slider that moves, or a word that is typed, asks once. */
import { useEffect, useState } from "preact/hooks";

const WAIT_MS = 250;

export function useSettled<T>(value: T): T {
    const [settled, settle] = useState(value);
    useEffect(() => {
        const timer = window.setTimeout(() => settle(value), WAIT_MS);
        return () => window.clearTimeout(timer);
    }, [value]);
    return settled;
}
