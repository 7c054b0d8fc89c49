// SPDX-License-Identifier: BSD-3-Clause
// Themes, tables that sort, commands that copy, plots. No framework.
"use strict";
const root = document.documentElement;
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
const say = (text) => { document.getElementById("said").textContent = text; };

// ---- light and dark -------------------------------------------------------------------

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemIsDark.matches);

function applyTheme() {
  const button = document.getElementById("theme");
  button.textContent = isDark() ? "Light" : "Dark";
  button.setAttribute("aria-label", `Switch to the ${isDark() ? "light" : "dark"} theme`);
  drawn.forEach(draw);
}

document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  memory.write(root.dataset.theme);
  applyTheme();
});
systemIsDark.addEventListener("change", applyTheme);

// ---- tables ---------------------------------------------------------------------------

const collator = new Intl.Collator("en-GB", { numeric: true });

// A number as a number, another cell as text; what is missing is null.
function keyOf(cell) {
  if (cell.dataset.value === undefined) return cell.textContent.trim();
  const value = Number(cell.dataset.value);
  return Number.isNaN(value) ? null : value;
}

function sort(table, column, direction) {
  const keyed = [...table.tBodies[0].rows].map((row) => [keyOf(row.cells[column]), row]);
  keyed.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null); // missing: always last
    const order = typeof a === "number" && typeof b === "number"
      ? a - b : collator.compare(String(a), String(b));
    return direction === "ascending" ? order : -order;
  });
  table.tBodies[0].append(...keyed.map(([, row]) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const isNumber = [...table.tBodies[0].rows].some((row) => row.cells[column].dataset.value);
    heading.classList.toggle("number", isNumber);
    heading.firstElementChild.addEventListener("click", () => {
      const direction = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", direction);
      sort(table, column, direction);
      say(`sorted by ${heading.textContent}, ${direction}`);
    });
  });
}

// ---- commands -------------------------------------------------------------------------

async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return "Copied";
  } catch { // not allowed here: leave it selected, a key press away from being copied
    getSelection().selectAllChildren(code);
    return "Selected";
  }
}

for (const button of document.querySelectorAll("button.copy")) {
  button.addEventListener("click", async () => {
    button.textContent = await copy(button.previousElementSibling);
    say(button.textContent);
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

// ---- plots ----------------------------------------------------------------------------

const drawn = new Map(); // element: figure, as it was given

// Plots take their colours from the page, so they follow its theme.
function template() {
  const colour = (property) => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = `var(${property})`;
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const [ink, muted, line, paper] = ["--ink", "--muted", "--line", "--paper"].map(colour);
  const axis = {
    gridcolor: line, linecolor: muted, zerolinecolor: line, tickcolor: muted,
    automargin: true, zeroline: false, title: { standoff: 8 },
  };
  return {
    layout: {
      font: { color: ink, family: getComputedStyle(document.body).fontFamily, size: 12 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 40, r: 12, t: 12, b: 40 },
      xaxis: axis,
      yaxis: axis,
      hoverlabel: { bgcolor: paper, bordercolor: muted, font: { color: ink } },
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: muted, activecolor: ink, orientation: "v" },
      shapedefaults: { line: { color: muted, width: 1, dash: "dash" } },
      annotationdefaults: { showarrow: false, font: { color: muted } },
      // A finger that scrolls the page must not zoom a plot.
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
    },
  };
}

const config = {
  responsive: true,
  displaylogo: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  toImageButtonOptions: { format: "svg" },
};

function draw(figure, element) {
  const layout = { ...structuredClone(figure.layout), template: template(), uirevision: "kept" };
  return Plotly.react(element, structuredClone(figure.data), layout, config);
}

async function drawAll() {
  for (const element of document.querySelectorAll(".plot")) {
    const figure = JSON.parse(element.querySelector("script").textContent);
    element.replaceChildren();
    drawn.set(element, figure);
    await draw(figure, element);
    // One after the other, so that the page answers in between.
    await new Promise((resolve) => { setTimeout(resolve); });
  }
  root.dataset.plots = "drawn";
}

// ---- paper ----------------------------------------------------------------------------

// Style sheets for paper are light; plots are told so, and folded parts are opened.
let before = null;
addEventListener("beforeprint", () => {
  before = { theme: root.dataset.theme, closed: [...document.querySelectorAll("details:not([open])")] };
  root.dataset.theme = "light";
  before.closed.forEach((part) => { part.open = true; });
  applyTheme();
});
addEventListener("afterprint", () => {
  if (before.theme) root.dataset.theme = before.theme; else delete root.dataset.theme;
  before.closed.forEach((part) => { part.open = false; });
  applyTheme();
});

applyTheme();
drawAll();
