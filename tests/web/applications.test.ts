import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, answer, PAGE, readQuestion } from "../../web/src/applications/question";
import type { Applications } from "../../web/src/data/types";

const asked = (text: string) => readQuestion(new URLSearchParams(text));

function listOf(count: number): Applications {
    return {
        total: count,
        all: count,
        users: [],
        applications: Array.from({ length: count }, (_, i) => ({
            id: `app-${i}`,
            name: i % 2 ? `etl ${i}` : null,
            attempts: [
                {
                    attempt: null,
                    user: ["ann", "bob", null][i % 3]!,
                    start_ms: i,
                    end_ms: i + 10,
                    duration_ms: i === 3 ? null : 10,
                    completed: i !== 3,
                    spark_version: "3.5.6",
                    log: `/logs/file-${i}.zst`,
                    log_bytes: 1000 - i,
                },
            ],
            past_runs_ms: [],
        })),
    };
}

test("a question is what the address says", () => {
    assert.equal(addressOf(asked("")), "applications?sort=end&order=desc&limit=100");
    assert.equal(
        addressOf(asked("search=+a+&user=bob&status=running&sort=name&page=3")),
        "applications?search=a&user=bob&status=running&sort=name&order=asc&offset=200&limit=100",
    );
    assert.equal(asked("page=-4").page, 1);
    assert.equal(asked("page=x&sort=nothing").sort, "end");
    assert.equal(asked("sort=bytes&order=asc").descending, false);
});

test("a list from disk is searched, sorted and cut into pages like the server's", () => {
    const list = listOf(250);
    const ids = (text: string) => answer(list, asked(text)).applications.map(({ id }) => id);
    assert.equal(ids("").length, PAGE);
    assert.equal(ids("")[0], "app-3"); // the one that runs ends last
    assert.equal(ids("")[1], "app-249");
    assert.deepEqual(ids("page=3").length, 50);
    assert.equal(answer(list, asked("page=3")).total, 250);
    assert.deepEqual(ids("search=FILE-17.zst"), ["app-17"]);
    assert.deepEqual(ids("search=logs"), []);
    assert.deepEqual(answer(list, asked("user=ann")).total, 84);
    assert.deepEqual(answer(list, asked("")).users, ["ann", "bob"]);
    assert.deepEqual(ids("status=running"), ["app-3"]);
    assert.equal(ids("sort=duration&page=3").pop(), "app-3"); // unknown ones last,
    assert.equal(ids("sort=duration&order=asc&page=3").pop(), "app-3"); // either way
    assert.equal(ids("sort=name")[0], "app-1");
    assert.equal(ids("sort=bytes")[0], "app-0");
});

test("a list from disk is narrowed by what became of the runs", () => {
    const list = listOf(8);
    ["completed", "failed", "truncated", "running"].forEach((outcome, i) => {
        const attempt = list.applications[i]!.attempts[0]!;
        attempt.outcome = outcome;
        attempt.completed = outcome === "completed" || outcome === "failed";
        if (!attempt.completed) attempt.end_ms = null;
        if (outcome === "truncated") attempt.last_event_ms = 5;
    });
    const ids = (text: string) => answer(list, asked(text)).applications.map(({ id }) => id);
    assert.deepEqual(ids("status=failed"), ["app-1"]);
    assert.deepEqual(ids("status=truncated"), ["app-2"]);
    assert.deepEqual(ids("status=running"), ["app-3"]);
    assert.equal(ids("status=completed").length, 5, "those that do not say it have ended");
    assert.equal(ids("")[0], "app-3", "the one that runs ends last");
    assert.equal(ids("").pop(), "app-2", "a truncated one ended with its last event");
});
