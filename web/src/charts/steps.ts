/** Distances between the marks of an axis: round numbers of what it counts. */

const DAY_HOURS = 24;

/** Milliseconds: round numbers of milliseconds, seconds, minutes, hours, days. */
export const TIME_STEPS: number[] = [
    ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
    ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1e3),
    ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60e3),
    ...[1, 2, 3, 6, 12].map((hours) => hours * 3600e3),
    ...[1, 2, 4, 7, 14, 30].map((days) => days * DAY_HOURS * 3600e3),
];

/** The same in seconds. */
export const SECOND_STEPS: number[] = TIME_STEPS.map((step) => step / 1e3);

/** Bytes: round numbers of KiB, MiB, GiB. */
export const BYTE_STEPS: number[] = Array.from({ length: 6 }, (_, power) =>
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map((step) => step * 1024 ** power),
).flat();

/** What is counted: there is nothing between one and two. */
export const COUNT_STEPS: number[] = Array.from({ length: 10 }, (_, power) =>
    [1, 2, 5].map((step) => step * 10 ** power),
).flat();
