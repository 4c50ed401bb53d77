import assert from "node:assert/strict";
import { test } from "node:test";
import { link, parse } from "../../web/src/router";

test("addresses of pages are read as they are written", () => {
    const address = link(["app", "local-1/2 ?", "-", "timeline"], { from: 10, to: "20", stage: null });
    assert.equal(address, "#/app/local-1%2F2%20%3F/-/timeline?from=10&to=20");
    const location = parse(address);
    assert.deepEqual(location.segments, ["app", "local-1/2 ?", "-", "timeline"]);
    assert.equal(location.query.get("from"), "10");
    assert.equal(location.query.get("stage"), null);
});

test("the empty address is the first page, and broken ones are no failure", () => {
    assert.deepEqual(parse("").segments, []);
    assert.deepEqual(parse("#/").segments, []);
    assert.deepEqual(parse("#/app/%E0%A4%A").segments, ["app", "%E0%A4%A"]);
});
