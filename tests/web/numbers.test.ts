import assert from "node:assert/strict";
import { test } from "node:test";
import { BYTE_STEPS, COUNT_STEPS, SECOND_STEPS, TIME_STEPS } from "../../web/src/charts/steps";
import { duration } from "../../web/src/format";
import { median, quantile } from "../../web/src/statistics";

test("of two values in the middle the median is the larger, as in Spark", () => {
    assert.equal(median([1, 2]), 2);
    assert.equal(median([1, 2, 3]), 2);
    assert.equal(median([1, 2, 3, 4]), 3);
    assert.equal(median([]), null);
    assert.equal(quantile([1, 2, 3, 4], 1), 4);
    assert.equal(quantile([1, 2, 3, 4], 0.25), 2);
});

test("marks of axes are round numbers, in order", () => {
    for (const steps of [BYTE_STEPS, COUNT_STEPS, SECOND_STEPS, TIME_STEPS]) {
        assert.deepEqual(
            steps,
            [...steps].sort((a, b) => a - b),
        );
        assert.equal(new Set(steps).size, steps.length);
    }
    assert.ok(COUNT_STEPS.every(Number.isInteger));
    // Every multiple up to the next step reads as a different, round text.
    for (const step of TIME_STEPS) {
        const texts = [1, 2, 3, 4].map((times) => duration(step * times));
        assert.equal(new Set(texts).size, texts.length, texts.join());
    }
});
