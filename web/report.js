// SPDX-License-Identifier: Apache-2.0
//
// report: the page. The header, failures and summary are built at once; the body of a benchmark when
// it is opened and near the window, or when it is linked to or printed.
"use strict";

const Page = (() => {
    const {el, id} = Dom;
    const MARKS = {failed: "\u2717", skipped: "\u25cb", interrupted: "\u25d1", checked: "\u2713", unknown: "?"};
    const OPEN_AT_MOST = 6; // a run of so few benchmarks is shown whole
    const PAPER = {narrow: 270, wide: 700}; // widths of figures on A4, where three narrow ones make a row

    const place = (name) => document.getElementById("gyre-" + name);
    // half a pair of UTF-16 cannot stand in an address
    const anchor = (b) => b.id.replace(/[\ud800-\udfff]/gu, "\ufffd");
    const link = (b) => "#" + encodeURIComponent(anchor(b));
    const tally = (list, outcome) => list.filter((b) => b.outcome === outcome).length;

    function duration(s) {
        if (s === null)
            return null;
        return s < 120 ? Number(s.toPrecision(3)) + " s" : s < 7200 ? (s / 60).toFixed(1) + " min" : (s / 3600).toFixed(1) + " h";
    }

    // "1 failed, 41 measured, 2 skipped", failures first
    function verdictWords(run) {
        const list = run.benchmarks;
        return [
            ["failed", tally(list, "failed")], ["measured", tally(list, "measured")], ["checked", tally(list, "checked")],
            ["skipped", tally(list, "skipped")], ["interrupted", tally(list, "interrupted")],
        ].filter(([word, n]) => n > 0 || (word === "measured" && !tally(list, "checked")))
            .map(([word, n]) => [word, `${Text.count(n)} ${word}`]);
    }

    function header({run, baselineName, baseline, thinned}) {
        const parts = verdictWords(run), machine = run.machine, cpu = Data.text(machine.cpu);
        const title = parts.map(([, said]) => said).join(", ");
        document.title = `Gyre: ${title}${run.started ? ", " + Text.moment(run.started) : ""}`;
        const verdict = el("h1", null, parts.map(([word, said], i) => [
            i ? ", " : null, el("span", {class: "count " + word}, (word === "failed" ? MARKS.failed + " " : "") + said)]),
        run.duration !== null ? el("span", {class: "soft"}, " in " + duration(run.duration).replace(" ", "\u00a0")) : null,
        cpu ? el("span", {class: "soft"}, " on " + cpu) : null);
        const judged = run.benchmarks.filter((b) => b.change?.verdict);
        const verdicts = ["regressed", "improved", "noise", "none"]
            .map((v) => [v, judged.filter((b) => b.change.verdict === v).length]).filter(([, n]) => n > 0)
            .map(([v, n]) => [v, n, ...Detail.VERDICTS[v]])
            .map(([v, n, sign, words]) => el("span", {class: "badge " + v}, `${sign} ${Text.count(n)} ${words}`));
        place("header").append(
            el("p", {class: "brand"}, "Gyre benchmark report"), verdict,
            el("p", {class: "soft meta"}, [
                Data.text(machine.hypervisor), Data.number(machine.cpus) !== null ? Text.plural(machine.cpus, "CPU") : null,
                Data.number(machine.memory_bytes) !== null ? Text.bytes(machine.memory_bytes) : null,
                machine.kernel ? "Linux " + Data.show(machine.kernel) : null, Text.moment(run.started),
                run.gyre ? "gyre " + run.gyre : null,
            ].filter(Boolean).map((said) => el("span", null, said))),
            verdicts.length || baseline ? el("p", {class: "against"}, "Against ",
                el("b", null, baselineName ?? judged[0]?.change.baseline ?? "the baseline"), ": ",
                verdicts.length ? verdicts : "no verdicts in this run",
                el("span", {class: "soft"}, " (measured one after the other: advisory)")) : "",
            run.interrupted ? el("p", {class: "alert"},
                "The run was interrupted: what follows is what was measured until then.") : "",
            thinned ? el("p", {class: "soft"}, "Samples were thinned to keep this page small; the run file has them all.") : "");
    }

    function failures(list) {
        const failed = list.filter((b) => b.outcome === "failed");
        if (failed.length === 0)
            return;
        place("failures").hidden = false;
        place("failures").append(el("h2", null, Text.plural(failed.length, "failure")), el("ul", null, failed.map((b) =>
            el("li", null, el("a", {class: "mono", href: link(b)}, id(b.id)), b.reason ? ": " + b.reason : null,
                b.lastWords && el("pre", {tabindex: 0}, b.lastWords.split("\n").slice(-6).join("\n"))))));
    }

    // Columns: how a row shows it, and what it sorts by (null sorts last, either way).
    const COLUMNS = [
        {name: "Benchmark", key: (b) => b.id, cell: (b) => el("th", {scope: "row"}, el("a", {href: link(b)}, id(b.id)),
            b.warnings.length ? el("span", {class: "warned", title: b.warnings.join("\n")}, " \u26a0",
                el("span", {class: "unseen"}, Text.plural(b.warnings.length, "warning"))) : null)},
        {name: "Time", key: (b) => b.time?.point ?? null,
            cell: (b) => b.time ? el("td", {class: "figure"}, Text.time(b.time.point))
                : el("td", {class: "figure ended " + b.outcome, title: b.reason}, `${MARKS[b.outcome] ?? ""} ${b.outcome}`)},
        {name: "Interval", wide: true,
            key: (b) => (b.time && b.time.low !== null ? (b.time.high - b.time.low) / b.time.point : null),
            cell: (b) => el("td", {class: "figure quiet wide"},
                b.time && b.time.low !== null ? Text.timeRange(b.time.low, b.time.high) : null)},
        {name: "Change", optional: (b) => Detail.changeOf(b), key: (b) => Detail.changeOf(b)?.point ?? null,
            cell: (b) => el("td", {class: "figure"}, Detail.badge(Detail.changeOf(b)))},
        {name: "Throughput", optional: (b) => Number.isFinite(Detail.throughput(b)), key: (b) => Detail.throughput(b),
            cell: (b) => el("td", {class: "figure"}, Detail.throughputText(b))},
    ];

    function compare(column, direction) {
        const missing = (v) => v === null || Number.isNaN(v);
        return (x, y) => {
            const a = column.key(x.b), b = column.key(y.b);
            if (missing(a) || missing(b))
                return missing(a) - missing(b) || x.b.index - y.b.index;
            const order = typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : a - b;
            return order * direction || x.b.index - y.b.index;
        };
    }

    // Failures first, then as they were run.
    const asRun = (x, y) => (y.b.outcome === "failed") - (x.b.outcome === "failed") || x.b.index - y.b.index;

    function sortButton(column, rows, body, heads) {
        const head = el("th", {scope: "col", class: column.wide ? "wide" : null, "aria-sort": "none"}, el("button", {
            type: "button",
            click: () => {
                const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
                for (const h of heads)
                    h.setAttribute("aria-sort", "none");
                head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
                rows.sort(compare(column, direction));
                body.append(...rows.map((r) => r.row));
            },
        }, column.name));
        return head;
    }

    // Calls `then` once for each element that comes near the window.
    function whenNear(then) {
        const observer = new IntersectionObserver((entries) => {
            for (const entry of entries)
                if (entry.isIntersecting)
                    then(entry.target, () => observer.unobserve(entry.target));
        }, {rootMargin: "600px 0px"});
        return observer;
    }

    function summary(list) {
        const columns = COLUMNS.filter((c) => !c.optional || list.some(c.optional));
        const cells = (b) => b.time ? [columns.map((c) => c.cell(b)), el("td", {class: "wide sparks"})]
            : [columns.slice(0, 2).map((c) => c.cell(b)), el("td", {class: "quiet", colspan: columns.length - 1}, b.reason)];
        const rows = list.map((b) => ({b, row: el("tr", {class: b.outcome}, cells(b))})).sort(asRun);
        const body = el("tbody", null, rows.map((r) => r.row)), heads = [];
        heads.push(...columns.map((c) => sortButton(c, rows, body, heads)));
        place("table").append(el("table", {class: "summary"}, el("caption", {class: "unseen"}, "All benchmarks"),
            el("thead", null, el("tr", null, heads, el("th", {scope: "col", class: "wide sparks"}, "Samples"))), body));
        const byRow = new Map(rows.map((r) => [r.row, r.b]));
        const observer = whenNear((row, done) => {
            done();
            if (byRow.get(row).time && byRow.get(row).sample())
                row.lastElementChild.append(Charts.spark(byRow.get(row)));
        });
        rows.forEach((r) => observer.observe(r.row));
        return rows;
    }

    // One benchmark, closed and empty until it is wanted.
    function item(b, context) {
        const body = el("div", {class: "body pending"});
        const node = el("details", {class: "bench " + b.outcome}, el("summary", null,
            el("h4", {class: "mono"}, id(b.id)),
            el("span", {class: "figure"}, b.time ? Text.time(b.time.point) : `${MARKS[b.outcome] ?? ""} ${b.outcome}`),
            Detail.badge(b.change),
            b.warnings.length > 0 && el("span", {class: "warned"}, "\u26a0 " + Text.plural(b.warnings.length, "warning"))), body);
        node.id = b.id;
        let ready = false;
        const render = () => {
            if (!ready) {
                ready = true;
                body.classList.remove("pending");
                body.append(...Detail.render(b, context));
            }
            Plot.show();
        };
        return {b, node, render};
    }

    function groupsOf(list) {
        const groups = new Map();
        for (const b of list)
            groups.set(b.group, [...(groups.get(b.group) ?? []), b]);
        return groups;
    }

    function benchmarks(list, context) {
        const items = [], byNode = new Map();
        const near = whenNear((node, done) => {
            if (node.open) {
                done();
                byNode.get(node).render();
            }
        });
        for (const [name, members] of groupsOf(list)) {
            const over = Groups.axesOf(members);
            const nodes = members.map((b) => {
                const made = item(b, context);
                items.push(made);
                byNode.set(made.node, made);
                return made.node;
            });
            place("benchmarks").append(el("section", {class: "group"}, el("h3", null, name),
                over.length > 0 && el("div", {class: "figures"}, over.map((o) => Groups.axisFigure(name, o))), nodes));
        }
        for (const i of items) {
            i.node.addEventListener("toggle", () => {
                near.unobserve(i.node);
                if (i.node.open)
                    near.observe(i.node); // reports at once whether it is near
            });
            i.node.open = items.length <= OPEN_AT_MOST;
        }
        return items;
    }

    function roofline(list) {
        const found = Groups.rooflineOf(list);
        if (!found)
            return;
        place("roofline").hidden = false;
        place("roofline").append(el("h2", null, "Roofline"), el("div", {class: "figures"}, Groups.rooflineFigure(found)),
            el("div", {class: "scroll"}, el("table", {class: "plain"},
                el("thead", null, el("tr", null,
                    ["Benchmark", "op/B", "Rate", "Roof", "Of the roof"].map((h) => el("th", {scope: "col"}, h)))),
                el("tbody", null, found.points.map((p) => {
                    const roof = Groups.roofAt(found, p.intensity);
                    return el("tr", null, el("th", {scope: "row"}, el("a", {href: link(p.b)}, id(p.b.id))),
                        [String(Number(p.intensity.toPrecision(4))), Text.operationRate(p.rate), Text.operationRate(roof),
                            Number.isFinite(roof) ? Text.percent(p.rate / roof, false) : Text.NONE].map((t) => el("td", {class: "figure"}, t)));
                })))));
    }

    const shellWord = (w) => (/^[\w@%+=:,./-]+$/.test(w) ? w : "'" + w.replace(/'/g, "'\\''") + "'");

    function option(name, value) {
        if (Data.number(value) !== null && name.endsWith("_ns"))
            return [name.slice(0, -3).replace(/_/g, " "), Text.time(value)];
        if (Data.number(value) !== null && ["confidence", "noise_threshold", "significance", "precision"].includes(name))
            return [name.replace(/_/g, " "), value === 0 && name === "precision" ? "none asked" : Text.coverage(value)];
        return [name.replace(/_/g, " "), name !== "seed" && Data.number(value) !== null ? Text.count(value) : Data.show(value)];
    }

    function environment({run, baseline, baselineName}) {
        const m = run.machine, c = run.clock, num = Data.number;
        const run_ = (title, r) => Detail.facts(title, [["begun", Text.moment(r.started)], ["duration", duration(r.duration)],
            ["commit", r.commit], ["branch", r.branch], ["gyre", r.gyre], ["build", r.build], ["schema", r.schema]], "h3");
        place("environment").append(el("div", {class: "tables"}, [
            Detail.facts("Machine", [["CPU", Data.text(m.cpu)], ["hypervisor", Data.text(m.hypervisor)],
                ["kernel", Data.text(m.kernel)], ["CPUs", num(m.cpus)], ["allowed CPUs", num(m.allowed_cpus)],
                ["CPU quota", num(m.cpu_quota) === 0 ? "none" : num(m.cpu_quota)],
                ["memory", num(m.memory_bytes) !== null ? Text.bytes(m.memory_bytes) : null],
                ["huge pages", Data.text(m.transparent_huge_pages)]], "h3"),
            Detail.facts("Clock", [["source", Data.text(c.source)],
                ["cost", num(c.cost_ns) !== null ? Text.time(c.cost_ns) : null],
                ["resolution", num(c.resolution_ns) !== null ? Text.time(c.resolution_ns) : null],
                ["error", num(c.error_ppm) !== null ? Number(c.error_ppm.toPrecision(3)) + " ppm" : null]], "h3"),
            run_("Run", run),
            baseline && run_("Baseline" + (baselineName ? " " + baselineName : ""), baseline),
            Detail.facts("Options", Object.entries(run.options).map(([k, v]) => option(k, v)), "h3"),
            Detail.facts("Settings not at their default", run.settings, "h3"),
        ].filter(Boolean)));
        if (run.command.length)
            place("environment").append(el("section", {class: "facts"}, el("h3", null, "Command"),
                el("pre", {tabindex: 0}, run.command.map(shellWord).join(" "))));
    }

    // Every word has to occur somewhere in what a benchmark is called and how it went.
    function search(rows, items) {
        const input = place("search"), said = place("shown");
        const hay = (b) => [b.id, b.suite, b.outcome, b.change?.verdict, b.warnings.length ? "warning" : "", ...b.tags]
            .join(" ").toLowerCase();
        const texts = new Map(rows.map((r) => [r.b, hay(r.b)]));
        const apply = () => {
            const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
            const fits = (b) => wanted.every((w) => texts.get(b).includes(w));
            for (const r of rows)
                r.row.hidden = !fits(r.b);
            for (const i of items)
                i.node.hidden = !fits(i.b);
            for (const group of document.querySelectorAll("section.group"))
                group.hidden = !group.querySelector("details:not([hidden])");
            const n = rows.filter((r) => !r.row.hidden).length;
            said.textContent = n === rows.length ? Text.plural(n, "benchmark")
                : n === 0 ? "nothing matches" : `${Text.count(n)} of ${Text.count(rows.length)}`;
        };
        input.addEventListener("input", apply);
        document.addEventListener("keydown", (event) => {
            if (event.key === "/" && !event.ctrlKey && !event.metaKey && document.activeElement !== input) {
                event.preventDefault();
                input.focus();
            } else if (event.key === "Escape" && document.activeElement === input) {
                input.value = "";
                apply();
            }
        });
        apply();
    }

    function followLink(items) {
        let wanted = location.hash.slice(1);
        try {
            wanted = decodeURIComponent(wanted);
        } catch {
            return; // not a link of this page's making
        }
        const found = items.find((i) => anchor(i.b) === wanted);
        if (!found)
            return;
        found.node.hidden = false;
        found.node.closest("section.group").hidden = false;
        found.node.open = true;
        found.render();
        found.node.scrollIntoView({block: "start"});
    }

    // Paper has no clicks: everything is opened and drawn at the width it has there.
    function printing(items) {
        let opened = null;
        const before = () => {
            if (opened)
                return;
            opened = items.filter((i) => !i.node.open);
            Plot.show(PAPER);
            for (const i of items) {
                i.node.open = true;
                i.render();
            }
        };
        const after = () => {
            for (const i of opened ?? [])
                i.node.open = false;
            opened = null;
            Plot.show(null);
        };
        addEventListener("beforeprint", before);
        addEventListener("afterprint", after);
        const paper = matchMedia("print");
        paper.addEventListener("change", () => (paper.matches ? before() : after()));
        if (paper.matches)
            before();
    }

    function openAll(items) {
        const button = place("open-all");
        button.addEventListener("click", () => {
            const open = items.some((i) => !i.node.open && !i.node.hidden);
            for (const i of items)
                if (!i.node.hidden)
                    i.node.open = open;
            button.textContent = open ? "Close all" : "Open all";
        });
        button.textContent = items.every((i) => i.node.open) ? "Close all" : "Open all";
    }

    function build(doc) {
        const {run} = doc;
        const context = {
            baselineName: doc.baselineName, thinned: doc.thinned, noise: Data.number(run.options.noise_threshold),
            history: Trend.read(doc.history),
        };
        header(doc);
        failures(run.benchmarks);
        const rows = summary(run.benchmarks);
        roofline(run.benchmarks);
        const items = benchmarks(run.benchmarks, context);
        environment(doc);
        search(rows, items);
        openAll(items);
        place("main").hidden = false;
        Plot.show();
        printing(items);
        let timer = 0;
        addEventListener("resize", () => {
            clearTimeout(timer);
            timer = setTimeout(Plot.show, 150, undefined);
        });
        addEventListener("hashchange", () => followLink(items));
        followLink(items);
    }

    function start() {
        let doc = null, why = "it holds no run";
        try {
            doc = Data.read(place("data").textContent);
            why = doc.failure ?? why;
        } catch (error) {
            why = error.message;
        }
        if (doc?.run)
            build(doc);
        else
            place("header").append(el("h1", null, "This report has no data"), el("p", {class: "alert"}, why));
        performance.mark("gyre-ready");
    }

    return {start};
})();

Page.start();
