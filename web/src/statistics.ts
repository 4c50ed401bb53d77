/** Quantiles as Spark defines them: the value at floor(share x count) of the sorted values, so of two in the middle the larger. */

/** Of sorted values; null where there are none. */
export function quantile(sorted: ArrayLike<number>, share: number): number | null {
    return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]! : null;
}

/** Of sorted values; null where there are none. */
export function median(sorted: ArrayLike<number>): number | null {
    return quantile(sorted, 0.5);
}
