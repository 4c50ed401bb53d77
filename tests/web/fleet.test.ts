import assert from "node:assert/strict";
import { test } from "node:test";
import {
    areasOf,
    barsOf,
    binsOf,
    cellText,
    type FleetTable,
    MOST_MARKS,
    type Picture,
    pointsOf,
    readFilters,
    seriesOf,
    shownColumns,
    unitOf,
    viewAddress,
} from "../../web/src/fleet/model";

const none = {
    title: "",
    table: "rows",
    x: null,
    y: null,
    series: null,
    mark: null,
    size: null,
    only: null,
    value: null,
};

function table(columns: string[], units: string[], rows: FleetTable["rows"]): FleetTable {
    return { name: "rows", title: "", columns, titles: columns, units, rows };
}

const usage = table(
    ["start_ms", "user", "cores"],
    ["time", "text", "ratio"],
    [
        [0, "ann", 1],
        [0, "bob", 4],
        [0, "(other)", 9],
        [10, "ann", 2],
        [50, "ann", 3],
        [50, null, 1],
    ],
);
const areas: Picture = { ...none, kind: "area", x: "start_ms", y: "cores", series: "user" };

test("areas are stacked, gaps are nothing", () => {
    const made = areasOf(usage, areas);
    assert.deepEqual(made.names, ["ann", "bob", "(unknown)", "(other)"]);
    assert.deepEqual(made.x, [0, 10, 20, 40, 50]);
    assert.deepEqual(made.own[0], [1, 2, 0, 0, 3]);
    assert.deepEqual(made.stacked[0], [14, 2, 0, 0, 4]); // the first one is on top of all others
    assert.deepEqual(made.stacked[3], [9, 0, 0, 0, 0]);
});

test("series are numbers in their order, or the largest first", () => {
    const runs = table(
        ["x", "y", "segment"],
        ["ms", "ms", "count"],
        [
            [1, 9, 2],
            [2, 1, 0],
            [3, 5, 10],
        ],
    );
    assert.deepEqual(seriesOf(runs, { ...areas, series: "segment", y: "y" }), ["0", "2", "10"]);
    assert.deepEqual(seriesOf(usage, { ...areas, y: null }, "cores"), ["ann", "bob", "(unknown)", "(other)"]);
});

test("a picture has at most 5,000 marks", () => {
    const rows = Array.from({ length: 6000 }, (_, i) => [i, i, "a"]);
    const many = table(["x", "y", "s"], ["ms", "ms", "text"], rows);
    const points = pointsOf(many, { ...none, kind: "points", x: "x", y: "y", series: "s" });
    assert.equal(points.x.length, MOST_MARKS);
    const long = table(
        ["x", "y", "s"],
        ["ms", "ms", "text"],
        Array.from({ length: 4000 }, (_, i) => [i >> 1, 1, i & 1 ? "a" : "b"]),
    );
    const made = areasOf(long, { ...none, kind: "area", x: "x", y: "y", series: "s" });
    assert.ok(made.x.length * made.names.length <= MOST_MARKS);
});

test("points are of their rows, by ascending x", () => {
    const runs = table(
        ["input", "duration", "dynamic", "cores", "outlier"],
        ["bytes", "ms", "flag", "count", "flag"],
        [
            [30, 3, 1, 16, 0],
            [10, 1, 1, 4, 1],
            [20, 2, 0, 4, 0],
            [null, 2, 1, 4, 0],
        ],
    );
    const points = pointsOf(runs, {
        ...none,
        kind: "points",
        x: "input",
        y: "duration",
        only: "dynamic",
        value: "1",
        mark: "outlier",
        size: "cores",
    });
    assert.deepEqual(points.x, [10, 30]);
    assert.deepEqual(points.y, [[1, 3]]);
    assert.deepEqual(points.marked, [true, false]);
    assert.ok(points.sizes[0]! < points.sizes[1]!);
});

test("many colors are one", () => {
    const rows = Array.from({ length: 12 }, (_, i) => [i, 100 - i, `s${i}`]);
    const points = pointsOf(table(["x", "y", "s"], ["ms", "ms", "text"], rows), {
        ...none,
        kind: "points",
        x: "x",
        y: "y",
        series: "s",
    });
    assert.equal(points.names.length, 8);
    assert.equal(points.names[7], "(other)");
    assert.equal(points.y[7]!.filter((value) => value !== null).length, 5);
});

test("bars are the largest values", () => {
    const rules = table(
        ["rule", "saves_ms"],
        ["text", "ms"],
        [
            ["a", 1],
            ["b", 5],
            ["c", 0],
            ["d", null],
        ],
    );
    const picture: Picture = { ...none, kind: "bars", y: "saves_ms", series: "rule" };
    assert.deepEqual(barsOf(rules, picture), [
        { name: "b", value: 5 },
        { name: "a", value: 1 },
    ]);
});

test("bins of several series are summed up", () => {
    const bins = table(
        ["from", "to", "user", "runs"],
        ["ms", "ms", "text", "count"],
        [
            [0, 10, "a", 1],
            [0, 10, "b", 2],
            [10, 20, null, 0],
            [20, 30, "a", 4],
        ],
    );
    assert.deepEqual(binsOf(bins, { ...none, kind: "histogram", x: "from", y: "runs", series: "user" }), {
        from: [0, 10, 20],
        to: [10, 20, 30],
        counts: [3, 0, 4],
    });
});

test("values are shown by their unit", () => {
    assert.equal(cellText(5_400_000, "core_ms"), "1.5");
    assert.equal(cellText(3_600_000 * 1024 * 12, "mib_ms"), "12.0");
    assert.equal(cellText(1, "flag"), "yes");
    assert.equal(cellText(0.00000321, "ratio"), "0.00000321");
    assert.equal(cellText(null, "ms"), "-");
    assert.equal(cellText("2", "count"), "2");
    const compared = table(["measure", "shift", "unit"], ["text", "row", "text"], [["duration_ms", 60000, "ms"]]);
    assert.equal(unitOf(compared, 1, compared.rows[0]!), "ms");
    assert.deepEqual(shownColumns(compared), [0, 1]);
});

test("the address asks only for what a view takes", () => {
    const filters = readFilters(new URLSearchParams("app=a b&by=user&value=x&since=30d&instance=m5&other=1"));
    assert.deepEqual(filters, { app: "a b", by: "user", value: "x", since: "30d", instance: "m5" });
    const usage = { name: "usage", options: ["by"] };
    const runs = { name: "runs", options: ["by", "value"] };
    const waste = { name: "waste", options: ["by", "instance"] };
    assert.equal(viewAddress(usage, filters), "fleet/usage?app=a+b&since=30d&by=user");
    assert.equal(viewAddress(runs, filters), "fleet/runs?app=a+b&since=30d&by=user&value=x");
    assert.equal(viewAddress(runs, { by: "user" }), "fleet/runs?by=user");
    assert.equal(viewAddress(waste, {}), "fleet/waste");
    assert.equal(viewAddress(waste, filters), "fleet/waste?app=a+b&since=30d&by=user&instance=m5");
});
