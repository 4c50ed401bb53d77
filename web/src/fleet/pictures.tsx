/** Pictures of views. The page shows the same data as a table below each. */
import { useCallback, useMemo } from "preact/hooks";
import uPlot from "uplot";
import { Bars } from "../charts/bars";
import { axis, Plot } from "../charts/plot";
import { BYTE_STEPS, COUNT_STEPS, SECOND_STEPS, TIME_STEPS } from "../charts/steps";
import { metricName, time } from "../format";
import { colour } from "../ui/theme";
import {
    areasOf,
    barsOf,
    binsOf,
    cellText,
    colourOf,
    type FleetTable,
    type FleetView,
    type Picture,
    pointsOf,
    tableOf,
} from "./model";

const HEIGHT = 230;
const HOUR = 3600e3;

/** Marks of an axis of that unit: round numbers of what it counts. */
function axisOf(unit: string, extra: Partial<uPlot.Axis> = {}): uPlot.Axis {
    if (unit === "time")
        return {
            ...axis(String),
            values: (_, splits, __, ___, step) => splits.map((at) => timeMark(at, step)),
            ...extra,
        };
    const incrs =
        unit === "ms"
            ? TIME_STEPS
            : unit === "bytes"
              ? BYTE_STEPS
              : unit === "count"
                ? COUNT_STEPS
                : unit === "core_ms"
                  ? [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5].map(
                        (h) => h * HOUR,
                    )
                  : undefined;
    return axis((value) => cellText(value, unit), { ...(incrs ? { incrs } : {}), ...extra });
}

const DAY_S = 86400;

/** Seconds since 1970, in UTC: the day where marks are days apart. */
function timeMark(seconds: number, step: number): string {
    const text = time(seconds * 1000);
    if (step >= DAY_S) return text.slice(0, 10);
    return seconds % DAY_S === 0 ? text.slice(5, 10) : text.slice(11, 16);
}

const TIME_INCRS = SECOND_STEPS.filter((step) => step >= 60).concat([60, 90, 180, 365].map((days) => days * DAY_S));

function unitOfColumn(table: FleetTable, name: string | null): string {
    return table.units[name === null ? -1 : table.columns.indexOf(name)] ?? "ratio";
}

function titleOf(table: FleetTable, name: string | null): string {
    return table.titles[name === null ? -1 : table.columns.indexOf(name)] ?? "";
}

const upwards = (_: uPlot, __: number, most: number): [number, number] => [0, most > 0 ? most * 1.08 : 1];

function Legend({ names }: { names: string[] }) {
    if (names.length < 2) return null;
    return (
        <p class="legend">
            {names.map((name, i) => (
                <span key={name}>
                    <span class="swatch" style={{ background: `var(--${colourOf(i, name)})` }} />
                    {name}
                </span>
            ))}
        </p>
    );
}

interface Props {
    table: FleetTable;
    picture: Picture;
    /** What decides the order of series. */
    measure: string | null;
}

function Area({ table, picture, measure }: Props) {
    const areas = useMemo(() => areasOf(table, picture, measure), [table, picture, measure]);
    const unit = unitOfColumn(table, picture.y);
    const data = useMemo(() => [areas.x.map((at) => at / 1000), ...areas.stacked] as uPlot.AlignedData, [areas]);
    const options = useCallback(
        (): Omit<uPlot.Options, "width" | "height"> => ({
            scales: { x: { time: true }, y: { range: upwards } },
            tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
            axes: [axisOf("time", { incrs: TIME_INCRS, space: 90 }), axisOf(unit, { size: 84 })],
            series: [
                {},
                ...areas.names.map((name, i) => ({
                    stroke: colour(colourOf(i, name)),
                    width: 1,
                    fill: `${colour(colourOf(i, name))}${areas.names.length > 1 ? "cc" : "55"}`,
                    points: { show: areas.x.length < 2 },
                    paths: uPlot.paths.stepped!({ align: 1 }),
                })),
            ],
        }),
        [areas, unit],
    );
    const describe = useCallback(
        (i: number) => [
            `${time(areas.x[i])} UTC`,
            ...areas.names.map((name, s) => `${name ? `${name}: ` : ""}${cellText(areas.own[s]![i]!, unit)}`),
        ],
        [areas, unit],
    );
    return (
        <>
            <Plot
                label={`${picture.title} over time; the table has the values`}
                height={HEIGHT}
                data={data}
                options={options}
                describe={describe}
            />
            <Legend names={areas.names} />
        </>
    );
}

function Marks({ table, picture }: Props) {
    const points = useMemo(() => pointsOf(table, picture), [table, picture]);
    const [xUnit, yUnit] = [unitOfColumn(table, picture.x), unitOfColumn(table, picture.y)];
    const overTime = xUnit === "time";
    const data = useMemo(
        () => [overTime ? points.x.map((at) => at / 1000) : points.x, ...points.y] as uPlot.AlignedData,
        [points, overTime],
    );
    const options = useCallback((): Omit<uPlot.Options, "width" | "height"> => {
        const draw = (plot: uPlot, series: number): null => {
            const context = plot.ctx;
            const ratio = window.devicePixelRatio || 1;
            const values = plot.data[series]!;
            context.save();
            context.fillStyle = `${colour(colourOf(series - 1, points.names[series - 1]!))}99`;
            context.strokeStyle = colour("bad");
            context.lineWidth = 2 * ratio;
            for (let i = 0; i < values.length; i++) {
                const value = values[i];
                if (value === null || value === undefined) continue;
                const x = plot.valToPos(plot.data[0]![i]!, "x", true);
                const y = plot.valToPos(value, "y", true);
                context.beginPath();
                context.arc(x, y, (points.sizes[i]! * ratio) / 2, 0, 2 * Math.PI);
                context.fill();
                if (points.marked[i]) {
                    context.beginPath();
                    context.arc(x, y, 6 * ratio, 0, 2 * Math.PI);
                    context.stroke();
                }
            }
            context.restore();
            return null;
        };
        return {
            scales: {
                x: overTime ? { time: true } : { time: false, range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] },
                y: { range: upwards },
            },
            tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
            axes: [
                axisOf(xUnit, { space: 90, ...(overTime ? { incrs: TIME_INCRS } : {}) }),
                axisOf(yUnit, { size: 84 }),
            ],
            series: [
                {},
                ...points.names.map(() => ({
                    points: { show: false },
                    paths: draw as unknown as uPlot.Series.PathBuilder,
                })),
            ],
        };
    }, [points, overTime, xUnit, yUnit]);
    const describe = useCallback(
        (i: number) =>
            table.columns
                .map((_, c) => `${table.titles[c]}: ${cellText(points.rows[i]![c] ?? null, table.units[c]!)}`)
                .slice(0, 12),
        [points, table],
    );
    const marked = points.marked.filter(Boolean).length;
    if (!points.rows.length) return <p class="note">No run to draw.</p>;
    return (
        <>
            <Plot
                label={`${picture.title}: ${titleOf(table, picture.y)} by ${titleOf(table, picture.x)}; the table has the values`}
                height={HEIGHT + 20}
                data={data}
                options={options}
                describe={describe}
            />
            <p class="note">
                X axis: {titleOf(table, picture.x)}. Y axis: {titleOf(table, picture.y)}.
                {picture.size && ` Size: ${titleOf(table, picture.size)}.`}
                {marked > 0 && ` Circled: ${titleOf(table, picture.mark).toLowerCase()}s.`}
                {points.names.length > 1 && ` Color: ${titleOf(table, picture.series)}.`}
            </p>
            <Legend names={points.names} />
        </>
    );
}

function BarsOf({ table, picture }: Props) {
    const bars = useMemo(() => barsOf(table, picture), [table, picture]);
    const unit = unitOfColumn(table, picture.y);
    if (!bars.length) return <p class="note">Nothing to draw.</p>;
    return (
        <Bars
            caption={`${picture.title}; the table has the values`}
            bars={bars.map((bar, i) => ({
                key: String(i),
                name: bar.name,
                value: bar.value,
                text: cellText(bar.value, unit),
                title: bar.name,
            }))}
        />
    );
}

function Histogram({ table, picture }: Props) {
    const bins = useMemo(() => binsOf(table, picture), [table, picture]);
    const unit = unitOfColumn(table, picture.x);
    const data = useMemo(() => [bins.from.map((_, i) => i), bins.counts] as uPlot.AlignedData, [bins]);
    const options = useCallback(
        (): Omit<uPlot.Options, "width" | "height"> => ({
            scales: {
                x: { time: false, range: (_, least, most) => [least - 0.6, most + 0.6] },
                y: { range: upwards },
            },
            axes: [
                axis(
                    (i) => (Number.isInteger(i) && i >= 0 && i < bins.from.length ? cellText(bins.from[i]!, unit) : ""),
                    {
                        incrs: COUNT_STEPS,
                        space: 70,
                    },
                ),
                axisOf("count", { size: 52 }),
            ],
            series: [
                {},
                {
                    stroke: colour("chart-1"),
                    fill: `${colour("chart-1")}aa`,
                    points: { show: false },
                    paths: uPlot.paths.bars!({ size: [0.94, 90] }),
                },
            ],
        }),
        [bins, unit],
    );
    const describe = useCallback(
        (i: number) => [
            `${cellText(bins.from[i]!, unit)} to ${cellText(bins.to[i]!, unit)}`,
            `${cellText(bins.counts[i]!, "count")} runs`,
        ],
        [bins, unit],
    );
    return (
        <Plot
            label={`Histogram of ${picture.title}; the table has the values`}
            height={HEIGHT}
            data={data}
            options={options}
            describe={describe}
        />
    );
}

const KINDS = { area: Area, bars: BarsOf, histogram: Histogram, points: Marks };

export function PictureOf({ view, picture }: { view: FleetView; picture: Picture }) {
    const table = useMemo(() => tableOf(view, picture.table), [view, picture.table]);
    const Kind = KINDS[picture.kind];
    return (
        <figure class="fleet-picture">
            <figcaption>{picture.kind === "histogram" ? metricName(picture.title) : picture.title}</figcaption>
            <Kind table={table} picture={picture} measure={view.pictures[0]?.y ?? null} />
        </figure>
    );
}
