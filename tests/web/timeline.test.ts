import assert from "node:assert/strict";
import { test } from "node:test";
import type { Finding, Timeline } from "../../web/src/data/types";
import { firstTrack, layoutOf, trackAt } from "../../web/src/timeline/layout";
import { concurrency, firstAfter, modelOf, packLanes } from "../../web/src/timeline/model";
import { marksOf, placesOf, spanOf, worst } from "../../web/src/timeline/places";
import { around, clamp, pan, tickStep, zoom } from "../../web/src/timeline/viewport";

/** Two executors of two cores, three tasks; the third has a slot beyond the cores of its executor. */
const document: Timeline = {
    start_ms: 1000,
    end_ms: 11000,
    executors: ["1", "2"].map((id) => ({
        id,
        host: "h",
        cores: 2,
        added_ms: 1000,
        removed_ms: null,
        remove_reason: null,
    })),
    jobs: [
        { id: 0, name: "job", submitted_ms: 1000, completed_ms: 9000, status: "succeeded", sql: null, stages: [0, 1] },
    ],
    stages: [0, 1].map((id) => ({
        id,
        attempt: 0,
        name: "stage",
        submitted_ms: 1000 + 4000 * id,
        completed_ms: id ? null : 5000,
        status: "succeeded",
        tasks: 2,
        job: 0,
    })),
    driver_gaps: [{ from_ms: 9000, to_ms: 11000 }],
    tasks: {
        count: 3,
        shown: 3,
        columns: {
            stage: [0, 0, 1],
            attempt: [0, 0, 0],
            executor: [0, 1, 1],
            slot: [0, 0, 2],
            launch_ms: [0, 1000, 4000],
            duration_ms: [4000, 2000, 6000],
            status: [0, 0, 1],
            index: [0, 1, 0],
        },
    },
};

test("bars that overlap have lanes of their own", () => {
    const lanes = packLanes([
        { from: 0, to: 10 },
        { from: 2, to: 4 },
        { from: 4, to: 6 },
        { from: 10, to: 12 },
    ]);
    assert.deepEqual(lanes, [0, 1, 1, 0]);
    assert.equal(
        Math.max(
            ...packLanes(
                Array.from({ length: 100 }, () => ({ from: 0, to: 1 })),
                8,
            ),
        ),
        7,
    );
});

test("tasks stand in the row of their executor and slot", () => {
    const model = modelOf(document, []);
    assert.deepEqual(model.rowsOf, [0, 2, 5]);
    assert.deepEqual(
        model.rows.map((row) => row.end - row.first),
        [1, 0, 1, 0, 1],
    );
    assert.equal(model.source[model.rows[4]!.first], 2);
    assert.equal(firstAfter(model, model.rows[0]!, 3999), 0);
    assert.equal(firstAfter(model, model.rows[0]!, 4001), 1);
    assert.deepEqual([...model.median], [4000, 0]);
    assert.equal(model.stages[1]!.to, 10000, "what has no end lasts to the end of the run");
});

test("concurrency adds up to the time of all tasks", () => {
    const model = modelOf(document, []);
    for (const bins of [1, 7, 10, 600]) {
        const sum = concurrency(model, bins).reduce((a, b) => a + b, 0) * (model.length / bins);
        assert.ok(Math.abs(sum - 12000) < 1e-6, `${bins} bins: ${sum}`);
    }
});

test("the track below a point is the one that is drawn there", () => {
    const layout = layoutOf(modelOf(document, []), 10);
    for (const track of layout.tracks) {
        assert.equal(trackAt(layout, track.top), track);
        assert.equal(trackAt(layout, track.top + track.height - 1), track);
    }
    assert.equal(trackAt(layout, layout.height), null);
    assert.equal(firstTrack(layout, 0), 0);
});

test("zooming keeps the moment under the pointer, and nothing leaves the run", () => {
    const view = zoom({ from: 0, to: 1000 }, 0.5, 300, 1000);
    assert.deepEqual(view, { from: 150, to: 650 });
    assert.deepEqual(zoom(view, 100, 300, 1000), { from: 0, to: 1000 });
    assert.deepEqual(pan(view, 5000, 1000), { from: 500, to: 1000 });
    assert.deepEqual(clamp({ from: -50, to: 20 }, 1000), { from: 0, to: 70 });
    assert.equal(zoom(view, 1e-9, 300, 1000).to - zoom(view, 1e-9, 300, 1000).from, 5);
    assert.deepEqual(around(0, 1000, 1000), { from: 0, to: 1000 });
    assert.equal(tickStep(60000, 12), 5000);
    assert.equal(tickStep(1e12, 5), 720 * 3600e3);
});

function finding(where: Partial<Finding["where"]>, severity: Finding["severity"] = "severe", rule = "a-rule"): Finding {
    const nowhere = { job: null, stage: null, attempt: null, sql: null, executor: null, host: null, call_site: null };
    return { id: JSON.stringify(where), rule, category: "skew", severity, where: { ...nowhere, ...where } } as Finding;
}

test("a finding is where its stage, job, executor or the driver's gaps are", () => {
    const span = (one: Finding) => spanOf(document, placesOf(document, one));
    assert.deepEqual(span(finding({ stage: 0, job: 0 })), { from: 0, to: 4000 });
    assert.deepEqual(span(finding({ stage: 1 })), { from: 4000, to: 10000 }); // still running at the end
    assert.deepEqual(span(finding({ job: 0 })), { from: 0, to: 8000 });
    assert.deepEqual(span(finding({ executor: "2" })), { from: 0, to: 10000 });
    assert.deepEqual(span(finding({}, "low", "driver-bound")), { from: 8000, to: 10000 });
    assert.equal(span(finding({})), null);
    assert.equal(span(finding({ stage: 9 })), null);
});

test("what findings are about is marked by the worst of them, folded ones not at all", () => {
    const folded = { ...finding({ job: 0 }), folded: true };
    const marks = marksOf(document, [finding({ stage: 1 }, "low"), finding({ stage: 1 }, "critical"), folded]);
    assert.deepEqual([...marks.stages.keys()], [1]);
    assert.equal(worst(marks.stages.get(1)!), "critical");
    assert.equal(marks.jobs.size, 0);
    assert.equal(marksOf(document, [finding({ host: "h" })]).executors.size, 2);
});

test("a finding about 80 stages marks all 80", () => {
    const ids = Array.from({ length: 80 }, (_, i) => i);
    const many = {
        ...document,
        stages: ids.map((id) => ({
            ...document.stages[0]!,
            id,
            submitted_ms: 1000 + 100 * id,
            completed_ms: 1100 + 100 * id,
        })),
    };
    const one = { ...finding({ stage: 7, job: 0 }), stages: { count: 80, id: ids, attempt: ids.map(() => 0) } };
    const marks = marksOf(many, [one]);
    assert.deepEqual([...marks.stages.keys()], ids);
    assert.equal(marks.jobs.size, 0);
    assert.deepEqual(spanOf(many, placesOf(many, one)), { from: 0, to: 8000 });
    const unknown = { ...finding({ stage: 1 }), stages: { count: 2, id: [1, 999], attempt: [0, 0] } };
    assert.deepEqual([...marksOf(many, [unknown]).stages.keys()], [1]);
    const older = finding({ stage: 1 });
    assert.deepEqual([...marksOf(many, [older]).stages.keys()], [1]);
});
