import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../../web/src/format";

test("durations have the text report's words", () => {
    const cases: [number, string][] = [
        [0, "0 ms"],
        [999, "999 ms"],
        [1000, "1 s"],
        [1476, "1.5 s"],
        [35545, "36 s"],
        [59499, "59 s"],
        [59500, "1 min"],
        [252000, "4 min 12 s"],
        [599500, "10 min"],
        [3570000, "1 h"],
        [4320000, "1 h 12 min"],
        [200000000, "2 d 8 h"],
        [-1500, "-1.5 s"],
    ];
    for (const [ms, text] of cases) assert.equal(format.duration(ms), text);
    assert.equal(format.duration(null), "-");
    assert.equal(format.durationRange(9642, 22688), "9.6-23 s");
    assert.equal(format.durationRange(0, 180000), "up to 3 min");
    assert.equal(format.durationRange(5000, 5000), "5 s");
});

test("sizes are binary", () => {
    assert.equal(format.bytes(0), "0 B");
    assert.equal(format.bytes(1023), "1023 B");
    assert.equal(format.bytes(1073741824), "1 GiB");
    assert.equal(format.bytes(58930000), "56 MiB");
    assert.equal(format.bytes(null), "-");
});

test("percentages add up to exactly 100.0", () => {
    const lists = [[1, 1, 1], [73.94, 14.33, 5.7, 6.03], Array.from({ length: 37 }, (_, i) => i * i + 1), [1e12, 1]];
    for (const list of lists) {
        const tenths = format.percentages(list).map((text) => Math.round(Number(text) * 10));
        assert.equal(
            tenths.reduce((a, b) => a + b, 0),
            1000,
        );
    }
    assert.deepEqual(format.percentages([0, 0]), ["0.0", "0.0"]);
});

test("moments, shares and quantities", () => {
    assert.equal(format.offset(0), "0:00");
    assert.equal(format.offset(4062000), "1:07:42");
    assert.equal(format.offset(1234, 100), "0:01.2");
    assert.equal(format.offset(1234, 1), "0:01.234");
    assert.equal(format.offset(-5000), "-0:05");
    assert.equal(format.offset(2700000), "45:00");
    assert.equal(format.offset(6300000), "1:45:00");
    assert.equal(format.share(0.317), "32 %");
    assert.equal(format.share(0.00001), "<0.01 %");
    assert.equal(format.quantity(24.1, "ratio"), "24 x");
    assert.equal(format.quantity(0, "count"), "0");
    assert.equal(format.money(4.2, "USD"), "4.20 USD");
    assert.equal(format.time(1795281484898), "2026-11-21 17:18:04");
    assert.equal(format.metricName("slowest_task_ms"), "slowest task");
    assert.equal(format.metricName("shuffle_write_ms"), "shuffle write time");
    assert.equal(format.metricName("shuffle_write_bytes"), "shuffle write");
    assert.equal(format.words("idle_no_work"), "idle no work");
    assert.equal(format.words("off_cpu"), "off CPU");
    assert.equal(format.plural(1, "task"), "1 task");
    assert.equal(format.plural(1200, "task"), "1,200 tasks");
});

test("a call site is told by its file, without the folders", () => {
    assert.equal(format.callSite("collect at /home/ann/jobs/etl.py:57"), "collect at etl.py:57");
    assert.equal(format.callSite("count at dbfs://mnt/jobs/etl.py:57"), "count at etl.py:57");
    assert.equal(format.callSite("save at NativeMethodAccessorImpl.java:0"), "save at NativeMethodAccessorImpl.java:0");
    assert.equal(format.callSite("SELECT a / b FROM t"), "SELECT a / b FROM t");
    assert.equal(format.callSite(null), "");
});

test("every number has separators of thousands", () => {
    assert.equal(format.count(2000), "2,000");
    assert.equal(format.fixed(1234567.891, 2), "1,234,567.89");
    assert.equal(format.fixed(0.0336, 3), "0.034");
    assert.equal(format.fixed(-1234.5, 1), "-1,234.5");
    assert.equal(format.fixed(-0.04, 1), "0.0");
    assert.equal(format.fixed(1999.96, 1), "2,000.0");
    assert.equal(format.fixed(null, 1), "-");
    assert.equal(format.significant(120438), "120,438");
    assert.equal(format.significant(12.345), "12.3");
    assert.equal(format.significant(0.002814), "0.00281");
    assert.equal(format.significant(0), "0");
    assert.equal(format.significant(0.05), "0.05");
    assert.equal(format.significant(100), "100");
    assert.equal(format.times(1842.04), "1,842.0 x");
    assert.equal(format.times(18.42), "18.4 x");
    assert.equal(format.change(0.123), "+12 %");
    assert.equal(format.change(-0.41), "-41 %");
    assert.equal(format.change(0.001), "0 %");
    assert.equal(format.change(12.5), "+1,250 %");
    assert.equal(format.money(1234567.8, "USD"), "1,234,567.80 USD");
});
