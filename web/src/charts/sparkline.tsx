/** The durations of past runs, the latest one marked. */
import { duration, plural } from "../format";

export function Sparkline({ values, width = 96, height = 20 }: { values: number[]; width?: number; height?: number }) {
    if (values.length < 2) return null;
    const top = Math.max(...values, 1);
    const x = (i: number) => 2 + (i * (width - 4)) / (values.length - 1);
    const y = (value: number) => height - 2 - ((height - 4) * value) / top;
    const points = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    const last = values[values.length - 1]!;
    const label = `${plural(values.length, "run")}, from ${duration(Math.min(...values))} to ${duration(top)}, the last ${duration(last)}`;
    return (
        <svg
            class="sparkline"
            width={width}
            height={height}
            viewBox={`0 0 ${width} ${height}`}
            role="img"
            aria-label={label}
        >
            <title>{label}</title>
            <polyline points={points} fill="none" />
            <circle cx={x(values.length - 1)} cy={y(last)} r="2" />
        </svg>
    );
}
