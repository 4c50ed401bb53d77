import assert from "node:assert/strict";
import { test } from "node:test";
import type { StageDocument } from "../../web/src/data/types";
import { byExecutor, heat, histogram, points } from "../../web/src/stage/numbers";

/** Two executors; the second task of executor 1 is the slow one, the last task failed. */
const stage = {
    id: 3,
    attempt: 0,
    name: "s",
    call_site: null,
    status: "succeeded",
    tasks: 4,
    parents: [],
    quantiles: {},
    columns: {
        task: [10, 11, 12, 13],
        index: [0, 1, 2, 3],
        executor: [0, 1, 1, 0],
        launch_ms: [0, 0, 100, 150],
        duration_ms: [100, 100, 900, 50],
        gc_ms: [0, 50, 90, null],
        status: [0, 0, 0, 1],
    },
    executors: ["7", "8"],
    hosts: ["h"],
    outliers: [{ task: 12, index: 2, duration_ms: 900, times_median: 9, cause: "data", text: "" }],
} satisfies StageDocument;

test("a histogram counts every value once", () => {
    const made = histogram([5, null, 1, 1, 9, 9, 3]);
    assert.equal(
        made.counts.reduce((a, b) => a + b, 0),
        6,
    );
    assert.equal(made.from, 1);
    assert.equal(made.from + made.width * made.counts.length, 9);
    assert.deepEqual(histogram([7, 7, 7]).counts, [3]);
    assert.deepEqual(histogram([null]).counts, []);
});

test("cells of the heat map hold all task time", () => {
    const running = heat(stage, "running", 10);
    assert.equal(running.to - running.from, 1000);
    const time = [...running.values].filter((value) => !Number.isNaN(value)).reduce((a, b) => a + b, 0) * 100;
    assert.ok(Math.abs(time - 1150) < 1e-6);
    const gc = heat(stage, "gc", 10);
    assert.ok(Math.abs(gc.values[10]! - 0.5) < 1e-9, "the first cell of executor 1");
    assert.ok(Math.abs(gc.values[15]! - 0.1) < 1e-9);
    assert.ok(Number.isNaN(gc.values[5]!), "nothing ran there");
});

test("executors are summed up", () => {
    const [first, second] = byExecutor(stage);
    assert.deepEqual(first, { executor: 0, tasks: 2, failed: 1, time: 150, median: 100, max: 100, gcShare: 0 });
    assert.equal(second!.gcShare, 0.14);
});

test("points come by x, in the series of their kind", () => {
    const made = points(stage, "duration_ms", "gc_ms");
    assert.deepEqual(made.x, [100, 100, 900], "what has no value is no point");
    assert.deepEqual(made.y, [
        [0, 50, null],
        [null, null, 90],
        [null, null, null],
    ]);
    assert.deepEqual(points(stage, "launch_ms", "duration_ms", 60).y[2], [null, null, null, 60]);
});
