import assert from "node:assert/strict";
import { test } from "node:test";
import { choicesOf, idOf, withChosen } from "../../web/src/compare/choices";
import type { Applications } from "../../web/src/data/types";

const attempt = (id: string | null, start: number | null) => ({
    attempt: id,
    user: null,
    start_ms: start,
    end_ms: null,
    duration_ms: start === null ? null : 61000,
    completed: true,
    spark_version: null,
    log: null,
    log_bytes: null,
});

const list: Applications = {
    total: 3,
    all: 3,
    users: [],
    unreadable: [],
    applications: [
        {
            id: "app-1",
            name: "etl",
            attempts: [attempt("2", 1795281484898), attempt("1", 1795281484000)],
            past_runs_ms: [],
        },
        { id: "local-1", name: "etl", attempts: [attempt(null, 1795281484898)], past_runs_ms: [] },
        { id: "local-1~1795", name: null, attempts: [attempt(null, null)], past_runs_ms: [] },
    ],
};

test("runs are chosen by name and start; their ids are titles", () => {
    const choices = choicesOf(list);
    assert.deepEqual(
        choices.map(({ text }) => text),
        [
            "etl (attempt 2), 2026-11-21 17:18:04 UTC, 1 min 1 s",
            "etl (attempt 1), 2026-11-21 17:18:04 UTC, 1 min 1 s",
            "etl, 2026-11-21 17:18:04 UTC, 1 min 1 s",
            "local-1~1795",
        ],
    );
    assert.deepEqual(
        choices.map(({ value }) => value),
        ["app-1/2", "app-1/1", "local-1/-", "local-1~1795/-"],
    );
    assert.equal(choices[0]!.title, "app-1, attempt 2");
    assert.equal(idOf("local-1/-"), "local-1");
    assert.equal(idOf("a/b/2"), "a/b");
});

test("what is chosen stays in the list under its name, whatever is searched for", () => {
    const all = choicesOf(list);
    const shown = withChosen(all.slice(2), ["app-1/2", "local-1/-", ""], all);
    assert.deepEqual(
        shown.map(({ value }) => value),
        ["app-1/2", "local-1/-", "local-1~1795/-"],
    );
    assert.match(shown[0]!.text, /^etl \(attempt 2\), 2026/);
    assert.equal(withChosen([], ["gone/-"], all)[0]!.text, "gone");
});
