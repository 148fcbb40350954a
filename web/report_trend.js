// SPDX-License-Identifier: Apache-2.0
//
// trend: a benchmark over the last runs on this machine, where its level changed, and whether it
// has drifted since. What changed was found by the command; here it is drawn and said.
"use strict";

const Trend = (() => {
    const {el} = Dom;
    const {number, text, list, record} = Data;
    const LEAST = 3; // runs
    const HEIGHT = 232;

    // A run is [number, started, commit, dirty].
    function readRun(raw) {
        const [n, started, commit, dirty] = list(raw);
        return {number: number(n), started: text(started), commit: text(commit), dirty: dirty === true};
    }

    // A point without a median is left out; what counts points before it counts on.
    function readPoints(s, runs) {
        const median = list(s.median), low = list(s.low), high = list(s.high);
        return list(s.run).map((at, i) => ({
            at: i, run: runs[at] ?? null, ns: number(median[i]), low: number(low[i]), high: number(high[i]),
        })).filter((p) => p.run && p.ns !== null && p.ns > 0);
    }

    function readChange(raw, points) {
        const [at, before, after, change, p] = list(raw).map(number);
        const index = points.findIndex((point) => point.at === at);
        return index > 0 && before > 0 && after > 0 && change !== null ? {index, before, after, change, p} : null;
    }

    function readSeries(raw, runs) {
        const s = record(raw), points = readPoints(s, runs);
        const [since, drift, low, high] = list(s.drift).map(number);
        return points.length < LEAST ? null : {
            points, changes: list(s.changes).map((c) => readChange(c, points)).filter(Boolean),
            drift: drift === undefined || [drift, low, high].includes(null) ? null
                : {from: points.find((p) => p.at === since) ?? points[0], drift, low, high},
        };
    }

    // The document's history: of(id) is the series of a benchmark, or null. Read when asked for.
    function read(raw) {
        const doc = record(raw), runs = list(doc.runs).map(readRun);
        const byId = new Map(list(doc.series).map((s) => [text(record(s).id), s]));
        return {machine: text(doc.machine), of: (id) => (byId.has(id) ? readSeries(byId.get(id), runs) : null)};
    }

    const named = (run) => "run " + (run.number ?? "?");
    const commitOf = (run) => (run.commit ? run.commit.slice(0, 12) + (run.dirty ? " and changes" : "") : null);
    const about = (run) => [named(run), Text.moment(run.started), commitOf(run) && "commit " + commitOf(run)].filter(Boolean).join(", ");

    // The level of each stretch between two changes, as far as it is known.
    function levels(series) {
        const {changes, points} = series;
        return changes.flatMap((c, i) => [
            i === 0 && [0, c.index - 1, c.before],
            [c.index, (changes[i + 1]?.index ?? points.length) - 1, c.after],
        ]).filter(Boolean);
    }

    function ticksOf(points, width) {
        const every = Math.max(1, Math.ceil(points.length / Math.max(2, width / 70)));
        return points.map((p, i) => ({at: i, text: String(p.run.number ?? "?")})).filter((_, i) => i % every === 0);
    }

    // As far as the medians go, and of intervals as much again, so that one wild run does not flatten the rest.
    function rangeOf(points) {
        const medians = points.map((p) => p.ns), least = Math.min(...medians), most = Math.max(...medians);
        const span = Math.max(most - least, most * 0.02);
        return Plot.widen(Math.max(Charts.least([least, ...points.map((p) => p.low)]), least - span),
            Math.min(Charts.most([most, ...points.map((p) => p.high)]), most + span), 0.06);
    }

    function chart(b, series, width) {
        const {points, changes} = series, [min, max] = rangeOf(points);
        const f = Plot.frame("trend", {
            width, height: HEIGHT,
            x: {min: -0.5, max: points.length - 0.5, label: "run", map: (v) => v, ticks: ticksOf(points, width)},
            y: Plot.timeAxis(Math.max(0, min), max, "median of a run"),
            title: `${b.id} over ${Text.plural(points.length, "run")}: first ${Text.time(points[0].ns)}, ` +
                `last ${Text.time(points[points.length - 1].ns)}, ${Text.plural(changes.length, "change")} of level`,
        });
        const clip = (ns) => f.y(Math.min(max, Math.max(Math.max(0, min), ns)));
        for (const c of changes)
            Plot.line(f, "step", f.x(c.index - 0.5), f.top, f.x(c.index - 0.5), f.bottom);
        for (const [from, to, ns] of levels(series))
            Plot.line(f, "level", f.x(from - 0.4), clip(ns), f.x(to + 0.4), clip(ns));
        points.forEach((p, i) => {
            if (p.low !== null && p.high !== null)
                Plot.line(f, "whisker now", f.x(i), clip(p.low), f.x(i), clip(p.high));
        });
        const at = points.map((p, i) => [f.x(i), clip(p.ns)]);
        Plot.marks(f, "mark now", "dot", at, points.length > 60 ? 2 : 2.8);
        return {
            root: f.root,
            points: points.map((p, i) => ({x: at[i][0], y: at[i][1], say: () => `${about(p.run)}: ${Text.time(p.ns)}`})),
            keys: [
                Plot.keyMark("median of a run", "mark now", "dot"),
                points.some((p) => p.low !== null) && Plot.key("its interval", (k) => Plot.line(k, "whisker now", 11, 0, 11, 12)),
                changes.length && Plot.keyLine("level", "level"),
                changes.length && Plot.key("a new level begins", (k) => Plot.line(k, "step", 11, 0, 11, 12)),
            ].filter(Boolean),
        };
    }

    function sayChange(c, points) {
        const slower = c.change > 0;
        return el("li", {class: slower ? "slower" : "faster"},
            el("b", null, (slower ? "\u25b2 " : "\u25bc ") + Text.percent(c.change)), ` since ${about(points[c.index].run)}: `,
            `from ${Text.time(c.before)} to ${Text.time(c.after)}`,
            c.p !== null ? `, p = ${c.p < 0.001 ? "less than 0.001" : c.p.toFixed(3)}` : null, ".");
    }

    function sayDrift({drift}) {
        if (!drift)
            return null;
        const range = `${Text.percent(drift.low)} to ${Text.percent(drift.high)} a run`;
        return drift.low <= 0 && drift.high >= 0 ? `No drift since ${named(drift.from.run)}: ${range}.`
            : `Drift since ${named(drift.from.run)}: ${Text.percent(drift.drift)} a run (${range}).`;
    }

    // The section of a benchmark; null where the history has too little of it.
    function section(b, history) {
        const series = history?.of(b.id);
        if (!series)
            return null;
        return el("section", {class: "trend"}, el("h5", null, "Over the runs"),
            el("p", {class: "quiet"}, `${Text.plural(series.points.length, "run")} on this machine. They were measured at ` +
                "different times, so a change may be the machine's. ", sayDrift(series)),
            series.changes.length > 0 && el("ul", {class: "changes"}, series.changes.map((c) => sayChange(c, series.points))),
            el("div", {class: "figures"}, Plot.figure("Median by run", (w) => chart(b, series, w), {kind: "wide", widest: 1100})));
    }

    return {read, section};
})();
