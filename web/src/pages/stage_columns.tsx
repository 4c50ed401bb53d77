/** Columns of tables that list stages: those that more than one page has. */
import { appAddress, available } from "../data/documents";
import type { StageRow } from "../data/types";
import { count, duration } from "../format";
import { link } from "../router";
import type { Column } from "../ui/table";
import type { Place } from "./finding";

function StageName({ row, place }: { row: StageRow; place: Place }) {
    const name = `${row.id}${row.attempt ? `.${row.attempt}` : ""}`;
    const there = available(`${appAddress(place.app, place.attempt)}/stages/${row.id}/${row.attempt}`);
    if (!there) return <>{name}</>;
    return <a href={link(["app", place.app, place.attempt, "stage", row.id, row.attempt])}>{name}</a>;
}

export function stageColumn(place: Place): Column<StageRow> {
    return { name: "Stage", value: (row) => row.id, cell: (row) => <StageName row={row} place={place} /> };
}

export const whereColumn: Column<StageRow> = {
    name: "Where",
    value: (row) => row.name,
    class: "clip",
    cell: (row) => <span title={row.name ?? ""}>{row.name ?? "-"}</span>,
};

export const tasksColumn: Column<StageRow> = {
    name: "Tasks",
    number: true,
    value: (row) => row.tasks,
    cell: (row) => count(row.tasks),
};

/** A column of durations. */
export function timeColumn(name: string, value: (row: StageRow) => number | null): Column<StageRow> {
    return { name, number: true, value, cell: (row) => duration(value(row)) };
}

export const taskTimeColumn = timeColumn("Task time", (row) => row.task_ms);
export const medianColumn = timeColumn("Median", (row) => row.duration_ms.median);
export const slowestColumn = timeColumn("Slowest", (row) => row.duration_ms.max);
