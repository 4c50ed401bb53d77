/** Draws what is in view: rows of tasks in as many rectangles as there are pixels, never as many as there are tasks. */
import type { Finding } from "../data/types";
import { callSite, offset } from "../format";
import { STATES } from "../trace/states";
import { colour } from "../ui/theme";
import { barText, clipped } from "./label";
import { AXIS, firstTrack, type Layout, type Track } from "./layout";
import { type Bar, firstAfter, type TimelineModel } from "./model";
import { worst } from "./places";
import { firstMark } from "./threads";
import { tickStep, type Viewport } from "./viewport";

export type Colouring = "stage" | "outcome" | "length";

export interface Scene {
    model: TimelineModel;
    layout: Layout;
    view: Viewport;
    scroll: number;
    width: number;
    height: number;
    /** Width of the names on the left. */
    labels: number;
    colouring: Colouring;
    /** Indexes of the emphasized stages; null: all alike. */
    chosen: Set<number> | null;
    /** A task that is pointed at, or -1. */
    task: number;
}

const PALETTE = 8;

export interface Colours {
    text: string;
    soft: string;
    line: string;
    surface: string;
    raised: string;
    muted: string;
    failed: string;
    killed: string;
    good: string;
    slow: string[];
    stages: string[];
    severity: Record<string, string>;
    focus: string;
    /** Of what threads did, by name. */
    states: Record<string, string>;
}

export function readColours(): Colours {
    return {
        text: colour("text"),
        soft: colour("text-soft"),
        line: colour("line"),
        surface: colour("surface"),
        raised: colour("raised"),
        muted: colour("line"),
        failed: colour("bad"),
        killed: colour("warn"),
        good: colour("part-compute"),
        slow: [colour("part-compute"), colour("chart-6"), colour("chart-2"), colour("bad")],
        stages: Array.from({ length: PALETTE }, (_, i) => colour(`chart-${i + 1}`)),
        severity: {
            critical: colour("critical"),
            severe: colour("severe"),
            moderate: colour("moderate"),
            low: colour("low"),
        },
        focus: colour("focus"),
        states: Object.fromEntries(Object.keys(STATES).map((name) => [name, colour(`state-${name}`)])),
    };
}

/** Rectangles collected by color: changing the color is what costs. */
class Buckets {
    private readonly lists = new Map<string, number[]>();

    add(style: string, x: number, y: number, width: number, height: number): void {
        let list = this.lists.get(style);
        if (!list) {
            list = [];
            this.lists.set(style, list);
        }
        list.push(x, y, width, height);
    }

    paint(context: CanvasRenderingContext2D): void {
        for (const [style, list] of this.lists) {
            context.fillStyle = style;
            for (let i = 0; i < list.length; i += 4)
                context.fillRect(list[i]!, list[i + 1]!, list[i + 2]!, list[i + 3]!);
        }
    }
}

function taskColour(scene: Scene, colours: Colours, task: number): string {
    const { model } = scene;
    const stage = model.stage[task]!;
    if (scene.chosen && !scene.chosen.has(stage)) return colours.muted;
    const status = model.status[task]!;
    if (status === 1) return colours.failed;
    if (status === 2) return colours.killed;
    if (scene.colouring === "outcome") return colours.good;
    if (scene.colouring === "length") {
        const times = model.duration[task]! / Math.max(1, model.median[stage] ?? 1);
        return colours.slow[times < 1.5 ? 0 : times < 2 ? 1 : times < 5 ? 2 : 3]!;
    }
    return colours.stages[Math.max(stage, 0) % PALETTE]!;
}

/** Tasks of one row. Neighbors of one color that touch are one rectangle; what is hidden in a pixel is left out. */
function drawRow(scene: Scene, colours: Colours, track: Track, buckets: Buckets, x: (time: number) => number): void {
    const { model, view } = scene;
    const row = model.rows[track.index]!;
    const y = track.top - scene.scroll;
    const height = Math.max(1, track.height - (track.height > 4 ? 1 : 0));
    const seam = track.height > 5;
    let from = 0;
    let to = -1;
    let style = "";
    for (let task = firstAfter(model, row, view.from); task < row.end; task++) {
        const launch = model.launch[task]!;
        if (launch > view.to) break;
        const left = Math.max(scene.labels, x(launch));
        const right = Math.min(scene.width, Math.max(left + 1, x(launch + model.duration[task]!)));
        if (right <= to && model.status[task] === 0) continue; // in a pixel that is drawn already
        const next = taskColour(scene, colours, task);
        const wide = seam && right - left > 3;
        if (next === style && left <= to + 0.6 && !wide) {
            to = Math.max(to, right);
            continue;
        }
        if (style) buckets.add(style, from, y, to - from, height);
        from = wide && left < to + 1 ? to + 0.5 : left;
        to = Math.max(right, from + 0.5);
        style = next;
    }
    if (style) buckets.add(style, from, y, to - from, height);
}

/** States of one thread. Those that touch and have one color are one rectangle. */
function drawThread(scene: Scene, colours: Colours, track: Track, buckets: Buckets, x: (time: number) => number): void {
    const { model, view } = scene;
    const thread = model.threads[track.index]!;
    const names = model.document.states ?? [];
    const y = track.top - scene.scroll;
    const height = Math.max(1, track.height - (track.height > 4 ? 2 : 0));
    let from = 0;
    let to = -1;
    let style = "";
    for (let mark = firstMark(thread, view.from); mark < thread.from.length; mark++) {
        if (thread.from[mark]! > view.to) break;
        const left = Math.max(scene.labels, x(thread.from[mark]!), to);
        const right = Math.min(scene.width, Math.max(left + 0.5, x(thread.to[mark]!)));
        if (right <= to) continue;
        const next = colours.states[names[thread.code[mark]!] ?? ""] ?? colours.muted;
        if (next === style && left <= to + 0.3) {
            to = right;
            continue;
        }
        if (style) buckets.add(style, from, y, to - from, height);
        from = left;
        to = right;
        style = next;
    }
    if (style) buckets.add(style, from, y, to - from, height);
}

/** Gaps of the driver that a finding is about: a pattern, so that it does not depend on color alone. */
function hatch(context: CanvasRenderingContext2D, colours: Colours, scene: Scene, left: number, right: number): void {
    const height = scene.height - AXIS;
    context.save();
    context.beginPath();
    context.rect(left, AXIS, right - left, height);
    context.clip();
    context.strokeStyle = colours.severity[worst(scene.model.marks.gaps)]!;
    context.globalAlpha = 0.35;
    context.lineWidth = 1;
    context.beginPath();
    for (let x = left - height; x < right; x += 12) {
        context.moveTo(x, AXIS + height);
        context.lineTo(x + height, AXIS);
    }
    context.stroke();
    context.restore();
}

function drawGaps(
    scene: Scene,
    context: CanvasRenderingContext2D,
    colours: Colours,
    x: (time: number) => number,
): void {
    context.fillStyle = colours.raised;
    for (const gap of scene.model.gaps) {
        if (gap.to < scene.view.from || gap.from > scene.view.to) continue;
        const left = Math.max(scene.labels, x(gap.from));
        const right = Math.min(scene.width, x(gap.to));
        if (right - left < 0.5) continue;
        context.fillRect(left, AXIS, right - left, scene.height - AXIS);
        if (scene.model.marks.gaps.length && right - left > 14) hatch(context, colours, scene, left, right);
    }
}

/** Moments that the axis marks, and how far apart they are. */
function marks(scene: Scene): { step: number; times: number[] } {
    const { view } = scene;
    const step = tickStep(view.to - view.from, Math.max(2, (scene.width - scene.labels) / 90));
    const times: number[] = [];
    for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) times.push(time);
    return { step, times };
}

function drawGrid(
    scene: Scene,
    context: CanvasRenderingContext2D,
    colours: Colours,
    x: (time: number) => number,
): void {
    context.fillStyle = colours.line;
    for (const time of marks(scene).times) context.fillRect(Math.round(x(time)), AXIS, 1, scene.height - AXIS);
}

function drawAxis(
    scene: Scene,
    context: CanvasRenderingContext2D,
    colours: Colours,
    x: (time: number) => number,
): void {
    const { step, times } = marks(scene);
    context.fillStyle = colours.surface;
    context.fillRect(0, 0, scene.width, AXIS);
    context.fillStyle = colours.line;
    context.fillRect(0, AXIS, scene.width, 1);
    context.textBaseline = "middle";
    context.textAlign = "left";
    for (const time of times) {
        const left = Math.round(x(time));
        context.fillStyle = colours.line;
        context.fillRect(left, AXIS - 6, 1, 6);
        context.fillStyle = colours.soft;
        if (left < scene.width - 40) context.fillText(offset(time, step), left + 4, AXIS / 2);
    }
}

function clippedText(context: CanvasRenderingContext2D, text: string, x: number, y: number, width: number): void {
    context.fillText(
        clipped(text, width, (part) => context.measureText(part).width),
        x,
        y,
    );
}

const FLAG = 11;
/** Left and right of a bar's text. */
const PADDING = 3;

/** That a finding is about it: a frame in its severity's color, and an exclamation mark where there is room. */
function markBox(
    context: CanvasRenderingContext2D,
    colours: Colours,
    findings: Finding[],
    x: number,
    y: number,
    width: number,
    height: number,
): void {
    const shade = colours.severity[worst(findings)]!;
    context.strokeStyle = colours.surface;
    context.lineWidth = 4;
    context.strokeRect(x + 1, y + 1, Math.max(2, width - 2), height - 2);
    context.strokeStyle = shade;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, Math.max(2, width - 2), height - 2);
    if (width <= 14) return;
    context.fillStyle = shade;
    context.fillRect(x, y, FLAG, height);
    context.fillStyle = colours.surface;
    context.textAlign = "center";
    context.fillText("!", x + FLAG / 2, y + height / 2 + 0.5);
    context.textAlign = "left";
}

/** Bars of a lane with their labels. `paint` gives a bar's colors, and the name after its label. */
function drawBars(
    scene: Scene,
    context: CanvasRenderingContext2D,
    colours: Colours,
    bars: Bar[],
    track: Track,
    x: (time: number) => number,
    paint: (bar: Bar) => { fill: string; name: string; text: string },
    findings?: Map<number, Finding[]>,
): void {
    const y = track.top - scene.scroll;
    const measure = (part: string) => context.measureText(part).width;
    let covered = 0;
    let framed = 0;
    const marked: (() => void)[] = []; // over all bars: an outline may touch the neighbours
    for (const bar of bars) {
        if (bar.lane !== track.index || bar.to < scene.view.from || bar.from > scene.view.to) continue;
        const left = Math.max(scene.labels, x(bar.from));
        const right = Math.min(scene.width, Math.max(left + 1.5, x(bar.to)));
        const about = findings?.get(bar.index);
        // What is hidden in a pixel is left out, except one mark a pixel.
        if (about && right > framed) {
            framed = right;
            marked.push(() => markBox(context, colours, about, left, y, right - left, track.height - 1));
        }
        if (right <= covered) continue;
        covered = right;
        const { fill, name, text } = paint(bar);
        const flag = about && right - left > 14 ? FLAG : 0;
        context.fillStyle = fill;
        context.fillRect(left, y + 1, right - left, track.height - 3);
        context.fillStyle = text;
        const room = right - left - flag - 2 * PADDING;
        if (room > 0)
            context.fillText(
                barText(bar.label, bar.number, name, room, measure),
                left + flag + PADDING,
                y + track.height / 2,
            );
    }
    for (const mark of marked) mark();
    context.fillStyle = colours.text;
}

function drawLabels(scene: Scene, context: CanvasRenderingContext2D, colours: Colours, first: number): void {
    const { layout, model } = scene;
    context.fillStyle = colours.surface;
    context.fillRect(0, AXIS + 1, scene.labels - 1, scene.height - AXIS);
    context.fillStyle = colours.line;
    context.fillRect(scene.labels - 1, 0, 1, scene.height);
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(0, AXIS + 1, scene.labels - 1, scene.height);
    context.clip();
    for (let i = first; i < layout.tracks.length; i++) {
        const track = layout.tracks[i]!;
        const y = track.top - scene.scroll;
        if (y > scene.height) break;
        if (track.kind === "executor") {
            const executor = model.document.executors[track.index]!;
            const about = model.marks.executors.get(track.index);
            if (about) markBox(context, colours, about, 0, y, scene.labels - 2, track.height);
            context.fillStyle = colours.text;
            const left = about ? FLAG + 5 : 10;
            const named = executor.id !== "driver";
            const text = barText(
                named ? `Executor ${executor.id}` : "driver",
                named ? executor.id : "",
                "",
                scene.labels - left - 4,
                (part) => context.measureText(part).width,
            );
            context.fillText(text, left, y + track.height / 2);
            if (layout.rowHeight * (model.rowsOf[track.index + 1]! - model.rowsOf[track.index]!) > 11) {
                context.fillStyle = colours.soft;
                clippedText(context, executor.host ?? "", 10, y + track.height + 7, scene.labels - 20);
            }
        } else if (track.kind === "thread") {
            if (track.height < 10) continue;
            context.fillStyle = colours.soft;
            clippedText(context, model.threads[track.index]!.label, 18, y + track.height / 2, scene.labels - 24);
        } else if (track.index === 0 && track.kind !== "row") {
            context.fillStyle = colours.text;
            context.fillText(
                { findings: "Findings", errors: "Errors", pauses: "GC pauses", jobs: "Jobs", stages: "Stages" }[
                    track.kind
                ],
                10,
                y + track.height / 2,
            );
        }
    }
    context.restore();
}

/** When the executor was alive, as a line under its name. */
function drawLifetime(
    scene: Scene,
    colours: Colours,
    track: Track,
    buckets: Buckets,
    x: (time: number) => number,
): void {
    const { document, length } = scene.model;
    const executor = document.executors[track.index]!;
    const from = executor.added_ms === null ? 0 : executor.added_ms - document.start_ms;
    const to = executor.removed_ms === null ? length : executor.removed_ms - document.start_ms;
    const left = Math.max(scene.labels, x(from));
    const right = Math.min(scene.width, x(to));
    const y = track.top - scene.scroll + track.height - 5;
    if (right > left) buckets.add(colours.soft, left, y + 1, right - left, 1);
    if (from >= scene.view.from && from <= scene.view.to) buckets.add(colours.soft, x(from), y - 3, 2, 7);
    if (executor.removed_ms !== null && to >= scene.view.from && to <= scene.view.to)
        buckets.add(colours.failed, x(to) - 2, y - 3, 2, 7);
}

export function draw(scene: Scene, context: CanvasRenderingContext2D, colours: Colours): void {
    const { model, layout, view } = scene;
    const scale = (scene.width - scene.labels) / (view.to - view.from);
    const x = (time: number) => scene.labels + (time - view.from) * scale;
    context.fillStyle = colours.surface;
    context.fillRect(0, 0, scene.width, scene.height);
    drawGaps(scene, context, colours, x);
    drawGrid(scene, context, colours, x);
    context.font = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";
    context.textBaseline = "middle";
    const first = firstTrack(layout, scene.scroll + AXIS);
    const buckets = new Buckets();
    const stageColour = (index: number) =>
        scene.chosen && !scene.chosen.has(index) ? colours.muted : colours.stages[index % PALETTE]!;
    for (let i = first; i < layout.tracks.length; i++) {
        const track = layout.tracks[i]!;
        if (track.top - scene.scroll > scene.height) break;
        if (track.kind === "row") drawRow(scene, colours, track, buckets, x);
        else if (track.kind === "thread") drawThread(scene, colours, track, buckets, x);
        else if (track.kind === "executor") drawLifetime(scene, colours, track, buckets, x);
        else if (track.kind === "jobs")
            drawBars(
                scene,
                context,
                colours,
                model.jobs,
                track,
                x,
                (bar) => {
                    const job = model.document.jobs[bar.index]!;
                    return {
                        fill: job.status.startsWith("fail") ? colours.failed : colours.line,
                        name: callSite(job.name),
                        text: job.status.startsWith("fail") ? colours.surface : colours.text,
                    };
                },
                model.marks.jobs,
            );
        else if (track.kind === "errors" || track.kind === "pauses") {
            const fill = track.kind === "errors" ? colours.failed : colours.killed;
            const bars = track.kind === "errors" ? model.errors : model.pauses;
            drawBars(scene, context, colours, bars, track, x, () => ({ fill, name: "", text: colours.surface }));
        } else if (track.kind === "stages")
            drawBars(
                scene,
                context,
                colours,
                model.stages,
                track,
                x,
                (bar) => {
                    const muted = scene.chosen !== null && !scene.chosen.has(bar.index);
                    return {
                        fill: stageColour(bar.index),
                        name: callSite(model.document.stages[bar.index]!.name),
                        text: muted ? colours.soft : colours.surface,
                    };
                },
                model.marks.stages,
            );
        else
            drawBars(scene, context, colours, model.findings, track, x, (bar) => {
                const finding = model.findings.find((one) => one.index === bar.index)!.finding;
                return { fill: colours.severity[finding.severity]!, name: "", text: colours.surface };
            });
    }
    buckets.paint(context);
    if (scene.task >= 0) outlineTask(scene, context, colours, x);
    drawAxis(scene, context, colours, x);
    drawLabels(scene, context, colours, first);
}

function outlineTask(
    scene: Scene,
    context: CanvasRenderingContext2D,
    colours: Colours,
    x: (time: number) => number,
): void {
    const { model, layout } = scene;
    const row = model.rows.findIndex((candidate) => scene.task >= candidate.first && scene.task < candidate.end);
    const track = layout.tracks.find((candidate) => candidate.kind === "row" && candidate.index === row);
    if (!track) return;
    const left = x(model.launch[scene.task]!);
    const right = x(model.launch[scene.task]! + model.duration[scene.task]!);
    context.strokeStyle = colours.text;
    context.lineWidth = 1.5;
    context.strokeRect(left - 1, track.top - scene.scroll - 1, Math.max(3, right - left) + 2, track.height + 1);
}
