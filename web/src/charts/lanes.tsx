/** Intervals of a few kinds, one lane each, over one axis of time. */
import { duration, offset, words } from "../format";
import { type Interval, joined, sum } from "../phases/intervals";
import { partColour } from "./stacked";

export interface Lane {
    name: string;
    intervals: Interval[];
}

const MARKS = 5;
/** Of the width: what is smaller cannot be seen. */
const LEAST = 1 / 1500;

/** `start` and `end` in the intervals' unit, milliseconds. */
export function Lanes({ label, lanes, start, end }: { label: string; lanes: Lane[]; start: number; end: number }) {
    const whole = Math.max(1, end - start);
    const place = ({ from, to }: Interval) => ({
        left: `${(100 * (from - start)) / whole}%`,
        width: `${(100 * (to - from)) / whole}%`,
    });
    return (
        <div class="lanes" role="img" aria-label={label}>
            {lanes.map((lane) => (
                <div class="lane" key={lane.name}>
                    <span class="lane-name">{words(lane.name)}</span>
                    <span class="lane-track">
                        {joined(lane.intervals, whole * LEAST).map((interval) => (
                            <span
                                key={interval.from}
                                style={{ ...place(interval), background: partColour(lane.name) }}
                                title={`${words(lane.name)}: ${duration(interval.to - interval.from)} from ${offset(interval.from - start)}`}
                            />
                        ))}
                    </span>
                    <span class="lane-sum number">{duration(sum(lane.intervals))}</span>
                </div>
            ))}
            <div class="lane lane-axis" aria-hidden="true">
                <span class="lane-name" />
                <span class="lane-track">
                    {Array.from({ length: MARKS + 1 }, (_, i) => (
                        <span key={i} style={{ left: `${(100 * i) / MARKS}%` }}>
                            {offset((whole * i) / MARKS, whole / MARKS)}
                        </span>
                    ))}
                </span>
                <span class="lane-sum" />
            </div>
        </div>
    );
}
