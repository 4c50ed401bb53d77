import assert from "node:assert/strict";
import { test } from "node:test";
import { barText, clipped } from "../../web/src/timeline/label";

/** Every letter is as wide as every other. */
const measure = (text: string) => text.length * 6;

test("a bar says its number whole, or nothing", () => {
    const at = (room: number) => barText("Job 137", "137", "collect at etl.py:12", room, measure);
    assert.equal(at(200), "Job 137  collect at etl.py:12");
    assert.equal(at(120), "Job 137  collect at…");
    assert.equal(at(60), "Job 137");
    assert.equal(at(41), "137");
    assert.equal(at(18), "137");
    assert.equal(at(17), "");
    for (let room = 0; room < 200; room++) {
        const text = at(room);
        assert.ok(measure(text) <= room, `${text} in ${room}`);
        assert.ok(text === "" || text.includes("137"), `${text} in ${room}`);
    }
});

test("what has no number is cut, but not to a few letters", () => {
    assert.equal(barText("Data skew", "", "", 60, measure), "Data skew");
    assert.equal(barText("Stages run again", "", "", 60, measure), "Stages ru…");
    assert.equal(clipped("Stages run again", 30, measure), "");
    assert.equal(barText("Job 5", "5", "", 100, measure), "Job 5");
});
