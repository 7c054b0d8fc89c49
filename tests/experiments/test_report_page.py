# SPDX-License-Identifier: BSD-3-Clause
"""The report in a browser: it draws, sorts, fits, follows the theme, asks nobody."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("plotly")
pytest.importorskip("playwright", reason="the browser is steered by playwright")

from playwright.sync_api import sync_playwright

from mrforest.experiments.report import page_of
from tests.experiments import made_up_results

BROWSER = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
pytestmark = pytest.mark.skipif(
    not Path(BROWSER).exists(), reason="there is no chromium on this machine"
)

PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
PATIENCE = 60_000  # milliseconds, for machines that are busy

# The least contrast of a text with what is behind it, which text, and of how many.
LEAST_CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d");
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], below) =>
    [r, g, b].map((value, i) => a * value + (1 - a) * below[i]);
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, behind(element.parentElement));
  };
  const luminance = (colour) => colour
    .map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  let least = 99, which = "", n = 0;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.checkVisibility()) continue;
    if (element.closest("script, noscript, .unseen")) continue;
    const style = getComputedStyle(element), ground = behind(element);
    const ink = over(rgba(element.closest("svg") ? style.fill : style.color), ground);
    const shades = [luminance(ink), luminance(ground)];
    const contrast = (Math.max(...shades) + 0.05) / (Math.min(...shades) + 0.05);
    if (contrast < least) [least, which] = [contrast, texts.currentNode.data];
    n += 1;
  }
  return [least, which, n];
}"""
FOLD = """(open) => document.querySelectorAll("details")
  .forEach((part) => { part.open = open; })"""
# What sticks out of the page, other than inside tables that scroll and plots.
STICKING_OUT = """() => [...document.querySelectorAll("main *")]
  .filter((e) => !e.closest(".scroll > *, .plot *") && e.checkVisibility())
  .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5)
  .map((e) => e.outerHTML.slice(0, 80))"""
COLUMN = """(table, i) => [...table.tBodies[0].rows].map((row) => row.cells[i])
  .map((cell) => [cell.dataset.value ?? null, cell.textContent])"""
MARKS = ".scatterlayer path, .heatmaplayer image, .barlayer path"


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """Addresses of a page with results of all kinds, and of a small one."""
    everything = made_up_results.all_frames()
    few = {"table1": made_up_results.table1_frame(datasets=["zoo", "wdbc", "cmc"])}
    folder = tmp_path_factory.mktemp("report")
    found = {}
    for name, frames in (("full", everything), ("small", few)):
        path = folder / f"{name}.html"
        path.write_text(page_of(frames, name="results.sqlite"), encoding="utf-8")
        found[name] = path.as_uri()
    return found


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def open_page(browser, addresses):
    """Open the page with a fresh memory, and see what it complains of and asks for."""
    contexts = []

    def open_page(name="small", size=DESK, scheme="light", context=None):
        if context is None:
            context = browser.new_context(viewport=size, color_scheme=scheme)
            context.set_default_timeout(PATIENCE)
            contexts.append(context)
        page = context.new_page()
        page.complaints, page.requests = [], []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(addresses[name])
        page.wait_for_selector("html[data-plots=drawn]")
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def desk(open_page):
    """The page on a desk; tests that change it bring it back."""
    return open_page("full")


@pytest.fixture(scope="module")
def phone(open_page):
    return open_page("full", PHONE, "dark")


def test_it_asks_nobody_and_does_not_complain(desk, phone, addresses):
    for page in (desk, phone):
        assert page.requests == [addresses["full"]]
        assert page.complaints == []


def test_all_plots_are_drawn(desk):
    plots = desk.locator(".plot")
    assert plots.count() > 20
    for i in range(plots.count()):
        drawn = plots.nth(i)
        assert drawn.locator("svg.main-svg").count() > 0
        assert drawn.locator(MARKS).count() > 0


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_nothing_overflows(request, size):
    page = request.getfixturevalue(size)
    for is_open in (True, False):
        page.evaluate(FOLD, is_open)
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        assert page.evaluate(STICKING_OUT) == []


# ---- tables --------------------------------------------------------------------------


def column_of(table, number):
    """Keys and texts of a column, from above."""
    return table.evaluate(COLUMN, number)


@pytest.mark.parametrize(
    ("caption", "column"), [("Ours less printed", 1), ("Accuracy in per cent. One", 5)]
)
def test_tables_sort_numbers_as_numbers(desk, caption, column):
    table = desk.locator("table.sortable", has_text=caption).first
    heading = table.locator("thead th").nth(column)
    before = column_of(table, column)
    for direction in ("ascending", "descending"):
        heading.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") == direction
        values = [float(value) for value, _ in column_of(table, column)]
        assert values == sorted(values, reverse=direction == "descending")
    after = column_of(table, column)
    assert sorted(after) == sorted(before)
    # As texts they would be in another order.
    texts = [text for _, text in after]
    assert texts != sorted(texts, reverse=True)


def test_the_last_lines_stay_where_they_are(desk):
    table = desk.locator("table.sortable").first
    table.locator("thead button").nth(2).click()
    assert table.locator("tfoot th").first.inner_text() == "average rank"


def test_tables_sort_by_names_with_the_keyboard_and_say_so(desk):
    table = desk.locator("table.sortable").first
    first, second = (table.locator("thead th").nth(i) for i in range(2))
    second.get_by_role("button").click()
    first.get_by_role("button").press("Enter")
    names = [text for _, text in column_of(table, 0)]
    assert names == sorted(names)
    assert second.get_attribute("aria-sort") is None
    assert desk.locator("[role=status]").inner_text() == "sorted by dataset, ascending"


def test_what_is_missing_is_last_in_both_directions(desk):
    row = "<tr><th>{}</th><td class='number' data-value='{}'>{}</td></tr>"
    rows = "".join(row.format(v, v, v) for v in ("nan", "10.0", "9.0"))
    table = desk.locator("table.sortable").last
    kept = table.evaluate("(table) => table.tBodies[0].innerHTML")
    table.evaluate("(table, rows) => { table.tBodies[0].innerHTML = rows; }", rows)
    try:
        button = table.locator("thead button").nth(1)
        for expected in (["9.0", "10.0", "nan"], ["10.0", "9.0", "nan"]):
            button.dispatch_event("click")
            assert [text for _, text in column_of(table, 1)] == expected
    finally:
        table.evaluate("(table, rows) => { table.tBodies[0].innerHTML = rows; }", kept)


# ---- themes, commands, paper ---------------------------------------------------------


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_texts_can_be_read_in_both_themes(request, size):
    page = request.getfixturevalue(size)
    for _ in range(2):
        contrast, text, n_texts = page.evaluate(LEAST_CONTRAST)
        assert n_texts > 1000
        assert contrast >= 4.5, text
        page.locator("#theme").click()


def ground(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def ink_of_plots(page):
    return page.locator(".plot svg text").first.evaluate(
        "(e) => getComputedStyle(e).fill"
    )


def test_the_theme_is_that_of_the_system_until_it_is_chosen(open_page):
    page = open_page(scheme="dark")
    dark, light_ink = ground(page), ink_of_plots(page)
    assert page.locator("#theme").inner_text() == "Light"
    page.locator("#theme").click()
    light, dark_ink = ground(page), ink_of_plots(page)
    assert (dark, light_ink) != (light, dark_ink)
    assert light == "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="light")
    page.locator("#theme").click()
    page.reload()
    page.wait_for_selector("html[data-plots=drawn]")
    assert ground(page) == dark
    assert ink_of_plots(page) == light_ink
    assert ground(open_page(context=page.context)) == dark  # remembered in a new tab
    assert ground(open_page()) == light  # but not by others


def test_commands_are_copied(open_page):
    page = open_page()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    command = page.locator("#about .command").first
    command.get_by_role("button").click()
    # The page allows no evaluation of texts, by which Playwright would wait for more.
    page.locator("#said", has_text="Copied").wait_for(state="attached")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == command.locator("code").inner_text() == "mrforest reproduce table1"


def test_it_prints_in_light_and_is_then_as_before(open_page):
    page = open_page(scheme="dark")
    dark = ground(page)
    page.evaluate(
        """() => addEventListener("beforeprint", () => {
          window.printed = {
            theme: document.documentElement.dataset.theme,
            closed: document.querySelectorAll("details:not([open])").length,
          };
        })"""
    )
    assert page.pdf().startswith(b"%PDF")
    assert page.evaluate("window.printed") == {"theme": "light", "closed": 0}
    assert ground(page) == dark
    assert page.locator("details[open]").count() == 0
