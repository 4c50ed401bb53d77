/** The table of pages: a page is a file in this folder and a row here. */
import type { ComponentType } from "preact";
import { hasStores, type Server, takesUploads } from "../data/server";
import type { Report } from "../data/types";
import { hasProfiles, hasRecords, hasTextLogs, hasTrace } from "../logs/files";
import { About } from "./about";
import { Applications } from "./applications";
import { Compare } from "./compare";
import { Configuration } from "./configuration";
import { Cost } from "./cost";
import { Executors } from "./executors";
import { Flame } from "./flame";
import { FleetPage } from "./fleet";
import { Integrity } from "./integrity";
import { Logs } from "./logs";
import { OffCpu } from "./off_cpu";
import { Overview } from "./overview";
import { Phases } from "./phases";
import { Profile } from "./profile";
import { Rules } from "./rules";
import { Sql } from "./sql";
import { Stage } from "./stage";
import { TaskTime } from "./task_time";
import { Timeline } from "./timeline";
import { Upload } from "./upload";
import { WhatIfPage } from "./whatif";

/** What a page of one application gets. */
export interface AppPageProps {
    app: string;
    /** "-" for the attempt without an id. */
    attempt: string;
    /** The rest of the path, e.g. ["3", "0"] of stage/3/0. */
    rest: string[];
    query: URLSearchParams;
}

export interface AppPage {
    /** Second part of its address: #/app/ID/ATTEMPT/PATH */
    path: string;
    title: string;
    /** Press 'g', then this. */
    key: string;
    /** The document below applications/ID/ATTEMPT/ without which a report from disk does not show the page. */
    needs: string;
    /** Whether the run has something for it; without this it always has. */
    offered?: (report: Report | null) => boolean;
    /** What the page says where it is not offered. */
    absent?: { title: string; text: string };
    component: ComponentType<AppPageProps>;
}

export const appPages: AppPage[] = [
    { path: "overview", title: "Overview", key: "o", needs: "report", component: Overview },
    { path: "timeline", title: "Timeline", key: "t", needs: "timeline", component: Timeline },
    { path: "phases", title: "Phases", key: "j", needs: "report", component: Phases },
    { path: "stage", title: "Stages", key: "s", needs: "report", component: Stage },
    { path: "sql", title: "SQL", key: "p", needs: "sql", component: Sql },
    { path: "tasktime", title: "Task time", key: "k", needs: "timeline", component: TaskTime },
    { path: "executors", title: "Executors", key: "e", needs: "executors", component: Executors },
    { path: "logs", title: "Logs", key: "l", needs: "logs/errors", offered: hasTextLogs, component: Logs },
    { path: "profile", title: "Profile", key: "h", needs: "profile", offered: hasRecords, component: Profile },
    { path: "flame", title: "Flame graph", key: "f", needs: "flame", offered: hasProfiles, component: Flame },
    {
        path: "offcpu",
        title: "Off-CPU",
        key: "x",
        needs: "trace",
        offered: hasTrace,
        absent: {
            title: "No trace of the kernel",
            text: "Record the next run with: pyrometer trace record -- spark-submit ... Then open the folder that it writes.",
        },
        component: OffCpu,
    },
    { path: "whatif", title: "What if", key: "w", needs: "whatif", component: WhatIfPage },
    { path: "cost", title: "Cost", key: "m", needs: "cost", component: Cost },
    { path: "configuration", title: "Configuration", key: "c", needs: "configuration", component: Configuration },
    { path: "integrity", title: "Data quality", key: "q", needs: "report", component: Integrity },
];

export interface RootPageProps {
    rest: string[];
    query: URLSearchParams;
}

export interface RootPage {
    path: string;
    title: string;
    key: string;
    /** Not shown by a report from disk. */
    server: boolean;
    /** Whether the server has a use for it; without this it always has. */
    offered?: (server: Server | null) => boolean;
    component: ComponentType<RootPageProps>;
}

export const rootPages: RootPage[] = [
    { path: "", title: "Applications", key: "a", server: false, component: Applications },
    { path: "compare", title: "Compare", key: "d", server: true, component: Compare },
    { path: "fleet", title: "Fleet", key: "v", server: true, offered: hasStores, component: FleetPage },
    { path: "upload", title: "Upload", key: "u", server: true, offered: takesUploads, component: Upload },
    { path: "rules", title: "Rules", key: "r", server: true, component: Rules },
    { path: "about", title: "About", key: "i", server: false, component: About },
];
