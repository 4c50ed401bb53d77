/** uPlot as a component: as wide as its place, in the theme's colors, with a tip at the nearest point. */
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { count, offset } from "../format";
import { colour, useTheme } from "../ui/theme";
import { useWidth } from "../ui/width";
import { COUNT_STEPS, SECOND_STEPS } from "./steps";

export interface PlotProps {
    label: string;
    height: number;
    data: uPlot.AlignedData;
    /** Built for each theme. */
    options: () => Omit<uPlot.Options, "width" | "height">;
    /** What the tip says of a point; without it there is no tip. */
    describe?: (index: number, series: number) => string[];
}

export function axis(values: (value: number) => string, extra: Partial<uPlot.Axis> = {}): uPlot.Axis {
    return {
        stroke: colour("chart-axis"),
        grid: { stroke: colour("chart-grid"), width: 1 },
        ticks: { stroke: colour("chart-grid"), width: 1, size: 4 },
        font: "11px system-ui, sans-serif",
        size: 34,
        values: (_, splits) => splits.map((value) => (value === null ? "" : values(value))),
        ...extra,
    };
}

/** Options of a plot of numbers of things, from 0, over seconds since the application's start: one line for each series. */
export function countsOverTime(...lines: { stroke: string; fill: string }[]): Omit<uPlot.Options, "width" | "height"> {
    return {
        scales: {
            x: { time: false },
            y: { range: (_: uPlot, __: number, most: number) => [0, Math.max(1, most * 1.08)] as [number, number] },
        },
        axes: [
            axis((value) => offset(value * 1000), { incrs: SECOND_STEPS }),
            axis(count, { size: 46, incrs: COUNT_STEPS }),
        ],
        series: [{}, ...lines.map((line) => ({ ...line, width: 1.5, points: { show: false } }))],
    };
}

const REACH = 12;

/** The point that is nearest to the pointer, in CSS pixels. */
function nearest(plot: uPlot): { index: number; series: number; x: number; y: number } | null {
    const { left = -1, top = -1, idx } = plot.cursor;
    if (left < 0 || idx === null || idx === undefined) return null;
    let best = null;
    let distance = REACH;
    const xs = plot.data[0]!;
    const look = (i: number): boolean => {
        const x = plot.valToPos(xs[i]!, "x");
        if (Math.abs(x - left) > REACH) return false;
        for (let s = 1; s < plot.data.length; s++) {
            const value = plot.data[s]![i];
            if (value === null || value === undefined) continue;
            const y = plot.valToPos(value, "y");
            const away = Math.hypot(x - left, y - top);
            if (away < distance) {
                distance = away;
                best = { index: i, series: s, x, y };
            }
        }
        return true;
    };
    for (let i = idx; i >= 0 && look(i); i--);
    for (let i = idx + 1; i < xs.length && look(i); i++);
    return best;
}

export function Plot({ label, height, data, options, describe }: PlotProps) {
    const theme = useTheme();
    const place = useRef<HTMLDivElement>(null);
    const width = useWidth(place);
    const [tip, setTip] = useState<{ x: number; y: number; lines: string[] } | null>(null);
    const plot = useRef<uPlot | null>(null);

    useEffect(() => {
        if (!place.current || width < 50) return;
        const made = options();
        const follow = (self: uPlot) => {
            const point = describe ? nearest(self) : null;
            const [x, y] = [self.over.offsetLeft, self.over.offsetTop];
            setTip(point ? { x: point.x + x, y: point.y + y, lines: describe!(point.index, point.series) } : null);
        };
        plot.current = new uPlot(
            {
                legend: { show: false },
                ...made,
                cursor: { drag: { x: true, y: false }, points: { show: false }, ...made.cursor },
                hooks: { ...made.hooks, setCursor: [follow] },
                width,
                height,
            },
            data,
            place.current,
        );
        return () => {
            plot.current?.destroy();
            plot.current = null;
        };
    }, [theme, options, data, height, width, describe]);

    return (
        <div class="plot" role="img" aria-label={label}>
            <div ref={place} style={{ minHeight: `${height}px` }} aria-hidden="true" />
            {tip && (
                <div
                    class="tip"
                    style={{ left: `${Math.min(tip.x + 12, Math.max(0, width - 300))}px`, top: `${tip.y + 12}px` }}
                >
                    {tip.lines.map((line, i) => (
                        <div key={i}>{line}</div>
                    ))}
                </div>
            )}
        </div>
    );
}
