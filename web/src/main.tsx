import { render } from "preact";
import { App } from "./app";
import "uplot/dist/uPlot.min.css";
import "./styles/colours.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/pages.css";
import "./styles/timeline.css";
import "./styles/more.css";
import "./styles/print.css";
import { startTheme } from "./ui/theme";

startTheme();
const root = document.getElementById("app");
if (root) render(<App />, root);
