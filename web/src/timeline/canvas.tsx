/** The canvas of the timeline: what moves it, what is under the pointer. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Finding } from "../data/types";
import { count, duration, offset, plural, times } from "../format";
import { useTheme } from "../ui/theme";
import { useWidth } from "../ui/width";
import { type Colouring, draw, readColours, type Scene } from "./draw";
import { AXIS, labelsOf, layoutOf, trackAt } from "./layout";
import { type Bar, concurrency, firstAfter, type TimelineModel } from "./model";
import { describeMark, firstMark } from "./threads";
import { around, pan, type Viewport, zoom } from "./viewport";

/** What is under the pointer. */
export type Hit =
    | { kind: "task"; task: number }
    | { kind: "stage" | "job" | "finding" | "error" | "pause"; bar: Bar }
    | { kind: "executor"; executor: number }
    | { kind: "thread"; thread: number; mark: number };

interface Props {
    model: TimelineModel;
    view: Viewport;
    onView: (view: Viewport) => void;
    /** The shortest time that may be in view (ms). */
    closest: number;
    chosen: Set<number> | null;
    colouring: Colouring;
    rowHeight: number;
    onPick: (hit: Hit | null) => void;
    task: number;
}

const KINDS = { findings: "finding", errors: "error", pauses: "pause", jobs: "job", stages: "stage" } as const;

function hitAt(props: Props, layout: ReturnType<typeof layoutOf>, y: number, time: number, slack: number): Hit | null {
    const { model } = props;
    const track = trackAt(layout, y);
    if (!track) return null;
    if (track.kind === "executor") return { kind: "executor", executor: track.index };
    if (track.kind === "row") {
        const row = model.rows[track.index]!;
        const task = firstAfter(model, row, time - slack);
        return task < row.end && model.launch[task]! <= time + slack ? { kind: "task", task } : null;
    }
    if (track.kind === "thread") {
        const thread = model.threads[track.index]!;
        const mark = firstMark(thread, time);
        const found = mark < thread.from.length && thread.from[mark]! <= time + slack;
        return found ? { kind: "thread", thread: track.index, mark } : null;
    }
    const bars = model[track.kind];
    const kind = KINDS[track.kind];
    const bar = bars.find((one) => one.lane === track.index && one.from <= time + slack && one.to >= time - slack);
    return bar ? { kind, bar } : null;
}

/** Findings about what is under the pointer; tasks have those of their stage. */
export function findingsAt({ marks, stage, findings, threads }: TimelineModel, hit: Hit | null): Finding[] {
    if (!hit) return [];
    if (hit.kind === "finding")
        return findings.filter(({ index }) => index === hit.bar.index).map((one) => one.finding);
    if (hit.kind === "executor") return marks.executors.get(hit.executor) ?? [];
    if (hit.kind === "thread") return marks.executors.get(threads[hit.thread]!.executor) ?? [];
    if (hit.kind === "error" || hit.kind === "pause") return [];
    if (hit.kind === "job") return marks.jobs.get(hit.bar.index) ?? [];
    return marks.stages.get(hit.kind === "task" ? stage[hit.task]! : hit.bar.index) ?? [];
}

/** The lines of the tip next to the pointer. */
export function describe(model: TimelineModel, hit: Hit): string[] {
    const { document } = model;
    if (hit.kind === "task") {
        const i = model.source[hit.task]!;
        const columns = document.tasks.columns;
        const stage = model.stage[hit.task]!;
        const ratio = model.duration[hit.task]! / Math.max(1, model.median[stage] ?? 1);
        const executor = document.executors[columns.executor[i]!];
        return [
            `Task ${columns.index[i]} of stage ${columns.stage[i]}${columns.attempt[i] ? `.${columns.attempt[i]}` : ""}`,
            `${duration(model.duration[hit.task])}, ${times(ratio)} the median${["", ", failed", ", killed"][model.status[hit.task]!]}`,
            `at ${offset(model.launch[hit.task]!, 10)} on executor ${executor?.id ?? "?"} (${executor?.host ?? "?"})`,
        ];
    }
    if (hit.kind === "executor") {
        const executor = document.executors[hit.executor]!;
        const since = (ms: number | null) => (ms === null ? "-" : offset(ms - document.start_ms));
        return [
            `Executor ${executor.id} on ${executor.host ?? "?"}`,
            `${executor.cores === null ? "unknown cores" : plural(executor.cores, "core")}, from ${since(executor.added_ms)}${executor.removed_ms === null ? "" : ` to ${since(executor.removed_ms)}`}`,
            ...(executor.remove_reason ? [executor.remove_reason] : []),
        ];
    }
    if (hit.kind === "thread") {
        const thread = model.threads[hit.thread]!;
        const from = thread.from[hit.mark];
        // What was picked may be of another part of the run than what is shown now.
        return from === undefined
            ? [thread.label]
            : [...describeMark(thread, hit.mark, document.states ?? []), `from ${offset(from, 0.001)}`];
    }
    if (hit.kind === "error") return [`Error at ${offset(hit.bar.from, 10)}`, hit.bar.label];
    const names = {
        pause: "",
        job: document.jobs[hit.bar.index]?.name,
        stage: document.stages[hit.bar.index]?.name,
        finding: model.findings.find((one) => one.index === hit.bar.index)?.finding.cause,
    };
    return [
        `${hit.bar.label}: ${duration(hit.bar.to - hit.bar.from)}, from ${offset(hit.bar.from, 100)}`,
        ...(names[hit.kind] ? [names[hit.kind]!.slice(0, 240)] : []),
    ];
}

function tipOf(model: TimelineModel, hit: Hit): string[] {
    const about = hit.kind === "finding" ? [] : findingsAt(model, hit);
    return [...describe(model, hit), ...about.slice(0, 3).map((finding) => `! ${finding.title} (${finding.severity})`)];
}

/** The canvas in device pixels, its context in CSS pixels. */
function fit(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
    }
    const context = canvas.getContext("2d", { alpha: false });
    context?.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
}

export function TimelineCanvas(props: Props) {
    const { model, view, onView, rowHeight, closest } = props;
    const theme = useTheme();
    const scroller = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const [size, setSize] = useState({ width: 0, height: 0 });
    const [tip, setTip] = useState<{ x: number; y: number; lines: string[] } | null>(null);
    const layout = useMemo(() => layoutOf(model, rowHeight), [model, rowHeight]);
    const colours = useMemo(readColours, [theme]);
    const scroll = useRef(0);
    const frame = useRef(0);
    const scene = useRef<Scene | null>(null);

    const labels = labelsOf(size.width);
    scene.current = {
        model,
        layout,
        view,
        scroll: scroll.current,
        width: size.width,
        height: size.height,
        labels,
        colouring: props.colouring,
        chosen: props.chosen,
        task: props.task,
    };

    const repaint = useRef(() => {});
    repaint.current = () => {
        if (frame.current) return;
        frame.current = requestAnimationFrame(() => {
            frame.current = 0;
            const element = canvas.current;
            if (!element || !scene.current || scene.current.width < scene.current.labels + 10) return;
            const context = fit(element, scene.current.width, scene.current.height);
            const began = performance.now();
            if (context) draw({ ...scene.current, scroll: scroll.current }, context, colours);
            element.dataset.drawMs = (performance.now() - began).toFixed(2);
        });
    };
    useEffect(() => repaint.current());

    useLayoutEffect(() => {
        const element = scroller.current;
        if (!element) return;
        const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight });
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        measure();
        return () => observer.disconnect();
    }, []);

    const perPixel = (view.to - view.from) / Math.max(1, size.width - labels);
    const timeAt = (x: number) => view.from + (x - labels) * perPixel;
    const placeOf = (event: MouseEvent) => {
        const box = canvas.current!.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const hitOf = (event: MouseEvent) => {
        const { x, y } = placeOf(event);
        return x < labels || y < AXIS ? null : hitAt(props, layout, y + scroll.current, timeAt(x), perPixel * 3);
    };

    // Not passive: a wheel with Ctrl would zoom the page.
    useEffect(() => {
        const element = canvas.current;
        if (!element) return;
        const wheel = (event: WheelEvent) => {
            if (event.ctrlKey || event.metaKey) {
                event.preventDefault();
                const { x } = placeOf(event);
                onView(zoom(view, Math.exp(event.deltaY * 0.002), timeAt(Math.max(labels, x)), model.length, closest));
            } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
                event.preventDefault();
                onView(pan(view, (event.deltaX || event.deltaY) * perPixel, model.length));
            }
        };
        element.addEventListener("wheel", wheel, { passive: false });
        return () => element.removeEventListener("wheel", wheel);
    });

    const drag = useRef<{ x: number; view: Viewport; moved: boolean } | null>(null);
    const down = (event: PointerEvent) => {
        if (event.button !== 0) return;
        drag.current = { x: event.clientX, view, moved: false };
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    };
    const move = (event: PointerEvent) => {
        const held = drag.current;
        if (held && Math.abs(event.clientX - held.x) > 3) held.moved = true;
        if (held?.moved) {
            setTip(null);
            onView(pan(held.view, (held.x - event.clientX) * perPixel, model.length));
            return;
        }
        const hit = hitOf(event);
        const { x, y } = placeOf(event);
        setTip(hit ? { x: Math.min(x + 14, size.width - 320), y: y + 16, lines: tipOf(model, hit) } : null);
    };
    const up = (event: PointerEvent) => {
        const held = drag.current;
        drag.current = null;
        if (held && !held.moved) props.onPick(hitOf(event));
    };
    const twice = (event: MouseEvent) => {
        const hit = hitOf(event);
        if (hit && "bar" in hit) onView(around(hit.bar.from, hit.bar.to, model.length));
        else onView(zoom(view, 0.4, timeAt(placeOf(event).x), model.length, closest));
    };
    const pressed = (event: KeyboardEvent) => {
        const span = view.to - view.from;
        const middle = (view.from + view.to) / 2;
        const actions: Record<string, () => void> = {
            ArrowLeft: () => onView(pan(view, -span / 8, model.length)),
            ArrowRight: () => onView(pan(view, span / 8, model.length)),
            ArrowUp: () => scroller.current?.scrollBy(0, -60),
            ArrowDown: () => scroller.current?.scrollBy(0, 60),
            "+": () => onView(zoom(view, 0.6, middle, model.length, closest)),
            "=": () => onView(zoom(view, 0.6, middle, model.length, closest)),
            "-": () => onView(zoom(view, 1 / 0.6, middle, model.length, closest)),
            "0": () => onView({ from: 0, to: model.length }),
            Escape: () => props.onPick(null),
        };
        const action = actions[event.key];
        if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        action();
    };

    const label = `Timeline of ${plural(model.document.tasks.count, "task")} on ${plural(model.document.executors.length, "executor")}, from ${offset(view.from, 100)} to ${offset(view.to, 100)}. Arrow keys move, plus and minus zoom, 0 shows all. The tables below show the same data.`;
    return (
        <div class="timeline-frame">
            <div
                ref={scroller}
                class="timeline-scroll"
                style={{ height: `min(66vh, 46rem, ${layout.height + 2}px)` }}
                role="application"
                aria-label={label}
                tabIndex={0}
                onKeyDown={pressed}
                onScroll={(event) => {
                    scroll.current = event.currentTarget.scrollTop;
                    repaint.current();
                }}
            >
                <div style={{ height: `${layout.height}px` }}>
                    <canvas
                        ref={canvas}
                        style={{ height: `${size.height}px` }}
                        onPointerDown={down}
                        onPointerMove={move}
                        onPointerUp={up}
                        onPointerLeave={() => setTip(null)}
                        onDblClick={twice}
                    />
                </div>
            </div>
            {tip && (
                <div class="tip" aria-hidden="true" style={{ left: `${Math.max(4, tip.x)}px`, top: `${tip.y}px` }}>
                    {tip.lines.map((line, i) => (
                        <div key={i}>{line}</div>
                    ))}
                </div>
            )}
        </div>
    );
}

const MAP_HEIGHT = 44;

/** The whole run, as how many tasks ran at a time, with the part in view. */
export function Minimap({
    model,
    view,
    onView,
}: {
    model: TimelineModel;
    view: Viewport;
    onView: (view: Viewport) => void;
}) {
    const theme = useTheme();
    const canvas = useRef<HTMLCanvasElement>(null);
    const width = useWidth(canvas);
    const labels = labelsOf(width);
    const level = useMemo(() => concurrency(model, 600), [model]);
    useEffect(() => {
        const element = canvas.current;
        const context = element && width > 10 ? fit(element, width, MAP_HEIGHT) : null;
        if (!context) return;
        const colours = readColours();
        const most = Math.max(1, ...level);
        const inner = width - labels;
        context.fillStyle = colours.surface;
        context.fillRect(0, 0, width, MAP_HEIGHT);
        context.fillStyle = colours.soft;
        context.font = "11px system-ui, sans-serif";
        context.textBaseline = "middle";
        context.fillText(labels > 100 ? `Running tasks, max ${count(most)}` : `max ${count(most)}`, 10, MAP_HEIGHT / 2);
        context.fillStyle = colours.stages[7]!;
        level.forEach((value, i) => {
            const height = (value / most) * (MAP_HEIGHT - 6);
            const left = labels + (i * inner) / level.length;
            context.fillRect(left, MAP_HEIGHT - 2 - height, inner / level.length + 0.5, height);
        });
        const left = labels + (view.from / model.length) * inner;
        const right = labels + (view.to / model.length) * inner;
        context.globalAlpha = 0.65;
        context.fillStyle = colours.surface;
        context.fillRect(labels, 0, left - labels, MAP_HEIGHT);
        context.fillRect(right, 0, width - right, MAP_HEIGHT);
        context.globalAlpha = 1;
        context.strokeStyle = colours.focus;
        context.strokeRect(left + 0.5, 0.5, Math.max(2, right - left - 1), MAP_HEIGHT - 1);
    }, [width, labels, view, model, level, theme]);
    const held = useRef(false);
    const centre = (event: PointerEvent) => {
        const box = canvas.current!.getBoundingClientRect();
        const time = ((event.clientX - box.left - labels) / (box.width - labels)) * model.length;
        onView(pan(view, time - (view.from + view.to) / 2, model.length));
    };
    return (
        <canvas
            ref={canvas}
            class="minimap"
            style={{ height: `${MAP_HEIGHT}px` }}
            onPointerDown={(event) => {
                held.current = true;
                event.currentTarget.setPointerCapture(event.pointerId);
                centre(event);
            }}
            onPointerMove={(event) => held.current && centre(event)}
            onPointerUp={() => {
                held.current = false;
            }}
        />
    );
}
