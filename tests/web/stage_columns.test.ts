import assert from "node:assert/strict";
import { test } from "node:test";
import type { StageRow } from "../../web/src/data/types";
import { byTaskTime, skewOf, stageColumns, wallOf } from "../../web/src/pages/stage_columns";

const row = (more: Partial<StageRow> = {}) =>
    ({
        id: 1,
        attempt: 0,
        submitted_ms: 1000,
        completed_ms: 4500,
        duration_ms: { min: 1, p25: 1, median: 50, p75: 60, p95: 900, max: 920 },
        sql: null,
        failed_tasks: 0,
        input_bytes: 0,
        output_bytes: 0,
        ...more,
    }) as StageRow;

test("the skew of a stage is its slowest task over the median, its duration the wall time", () => {
    assert.equal(skewOf(row()), 18.4);
    assert.equal(wallOf(row()), 3500);
    assert.equal(wallOf(row({ completed_ms: null })), null);
    assert.equal(wallOf(row({ submitted_ms: 0, completed_ms: 0 })), 0);
    const none = { min: null, p25: null, median: null, p75: null, p95: null, max: null };
    assert.equal(skewOf(row({ duration_ms: none })), null);
});

test("columns that no stage has anything for are left out, the others are there once", () => {
    const names = (...rows: StageRow[]) => stageColumns({ app: "a", attempt: "-" }, rows).map(({ name }) => name);
    const plain = names(row());
    for (const name of ["Duration", "Job", "Shuffle read", "Shuffle write", "Spill (disk)", "Skew (max / median)"])
        assert.ok(plain.includes(name), name);
    for (const name of ["Failed", "Input", "Output", "SQL"]) assert.ok(!plain.includes(name), name);
    const full = names(row(), row({ failed_tasks: 1, input_bytes: 1, output_bytes: 1, sql: 0 }));
    assert.deepEqual(full.slice().sort(), [...new Set([...plain, "Failed", "Input", "Output", "SQL"])].sort());
    const columns = stageColumns({ app: "a", attempt: "-" }, [row()]);
    assert.equal(columns[byTaskTime(columns).column]!.name, "Task time");
});
