/** A table that sorts by its columns, and shows a limited number of rows at first. */
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { count } from "../format";

export interface Column<Row> {
    name: string;
    /** What is shown. */
    cell: (row: Row) => ComponentChildren;
    /** What it is sorted by; without it the column does not sort. */
    value?: (row: Row) => number | string | null | undefined;
    /** Numbers are aligned right. */
    number?: boolean;
    class?: string;
    title?: string;
    /** Left out where the page is narrow. */
    minor?: boolean;
}

export interface Sorting {
    column: number;
    descending: boolean;
}

export function sorted<Row>(rows: Row[], columns: Column<Row>[], sorting: Sorting | null): Row[] {
    const value = sorting && columns[sorting.column]?.value;
    if (!sorting || !value) return rows;
    const sign = sorting.descending ? -1 : 1;
    const order = rows.map((row, i) => ({ row, i, key: value(row) }));
    order.sort((a, b) => {
        if (a.key === b.key) return a.i - b.i;
        if (a.key === null || a.key === undefined) return 1; // what is unknown comes last either way
        if (b.key === null || b.key === undefined) return -1;
        return (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) * sign || a.i - b.i;
    });
    return order.map((item) => item.row);
}

export function Table<Row>({
    caption,
    columns,
    rows,
    initial = null,
    limit = 100,
    rowClass,
    visibleCaption = false,
    order,
}: {
    caption: string;
    columns: Column<Row>[];
    rows: Row[];
    initial?: Sorting | null;
    limit?: number;
    rowClass?: (row: Row) => string;
    visibleCaption?: boolean;
    /** Rows come sorted, a page at a time; the caller sorts them. */
    order?: { sorting: Sorting | null; onSort: (sorting: Sorting) => void };
}) {
    const [chosen, choose] = useState<Sorting | null>(initial);
    const [most, setMost] = useState(limit);
    const sorting = order ? order.sorting : chosen;
    const shown = order ? rows.length : most;
    const ordered = useMemo(
        () => (order ? rows : sorted(rows, columns, sorting)),
        [rows, columns, sorting, order === undefined],
    );
    const sortBy = (column: number) => {
        const descending = sorting?.column === column ? !sorting.descending : (columns[column]?.number ?? false);
        (order?.onSort ?? choose)({ column, descending });
    };
    return (
        <div class="table-scroll" role="region" aria-label={caption} tabIndex={0}>
            <table>
                <caption class={visibleCaption ? "" : "off-screen"}>{caption}</caption>
                <thead>
                    <tr>
                        {columns.map((column, i) => (
                            <th
                                key={column.name}
                                scope="col"
                                class={`${column.number ? "number" : ""} ${column.minor ? "minor" : ""}`}
                                aria-sort={
                                    sorting?.column === i
                                        ? sorting.descending
                                            ? "descending"
                                            : "ascending"
                                        : undefined
                                }
                            >
                                {column.value ? (
                                    <button type="button" class="sort" title={column.title} onClick={() => sortBy(i)}>
                                        {column.name}
                                    </button>
                                ) : (
                                    column.name
                                )}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {ordered.slice(0, shown).map((row, i) => (
                        <tr key={i} class={rowClass?.(row) ?? ""}>
                            {columns.map((column) => (
                                <td
                                    key={column.name}
                                    class={`${column.number ? "number" : ""} ${column.minor ? "minor" : ""} ${column.class ?? ""}`}
                                >
                                    {column.cell(row)}
                                </td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
            {rows.length > shown && (
                <p class="more">
                    {count(shown)} of {count(rows.length)} rows.{" "}
                    <button type="button" onClick={() => setMost(shown + 10 * limit)}>
                        Show {count(Math.min(10 * limit, rows.length - shown))} more
                    </button>
                </p>
            )}
        </div>
    );
}
