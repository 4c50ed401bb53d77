/** A plan as a picture: boxes colored by their own time, wires as thick as the rows that go over them. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { duration, plural } from "../format";
import { BOX, type Placed, placePlan, stagesOf } from "./layout";
import type { Plan, PlanNode } from "./types";

interface View {
    x: number;
    y: number;
    scale: number;
}

const HEIGHT = 620;
const LEAST_SCALE = 0.08;
const MOST_SCALE = 2.5;

function clip(text: string, letters: number): string {
    return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

function Box({
    placed,
    share,
    chosen,
    onChoose,
}: {
    placed: Placed;
    share: number;
    chosen: boolean;
    onChoose: () => void;
}) {
    const { node, x, y } = placed;
    const stages = stagesOf(node);
    const facts = [
        node.own_ms !== null ? duration(node.own_ms) : null,
        node.rows !== null ? plural(node.rows, "row") : null,
    ].filter(Boolean);
    return (
        <g
            class={`plan-box ${chosen ? "chosen" : ""}`}
            transform={`translate(${x} ${y})`}
            role="button"
            tabindex={0} // an SVG element has no tabIndex attribute
            aria-pressed={chosen}
            onClick={onChoose}
            onKeyDown={(event) => {
                if (event.key !== "Enter" && event.key !== " ") return;
                event.preventDefault();
                onChoose();
            }}
        >
            <rect class="plan-ground" width={BOX.width} height={BOX.height} rx="6" />
            <rect class="plan-heat" width={BOX.width} height={BOX.height} rx="6" style={{ opacity: share }} />
            <text x="10" y="19" class="plan-name">
                {clip(node.name, 28)}
            </text>
            <text x="10" y="36" class="plan-facts">
                {clip(facts.join(" · "), 34)}
            </text>
            <text x="10" y="52" class="plan-stages">
                {stages.length ? clip(`stage${stages.length > 1 ? "s" : ""} ${stages.join(", ")}`, 34) : ""}
            </text>
        </g>
    );
}

/** Thousand times the rows are three steps. */
function thickness(rows: number | null): number {
    return rows === null || rows < 1 ? 1 : 1 + Math.min(6, Math.log10(rows) * 0.7);
}

function pathOf(points: { x: number; y: number }[]): string {
    return points.map((point, i) => `${i ? "L" : "M"}${point.x.toFixed(1)} ${point.y.toFixed(1)}`).join("");
}

export function PlanGraph({
    plan,
    chosen,
    onChoose,
}: {
    plan: Plan;
    chosen: number | null;
    onChoose: (node: PlanNode) => void;
}) {
    const placed = useMemo(() => placePlan(plan), [plan]);
    const place = useRef<HTMLDivElement>(null);
    const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
    const drag = useRef<{ x: number; y: number; view: View } | null>(null);
    const most = Math.max(1, ...placed.nodes.map(({ node }) => node.own_ms ?? 0));

    const fit = () => {
        const width = place.current?.clientWidth ?? 800;
        const scale = Math.max(LEAST_SCALE, Math.min(1, width / placed.width, HEIGHT / placed.height));
        // a tall plan begins at its top, readable; a small one is in the middle
        const readable = Math.max(scale, Math.min(0.75, width / placed.width));
        setView({ x: Math.max(0, (width - placed.width * readable) / 2), y: 0, scale: readable });
    };
    useEffect(fit, [placed]);

    const zoom = (factor: number, x: number, y: number) =>
        setView((now) => {
            const scale = Math.max(LEAST_SCALE, Math.min(MOST_SCALE, now.scale * factor));
            const ratio = scale / now.scale;
            return { scale, x: x - (x - now.x) * ratio, y: y - (y - now.y) * ratio };
        });

    useEffect(() => {
        const element = place.current;
        if (!element) return;
        const wheel = (event: WheelEvent) => {
            if (!event.ctrlKey && !event.metaKey) return; // plain wheels scroll the page
            event.preventDefault();
            const box = element.getBoundingClientRect();
            zoom(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
        };
        element.addEventListener("wheel", wheel, { passive: false });
        return () => element.removeEventListener("wheel", wheel);
    });

    const keys = (event: KeyboardEvent) => {
        const step = 60;
        const moves: Record<string, [number, number]> = {
            ArrowLeft: [step, 0],
            ArrowRight: [-step, 0],
            ArrowUp: [0, step],
            ArrowDown: [0, -step],
        };
        const move = moves[event.key];
        const middle = (place.current?.clientWidth ?? 0) / 2;
        if (move) setView((now) => ({ ...now, x: now.x + move[0], y: now.y + move[1] }));
        else if (event.key === "+") zoom(1.25, middle, HEIGHT / 2);
        else if (event.key === "-") zoom(0.8, middle, HEIGHT / 2);
        else if (event.key === "0") fit();
        else return;
        event.preventDefault();
    };

    return (
        <div class="plan">
            <p class="plan-tools">
                <button type="button" onClick={() => zoom(1.25, (place.current?.clientWidth ?? 0) / 2, HEIGHT / 2)}>
                    Zoom in
                </button>
                <button type="button" onClick={() => zoom(0.8, (place.current?.clientWidth ?? 0) / 2, HEIGHT / 2)}>
                    Zoom out
                </button>
                <button type="button" onClick={fit}>
                    Fit
                </button>
                <span class="note">Drag to move. Ctrl + wheel zooms. Arrow keys, + and - also work.</span>
            </p>
            {/* biome-ignore lint/a11y/noStaticElementInteractions: a picture that moves; its boxes are the controls */}
            <div
                ref={place}
                class="plan-view"
                style={{ height: `${Math.min(HEIGHT, placed.height * view.scale + 4)}px` }}
                onKeyDown={keys}
                onPointerDown={(event) => {
                    drag.current = { x: event.clientX, y: event.clientY, view };
                }}
                onPointerMove={(event) => {
                    const from = drag.current;
                    if (!from || event.buttons === 0) return;
                    setView({
                        ...from.view,
                        x: from.view.x + event.clientX - from.x,
                        y: from.view.y + event.clientY - from.y,
                    });
                }}
                onPointerUp={() => {
                    drag.current = null;
                }}
            >
                <svg width="100%" height="100%" aria-label="Plan, from what is read at the top to the result">
                    <title>Plan</title>
                    <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
                        {placed.wires.map((wire, i) => (
                            <path
                                key={i}
                                class="plan-wire"
                                d={pathOf(wire.points)}
                                style={{ strokeWidth: thickness(wire.from.rows) }}
                            />
                        ))}
                        {placed.nodes.map((one) => (
                            <Box
                                key={one.node.id}
                                placed={one}
                                share={((one.node.own_ms ?? 0) / most) * 0.6}
                                chosen={chosen === one.node.id}
                                onChoose={() => onChoose(one.node)}
                            />
                        ))}
                    </g>
                </svg>
            </div>
        </div>
    );
}
