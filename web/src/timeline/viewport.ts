import { TIME_STEPS } from "../charts/steps";

/** The part of the run that is shown, in milliseconds since its start. */
export interface Viewport {
    from: number;
    to: number;
}

/** No closer than this many milliseconds over the whole width. */
const CLOSEST_MS = 5;

export function clamp(view: Viewport, length: number): Viewport {
    const span = Math.min(length, Math.max(Math.min(CLOSEST_MS, length), view.to - view.from));
    const from = Math.min(Math.max(0, view.from), length - span);
    return { from, to: from + span };
}

/** Closer (factor < 1) or farther, with `anchor` staying where it is. */
export function zoom(view: Viewport, factor: number, anchor: number, length: number): Viewport {
    const span = Math.min(length, Math.max(Math.min(CLOSEST_MS, length), (view.to - view.from) * factor));
    const place = (anchor - view.from) / (view.to - view.from);
    const from = anchor - place * span;
    return clamp({ from, to: from + span }, length);
}

export function pan(view: Viewport, by: number, length: number): Viewport {
    return clamp({ from: view.from + by, to: view.to + by }, length);
}

/** An interval with some air around it. */
export function around(from: number, to: number, length: number): Viewport {
    const air = Math.max(1, (to - from) * 0.08);
    return clamp({ from: from - air, to: to + air }, length);
}

/** Distance of marks on the axis: at most `most` of them. */
export function tickStep(span: number, most: number): number {
    return TIME_STEPS.find((step) => span / step <= most) ?? TIME_STEPS[TIME_STEPS.length - 1]!;
}
