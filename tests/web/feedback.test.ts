import assert from "node:assert/strict";
import test from "node:test";
import { missedOf } from "../../web/src/feedback";

test("a missed problem is a rule, words, or both", () => {
    assert.equal(missedOf("", "  \n"), null);
    assert.deepEqual(missedOf("", " slow backup "), { missed: "slow backup" });
    assert.deepEqual(missedOf("disk-spill", ""), { missed: "disk-spill" });
    assert.deepEqual(missedOf("disk-spill", "in stage 4"), { missed: "disk-spill", comment: "in stage 4" });
});
