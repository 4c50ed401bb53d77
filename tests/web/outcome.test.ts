import assert from "node:assert/strict";
import { test } from "node:test";
import { OUTCOME_TITLES, OUTCOMES, outcomeOf, outcomeOfReport } from "../../web/src/applications/outcome";
import { uniqueIds } from "../../web/src/data/documents";

test("what became of a run is what the server says, or whether it has ended", () => {
    for (const outcome of OUTCOMES) assert.equal(outcomeOf({ outcome, completed: false }), outcome);
    assert.equal(outcomeOf({ outcome: "failed", completed: true }), "failed");
    assert.equal(outcomeOf({ completed: true }), "completed");
    assert.equal(outcomeOf({ completed: false }), "running");
    assert.equal(outcomeOf({ outcome: "from a newer server", completed: true }), "completed");
    assert.match(OUTCOME_TITLES.truncated, /without an end event, and nothing writes it any more/);
    const before = ["completed", "failed", "in_progress", "truncated", null];
    assert.deepEqual(
        before.map((status) => outcomeOfReport({ status })),
        ["completed", "failed", "running", "truncated", "completed"],
    );
    for (const outcome of OUTCOMES) assert.equal(outcomeOfReport({ outcome, status: "completed" }), outcome);
});

test("runs of one id in a report have addresses of their own, as on a server", () => {
    const run = (id: string | null, attempt: string | null, start_ms: number | null) => ({ id, attempt, start_ms });
    assert.deepEqual(
        uniqueIds([run("a", null, 1), run("a", "1", 1), run("a", null, 7), run("b", null, 2), run(null, null, null)]),
        ["a", "a", "a~7", "b", "-"],
    );
    assert.deepEqual(uniqueIds([run("a", null, 1), run("a", null, 1)]), ["a", "a~1"]);
    const three = uniqueIds([run("a", null, null), run("a", null, null), run("a", null, null)]);
    assert.equal(new Set(three).size, 3);
});
