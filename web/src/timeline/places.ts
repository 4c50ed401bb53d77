/** Where on the timeline a finding is: what it is about, and when that was. */
import type { Finding, Timeline } from "../data/types";

/** Indexes in the lists of the timeline's document. */
export interface Places {
    stages: number[];
    jobs: number[];
    executors: number[];
    /** It is about moments in which only the driver worked. */
    gaps: boolean;
}

const indexes = new WeakMap<Timeline, Map<string, number>>();

/** Where each stage attempt is in the document's list. */
function indexOf(document: Timeline): Map<string, number> {
    let index = indexes.get(document);
    if (!index) {
        index = new Map(document.stages.map(({ id, attempt }, i) => [`${id}.${attempt}`, i]));
        indexes.set(document, index);
    }
    return index;
}

/** All stage attempts that a finding is about. */
export function stagesOf(document: Timeline, { stages }: Finding): number[] {
    const index = indexOf(document);
    return (stages?.id ?? []).flatMap((id, i) => index.get(`${id}.${stages!.attempt[i]}`) ?? []);
}

/** What a finding names most narrowly: its stages rather than a job, a job rather than its query. */
export function placesOf(document: Timeline, finding: Finding): Places {
    const { where, rule, category } = finding;
    const places: Places = { stages: stagesOf(document, finding), jobs: [], executors: [], gaps: false };
    const some = <Row>(rows: Row[], is: (row: Row) => boolean) => rows.flatMap((row, i) => (is(row) ? [i] : []));
    if (places.stages.length) {
        // they say it
    } else if (where.stage !== null)
        places.stages = some(
            document.stages,
            ({ id, attempt }) => id === where.stage && (where.attempt === null || attempt === where.attempt),
        );
    else if (where.job !== null) places.jobs = some(document.jobs, ({ id }) => id === where.job);
    else if (where.sql !== null) places.jobs = some(document.jobs, ({ sql }) => sql === where.sql);
    else if (category === "driver") places.gaps = true;
    if (rule === "driver-bound") places.gaps = true; // the job that it names is the one before the longest
    if (where.executor !== null) places.executors = some(document.executors, ({ id }) => id === where.executor);
    else if (where.host !== null) places.executors = some(document.executors, ({ host }) => host === where.host);
    return places;
}

/** From the first to the last of it, in milliseconds since the start; null: it is about the run as a whole. */
export function spanOf(document: Timeline, places: Places): { from: number; to: number } | null {
    const times: [number | null, number | null][] = [
        ...places.stages.map((i) => document.stages[i]!).map((one) => [one.submitted_ms, one.completed_ms] as const),
        ...places.jobs.map((i) => document.jobs[i]!).map((one) => [one.submitted_ms, one.completed_ms] as const),
    ].map(([from, to]) => [from, to]);
    if (!times.length)
        for (const executor of places.executors.map((i) => document.executors[i]!))
            times.push([executor.added_ms ?? document.start_ms, executor.removed_ms]);
    if (!times.length && places.gaps) for (const gap of document.driver_gaps) times.push([gap.from_ms, gap.to_ms]);
    const known = times.filter(([from]) => from !== null);
    if (!known.length) return null;
    const [least, most] = [document.start_ms, document.end_ms];
    const from = Math.min(...known.map(([first]) => first!));
    const to = Math.max(...known.map(([, last]) => last ?? most));
    return { from: Math.max(from, least) - least, to: Math.min(Math.max(to, from), most) - least };
}

/** Findings by what they are about: index of a stage, job or executor, and those about the driver's gaps. */
export interface Marks {
    stages: Map<number, Finding[]>;
    jobs: Map<number, Finding[]>;
    executors: Map<number, Finding[]>;
    gaps: Finding[];
}

export function marksOf(document: Timeline, findings: Finding[]): Marks {
    const marks: Marks = { stages: new Map(), jobs: new Map(), executors: new Map(), gaps: [] };
    for (const finding of findings) {
        if (finding.folded) continue;
        const places = placesOf(document, finding);
        for (const list of ["stages", "jobs", "executors"] as const)
            for (const i of places[list]) marks[list].set(i, [...(marks[list].get(i) ?? []), finding]);
        if (places.gaps) marks.gaps.push(finding);
    }
    return marks;
}

const SEVERITIES = ["low", "moderate", "severe", "critical"];

/** The worst of them, whose color the mark has. */
export function worst(findings: Finding[]): Finding["severity"] {
    return findings.reduce<Finding["severity"]>(
        (most, { severity }) => (SEVERITIES.indexOf(severity) > SEVERITIES.indexOf(most) ? severity : most),
        "low",
    );
}
