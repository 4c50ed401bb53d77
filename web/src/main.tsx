import { render } from "preact";
import { App } from "./app";
import { ready } from "./data/documents";
import "uplot/dist/uPlot.min.css";
import "./styles/colours.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/pages.css";
import "./styles/timeline.css";
import "./styles/more.css";
import "./styles/phases.css";
import "./styles/trace.css";
import "./styles/print.css";
import { startTheme } from "./ui/theme";

startTheme();
const root = document.getElementById("app");
if (root) void ready.then(() => render(<App />, root));
