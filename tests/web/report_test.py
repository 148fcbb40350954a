# SPDX-License-Identifier: Apache-2.0
"""Opens reports in Chromium and looks at them. For report_test.sh.

Usage: report_test.py CHROMIUM REPORT_PAGE FOLDER. For each claim FOLDER/results gets a file named after it, empty
where the claim holds, else with what is wrong. What was weighed and timed goes to stdout.
"""
import json
import os
import signal
import subprocess
import sys
import traceback
from urllib.parse import quote

import report_data
from chromium import Chromium, Failure

CLAIMS = []
SIZE_LIMIT_BYTES = 5_000_000


def claim(function):
    CLAIMS.append(function)
    return function


def require(condition, what):
    if not condition:
        raise Failure(what)


class Reports:
    """The documents as pages, each written once."""

    def __init__(self, program, folder):
        self.program, self.folder, self.urls = program, folder, {}
        self.everything, self.broken, self.large = report_data.everything(), report_data.broken(), report_data.large()

    def url(self, name, document=None, text=None):
        if name not in self.urls:
            path = os.path.join(self.folder, name + ".html")
            if text is None:
                text = json.dumps(document, ensure_ascii=name == "broken")  # which has half a pair of UTF-16
            with open(path, "wb") as page:
                subprocess.run([self.program], input=text.encode(), stdout=page, check=True)
            self.urls[name] = "file://" + quote(path)
        return self.urls[name]

    def open(self, browser, name, document=None, text=None, link="", **look):
        document = getattr(self, name, None) if document is None else document
        browser.look(**look)
        browser.open(self.url(name, document, text) + ("#" + quote(link, safe="") if link else ""))


FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
ROWS = "[...document.querySelectorAll('table.summary tbody tr')].filter((r) => !r.hidden).map((r) => r.cells[0].querySelector('a').textContent)"


def go_to(browser, name):
    browser.value(f"location.hash = encodeURIComponent({json.dumps(name)})")
    browser.wait(f"document.getElementById({json.dumps(name)}).querySelector('.body').childElementCount > 0", f"{name} is rendered")


def render_all(browser):
    browser.value("dispatchEvent(new Event('beforeprint'))")
    browser.value(FRAMES)


def press(browser, key, code):
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                     **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))


def charts(browser, name):
    return set(browser.value(f"[...document.getElementById({json.dumps(name)}).querySelectorAll('svg.chart')].map((s) => s.classList[1])"))


@claim
def no_request_leaves_the_file(browser, reports):
    for name in ("everything", "broken"):
        reports.open(browser, name)
        render_all(browser)
        require(browser.requests() == [reports.url(name)], f"{name} asked for {browser.requests()}")
    refused = browser.value("""new Promise((done) => {
        document.addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective));
        new Image().src = 'http://127.0.0.1:9/';
        setTimeout(() => done('nothing'), 5000);
    })""")
    require(refused == "img-src", f"the policy refused {refused} where an image was asked for")


@claim
def nothing_is_thrown_or_logged(browser, reports):
    for name in ("everything", "broken", "large"):
        reports.open(browser, name)
        render_all(browser)
        require(browser.complaints() == [], f"{name}: {browser.complaints()[:5]}")
        numbers = browser.value("[...document.querySelectorAll('svg *')].flatMap((e) => [...e.attributes])"
                                ".filter((a) => a.name !== 'aria-label' && /NaN|Infinity|undefined/.test(a.value)).length")
        require(numbers == 0, f"{name}: {numbers} attributes are no numbers")


@claim
def header_is_the_verdict_with_failures_first(browser, reports):
    reports.open(browser, "everything")
    said = browser.value("document.querySelector('h1').textContent")
    require(said.startswith("\u2717 2 failed, 36 measured, 1 checked, 1 skipped, 1 interrupted in 65.4\u00a0s on Intel"), said)
    require(browser.value("document.querySelectorAll('h1').length") == 1, "there is more than one h1")
    require(browser.value(ROWS)[:3] == ["queue/overflow", "__proto__", "clock/now_ns"], "failures are not first")
    require("head passed tail" in browser.value("document.getElementById('gyre-failures').innerText"), "no last words")


@claim
def benchmark_has_its_charts(browser, reports):
    expected = {
        "clock/now_ns": {"density", "timeline", "iterations", "comparison", "change", "trend"},
        "queue/push_pop": {"density", "timeline", "regression", "comparison", "change", "trend"},
        "queue/wake": {"density", "timeline", "iterations", "comparison", "change", "percentiles"},
        "device/saxpy": {"density", "timeline", "iterations", "device"},
        "queue/overflow": set(),
    }
    reports.open(browser, "everything")
    for name, kinds in expected.items():
        go_to(browser, name)
        require(charts(browser, name) == kinds, f"{name} has {charts(browser, name)}, not {kinds}")
    unnamed = browser.value("[...document.querySelectorAll('svg.chart')]"
                            ".filter((s) => !s.getAttribute('aria-label') || s.getAttribute('role') !== 'img').length")
    require(unnamed == 0, f"{unnamed} charts have no name")


@claim
def trend_shows_its_runs_and_changes(browser, reports):
    reports.open(browser, "everything", link="clock/now_ns")
    said = browser.value("document.getElementById('clock/now_ns').querySelector('.trend').innerText")
    for words in ("60 runs on this machine", "+20.0 % since run 31", "from 10.000 ns to 12.000 ns, p = less than 0.001",
                  "+50.0 % since run 51", "Drift since run 51: +1.00 % a run (+0.50 % to +1.50 % a run)", "a change may be the machine's"):
        require(words in said, f"'{words}' is not in:\n{said}")
    counts = browser.value("""['.step', '.level', '.whisker', '.mark'].map((k) =>
        document.querySelectorAll('svg.trend ' + k).length)""")
    require(counts == [2, 3, 60, 1], f"steps, levels, intervals and marks: {counts}")
    # the second step stands between the 50th and the 51st of 60 runs
    at = browser.value("""(() => { const s = document.querySelector('svg.trend'), line = s.querySelectorAll('.step')[1], axis = s.querySelector('line.axis:last-of-type');
        const grid = s.querySelector('.grid'), left = +grid.getAttribute('x1'), right = +grid.getAttribute('x2');
        return (line.getAttribute('x1') - left) / (right - left); })()""")
    require(abs(at - 50 / 60) < 0.002, f"it is at {at}")
    go_to(browser, "queue/push_pop")
    said = browser.value("document.getElementById('queue/push_pop').querySelector('.trend').innerText")
    require("No drift since run 31: \u22120.02 % to +0.04 % a run" in said, said)
    require(report_data.HOSTILE[:12] in said, f"its commit is not shown:\n{said}")
    go_to(browser, "queue/wake")
    require(not browser.value("!!document.getElementById('queue/wake').querySelector('.trend')"), "two runs are no trend")
    reports.open(browser, "without_history", {**reports.everything, "history": None}, link="clock/now_ns")
    require(not browser.value("!!document.querySelector('.trend')"), "a trend from nowhere")


@claim
def benchmark_has_its_words(browser, reports):
    reports.open(browser, "everything", link="queue/push_pop")
    said = browser.value("document.getElementById('queue/push_pop').innerText")
    for words in ("Timed from the call until its return; seen by the caller", "The hypervisor took the CPU", "spsc, 64-byte slots", "regressed",
                  "advisory", "Melem/s", "Instructions, by callgrind", "peak resident", "4.3 MiB", "retries", "slope", "96.5 %",
                  "1.235\u00d7", "as long as queue/bare, in turns"):
        require(words in said, f"'{words}' is not in:\n{said}")
    marks = browser.value("['mild', 'severe', 'stolen', 'switched'].filter((k) => !document.querySelector('.timeline .mark.' + k))")
    require(marks == [], f"no marks for {marks}")
    go_to(browser, "queue/wake")
    rows = browser.value("[...document.querySelectorAll('.quantiles tbody th')].map((t) => t.textContent)")
    require(rows == ["p50", "p90", "p99", "p99.9", "max"], f"quantiles {rows}")
    said = browser.value("document.getElementById('gyre-environment').innerText")
    for words in ("6.18.44-fc-v445", "gcc 12.2.0", "8675309", "'queue|reduce me'", "GYRE_LOG", "tsc"):
        require(words in said, f"the environment does not say '{words}'")


@claim
def link_opens_its_benchmark(browser, reports):
    for name in ("reduce/copy/65536/1", reports.everything["run"]["benchmarks"][-2]["id"]):
        reports.open(browser, "everything", link=name)
        node = f"document.getElementById({json.dumps(name)})"
        require(browser.value(node + ".open"), f"{name} is closed")
        browser.value(FRAMES)
        top = browser.value(node + ".getBoundingClientRect().top")
        require(-5 <= top <= 450, f"{name} is at {top}")
        require(charts(browser, name) >= {"density", "timeline"}, "its charts are not there")


@claim
def rows_sort_by_time_and_by_name(browser, reports):
    reports.open(browser, "everything")
    sort = "[...document.querySelectorAll('table.summary thead button')].find((b) => b.textContent === '%s')"
    timed = [b for b in reports.everything["run"]["benchmarks"] if "time_ns" in b]
    expected = [b["id"] for b in sorted(timed, key=lambda b: b["time_ns"]["median"])]
    browser.value(sort % "Time" + ".click()")
    require(browser.value(ROWS)[:len(timed)] == expected, "ascending by time")
    browser.value(sort % "Time" + ".click()")
    require(browser.value(ROWS)[:len(timed)] == expected[::-1], "descending by time; what has none comes last")
    browser.value(sort % "Benchmark" + ".focus()")
    press(browser, "Enter", 13)
    rows = browser.value(ROWS)
    some = ["clock/now_ns", "gemm/f32_512", "queue/push_pop", "reduce/copy/4096/1", "reduce/copy/65536/1", "status/name"]
    require([r for r in rows if r in some] == some, f"by name, with a key: {rows}")
    sorts = browser.value("[...document.querySelectorAll('table.summary [aria-sort]')].map((t) => t.getAttribute('aria-sort'))")
    require(sorts[0] == "ascending" and set(sorts[1:]) == {"none"}, f"aria-sort {sorts}")


@claim
def search_filters_rows_and_benchmarks(browser, reports):
    reports.open(browser, "everything")
    count = len(browser.value(ROWS))
    press(browser, "/", 191)
    browser.call("Input.insertText", text="COPY 4096")
    require(browser.value(ROWS) == ["reduce/copy/4096/1", "reduce/copy/4096/2"], f"rows {browser.value(ROWS)}")
    seen = browser.value("[...document.querySelectorAll('details')].filter((d) => d.checkVisibility()).length")
    require(seen == 2, f"{seen} benchmarks are seen")
    require(browser.value("document.getElementById('gyre-shown').textContent") == f"2 of {count}", "the count is not said")
    press(browser, "Escape", 27)
    require(len(browser.value(ROWS)) == count, "Escape does not clear")
    browser.call("Input.insertText", text="failed")
    require(len(browser.value(ROWS)) == 2, "outcomes are not searched")
    browser.call("Input.insertText", text="zzz")
    require(browser.value("document.getElementById('gyre-shown').textContent") == "nothing matches", "nothing is not said")


@claim
def markup_in_data_stays_text(browser, reports):
    reports.open(browser, "everything")
    render_all(browser)
    require(browser.value("document.querySelectorAll('img').length") == 0, "an image was made")
    require(browser.value("document.querySelectorAll('script').length") == 8, "a script was added")
    require(browser.value("alerted") == 0, "a script ran")
    name = reports.everything["run"]["benchmarks"][-2]["id"]
    said = browser.value(f"document.getElementById({json.dumps(name)}).textContent")
    require(said.count(report_data.HOSTILE) >= 8, f"it is {said.count(report_data.HOSTILE)} times in its benchmark")
    require(browser.value("document.getElementById('gyre-failures').textContent").count(report_data.HOSTILE) >= 2, "the reason is not shown")


@claim
def lines_over_an_axis_switch_their_scale(browser, reports):
    reports.open(browser, "everything", height=6000)
    found = browser.value("[...document.querySelectorAll('svg.axis-lines')].map((s) => s.classList[2])")
    require(found == ["log", "log", "linear"], f"over bytes, threads and waiters: {found}")
    require(browser.value("document.querySelectorAll('svg.axis-lines')[0].querySelectorAll('.series .line').length") == 6, "not six lines")
    browser.value("[...document.querySelectorAll('.choice button')].find((b) => b.textContent === 'linear').click()")
    require(browser.value("document.querySelector('svg.axis-lines').classList[2]") == "linear", "it did not switch")
    browser.value("[...document.querySelectorAll('.choice button')].find((b) => b.textContent === 'bytes/s').click()")
    require("bytes/s" in browser.value("document.querySelector('svg.axis-lines').getAttribute('aria-label')"), "not the throughput")


@claim
def roofline_has_the_measured_ceilings_or_says_so(browser, reports):
    reports.open(browser, "everything")
    require(browser.value("document.querySelectorAll('svg.roofline .roof').length") == 2, "not two ceilings")
    require("peak/triad" in browser.value("document.getElementById('gyre-roofline').innerText"), "who measured it is not said")
    without = report_data.everything()
    without["run"]["benchmarks"] = [b for b in without["run"]["benchmarks"] if not b["id"].startswith("peak/")]
    reports.open(browser, "no_ceilings", without)
    require(browser.value("document.querySelectorAll('svg.roofline .roof').length") == 0, "a ceiling from nowhere")
    require(browser.value("document.querySelectorAll('svg.roofline .mark').length") > 0, "no points")
    require("No ceiling was measured" in browser.value("document.getElementById('gyre-roofline').innerText"), "it does not say so")


LUMINANCE = """((property, where) => {
    const [r, g, b] = getComputedStyle(document.querySelector(where))[property].match(/[\\d.]+/g).map((v) => {
        const c = v / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
})('%s', '%s')"""


@claim
def light_and_dark_can_be_read(browser, reports):
    papers = {}
    for scheme in ("light", "dark"):
        reports.open(browser, "everything", scheme=scheme)
        paper = papers[scheme] = browser.value(LUMINANCE % ("backgroundColor", "body"))
        for where, least in (("body", 10), (".brand", 4.5), (".count.failed", 4.5), ("td.quiet", 4.5)):
            ink = browser.value(LUMINANCE % ("color", where))
            ratio = (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05)
            require(ratio >= least, f"{scheme}: {where} has contrast {ratio:.2f}, not {least}")
    require(papers["light"] > 0.8 and papers["dark"] < 0.05, f"the papers are {papers}")


@claim
def phone_does_not_scroll_sideways(browser, reports):
    for name in ("everything", "broken"):
        reports.open(browser, name, width=390, height=844)
        browser.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        render_all(browser)
        browser.value("dispatchEvent(new Event('afterprint'))")
        browser.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        browser.value(FRAMES)
        width = browser.value("Math.max(document.scrollingElement.scrollWidth, innerWidth)")
        require(width <= 390, f"{name} is {width} wide")


@claim
def chart_is_drawn_again_when_its_width_changes(browser, reports):
    reports.open(browser, "everything", link="clock/now_ns")
    width = "document.querySelector('svg.density').viewBox.baseVal.width"
    before = browser.value(width)
    browser.look(width=390, height=844)
    browser.wait(f"{width} !== {before}", "the chart is drawn again")


@claim
def paper_shows_everything(browser, reports):
    reports.open(browser, "everything", scheme="dark")
    closed = "[...document.querySelectorAll('details')].filter((d) => !d.open).length"
    before = browser.value(closed)
    browser.look(media="print", scheme="dark")
    browser.wait(f"{closed} === 0", "all is open")
    empty = browser.value("[...document.querySelectorAll('details.measured')].filter((d) => !d.querySelector('svg.chart')).map((d) => d.id)")
    require(empty == [], f"without charts: {empty}")
    require(browser.value(LUMINANCE % ("color", "body")) < 0.05, "light ink on white paper")
    browser.look()
    browser.wait(f"{closed} === {before}", "it is as before")
    reports.open(browser, "everything")
    require(browser.call("Page.printToPDF")["data"].startswith("JVBERi"), "that is no PDF")
    drawn, measured = (browser.value(f"document.querySelectorAll('{what}').length") for what in ("svg.density", "details.measured"))
    require(drawn == measured > 30, f"printing drew {drawn} of {measured}")


@claim
def file_without_a_run_says_so(browser, reports):
    for i, text in enumerate(("", "null", "{}", "{\"run\": [", "{\"run\": 5, \"baseline\": \"x\"}")):
        reports.open(browser, f"none{i}", text=text)
        require("no data" in browser.value("document.querySelector('h1').textContent"), f"{text!r}")
        require(browser.complaints() == [], f"{text!r}: {browser.complaints()}")


@claim
def digits_are_those_of_the_command_line(browser, reports):
    reports.open(browser, "everything")
    for expression, expected in (
            ("Text.time(0.0005)", "0.5000 ps"), ("Text.time(0.25)", "250.00 ps"), ("Text.time(9.8765)", "9.8765 ns"),
            ("Text.time(98.765)", "98.765 ns"), ("Text.time(987.65)", "987.65 ns"), ("Text.time(12345)", "12.345 us"),
            ("Text.time(1.5e6)", "1.5000 ms"), ("Text.time(2e9)", "2.0000 s"), ("Text.time(12345e9)", "12345 s"),
            ("Text.time(0)", "0.0000 ps"), ("Text.time(null)", "\u2013"), ("Text.time(NaN)", "\u2013"),
            ("Text.express(Text.rate(1024, 1000), Text.BYTE_RATE)", "976.56 MiB/s"),
            ("Text.express(Text.rate(1, 10), Text.ITEM_RATE)", "100.00 Melem/s"),
            ("Text.express(Text.rate(1, 0), Text.ITEM_RATE)", "\u2013"),
            ("Text.bytes(512)", "512 B"), ("Text.bytes(32768)", "32 KiB"), ("Text.bytes(1610612736)", "1.5 GiB")):
        require(browser.value(expression) == expected, f"{expression} is {browser.value(expression)}, not {expected}")


@claim
def statistics_are_right(browser, reports):
    reports.open(browser, "everything")
    values = "Stats.ascending([4, 1, 3, 2, 5, 100])"
    require(browser.value(f"Stats.quantile({values}, 0.5)") == 3.5, "the median")
    fences = browser.value(f"Stats.fences({values})")
    require(abs(fences["q1"] - 2.25) < 1e-12 and abs(fences["highSevere"] - 12.25) < 1e-12, f"fences {fences}")
    require(browser.value(f"Stats.severity(100, Stats.fences({values}))") == 2, "the outlier")
    require(abs(browser.value("Stats.slope([1, 2, 3], [2, 4, 6])") - 2) < 1e-12, "the slope")
    require(browser.value("Stats.runningMedian([3, 1, 2])") == [3, 2, 2], "the running median")
    area = browser.value("""(() => {
        const normal = Array.from({length: 2000}, (_, i) => Math.sqrt(-2 * Math.log((i + 0.5) / 2000)) * Math.cos(i * 2.399963));
        const d = Stats.density(Stats.ascending(normal), -8, 8);
        return d.heights.reduce((sum, h) => sum + h * d.step, 0) / Math.sqrt(2 * Math.PI);
    })()""")
    require(abs(area - 1) < 0.01, f"the area under a density is {area}")


@claim
def large_report_draws_late_and_stays_small(browser, reports):
    reports.open(browser, "large")
    drawn = browser.value("document.querySelectorAll('svg.chart').length")
    require(drawn == 0, f"{drawn} charts before anything is opened")
    browser.value("document.querySelector('details').scrollIntoView()")
    browser.value("document.querySelector('details').open = true")
    browser.wait("document.querySelectorAll('svg.chart').length >= 5", "the opened one is drawn")
    browser.value("document.getElementById('gyre-open-all').click()")
    browser.value(FRAMES)
    drawn = browser.value("document.querySelectorAll('details .density').length")
    require(drawn < 50, f"{drawn} of 200 are drawn, though most are far away")
    size = os.path.getsize(os.path.join(reports.folder, "large.html"))
    took = []
    for _ in range(5):
        reports.open(browser, "large")
        took.append(browser.value("performance.getEntriesByName('gyre-ready')[0].startTime"))
    print(f"a report of 200 benchmarks with 100 samples and a baseline of 100: {size / 1e6:.2f} MB, "
          f"ready {sorted(took)[2]:.0f} ms after navigation began (median of 5; {min(took):.0f} to {max(took):.0f})")
    with open(os.path.join(reports.folder, "figures.json"), "w", encoding="utf-8") as file:
        json.dump({"benchmarks": 200, "samples": 100, "size_bytes": size, "ready_ms": took,
                   "t0": "navigation to the file begins", "t1": "the page has set its mark: summary drawn, listening",
                   "observer": "the page's own performance clock",
                   "browser": browser.value("navigator.userAgent")}, file, indent=2)
        file.write("\n")
    require(size < SIZE_LIMIT_BYTES, f"{size} bytes")


def main(program, page, folder):
    results = os.path.join(folder, "results")
    os.mkdir(results)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # by way of the `finally` below
    reports = Reports(page, folder)
    browser = Chromium(program, folder)
    try:
        browser.start()
        browser.call("Page.addScriptToEvaluateOnNewDocument", source="window.alerted = 0; window.alert = () => { window.alerted++; };")
        for function in CLAIMS:
            wrong = ""
            try:
                function(browser, reports)
            except Failure as failure:
                wrong = str(failure)
            except Exception:  # the claim itself is broken: tell where, and go on with the next
                wrong = traceback.format_exc()
            with open(os.path.join(results, function.__name__), "w", encoding="utf-8") as result:
                result.write(wrong and wrong + "\n")
    finally:
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:4])
