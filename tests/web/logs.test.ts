import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report, Timeline } from "../../web/src/data/types";
import {
    executorsOf,
    hasProfiles,
    hasTextLogs,
    headlineOf,
    type LogError,
    parametersOf,
    questionOf,
} from "../../web/src/logs/files";
import { chartsOf, columnsOf, type ProfileDocument } from "../../web/src/logs/profile";
import { layoutOf } from "../../web/src/timeline/layout";
import { modelOf } from "../../web/src/timeline/model";

function report(...files: [string, string | null][]): Report {
    return { profiling: { artefacts: files.map(([kind, executor]) => ({ kind, executor })) } } as unknown as Report;
}

function error(values: Partial<LogError>): LogError {
    return { logger: null, root: null, text: "", first_ms: null, last_ms: null, time_ms: null, ...values } as LogError;
}

test("pages are offered for the files that a run has", () => {
    assert.equal(hasTextLogs(null) || hasProfiles(null), false);
    assert.equal(hasTextLogs({} as Report) || hasProfiles({} as Report), false);
    assert.equal(hasTextLogs(report(["gc-log", "1"])) || hasProfiles(report(["gc-log", "1"])), false);
    assert.equal(hasTextLogs(report(["text-log", null])), true);
    assert.equal(hasProfiles(report(["jfr", null])), true);
});

test("the driver comes first, then executors by number", () => {
    const files = ["10", "driver", "2", null, "2"].map((name): [string, string | null] => ["text-log", name]);
    assert.deepEqual(executorsOf(report(...files, ["jfr", "7"])), ["driver", "2", "10"]);
});

test("questions go to the server as they are in the address", () => {
    const question = questionOf(new URLSearchParams("level=warn&executor=3&grep=a%26b"));
    assert.equal(parametersOf(question, 20), "?level=warn&executor=3&grep=a%26b&limit=20");
    assert.equal(parametersOf(questionOf(new URLSearchParams("level=loud")), 1), "?limit=1");
});

test("an error is called by its root, else by its message", () => {
    assert.equal(headlineOf(error({ root: { class: "a.B", message: "gone" } })), "a.B: gone");
    assert.equal(headlineOf(error({ root: { class: "a.B", message: null } })), "a.B");
    const text = "24/03/01 10:15:02 ERROR Backend: RECEIVED SIGNAL TERM\nmore";
    assert.equal(headlineOf(error({ logger: "org.x.Backend", text })), "RECEIVED SIGNAL TERM");
    assert.equal(headlineOf(error({ text: "plain\nmore" })), "plain");
});

test("errors and pauses are lanes of their own", () => {
    const columns = { stage: [], attempt: [], executor: [], slot: [], launch_ms: [], duration_ms: [], status: [] };
    const document = {
        start_ms: 1000,
        end_ms: 11000,
        executors: [],
        jobs: [],
        stages: [],
        driver_gaps: [],
        codes: ["gc", "gc-pause"],
        tracks: [
            {
                kind: "spans",
                name: "executor 1",
                start_ns: [3e9, 1e9, 2e9],
                duration_ns: [5e6, 7e6, 1e6],
                code: [1, 1, 0],
                merged: [1, 4, 1],
            },
            { kind: "series", name: "executor 1", start_ns: [1], merged: [1] },
        ],
        tasks: { columns },
    } as unknown as Timeline;
    const twice = error({ root: { class: "a.B", message: null }, first_ms: 4000, last_ms: 9000, time_ms: 9000 });
    const model = modelOf(document, [], [twice, error({ text: "without a time" })]);
    assert.deepEqual(
        model.pauses.map(({ from, to, label }) => [from, to, label]),
        [
            [1000, 1007, "4 GC pauses of executor 1"],
            [3000, 3005, "GC pause of executor 1"],
        ],
    );
    assert.deepEqual(
        model.errors.map(({ from, to, label }) => [from, to, label]),
        [
            [3000, 3000, "a.B"],
            [8000, 8000, "a.B"],
        ],
    );
    assert.deepEqual(
        layoutOf(model, 10).tracks.map((track) => track.kind),
        ["errors", "pauses"],
    );
    const without = modelOf({ ...document, tracks: [] }, []);
    assert.equal(without.pauses.length + without.errors.length, 0);
});

test("series of a process share an axis by their unit", () => {
    const series = (process: number, name: string, unit: string, time_ms: number[], rest = {}) => ({
        process,
        thread: null,
        name,
        labels: null,
        unit,
        type: "gauge",
        time_ms,
        value: time_ms.map((time) => time / 10),
        ...rest,
    });
    const document = {
        processes: [
            { id: 0, name: "driver" },
            { id: 1, name: "executor 1" },
        ],
        series: [
            series(1, "heap.used", "bytes", [1000, 3000]),
            series(1, "cpu", "share", [1000, 2000]),
            series(1, "heap.committed", "bytes", [2000, 3000]),
            series(0, "heap.used", "bytes", [1000, 2000]),
            series(0, "gc.count", "count", [1000, 2000], { type: "counter" }),
            series(0, "cpu.thread", "share", [1000, 2000], { thread: "main" }),
            series(0, "single", "share", [1000]),
            series(7, "unknown", "bytes", [1000, 2000]),
        ],
    } as unknown as ProfileDocument;
    const charts = chartsOf(document);
    assert.deepEqual(
        charts.map((chart) => [chart.process.name, chart.unit, chart.series.map((one) => one.name)]),
        [
            ["driver", "bytes", ["heap.used"]],
            ["executor 1", "bytes", ["heap.used", "heap.committed"]],
            ["executor 1", "share", ["cpu"]],
        ],
    );
    assert.deepEqual(columnsOf(charts[1]!, 1000), [
        [0, 1, 2],
        [100, null, 300],
        [null, 200, 300],
    ]);
});
