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

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3];
const HOURS = [1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 720].map((hours) => hours * 3600e3);
const LONG_STEPS = [...STEPS, 1800e3, ...HOURS];

/** Distance of marks on the axis: at most `most` of them. */
export function tickStep(span: number, most: number): number {
    return LONG_STEPS.find((step) => span / step <= most) ?? LONG_STEPS[LONG_STEPS.length - 1]!;
}
