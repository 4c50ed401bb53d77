/** Cells colored by a value: rows with names, columns over time. The page shows the same data as a table. */
import { useEffect, useRef, useState } from "preact/hooks";
import { offset } from "../format";
import { colour, useTheme } from "../ui/theme";
import { useWidth } from "../ui/width";

export interface HeatmapProps {
    label: string;
    rows: string[];
    columns: number;
    /** By row, then column; NaN: nothing there. */
    values: Float64Array;
    most: number;
    from: number;
    to: number;
    text: (value: number) => string;
}

const NAMES = 118;
const AXIS = 20;

function parse(hex: string): [number, number, number] {
    const value = Number.parseInt(hex.slice(1), 16);
    return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** Between the colors of nothing and of the most. */
function shade(low: number[], high: number[], part: number): string {
    const mix = low.map((value, i) => Math.round(value + (high[i]! - value) * part));
    return `rgb(${mix.join(" ")})`;
}

export function Heatmap({ label, rows, columns, values, most, from, to, text }: HeatmapProps) {
    const theme = useTheme();
    const canvas = useRef<HTMLCanvasElement>(null);
    const width = useWidth(canvas);
    const [tip, setTip] = useState<{ x: number; y: number; lines: string[] } | null>(null);
    const rowHeight = rows.length > 120 ? 3 : rows.length > 40 ? 7 : rows.length > 12 ? 13 : 20;
    const height = rows.length * rowHeight + AXIS;

    useEffect(() => {
        const element = canvas.current;
        if (!element || width < NAMES + 20) return;
        const ratio = window.devicePixelRatio || 1;
        element.width = Math.round(width * ratio);
        element.height = Math.round(height * ratio);
        const context = element.getContext("2d", { alpha: false });
        if (!context) return;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        const [low, high] = [parse(colour("heat-0")), parse(colour("heat-1"))];
        context.fillStyle = colour("surface");
        context.fillRect(0, 0, width, height);
        const cell = (width - NAMES) / columns;
        for (let r = 0; r < rows.length; r++) {
            for (let c = 0; c < columns; c++) {
                const value = values[r * columns + c]!;
                if (Number.isNaN(value)) continue;
                context.fillStyle = shade(low, high, 0.12 + 0.88 * Math.min(1, value / most));
                const left = Math.round(NAMES + c * cell);
                const right = Math.round(NAMES + (c + 1) * cell);
                context.fillRect(left, r * rowHeight, right - left, rowHeight - (rowHeight > 4 ? 1 : 0));
            }
        }
        context.font = "11px system-ui, sans-serif";
        context.textBaseline = "middle";
        context.fillStyle = colour("text-soft");
        const every = Math.ceil(12 / rowHeight);
        rows.forEach((name, r) => {
            if (r % every === 0) context.fillText(name.slice(0, 18), 0, r * rowHeight + rowHeight / 2);
        });
        for (let mark = 0; mark <= 5; mark++) {
            const time = from + ((to - from) * mark) / 5;
            context.textAlign = mark === 5 ? "right" : mark === 0 ? "left" : "center";
            context.fillText(offset(time, (to - from) / 5), NAMES + ((width - NAMES) * mark) / 5, height - AXIS / 2);
        }
    }, [theme, width, height, rowHeight, rows, columns, values, most, from, to]);

    const move = (event: PointerEvent) => {
        const box = canvas.current!.getBoundingClientRect();
        const c = Math.floor(((event.clientX - box.left - NAMES) * columns) / (box.width - NAMES));
        const r = Math.floor((event.clientY - box.top) / rowHeight);
        const value = c >= 0 && r >= 0 && r < rows.length ? values[r * columns + c] : Number.NaN;
        if (value === undefined || Number.isNaN(value)) {
            setTip(null);
            return;
        }
        const time = from + ((to - from) * c) / columns;
        setTip({
            x: Math.min(event.clientX - box.left + 12, width - 220),
            y: event.clientY - box.top + 14,
            lines: [rows[r]!, `${text(value)} at ${offset(time, 100)}`],
        });
    };
    return (
        <div class="plot" role="img" aria-label={label}>
            <canvas
                ref={canvas}
                class="heatmap"
                style={{ height: `${height}px` }}
                onPointerMove={move}
                onPointerLeave={() => setTip(null)}
            />
            {tip && (
                <div class="tip" style={{ left: `${tip.x}px`, top: `${tip.y}px` }}>
                    {tip.lines.map((line, i) => (
                        <div key={i}>{line}</div>
                    ))}
                </div>
            )}
        </div>
    );
}
