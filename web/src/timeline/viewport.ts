import { TIME_STEPS } from "../charts/steps";

/** The part of the run that is shown, in milliseconds since its start. */
export interface Viewport {
    from: number;
    to: number;
}

/** No closer than this many milliseconds over the whole width. */
export const CLOSEST_MS = 5;
/** The same where a server has what threads did in that time. */
export const CLOSEST_TRACED_MS = 0.02;
/** Marks of the axis below a millisecond. */
const FINE_STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

export function clamp(view: Viewport, length: number, closest = CLOSEST_MS): Viewport {
    const span = Math.min(length, Math.max(Math.min(closest, length), view.to - view.from));
    const from = Math.min(Math.max(0, view.from), length - span);
    return { from, to: from + span };
}

/** Closer (factor < 1) or farther, with `anchor` staying where it is. */
export function zoom(view: Viewport, factor: number, anchor: number, length: number, closest = CLOSEST_MS): Viewport {
    const span = Math.min(length, Math.max(Math.min(closest, length), (view.to - view.from) * factor));
    const place = (anchor - view.from) / (view.to - view.from);
    const from = anchor - place * span;
    return clamp({ from, to: from + span }, length, closest);
}

/** As close as before. */
export function pan(view: Viewport, by: number, length: number): Viewport {
    return clamp({ from: view.from + by, to: view.to + by }, length, view.to - view.from);
}

/** An interval with some air around it. */
export function around(from: number, to: number, length: number): Viewport {
    const air = Math.max(1, (to - from) * 0.08);
    return clamp({ from: from - air, to: to + air }, length);
}

/** Distance of marks on the axis: at most `most` of them. */
export function tickStep(span: number, most: number): number {
    const steps = span < CLOSEST_MS ? FINE_STEPS.concat(TIME_STEPS) : TIME_STEPS;
    return steps.find((step) => span / step <= most) ?? TIME_STEPS[TIME_STEPS.length - 1]!;
}
