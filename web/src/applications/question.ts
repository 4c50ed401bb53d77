/** What is asked of the list of applications: the server answers it page by page, a report from disk by itself. */

import type { Applications } from "../data/types";
import { type Attempt, outcomeOf } from "./outcome";

/** As many applications as a page of the list has. */
export const PAGE = 100;

export const SORTS = ["end", "start", "duration", "name", "user", "version", "bytes"] as const;
export type Sort = (typeof SORTS)[number];

export interface Question {
    search: string;
    user: string;
    status: string;
    sort: Sort;
    descending: boolean;
    /** From 1. */
    page: number;
}

/** Texts begin with A, everything else with the most. */
export function startsDescending(sort: Sort): boolean {
    return !["name", "user", "version"].includes(sort);
}

export function readQuestion(query: URLSearchParams): Question {
    const sort = SORTS.find((one) => one === query.get("sort")) ?? "end";
    const order = query.get("order");
    return {
        search: query.get("search") ?? "",
        user: query.get("user") ?? "",
        status: query.get("status") ?? "",
        sort,
        descending: order === "asc" ? false : order === "desc" ? true : startsDescending(sort),
        page: Math.max(1, Math.floor(Number(query.get("page"))) || 1),
    };
}

/** What the server is asked. */
export function addressOf(question: Question): string {
    const parameters = new URLSearchParams();
    const search = question.search.trim();
    if (search) parameters.set("search", search);
    if (question.user) parameters.set("user", question.user);
    if (question.status) parameters.set("status", question.status);
    parameters.set("sort", question.sort);
    parameters.set("order", question.descending ? "desc" : "asc");
    if (question.page > 1) parameters.set("offset", String((question.page - 1) * PAGE));
    parameters.set("limit", String(PAGE));
    return `applications?${parameters}`;
}

/** When it ended, or when its log did. */
export function endOf({ end_ms, last_event_ms }: Attempt): number | null {
    return end_ms ?? last_event_ms ?? null;
}

type Application = Applications["applications"][number];

function keyOf({ name, attempts }: Application, sort: Sort): string | number | null {
    const newest = attempts[0]!;
    switch (sort) {
        case "name":
            return name;
        case "user":
            return newest.user;
        case "version":
            return newest.spark_version;
        case "start":
            return newest.start_ms;
        case "duration":
            return newest.duration_ms;
        case "bytes":
            return newest.log_bytes;
        case "end":
            return outcomeOf(newest) === "running" ? Number.MAX_VALUE : endOf(newest);
    }
}

function fits({ id, name, attempts }: Application, { search, user, status }: Question): boolean {
    if (user && !attempts.some((attempt) => attempt.user === user)) return false;
    if (status && status !== "any" && status !== outcomeOf(attempts[0]!)) return false;
    const part = search.trim().toLowerCase();
    const texts = [
        id,
        name ?? "",
        ...attempts.flatMap(({ user: who, log }) => [who ?? "", log?.split("/").pop() ?? ""]),
    ];
    return !part || texts.some((text) => text.toLowerCase().includes(part));
}

/** What the server would answer that has this list. */
export function answer(list: Applications, question: Question): Applications {
    const sign = question.descending ? -1 : 1;
    const rows = list.applications
        .filter((application) => fits(application, question))
        .map((application, place) => ({ application, place, key: keyOf(application, question.sort) }));
    rows.sort((a, b) => {
        if (a.key === b.key) return a.place - b.place;
        if (a.key === null) return 1;
        if (b.key === null) return -1;
        return a.key < b.key ? -sign : sign;
    });
    const first = (question.page - 1) * PAGE;
    const users = list.applications.flatMap(({ attempts }) => attempts.map(({ user }) => user));
    return {
        ...list,
        total: rows.length,
        all: list.applications.length,
        users: [...new Set(users.filter((user) => user !== null))].sort(),
        applications: rows.slice(first, first + PAGE).map(({ application }) => application),
    };
}
