import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report, Timeline } from "../../web/src/data/types";
import { durationsOf, rowOf } from "../../web/src/phases/durations";
import { executorsOverTime, joined, phasesOf, sum, union, without } from "../../web/src/phases/intervals";

const row = (submitted_ms: number | null, completed_ms: number | null, output_bytes = 0) => ({
    submitted_ms,
    completed_ms,
    output_bytes,
});

const report = (stages: unknown[], executors: unknown[] = [], wait_ms: number | null = 0) =>
    ({
        application: { start_ms: 1000, end_ms: 2000 },
        accounting: { phases: { wait_ms } },
        stages,
        executors,
    }) as unknown as Report;

test("each moment is in one phase", () => {
    for (let seed = 1; seed < 200; seed++) {
        let state = seed;
        const random = (below: number) => {
            state = (state * 1103515245 + 12345) % 2147483648;
            return state % below;
        };
        const stages = Array.from({ length: 6 }, () => {
            const from = 900 + random(1100);
            return row(random(9) ? from : null, random(7) ? from + random(500) : null, random(2) * 10);
        });
        const phases = phasesOf(report(stages, [], random(300)))!;
        const all = Object.values(phases);
        assert.equal(
            all.reduce((total, intervals) => total + sum(intervals), 0),
            1000,
        );
        assert.deepEqual(union(all.flat()), [{ from: 1000, to: 2000 }]);
    }
});

test("writing counts before computing, and waiting ends where a stage runs", () => {
    const phases = phasesOf(report([row(1300, 1600), row(1500, 1800, 5)], [], 400))!;
    assert.deepEqual(phases.resource_wait, [{ from: 1000, to: 1300 }]);
    assert.deepEqual(phases.compute, [{ from: 1300, to: 1500 }]);
    assert.deepEqual(phases.io_write, [{ from: 1500, to: 1800 }]);
    assert.deepEqual(phases.driver, [{ from: 1800, to: 2000 }]);
});

test("without times there are no phases", () => {
    const unknown = report([]);
    unknown.application.end_ms = null;
    assert.equal(phasesOf(unknown), null);
    assert.deepEqual(without([{ from: 0, to: 9 }], [{ from: 0, to: 9 }]), []);
});

test("small gaps do not show", () => {
    const many = Array.from({ length: 100_000 }, (_, i) => ({ from: 10 * i, to: 10 * i + 9 }));
    assert.deepEqual(joined(many, 2), [{ from: 0, to: 999_999 }]);
    assert.equal(joined(many, 1).length, 100_000);
    assert.equal(sum(without([{ from: 0, to: 1_000_000 }], many)), 100_000);
    assert.equal(without(many, many).length, 0);
});

test("executors are counted at each change", () => {
    const executors = [
        { id: "driver", added_ms: 1, removed_ms: null },
        { id: "1", added_ms: 5, removed_ms: 9 },
        { id: "2", added_ms: 5, removed_ms: null },
        { id: "3", added_ms: 9, removed_ms: null },
        { id: "4", added_ms: null, removed_ms: 7 },
    ];
    assert.deepEqual(executorsOverTime(report([], executors)), { at: [5, 9], running: [2, 2] });
});

test("durations of tasks are counted where tasks ended", () => {
    const columns = { launch_ms: [0, 0, 500, 900], duration_ms: [100, 400, 500, 100] };
    const timeline = { start_ms: 0, end_ms: 1000, tasks: { columns } } as unknown as Timeline;
    const found = durationsOf(timeline, 10);
    assert.equal(found.rows, 3); // up to 100 ms, 250 ms and 500 ms
    assert.equal(found.first, 0);
    assert.equal(
        [...found.values].filter((value) => !Number.isNaN(value)).reduce((all, value) => all + value, 0),
        4,
    );
    assert.equal(found.values[0 * 10 + 4], 1); // 400 ms, in the upper row
    assert.equal(found.values[2 * 10 + 1], 1); // 100 ms
    assert.equal(rowOf(3_600_001), 14);
    assert.equal(
        durationsOf({ ...timeline, tasks: { columns: { launch_ms: [], duration_ms: [] } } } as unknown as Timeline)
            .rows,
        0,
    );
});
