/** The frame around every page: header, navigation, keyboard, the page that the address names. */
import { useEffect, useRef, useState } from "preact/hooks";
import { OUTCOME_TITLES, outcomeOfReport } from "./applications/outcome";
import { appAddress, available, fromDisk, refresh, useDocument } from "./data/documents";
import { useChanges } from "./data/events";
import { takesFeedback, useServer } from "./data/server";
import type { Null, Report } from "./data/types";
import { duration, time } from "./format";
import { MissedDialog } from "./pages/missed";
import { type AppPage, type AppPageProps, appPages, rootPages } from "./pages/pages";
import { go, type Location, link, useLocation } from "./router";
import { Failure } from "./ui/failure";
import { Help } from "./ui/help";
import { Empty, Loading, Problem, Status } from "./ui/parts";
import { useShortcuts } from "./ui/shortcuts";
import { toggleTheme, useTheme } from "./ui/theme";

function Logo() {
    return (
        <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
            <circle cx="8" cy="8" r="6.8" fill="none" stroke="currentColor" stroke-width="1.4" />
            <circle cx="8" cy="8" r="3.1" class="ember" />
        </svg>
    );
}

/** Pages of an application that can be shown: a report from disk may lack documents, and runs have no logs or profiles. */
function usePages(app: string | undefined, attempt: string | undefined): AppPage[] {
    const base = app !== undefined && attempt !== undefined ? appAddress(app, attempt) : null;
    const state = useDocument<Report>(base && `${base}/report`);
    const report = state.status === "ready" ? state.data : null;
    if (base === null) return [];
    return appPages.filter((page) => available(`${base}/${page.needs}`) && (page.offered?.(report) ?? true));
}

/** The task of an orchestrator that started the application. */
function Starter({ dag_id, task_id, run_id }: { dag_id: Null<string>; task_id: Null<string>; run_id: Null<string> }) {
    return (
        <span title={run_id ? `run ${run_id}` : undefined}>
            started by {dag_id && `dag ${dag_id}`}
            {dag_id && task_id && ", "}
            {task_id && `task ${task_id}`}
            {!dag_id && !task_id && `run ${run_id}`}
        </span>
    );
}

/** Name, state and length of the application, from its report. */
function AppTitle({ app, attempt }: { app: string; attempt: string }) {
    const state = useDocument<Report>(`${appAddress(app, attempt)}/report`);
    const row = state.status === "ready" ? state.data.application : null;
    // Every page of a run that goes on shows what has come, and its end.
    useChanges(
        row?.status === "in_progress",
        (change) => change.app === app && (change.attempt ?? "-") === attempt,
        () => refresh(appAddress(app, attempt)),
    );
    return (
        <div class="app-title">
            <strong title={app}>{row?.name ?? app}</strong>
            <span class="app-facts">
                <code>{app}</code>
                {attempt !== "-" && <span>attempt {attempt}</span>}
                {row && (
                    <>
                        <Status status={outcomeOfReport(row)} title={OUTCOME_TITLES[outcomeOfReport(row)]} />
                        <span>{duration(row.duration_ms)}</span>
                        <span>{time(row.start_ms)} UTC</span>
                        {row.spark_version && <span>Spark {row.spark_version}</span>}
                        {row.orchestrator && <Starter {...row.orchestrator} />}
                    </>
                )}
            </span>
        </div>
    );
}

/** What a report from the page begins with: the stage or execution that is looked at. */
function subjectOf(path: string, rest: string[]): string {
    const names: Record<string, string> = { stage: "Stage", sql: "SQL execution" };
    return names[path] && rest[0] ? `${names[path]} ${rest[0]}` : "";
}

function AppNavigation({
    app,
    attempt,
    pages,
    location,
}: {
    app: string;
    attempt: string;
    pages: AppPage[];
    location: Location;
}) {
    const [, , , current = "overview", ...rest] = location.segments;
    const [missed, setMissed] = useState(false);
    const takes = takesFeedback(useServer());
    return (
        <nav class="tabs" aria-label="Pages of this application">
            <ul>
                {pages.map((page) => (
                    <li key={page.path}>
                        <a
                            href={link(["app", app, attempt, page.path])}
                            aria-current={current === page.path ? "page" : undefined}
                        >
                            {page.title}
                        </a>
                    </li>
                ))}
            </ul>
            {takes && (
                <button type="button" class="quiet" onClick={() => setMissed(true)}>
                    Report a missed problem
                </button>
            )}
            {missed && (
                <MissedDialog
                    place={{ app, attempt }}
                    about={subjectOf(current, rest)}
                    onClose={() => setMissed(false)}
                />
            )}
        </nav>
    );
}

function NotFound({ location }: { location: Location }) {
    return <Problem title="No such page" message={`There is no page at ${location.path}.`} />;
}

/** A page that asks for what only some runs have: others are not asked. */
function WhereOffered({ page, props }: { page: AppPage; props: AppPageProps }) {
    const state = useDocument<Report>(`${appAddress(props.app, props.attempt)}/report`);
    if (state.status === "loading") return <Loading what="report" />;
    if (state.status === "ready" && !page.offered?.(state.data))
        return (
            <div class="page">
                <h1>{page.title}</h1>
                <Empty title={page.absent?.title ?? "No such files"}>
                    {page.absent?.text ??
                        "There are no logs or profiles for this page next to the event log of this run."}
                </Empty>
            </div>
        );
    return <page.component {...props} />;
}

/** The page that an address names. */
function Page({ location }: { location: Location }) {
    const [first = "", app, attempt, path = "overview", ...rest] = location.segments;
    if (first === "app" && app && attempt) {
        const page = appPages.find((candidate) => candidate.path === path);
        if (!page) return <NotFound location={location} />;
        const props = { app, attempt, rest, query: location.query };
        return page.offered ? <WhereOffered page={page} props={props} /> : <page.component {...props} />;
    }
    const page = rootPages.find((candidate) => candidate.path === first);
    if (!page) return <NotFound location={location} />;
    return <page.component rest={location.segments.slice(1)} query={location.query} />;
}

function titleOf(location: Location): string {
    const [first = "", app, , path = "overview"] = location.segments;
    if (first === "app" && app) {
        const page = appPages.find((candidate) => candidate.path === path);
        return `${page?.title ?? "Page"} - ${app} - Pyrometer`;
    }
    return `${rootPages.find((candidate) => candidate.path === first)?.title ?? "Page"} - Pyrometer`;
}

export function App() {
    const location = useLocation();
    const theme = useTheme();
    const main = useRef<HTMLElement>(null);
    const [help, setHelp] = useState(false);
    const [first, app, attempt] = location.segments;
    const server = useServer();
    const inApp = first === "app" && app !== undefined && attempt !== undefined;
    const pages = usePages(inApp ? app : undefined, attempt);

    useShortcuts({
        "?": () => setHelp(true),
        t: toggleTheme,
        "/": () => document.querySelector<HTMLInputElement>("input[type=search]")?.focus(),
        ...Object.fromEntries(rootPages.map((page) => [`g ${page.key}`, () => go(link([page.path]))])),
        ...(inApp
            ? Object.fromEntries(
                  pages.map((page) => [`g ${page.key}`, () => go(link(["app", app, attempt, page.path]))]),
              )
            : {}),
    });

    // A new page starts at its top, and its title is what a screen reader hears. Changes of the query are the same page.
    const shownPath = useRef(location.path);
    useEffect(() => {
        document.title = titleOf(location);
        if (shownPath.current === location.path) return;
        shownPath.current = location.path;
        window.scrollTo(0, 0);
        main.current?.focus({ preventScroll: true });
    }, [location]);

    return (
        <>
            <button type="button" class="skip" onClick={() => main.current?.focus()}>
                Skip to the page
            </button>
            <header class="top">
                <a class="brand" href="#/" aria-label="Pyrometer, all applications">
                    <Logo />
                    <span>Pyrometer</span>
                </a>
                {inApp && <AppTitle app={app} attempt={attempt} />}
                <nav class="top-links" aria-label="Pyrometer">
                    {rootPages
                        .filter((page) => !(page.server && fromDisk) && (page.offered?.(server) ?? true))
                        .map((page) => (
                            <a
                                key={page.path}
                                href={link([page.path])}
                                aria-current={(first ?? "") === page.path ? "page" : undefined}
                            >
                                {page.title}
                            </a>
                        ))}
                    <button type="button" class="quiet" onClick={toggleTheme}>
                        {theme === "dark" ? "Light" : "Dark"}
                    </button>
                    <button type="button" class="quiet keys-button" onClick={() => setHelp(true)}>
                        Keys <kbd>?</kbd>
                    </button>
                </nav>
            </header>
            {inApp && <AppNavigation app={app} attempt={attempt} pages={pages} location={location} />}
            <main id="main" ref={main} tabIndex={-1}>
                <Failure key={location.path}>
                    <Page location={location} />
                </Failure>
            </main>
            <div id="announcer" class="off-screen" role="status" aria-live="polite" />
            {help && <Help onClose={() => setHelp(false)} inApp={inApp} pages={pages} />}
        </>
    );
}
