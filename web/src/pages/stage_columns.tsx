/** The columns of tables that list stages. */
import { appAddress, available } from "../data/documents";
import type { StageRow } from "../data/types";
import { bytes, callSite, count, duration, times } from "../format";
import { link } from "../router";
import { Status } from "../ui/parts";
import type { Column } from "../ui/table";
import type { Place } from "./finding";

/** From the stage's submission to its end; null where one of them is not in the log. */
export function wallOf(row: StageRow): number | null {
    return row.submitted_ms === null || row.completed_ms === null ? null : row.completed_ms - row.submitted_ms;
}

/** Duration of the slowest task as a multiple of the median. */
export function skewOf(row: StageRow): number | null {
    const { max, median } = row.duration_ms;
    return max === null || median === null ? null : max / Math.max(1, median);
}

function StageName({ row, place }: { row: StageRow; place: Place }) {
    const name = `${row.id}${row.attempt ? `.${row.attempt}` : ""}`;
    const there = available(`${appAddress(place.app, place.attempt)}/stages/${row.id}/${row.attempt}`);
    if (!there) return <>{name}</>;
    return <a href={link(["app", place.app, place.attempt, "stage", row.id, row.attempt])}>{name}</a>;
}

function QueryName({ row, place }: { row: StageRow; place: Place }) {
    if (row.sql === null) return null;
    if (!available(`${appAddress(place.app, place.attempt)}/sql/${row.sql}`)) return <>{row.sql}</>;
    return <a href={link(["app", place.app, place.attempt, "sql", row.sql])}>{row.sql}</a>;
}

/** A name that Spark made of a line of code: the file without its folders, all of it as a title. */
export function CallSite({ text }: { text: string | null }) {
    return <span title={text ?? ""}>{callSite(text) || "-"}</span>;
}

function numbers(
    name: string,
    value: (row: StageRow) => number | null,
    text: (value: number | null) => string,
    more: Partial<StageColumn> = {},
): StageColumn {
    return { name, number: true, value, cell: (row) => text(value(row)), ...more };
}

/** Nothing where it is zero: what a stage did not do needs no column. */
const some = (value: number | null) => (value ? bytes(value) : "");
const someCount = (value: number | null) => (value ? count(value) : "");
/** Left out where the page is narrow. */
const minor = { minor: true };

interface StageColumn extends Column<StageRow> {
    /** Left out where no stage has it. */
    optional?: boolean;
}

/** `rows`: columns that none of them has a value for are left out, where that can be. */
export function stageColumns(place: Place, rows: StageRow[]): Column<StageRow>[] {
    const all: StageColumn[] = [
        { name: "Stage", value: (row) => row.id, cell: (row) => <StageName row={row} place={place} /> },
        {
            name: "Call site",
            value: (row) => row.name,
            class: "clip",
            cell: (row) => <CallSite text={row.name} />,
        },
        { name: "State", value: (row) => row.status, cell: (row) => <Status status={row.status} />, ...minor },
        numbers("Duration", wallOf, duration, { title: "From the submission of the stage to its end" }),
        numbers("Tasks", (row) => row.tasks, count),
        numbers("Failed", (row) => row.failed_tasks, someCount, { title: "Failed tasks", optional: true }),
        numbers("Task time", (row) => row.task_ms, duration, { title: "Sum of the durations of its tasks" }),
        numbers("Median task", (row) => row.duration_ms.median, duration, minor),
        numbers("Max task", (row) => row.duration_ms.max, duration, minor),
        numbers("Skew (max / median)", skewOf, times, {
            title: "Duration of the slowest task divided by the median duration of the tasks",
        }),
        numbers("Shuffle read", (row) => row.shuffle_read_bytes, some, minor),
        numbers("Shuffle write", (row) => row.shuffle_write_bytes, some, minor),
        numbers("Spill (disk)", (row) => row.disk_spill_bytes, some, { title: "Bytes that its tasks spilled to disk" }),
        numbers("Input", (row) => row.input_bytes, some, { ...minor, optional: true }),
        numbers("Output", (row) => row.output_bytes, some, { ...minor, optional: true }),
        numbers(
            "Job",
            (row) => row.job,
            (id) => (id === null ? "" : String(id)),
            minor,
        ),
        {
            name: "SQL",
            number: true,
            title: "SQL execution",
            optional: rows.every((row) => row.sql === null),
            value: (row) => row.sql,
            cell: (row) => <QueryName row={row} place={place} />,
            ...minor,
        },
    ];
    return all.filter(({ optional, value }) => !optional || rows.some((row) => value?.(row)));
}

/** The most task time first. */
export function byTaskTime(columns: Column<StageRow>[]): { column: number; descending: boolean } {
    return { column: columns.findIndex((column) => column.name === "Task time"), descending: true };
}
