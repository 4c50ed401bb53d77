/** Which configurations are worth a look. */

/** For points of (cost, time) by ascending cost: those that no other beats in both. */
export function onFront(points: [number, number][]): boolean[] {
    let best = Number.POSITIVE_INFINITY;
    return points.map(([, time]) => {
        if (time >= best) return false;
        best = time;
        return true;
    });
}

/** Some twelve numbers of executors from one to four times what there was, that number among them. */
export function sweepValues(now: number): number[] {
    const most = Math.max(8, now * 4);
    const values = new Set<number>([1, now, most]);
    for (let i = 0; i <= 10; i++) values.add(Math.max(1, Math.round(most ** (i / 10))));
    return [...values].filter((value) => value >= 1).sort((a, b) => a - b);
}

/** What occurs among the scenarios, ascending. */
export function valuesOf<Key extends string>(scenarios: Record<Key, number>[], key: Key): number[] {
    return [...new Set(scenarios.map((one) => one[key]))].sort((a, b) => a - b);
}

/** The one of them that is closest: an address may name what was not predicted. */
export function nearest(values: number[], wanted: number): number {
    return values.reduce(
        (best, one) => (Math.abs(one - wanted) < Math.abs(best - wanted) ? one : best),
        values[0] ?? 0,
    );
}
