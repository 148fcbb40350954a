// SPDX-License-Identifier: Apache-2.0
//
// detail: everything about one benchmark, as elements; figures are drawn by Plot.show once they are
// in the page.
"use strict";

const Detail = (() => {
    const {el} = Dom;

    const VERDICTS = {
        none: ["=", "no change detected"],
        noise: ["\u2248", "within the noise threshold"],
        improved: ["\u25bc", "improved"],
        regressed: ["\u25b2", "regressed"],
    };
    const ESTIMATES = {
        slope: "slope", median: "median", mean: "mean", std_dev: "standard deviation",
        median_abs_dev: "median absolute deviation",
    };

    // Terms and what they are; rows without a value are left out.
    function facts(title, rows, level = "h6", kind = "") {
        const shown = rows.filter((r) => r && r[1] !== null && r[1] !== undefined && r[1] !== "");
        if (shown.length === 0)
            return null;
        return el("section", {class: "facts " + kind}, el(level, null, title),
            el("dl", null, shown.map(([term, value]) => [el("dt", null, term), el("dd", null, value)])));
    }

    function table(kind, title, heads, rows) {
        if (rows.length === 0)
            return null;
        return el("section", {class: "facts " + kind}, el("h6", null, title), el("div", {class: "scroll"}, el("table", null,
            el("thead", null, el("tr", null, heads.map((h) => el("th", {scope: "col"}, h)))),
            el("tbody", null, rows.map(([head, ...cells]) =>
                el("tr", null, el("th", {scope: "row"}, head), cells.map((c) => el("td", null, c))))))));
    }

    function badge(change) {
        if (!change)
            return null;
        const [sign, words] = VERDICTS[change.verdict] ?? ["", "no verdict"];
        return el("span", {class: "badge " + (change.verdict ?? "unjudged"), title: words},
            sign + " " + Text.percent(change.point));
    }

    const RATES = [
        ["bytes", "bytes", Text.BYTE_RATE], ["items", "elements", Text.ITEM_RATE],
        ["operations", "operations", Text.OPERATION_RATE],
    ];

    // The first throughput that is declared, in one number.
    function throughput(b) {
        const found = RATES.find(([work]) => b[work]);
        return found && b.workTime ? Text.rate(b[found[0]], b.workTime.point) : NaN;
    }
    function throughputText(b) {
        const found = RATES.find(([work]) => b[work]);
        return found && b.workTime ? Text.express(throughput(b), found[2]) : "";
    }

    function headline(b) {
        const t = b.time, kernel = Data.note(b, "kernel");
        if (!t)
            return null;
        return el("div", {class: "headline"},
            el("p", {class: "median"}, Text.time(t.point), el("small", null, "median")),
            t.low !== null && t.high !== null && el("p", null, Text.timeRange(t.low, t.high),
                el("small", null, "interval" + (t.coverage !== null ? ", " + Text.coverage(t.coverage) : ""))),
            RATES.filter(([work]) => b[work]).map(([work, , units]) =>
                el("p", null, Text.express(Text.rate(b[work], b.workTime.point), units),
                    el("small", null, b.workTime === t ? "throughput" : "throughput, hot"))),
            b.beside && el("p", null, b.beside.point.toPrecision(4) + "\u00d7",
                el("small", null, `as long as ${b.beside.id}, in turns`)),
            b.change && el("p", null, badge(b.change), el("small", null, "against " + (b.change.baseline ?? "the baseline"))),
            kernel !== null && el("p", null, el("span", {class: "mono"}, kernel), el("small", null, "kernel")));
    }

    function words(b) {
        if (!b.t0 && !b.t1 && !b.observer)
            return null;
        return el("p", {class: "words"}, "Timed from ", el("b", null, b.t0 ?? "?"), " until ", el("b", null, b.t1 ?? "?"),
            b.observer ? ["; seen by ", el("b", null, b.observer)] : null, ".");
    }

    function outcome(b) {
        if (b.outcome === "measured" && !b.reason && !b.lastWords)
            return null;
        const said = {
            failed: "Failed", skipped: "Skipped", checked: "Checked: it ran once and its answer was right.",
            interrupted: "Interrupted", unknown: "The file does not say how it ended.", measured: "Measured",
        }[b.outcome];
        return el("div", {class: "outcome " + b.outcome},
            el("p", null, el("b", null, said), b.reason ? ": " + b.reason : null),
            b.lastWords && [el("p", {class: "quiet"}, "Last words:"), el("pre", {tabindex: 0}, b.lastWords)]);
    }

    const warnings = (b) => b.warnings.length > 0 &&
        el("ul", {class: "warnings", "aria-label": "Warnings"}, b.warnings.map((w) => el("li", null, w)));

    // The change as the run has it; without one, the two medians say how far apart they are.
    function changeOf(b) {
        if (b.change || !b.time || !b.baseline?.time || !(b.baseline.time.point > 0))
            return b.change;
        return {point: b.time.point / b.baseline.time.point - 1, low: null, high: null, p: null, verdict: null, baseline: null};
    }

    function comparison(b, context) {
        const change = changeOf(b), old = b.baseline?.time ?? null;
        if (!change)
            return null;
        const name = change.baseline ?? context.baselineName ?? "baseline", [sign, said] = VERDICTS[change.verdict] ?? ["", null];
        const row = (t) => [Text.time(t.point), t.low !== null ? Text.timeRange(t.low, t.high) : Text.NONE];
        const both = old && b.time && [
            {name: "baseline", kind: "base", time: old, sample: b.baseline.sample()},
            {name: "this run", kind: "now", time: b.time, sample: b.sample()},
        ];
        return el("section", {class: "comparison"}, el("h5", null, "Comparison with " + name),
            el("p", {class: "verdict " + (change.verdict ?? "unjudged")},
                said ? el("b", null, sign + " " + said) : el("b", null, "The run has no verdict"),
                `: ${Text.percent(change.point)}`,
                change.low !== null && change.high !== null
                    ? ` (${Text.percent(change.low)} to ${Text.percent(change.high)})` : null,
                change.p !== null ? `, p = ${change.p < 0.001 ? "less than 0.001" : change.p.toFixed(3)}` : null, "."),
            el("p", {class: "quiet"}, "The two were measured one after the other, not side by side, so this is advisory: ",
                "a machine that changed in between looks like a change of the code."),
            el("div", {class: "figures"},
                both && Plot.figure("Medians and their intervals", (w) => Charts.rows("comparison", both,
                    `${b.id}: baseline ${Text.time(old.point)}, this run ${Text.time(b.time.point)}`, w)),
                Plot.figure("Change", (w) => Charts.change(change, context.noise, w)),
                table("medians", "Medians", ["", "median", "interval"], [
                    old && ["baseline", ...row(old)], b.time && ["this run", ...row(b.time)]].filter(Boolean))));
    }

    function latency(b) {
        const l = b.latency;
        if (!l)
            return null;
        const max = l.max ?? (l.calls().length ? l.calls()[l.calls().length - 1] : null);
        const any = l.quantiles.some((q) => q.p < 1) || l.calls().length > 0;
        return el("section", {class: "latency"}, el("h5", null, "Latency of single calls"),
            el("p", {class: "quiet"}, {
                closed: "Closed loop: each call began when the one before had ended.",
                open: "Open loop: calls were due at set times" + (l.rate ? `, ${Text.count(l.rate)} a second` : "") +
                    ", and each is timed from when it was due.",
            }[l.arrivals], l.calls().length ? ` ${Text.plural(l.calls().length, "call")}.` : null),
            el("div", {class: "figures"},
                any && Plot.figure("Percentiles", (w) => Charts.percentiles(b, w)),
                table("quantiles", "Quantiles", ["", "time", "interval", "coverage"], [
                    ...l.quantiles.map((q) => [Text.quantile(q.p), Text.time(q.ns),
                        Text.timeRange(q.low, q.high), Text.coverage(q.coverage)]),
                    max !== null && !l.quantiles.some((q) => q.p >= 1) && ["max", Text.time(max), Text.NONE, Text.NONE],
                ].filter(Boolean))));
    }

    function device(b) {
        if (!b.device)
            return null;
        const rows = b.device.clocks.map((c) => ({...c, kind: c.name === "cold" ? "base" : "now", sample: c.sample()}));
        return el("section", {class: "device"}, el("h5", null, "On the device"),
            el("p", {class: "quiet"}, "Cold and hot, by the clock of the device",
                b.device.clock ? ": " + b.device.clock : null, "."),
            el("div", {class: "figures"},
                Plot.figure("Cold and hot", (w) => Charts.rows("device", rows, `${b.id} on the device: ` +
                    rows.map((r) => `${r.name} ${Text.time(r.time.point)}`).join(", "), w)),
                table("", "Device times", ["", "median", "interval", "samples"], rows.map((r) => [r.name, Text.time(r.time.point),
                    r.time.low !== null ? Text.timeRange(r.time.low, r.time.high) : Text.NONE,
                    r.sample ? Text.count(r.sample.points.length) : Text.NONE]))));
    }

    function sampling(b, context) {
        const s = b.sample();
        if (!s)
            return null;
        const counts = s.points.map((p) => p.iterations), first = counts[0], last = counts[counts.length - 1];
        const tagged = (key) => s.points.filter((p) => p[key] > 0).length || null;
        return facts("Samples", [
            ["sampling", s.mode],
            ["samples", Text.count(s.points.length) + (context.thinned ? " (thinned)" : "")],
            ["iterations each", first === last ? Text.count(first) : `${Text.count(first)} to ${Text.count(last)}`],
            ["fastest", Text.time(b.time?.min ?? s.sorted[0])],
            ["slowest", Text.time(b.time?.max ?? s.sorted[s.sorted.length - 1])],
            ["autocorrelation", b.autocorrelation !== null ? Text.plural(Number(b.autocorrelation.toFixed(2)), "sample") : null],
            ["resampled blocks", b.block !== null ? Text.plural(b.block, "sample") : null],
            ["with steal", tagged("steal")], ["with a switch", tagged("switches")],
        ], "h6", "sampling");
    }

    function tables(b, context) {
        const t = b.workTime, named = (n) => n.replace(/_/g, " ");
        return el("div", {class: "tables"},
            table("estimates", "Estimates", ["", "point", "interval", "std. error"], [...b.estimates].map(([name, e]) =>
                [ESTIMATES[name], Text.time(e.point), Text.timeRange(e.low, e.high), Text.time(e.error)])),
            t && table("throughput", t === b.time ? "Throughput" : "Throughput, hot on the device", ["", "median", "interval", "per iteration"],
                RATES.filter(([work]) => b[work]).map(([work, name, units]) => [name,
                    Text.express(Text.rate(b[work], t.point), units),
                    Text.range(Text.rate(b[work], t.high), Text.rate(b[work], t.low), units),
                    work === "bytes" ? Text.bytes(b[work]) : Text.count(b[work])])),
            sampling(b, context),
            facts("Outliers", (b.outliers ?? []).map(([name, n]) => [named(name), Text.count(n)])),
            facts("Counters", b.counters.map(([name, v]) => [name, Text.count(v)])),
            facts("Memory", (b.memory ?? []).map(([v, name, format]) => [name, format(v)])),
            facts(b.instructionsSource ? `Instructions, by ${b.instructionsSource}` : "Instructions",
                (b.instructions ?? []).map(([v, name, format]) => [name, format(v)])),
            facts("Notes", b.notes),
            facts("Case", [
                ["suite", b.suite], ...b.axes.map(([name, v]) => [name, Text.count(v)]), ["threads", b.threads],
                ["tags", b.tags.join(", ")], ["begun", Text.moment(b.started)],
            ]));
    }

    function figures(b) {
        if (!b.sample())
            return null;
        return el("div", {class: "figures"},
            Plot.figure("Distribution", (w) => Charts.density(b, w)),
            Plot.figure("Samples over time", (w) => Charts.timeline(b, w)),
            b.sample().mode === "linear" ? Plot.figure("Regression", (w) => Charts.regression(b, w))
                : Plot.figure("Iteration times", (w) => Charts.iterations(b, w)));
    }

    // `context` is {baselineName, noise, thinned, history}.
    const render = (b, context) => [
        outcome(b), headline(b), words(b), warnings(b), figures(b), comparison(b, context),
        Trend.section(b, context.history), latency(b), device(b), tables(b, context),
    ].filter(Boolean);

    return {render, badge, changeOf, throughput, throughputText, facts, VERDICTS};
})();
