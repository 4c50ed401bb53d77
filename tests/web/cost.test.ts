import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutOptions } from "../../web/src/cost/missing";

test("what a bill lacks names no option of the command", () => {
    assert.equal(
        withoutOptions(
            "the instance type, which the log does not say: give --instance TYPE, or prices of service cluster (units core-hour and gib-hour)",
        ),
        "the instance type, which the log does not say",
    );
    assert.equal(
        withoutOptions("The log does not name the instance type. Pass --instance TYPE."),
        "The log does not name the instance type",
    );
    assert.equal(withoutOptions("service ec2, unit hour, instance foo"), "service ec2, unit hour, instance foo");
    assert.equal(withoutOptions("Pass --prices FILE"), "");
});
