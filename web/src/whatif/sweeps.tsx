/** Predictions for many numbers of executors and cores: time with its interval, time against cost, and the table. */
import { useCallback, useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { axis, Plot } from "../charts/plot";
import { COUNT_STEPS, TIME_STEPS } from "../charts/steps";
import { count, duration, durationRange, fixed, money, plural, share, significant } from "../format";
import { Section } from "../ui/parts";
import { Table } from "../ui/table";
import { colour } from "../ui/theme";
import { onFront } from "./pareto";
import type { Scenario, WhatIf } from "./types";

const HOUR = 3_600_000;
const FROM_ZERO: uPlot.Scales = {
    x: { time: false },
    y: { range: (_, __, most) => [0, most * 1.06] },
};

export function costText(scenario: Scenario, base: WhatIf["base"]): string {
    if (scenario.cost !== null) return money(scenario.cost, base.currency ?? "");
    return scenario.core_ms === null ? "-" : `${fixed(scenario.core_ms / HOUR, 3)} core h`;
}

/** What the controls say now. */
export interface Choice {
    executors: number;
    cores: number;
}

export function isChosen(one: Scenario, choice: Choice): boolean {
    return one.executors === choice.executors && one.cores_per_executor === choice.cores;
}

/** A line at the number of executors that the controls say. */
function markExecutors(plot: uPlot, executors: number): void {
    const { ctx, bbox } = plot;
    const x = plot.valToPos(executors, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.save();
    ctx.strokeStyle = colour("text-soft");
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
}

/** Time over executors, with the interval. */
function Sweep({ data, choice }: { data: WhatIf; choice: Choice }) {
    const rows = useMemo(
        () =>
            data.scenarios
                .filter((one) => one.cores_per_executor === data.base.cores_per_executor)
                .sort((a, b) => a.executors - b.executors),
        [data],
    );
    const series = useMemo(
        () =>
            [
                rows.map((one) => one.executors),
                rows.map((one) => one.wall_ms.high),
                rows.map((one) => one.wall_ms.low),
                rows.map((one) => one.wall_ms.expected),
            ] as uPlot.AlignedData,
        [rows],
    );
    const options = useCallback(
        () => ({
            scales: FROM_ZERO,
            axes: [axis(count, { incrs: COUNT_STEPS }), axis(duration, { size: 74, incrs: TIME_STEPS })],
            bands: [{ series: [1, 2] as [number, number], fill: `${colour("chart-1")}33` }],
            series: [
                {},
                { stroke: "transparent", points: { show: false } },
                { stroke: "transparent", points: { show: false } },
                { stroke: colour("chart-1"), width: 2, points: { show: true, size: 6 } },
            ],
            hooks: { draw: [(plot: uPlot) => markExecutors(plot, choice.executors)] },
        }),
        [choice.executors],
    );
    const describe = useCallback(
        (i: number) => {
            const one = rows[i];
            return one
                ? [
                      plural(one.executors, "executor"),
                      `${duration(one.wall_ms.expected)} (${durationRange(one.wall_ms.low, one.wall_ms.high)})`,
                      costText(one, data.base),
                  ]
                : [];
        },
        [rows, data],
    );
    return (
        <Plot
            label="Predicted time by number of executors; the table has the numbers"
            height={260}
            data={series}
            options={options}
            describe={describe}
        />
    );
}

/** Time against cost: what no other configuration beats in both is joined by a line. */
function Pareto({ data, choice }: { data: WhatIf; choice: Choice }) {
    const cost = useCallback((one: Scenario) => one.cost ?? (one.core_ms ?? 0) / HOUR, []);
    const rows = useMemo(() => [...data.scenarios].sort((a, b) => cost(a) - cost(b)), [data, cost]);
    const front = useMemo(() => onFront(rows.map((one) => [cost(one), one.wall_ms.expected])), [rows, cost]);
    const series = useMemo(
        () =>
            [
                rows.map(cost),
                rows.map((one) => one.wall_ms.expected),
                rows.map((one, i) => (front[i] ? one.wall_ms.expected : null)),
                rows.map((one) => (isChosen(one, choice) ? one.wall_ms.expected : null)),
            ] as uPlot.AlignedData,
        [rows, front, cost, choice],
    );
    const unit = rows[0]?.cost !== null && rows[0] !== undefined ? (data.base.currency ?? "") : "core h";
    const options = useCallback(
        () => ({
            scales: FROM_ZERO,
            axes: [
                axis((value) => `${significant(value)} ${unit}`, { space: 96 }),
                axis(duration, { size: 74, incrs: TIME_STEPS }),
            ],
            series: [
                {},
                {
                    paths: () => null,
                    points: { show: true, size: 6, stroke: colour("chart-8"), fill: colour("surface") },
                },
                {
                    stroke: colour("chart-2"),
                    width: 1.5,
                    spanGaps: true,
                    points: { show: true, size: 7, fill: colour("chart-2"), stroke: colour("chart-2") },
                },
                {
                    paths: () => null,
                    points: { show: true, size: 14, width: 2, stroke: colour("text-soft"), fill: "transparent" },
                },
            ],
        }),
        [unit],
    );
    const describe = useCallback(
        (i: number) => {
            const one = rows[i];
            return one
                ? [
                      `${plural(one.executors, "executor")} of ${plural(one.cores_per_executor, "core")}`,
                      duration(one.wall_ms.expected),
                      costText(one, data.base),
                  ]
                : [];
        },
        [rows, data],
    );
    return (
        <Plot
            label="Predicted time and cost; the table has the numbers"
            height={260}
            data={series}
            options={options}
            describe={describe}
        />
    );
}

function SweepTable({ data, choice }: { data: WhatIf; choice: Choice }) {
    return (
        <Table
            caption="Predicted configurations"
            rows={data.scenarios}
            limit={30}
            rowClass={(row) => (isChosen(row, choice) ? "chosen" : "")}
            columns={[
                {
                    name: "Executors",
                    number: true,
                    value: (row) => row.executors,
                    cell: (row) => (isChosen(row, choice) ? `${count(row.executors)} (current)` : count(row.executors)),
                },
                {
                    name: "Cores",
                    number: true,
                    value: (row) => row.cores_per_executor,
                    cell: (row) => count(row.cores_per_executor),
                },
                {
                    name: "Time",
                    number: true,
                    value: (row) => row.wall_ms.expected,
                    cell: (row) => duration(row.wall_ms.expected),
                },
                { name: "Range", number: true, cell: (row) => durationRange(row.wall_ms.low, row.wall_ms.high) },
                {
                    name: "Cost",
                    number: true,
                    value: (row) => row.cost ?? row.core_ms,
                    cell: (row) => costText(row, data.base),
                },
                {
                    name: "Slot usage",
                    number: true,
                    value: (row) => row.utilization,
                    cell: (row) => share(row.utilization),
                },
            ]}
        />
    );
}

/** `hosts`: what was asked of them. */
export function Sweeps({ data, choice, hosts }: { data: WhatIf; choice: Choice; hosts: string }) {
    const shared = data.base.hosts === 1 && data.base.executors > 1 && (hosts === "" || hosts === "same");
    return (
        <>
            <div class="columns">
                <Section
                    title="Time by executors"
                    note={`with ${plural(data.base.cores_per_executor, "core")} each; 90 % of runs should be in the band; the dashed line marks the scenario`}
                >
                    <Sweep data={data} choice={choice} />
                    {shared && (
                        <p class="note">
                            All executors of this run share one host. So do these: more of them compete for its CPUs.
                            Hosts "new" predicts more hosts.
                        </p>
                    )}
                </Section>
                <Section
                    title="Time and cost"
                    note="no other configuration beats those on the line in both; the ring marks the scenario"
                >
                    <Pareto data={data} choice={choice} />
                </Section>
            </div>
            <Section title="All configurations" note={plural(data.scenarios.length, "configuration")}>
                <SweepTable data={data} choice={choice} />
            </Section>
        </>
    );
}
