import assert from "node:assert/strict";
import { test } from "node:test";
import { type Named, unitsOf } from "../../web/src/upload/files";
import { explain, refusal } from "../../web/src/upload/send";
import { crc32, zipOf } from "../../web/src/upload/zip";

const named = (name: string, text = "x"): Named => ({ name, file: new Blob([text]) as File });
const told = (names: string[]) =>
    unitsOf(names.map((name) => named(name))).map(({ title, files }) => [title, files.length]);

test("checksums are those of zip, however the bytes are cut", () => {
    const bytes = new TextEncoder().encode("123456789");
    assert.equal(crc32(bytes), 0xcbf43926);
    assert.equal(crc32(bytes.subarray(3), crc32(bytes.subarray(0, 3))), 0xcbf43926);
    assert.equal(crc32(new Uint8Array(0)), 0);
});

test("the files of a rolling log are one upload, others are one each", () => {
    const folder = "logs/eventlog_v2_app-1";
    const units = unitsOf([
        named("logs/app-7.zstd"),
        named(`${folder}/appstatus_app-1.inprogress`, ""),
        named(`${folder}/events_1_app-1.zstd.compact`),
        named(`${folder}/.events_1_app-1.zstd.crc`),
        named(`${folder}/events_2_app-1.zstd`),
        named("logs/eventlog_v2_app-2_1/events_1_app-2_1"),
        named("logs/_SUCCESS"),
        named("logs/empty", ""),
    ]);
    assert.deepEqual(
        units.map(({ title, files }) => [title, ...files.map(({ name }) => name)]),
        [
            ["logs/app-7.zstd", "logs/app-7.zstd"],
            [
                "eventlog_v2_app-1",
                "eventlog_v2_app-1/appstatus_app-1.inprogress",
                "eventlog_v2_app-1/events_1_app-1.zstd.compact",
                "eventlog_v2_app-1/events_2_app-1.zstd",
            ],
            ["eventlog_v2_app-2_1", "eventlog_v2_app-2_1/events_1_app-2_1"],
        ],
    );
    assert.deepEqual(
        units.map(({ joined }) => joined),
        [false, true, true],
    );
});

test("parts without their folder, or in one of another name, still belong together", () => {
    assert.deepEqual(told(["events_1_a", "events_2_a", "events_1_b"]), [
        ["eventlog_v2_a", 2],
        ["eventlog_v2_b", 1],
    ]);
    const renamed = unitsOf([named("from-yesterday/events_1_a"), named("from-yesterday/events_2_a")]);
    assert.equal(renamed[0]!.title, "from-yesterday");
    assert.equal(renamed[0]!.files[0]!.name, "eventlog_v2_a/events_1_a");
    assert.deepEqual(told(["c/eventlog", "c/eventlog-2026-01-02--03-00.gz"]), [["c", 2]]);
    assert.equal(unitsOf([named("eventlog")])[0]!.joined, false);
});

test("an archive has the bytes of its files", async () => {
    const blob = await zipOf([named("a/é", "first"), named("b", "")], new AbortController().signal, () => {});
    const view = new DataView(await blob.arrayBuffer());
    const end = view.byteLength - 22;
    assert.equal(view.getUint32(0, true), 0x04034b50);
    assert.equal(view.getUint32(end, true), 0x06054b50);
    assert.equal(view.getUint16(end + 10, true), 2);
    const directory = view.getUint32(end + 16, true);
    assert.equal(directory + view.getUint32(end + 12, true), end);
    assert.equal(view.getUint32(directory + 16, true), crc32(new TextEncoder().encode("first")));
    assert.equal(new TextDecoder().decode(new Uint8Array(view.buffer, 30, 4 + 5)), "a/éfirst");
});

test("what cannot be sent is said before it is sent", () => {
    const unit = { title: "x", files: [named("x", "12345")], joined: false };
    assert.equal(refusal(unit, 5), null);
    assert.match(refusal(unit, 4)!, /5 B.*at most 4 B/);
    const many = { title: "x", files: Array.from({ length: 1001 }, (_, i) => named(`x/events_${i}_a`)), joined: true };
    assert.match(refusal(many, null)!, /1,001 files/);
    assert.match(explain(507, "the disk is full", 2048), /no room.*2 KiB.*the disk is full/);
    assert.equal(explain(422, "no event log could be read", 1), "No event log could be read");
    assert.match(explain(502, undefined, 1), /502/);
});
