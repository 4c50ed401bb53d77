import assert from "node:assert/strict";
import { test } from "node:test";
import type { Timeline } from "../../web/src/data/types";
import { offset } from "../../web/src/format";
import { layoutOf } from "../../web/src/timeline/layout";
import { modelOf } from "../../web/src/timeline/model";
import { describeMark, firstMark, inDetail, partOf, threadsOf } from "../../web/src/timeline/threads";
import { clamp, pan, tickStep, zoom } from "../../web/src/timeline/viewport";
import {
    clockText,
    mostOf,
    nanoseconds,
    partsOf,
    problemsOf,
    STATES,
    type TraceDocument,
} from "../../web/src/trace/states";

const states = Object.keys(STATES);

const track = (thread: number, executor: string, marks: [number, number, string, number][]) => ({
    kind: "states" as const,
    thread,
    name: executor,
    executor,
    tid: 100 + thread,
    series: null,
    labels: null,
    unit: null,
    start_ns: marks.map(([start]) => start),
    duration_ns: marks.map(([, duration]) => duration),
    code: marks.map(([, , state]) => states.indexOf(state)),
    value: marks.map(() => 7),
    merged: marks.map(([, , , merged]) => merged),
});

const timeline = (tracks: ReturnType<typeof track>[]): Timeline => ({
    start_ms: 1000,
    end_ms: 2000,
    executors: ["1", "2"].map((id) => ({
        id,
        host: "h",
        cores: 1,
        added_ms: 1000,
        removed_ms: null,
        remove_reason: null,
    })),
    jobs: [],
    stages: [],
    driver_gaps: [],
    states,
    tracks,
    tasks: {
        count: 0,
        shown: 0,
        columns: {
            stage: [],
            attempt: [],
            executor: [],
            slot: [],
            launch_ms: [],
            duration_ms: [],
            status: [],
            index: [],
        },
    },
});

const whole = timeline([
    track(5, "2", [[1e6, 2e6, "disk", 1]]),
    track(4, "1", [
        [0, 3e6, "running-user", 40],
        [3e6, 1e6, "runnable", 1],
        [9e6, 500, "futex", 1],
    ]),
    track(9, "gone", [[0, 1e6, "timer", 1]]),
]);

test("threads lie under their executors", () => {
    const model = modelOf(whole, []);
    assert.deepEqual(
        model.threads.map(({ thread, executor, label }) => [thread, executor, label]),
        [
            [4, 0, "thread 104"],
            [5, 1, "thread 105"],
        ],
    );
    const kinds = layoutOf(model, 10).tracks.map(({ kind, index }) => `${kind} ${index}`);
    assert.deepEqual(kinds, ["executor 0", "row 0", "thread 0", "executor 1", "row 1", "thread 1"]);
    assert.deepEqual(modelOf({ ...whole, tracks: [] }, []).threads, []);
    assert.equal(model.pauses.length, 0); // codes of states are not those of spans
});

test("marks are found by time and described", () => {
    const thread = threadsOf(whole)[0]!;
    assert.equal(firstMark(thread, 0), 0);
    assert.equal(firstMark(thread, 3.5), 1);
    assert.equal(firstMark(thread, 5), 2);
    assert.equal(firstMark(thread, 99), 3);
    assert.deepEqual(describeMark(thread, 0, states).slice(1), [
        "3 ms, the longest of 40 states",
        "thread 104, task 7",
    ]);
    assert.match(describeMark(thread, 2, states)[0]!, /^futex: waited for another thread/);
    assert.equal(describeMark(thread, 2, states)[1], "500 ns");
});

test("a part of the run replaces the marks, and keeps the rows", () => {
    const part = timeline([track(4, "1", [[3e6, 4e5, "throttled", 1]])]);
    const threads = inDetail(threadsOf(whole), part);
    assert.deepEqual(
        threads.map(({ label, from }) => [label, from.length]),
        [
            ["thread 104", 1],
            ["thread 105", 0],
        ],
    );
});

test("the part that is asked for has what is in view, and changes seldom", () => {
    assert.equal(partOf({ from: 0, to: 1000 }, 1000), null);
    assert.equal(partOf({ from: 0, to: 501 }, 1000), null);
    const asked = new Set<string>();
    for (let from = 0; from < 990; from += 0.5) {
        const part = partOf({ from, to: from + 10 }, 1000)!;
        assert.ok(part.from <= from && part.to >= from + 10, `${from}`);
        assert.ok(part.to - part.from <= 40);
        asked.add(`${part.from}`);
    }
    assert.ok(asked.size <= 66);
    assert.equal(partOf({ from: 5, to: 5 }, 1000), null);
});

test("traced runs can be seen from nearer", () => {
    const view = zoom({ from: 0, to: 1000 }, 1e-9, 300, 1000, 0.02);
    assert.equal(Math.round((view.to - view.from) * 1e6), 20000);
    const moved = pan(view, 1, 1000);
    assert.equal((moved.to - moved.from).toFixed(6), (view.to - view.from).toFixed(6));
    assert.equal(clamp(view, 1000).to - clamp(view, 1000).from, 5);
    assert.equal(tickStep(0.02, 10), 0.002);
    assert.equal(tickStep(60000, 12), 5000);
    assert.equal(offset(1234.0567, 0.001), "0:01.234057");
    assert.equal(offset(59999.9999, 0.001), "1:00.000000");
});

test("times are written in the unit that they need", () => {
    assert.deepEqual([0, 999, 1500, 999_000, 1_500_000, 12_000_000, 61e9, null].map(nanoseconds), [
        "0 ms",
        "999 ns",
        "2 µs",
        "999 µs",
        "1.5 ms",
        "12 ms",
        "1 min 1 s",
        "-",
    ]);
});

test("parts have the order of the states, and nothing is left out", () => {
    const parts = partsOf({ timer: 2e6, "running-user": 1e6, later: 3e6, disk: 0 });
    assert.deepEqual(parts, [
        { name: "running-user", ms: 1 },
        { name: "timer", ms: 2 },
        { name: "later", ms: 3 },
    ]);
    assert.deepEqual(mostOf({ timer: 3e6, disk: 1e6 }), { name: "timer", share: 0.75 });
    assert.equal(mostOf({}), null);
});

const trace = (more: Partial<TraceDocument>) =>
    ({
        events: 9,
        lost_events: 0,
        traces: [],
        losses: [],
        tasks: { traced: 2, torn: 0 },
        residual: null,
        ...more,
    }) as TraceDocument;

test("losses and problems are sentences", () => {
    assert.deepEqual(problemsOf(trace({})), []);
    const loss = { reason: "a buffer was too small", cpu: 1, start_ns: 0, end_ns: 1, events: 5 };
    assert.deepEqual(problemsOf(trace({ lost_events: 10, losses: [loss, loss], tasks: { traced: 2, torn: 1 } })), [
        "Events are missing in 2 places: a buffer was too small.",
        "At least 10 events are lost. The rules do not judge 1 task of that time.",
    ]);
    assert.match(problemsOf(trace({ tasks: { traced: 0, torn: 0 } }))[0]!, /which thread had which task/);
    const clock = { base: "monotonic", method: "unknown", matches: 0, drift_ppb: 0, error_ns: 0 };
    const file = { kind: "ctf", path: "k/metadata", host: null, executor: null, events: 1, bytes: 1, clock };
    assert.equal(problemsOf(trace({ traces: [{ ...file, problems: "is damaged" }] })).length, 2);
    const residual = { tasks: 3, p50_ms: 2, p99_ms: 1500, max_ms: 1500 };
    assert.match(clockText(trace({ residual }))!, /3 tasks began 2 ms .* at most 1.5 s\.$/);
    assert.equal(clockText(trace({})), undefined);
});
