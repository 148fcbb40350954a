// SPDX-License-Identifier: Apache-2.0
//
// charts: the pictures of one benchmark. Each takes what it draws and a width, and returns
// {root, keys, note, points} for Plot.figure.
//
// A mark never differs from another by its colour alone: the baseline is dashed, outliers and
// disturbed samples have shapes of their own.
"use strict";

const Charts = (() => {
    const {svg} = Dom;
    const HEIGHT = 232;
    const finite = (values) => values.filter((v) => Number.isFinite(v));
    const least = (values) => Math.min(...finite(values));
    const most = (values) => Math.max(...finite(values));

    function band(f, kind, x1, y1, x2, y2) {
        f.root.append(svg("rect", {
            class: kind, x: Math.min(x1, x2), y: Math.min(y1, y2),
            width: Math.max(1, Math.abs(x2 - x1)), height: Math.max(1, Math.abs(y2 - y1)),
        }));
    }

    // From one outer fence to the other, but no further than the samples go.
    function middle(sample) {
        const {sorted, fences: f} = sample;
        const low = Math.max(sorted[0], f.lowSevere), high = Math.min(sorted[sorted.length - 1], f.highSevere);
        return [low, high];
    }

    const outside = (sorted, min, max) => sorted.reduce((n, v) => n + (v < min || v > max), 0);
    const beyond = (n) => (n ? `${Text.plural(n, "sample")} beyond what is drawn.` : null);

    // The density of the samples over a rug of them; the baseline's behind it.
    function density(b, width) {
        const now = b.sample(), base = b.baseline?.sample() ?? null;
        const series = [
            {kind: "now", sample: now, time: b.time},
            base && {kind: "base", sample: base, time: b.baseline.time},
        ].filter(Boolean);
        const ends = series.flatMap((s) => {
            const [low, high] = middle(s.sample), room = 3 * Stats.bandwidth(s.sample.sorted); // to come down to nothing
            return [low - room, high + room, s.time?.point, s.time?.low, s.time?.high];
        });
        const [min, max] = Plot.widen(least(ends), most(ends), 0.02);
        const f = Plot.frame("density", {
            width, height: HEIGHT, x: Plot.timeAxis(Math.max(0, min), max, "time of one iteration", width / 90),
            title: `Distribution of ${now.points.length} samples of ${b.id}: median ${Text.time(b.time?.point)}, ` +
                `from ${Text.time(now.sorted[0])} to ${Text.time(now.sorted[now.sorted.length - 1])}` +
                (base ? `; the baseline's median is ${Text.time(b.baseline.time?.point)}` : ""),
        });
        const floor = f.bottom - 4 - 11 * series.length;
        for (const s of series)
            s.curve = Stats.density(s.sample.sorted, Math.max(0, min), max);
        const peak = most(series.flatMap((s) => (s.curve ? [s.curve.heights.reduce((a, v) => Math.max(a, v), 0)] : [])));
        for (const s of [...series].reverse()) {
            if (s.kind === "now" && s.time && s.time.low !== null && s.time.high !== null)
                band(f, "interval now", f.x(s.time.low), f.top, f.x(s.time.high), floor);
            if (s.curve && peak > 0) {
                const line = [...s.curve.heights].map((h, i) =>
                    [f.x(s.curve.min + i * s.curve.step), floor - (h / peak) * (floor - f.top - 4)]);
                Plot.path(f, "area " + s.kind, [[line[0][0], floor], ...line, [line[line.length - 1][0], floor]], "Z");
                Plot.path(f, "line " + s.kind, line);
            }
            if (s.time)
                Plot.line(f, "median " + s.kind, f.x(s.time.point), f.top, f.x(s.time.point), floor);
        }
        series.forEach((s, i) => {
            const y = floor + 4 + 11 * i;
            const inside = s.sample.points.filter((p) => p.ns >= min && p.ns <= max);
            f.root.append(svg("path", {
                class: "rug " + s.kind, d: inside.map((p) => `M${f.x(p.ns)} ${y}v8`).join(""),
            }));
        });
        const hidden = series.reduce((n, s) => n + outside(s.sample.sorted, min, max), 0);
        return {
            root: f.root,
            keys: [
                Plot.keyLine(base ? "this run" : "density, and each sample below it", "line now"),
                base && Plot.keyLine("baseline", "line base"),
                Plot.key("median", (k) => Plot.line(k, "median now", 11, 0, 11, 12)),
                b.time && b.time.low !== null && Plot.keyBand("its interval", "interval now"),
            ].filter(Boolean),
            note: [series.every((s) => s.curve) ? null : "All samples are the same: there is no density to draw.", beyond(hidden)]
                .filter(Boolean).join(" "),
        };
    }

    const describe = (p) => [
        `sample ${p.number}: ${Text.time(p.ns)}`,
        p.iterations > 1 ? Text.plural(p.iterations, "iteration") : null,
        p.steal ? Text.plural(p.steal, "tick") + " stolen" : null,
        p.switches ? Text.plural(p.switches, "switch", "switches") : null,
    ].filter(Boolean).join(", ");

    // Every sample in the order they were taken, outliers and disturbed ones marked.
    function timeline(b, width) {
        const {points, fences, sorted} = b.sample();
        const stolen = points.filter((p) => p.steal > 0), switched = points.filter((p) => p.switches > 0);
        const lanes = [stolen.length && ["stolen", "triangle", stolen], switched.length && ["switched", "square", switched]]
            .filter(Boolean);
        const [min, max] = Plot.widen(sorted[0], sorted[sorted.length - 1], 0.07);
        const room = (max - min) * 0.075 * lanes.length; // for the lanes, below the least
        const yAxis = Plot.timeAxis(Math.max(0, min) - room, max, "time of one iteration");
        yAxis.ticks = yAxis.ticks.filter((t) => t.at >= Math.max(0, min));
        const f = Plot.frame("timeline", {
            width, height: HEIGHT, y: yAxis,
            x: Plot.timeAxis(0, points[points.length - 1].elapsed || 1, "time since sampling began", width / 90),
            title: `${Text.plural(points.length, "sample")} of ${b.id} over time`,
        });
        const at = (p) => [f.x(p.elapsed), f.y(p.ns)];
        for (const fence of [fences.lowMild, fences.highMild])
            if (fence > min && fence < max)
                Plot.line(f, "fence", f.left, f.y(fence), f.right, f.y(fence));
        if (b.time)
            Plot.line(f, "median now", f.left, f.y(b.time.point), f.right, f.y(b.time.point));
        const kinds = [[], [], []];
        for (const p of points)
            kinds[Stats.severity(p.ns, fences)].push(at(p));
        Plot.marks(f, "mark now", "dot", kinds[0], points.length > 1000 ? 1.2 : 2.2);
        Plot.marks(f, "mark mild", "diamond", kinds[1], 3);
        Plot.marks(f, "mark severe", "cross", kinds[2], 3.2);
        lanes.forEach(([kind, shape, which], i) => {
            const y = f.bottom - 6 - 11 * i;
            Plot.marks(f, "mark " + kind, shape, which.map((p) => [f.x(p.elapsed), y]), 2.6);
        });
        return {
            root: f.root, points: points.map((p) => ({x: at(p)[0], y: at(p)[1], say: () => describe(p)})),
            keys: [
                kinds[0].length && Plot.keyMark("sample", "mark now", "dot", 2.2),
                kinds[1].length && Plot.keyMark(`mild outlier (${kinds[1].length})`, "mark mild", "diamond"),
                kinds[2].length && Plot.keyMark(`severe outlier (${kinds[2].length})`, "mark severe", "cross"),
                stolen.length && Plot.keyMark(`CPU taken by the hypervisor (${stolen.length})`, "mark stolen", "triangle"),
                switched.length && Plot.keyMark(`context switch (${switched.length})`, "mark switched", "square"),
                (fences.lowMild > min || fences.highMild < max) && Plot.keyLine("Tukey's fences", "fence"),
            ].filter(Boolean),
        };
    }

    // Linear sampling: the time of each sample against its iterations, and the line through them.
    function regression(b, width) {
        const {points} = b.sample(), base = b.baseline?.sample()?.mode === "linear" ? b.baseline : null;
        const slopeOf = (s) => Stats.slope(s.points.map((p) => p.iterations), s.points.map((p) => p.total));
        const estimate = b.estimates.get("slope"), slope = estimate?.point ?? slopeOf(b.sample());
        const old = base ? base.estimates.get("slope")?.point ?? slopeOf(base.sample()) : null;
        const far = points.reduce((m, p) => Math.max(m, p.iterations), 1);
        const high = points.reduce((m, p) => Math.max(m, p.total), 0) || 1;
        const f = Plot.frame("regression", {
            width, height: HEIGHT,
            x: Plot.linearAxis(0, far * 1.03, "iterations", null, width / 90),
            y: Plot.timeAxis(0, high * 1.05, "time of the sample"),
            title: `Time against iterations of ${b.id}: slope ${Text.time(slope)} an iteration`,
        });
        const end = (s) => Math.min(far, (high * 1.05) / s);
        const ray = (kind, s) => Plot.line(f, kind, f.x(0), f.y(0), f.x(end(s)), f.y(end(s) * s));
        if (estimate && estimate.low > 0 && estimate.high > 0)
            Plot.path(f, "interval now", [[f.x(0), f.y(0)], [f.x(end(estimate.low)), f.y(end(estimate.low) * estimate.low)],
                [f.x(end(estimate.high)), f.y(end(estimate.high) * estimate.high)]], "Z");
        if (old > 0)
            ray("line base", old);
        if (slope > 0)
            ray("line now", slope);
        const at = (p) => [f.x(p.iterations), f.y(p.total)];
        Plot.marks(f, "mark now", "dot", points.map(at), points.length > 1000 ? 1.2 : 2.2);
        return {
            root: f.root, points: points.map((p) => ({x: at(p)[0], y: at(p)[1], say: () => describe(p)})),
            keys: [
                Plot.keyMark("sample", "mark now", "dot", 2.2),
                slope > 0 && Plot.keyLine(`slope ${Text.time(slope)} an iteration`, "line now"),
                old > 0 && Plot.keyLine(`baseline ${Text.time(old)}`, "line base"),
            ].filter(Boolean),
        };
    }

    // Flat sampling: near the median, whether the estimate settled.
    function iterations(b, width) {
        const sample = b.sample(), {points, sorted} = sample;
        const [low, high] = middle(sample);
        const [min, max] = Plot.widen(least([low, b.time?.low]), most([high, b.time?.high]), 0.08);
        const f = Plot.frame("iterations", {
            width, height: HEIGHT,
            x: Plot.linearAxis(points[0].number, Math.max(points[points.length - 1].number, points[0].number + 1),
                "sample", null, width / 90),
            y: Plot.timeAxis(Math.max(0, min), max, "time of one iteration"),
            title: `Iteration times of ${b.id} by sample, with the median of the samples so far`,
        });
        if (b.time && b.time.low !== null && b.time.high !== null)
            band(f, "interval now", f.left, f.y(b.time.low), f.right, f.y(b.time.high));
        const shown = points.filter((p) => p.ns >= min && p.ns <= max);
        const at = (p) => [f.x(p.number), f.y(p.ns)];
        Plot.marks(f, "mark now faint", "dot", shown.map(at), points.length > 1000 ? 1.2 : 2.2);
        const running = Stats.runningMedian(points.map((p) => p.ns));
        Plot.path(f, "line now", points.map((p, i) => [f.x(p.number), f.y(Math.min(max, Math.max(min, running[i])))]));
        return {
            root: f.root, points: shown.map((p) => ({x: at(p)[0], y: at(p)[1], say: () => describe(p)})),
            keys: [
                Plot.keyMark("sample", "mark now faint", "dot", 2.2),
                Plot.keyLine("median so far", "line now"),
                b.time && b.time.low !== null && Plot.keyBand("interval of the median", "interval now"),
            ].filter(Boolean),
            note: beyond(outside(sorted, min, max)),
        };
    }

    // One row each: the samples as a rug, the interval, the median. `rows` are {name, kind, time, sample}.
    function rows(kind, list, title, width) {
        const ends = list.flatMap((r) => [r.time.point, r.time.low, r.time.high, ...(r.sample ? middle(r.sample) : [])]);
        const low = least(ends), high = most(ends);
        const far = low > 0 && high / low > 8;
        const [min, max] = far ? [low * 0.9, high * 1.1] : Plot.widen(low, high, 0.06);
        const letters = Math.max(...list.map((r) => r.name.length)), height = 48 + 42 * list.length;
        const f = Plot.frame(kind, {
            width, height, title,
            x: far ? Plot.logAxis(min, max, "time of one iteration", (v) => Text.short(v, Text.TIME), width / 90)
                : Plot.timeAxis(min, max, "time of one iteration", width / 90),
            y: {min: 0, max: list.length, label: "", map: (v) => v,
                ticks: list.map((r, i) => ({at: list.length - i - 0.5, text: r.name.slice(0, 16).padEnd(Math.min(letters, 8))}))},
        });
        list.forEach((r, i) => {
            const y = f.y(list.length - i - 0.5);
            if (r.sample)
                f.root.append(svg("path", {
                    class: "rug " + r.kind,
                    d: r.sample.points.filter((p) => p.ns >= min && p.ns <= max).map((p) => `M${f.x(p.ns)} ${y - 11}v6`).join(""),
                }));
            if (r.time.low !== null && r.time.high !== null) {
                Plot.line(f, "whisker " + r.kind, f.x(r.time.low), y, f.x(r.time.high), y);
                for (const end of [r.time.low, r.time.high])
                    Plot.line(f, "whisker " + r.kind, f.x(end), y - 4, f.x(end), y + 4);
            }
            Plot.marks(f, "mark " + r.kind, r.kind === "base" ? "square" : "dot", [[f.x(r.time.point), y]], 4);
        });
        return {root: f.root};
    }

    // The interval of the change around nothing, with the threshold below which it counts as noise.
    function change(c, noise, width) {
        const far = [c.point, c.low ?? 0, c.high ?? 0, (noise ?? 0) * 2, 0.005].map(Math.abs), reach = most(far) * 1.15;
        const percent = Plot.linearAxis(-reach * 100, reach * 100, "change of the time, %", [[1, ""]], width / 90);
        const f = Plot.frame("change", {
            width, height: 84, x: percent,
            title: `Change ${Text.percent(c.point)}, interval from ${Text.percent(c.low)} to ${Text.percent(c.high)}`,
        });
        const y = (f.top + f.bottom) / 2, at = (v) => f.x(v * 100);
        if (noise > 0)
            band(f, "noise", at(-noise), f.top, at(noise), f.bottom);
        Plot.line(f, "zero", at(0), f.top, at(0), f.bottom);
        if (c.low !== null && c.high !== null) {
            Plot.line(f, "whisker now", at(c.low), y, at(c.high), y);
            for (const end of [c.low, c.high])
                Plot.line(f, "whisker now", at(end), y - 5, at(end), y + 5);
        }
        Plot.marks(f, "mark now", "diamond", [[at(c.point), y]], 4.5);
        return {
            root: f.root,
            keys: [
                Plot.keyMark("change and its interval", "mark now", "diamond", 3.5),
                noise > 0 && Plot.keyBand(`noise threshold ${Text.percent(noise, false)}`, "noise"),
            ].filter(Boolean),
        };
    }

    // Every call sorted, on an axis that gives each further nine the same room.
    const tail = (p) => -Math.log10(1 - p);

    function curve(sorted, reach) {
        const points = [], n = sorted.length;
        for (let i = 0; i <= 400 && n > 0; i++) {
            const p = Math.min(1 - 10 ** (-(reach * i) / 400), 1 - 0.5 / n);
            points.push([p, Stats.quantile(sorted, p)]);
        }
        return points;
    }

    function percentiles(b, width) {
        const now = b.latency, calls = now.calls(), old = b.baseline?.latency?.calls() ?? [];
        const given = now.quantiles.filter((q) => q.p < 1);
        const reach = Math.max(2, ...given.map((q) => tail(q.p)), calls.length ? Math.log10(calls.length) : 0) + 0.15;
        const lines = [["now", curve(calls, reach)], ["base", curve(old, reach)]].filter(([, c]) => c.length);
        const all = [...lines.flatMap(([, c]) => c.map((p) => p[1])), ...given.flatMap((q) => [q.ns, q.low, q.high])];
        const low = least(all), high = most([...all, now.max]);
        const far = low > 0 && high / low > 12;
        const [min, max] = far ? [low * 0.85, high * 1.2] : Plot.widen(Math.min(low, high), high, 0.08);
        const nines = ["0", "90", "99", "99.9", "99.99", "99.999", "99.9999", "99.99999"];
        const f = Plot.frame("percentiles", {
            width, height: HEIGHT + 20,
            x: {min: 0, max: reach, label: "percentile", map: (v) => v,
                ticks: [...nines.map((text, i) => ({at: i, text})), {at: tail(0.5), text: "50"}]
                    .filter((t) => t.at <= reach).sort((x, y) => x.at - y.at)},
            y: far ? Plot.logAxis(min, max, "time of a call", (v) => Text.short(v, Text.TIME))
                : Plot.timeAxis(Math.max(0, min), max, "time of a call"),
            title: `Latency of ${b.id} by percentile: ` +
                given.map((q) => `${Text.quantile(q.p)} ${Text.time(q.ns)}`).join(", "),
        });
        for (const [kind, c] of lines.reverse())
            Plot.path(f, "line " + kind, c.map(([p, ns]) => [f.x(tail(p)), f.y(ns)]));
        for (const q of given) {
            const x = f.x(tail(q.p));
            if (q.low !== null && q.high !== null && q.low > 0)
                Plot.line(f, "whisker now", x, f.y(q.low), x, f.y(q.high));
        }
        const marks = given.map((q) => ({
            x: f.x(tail(q.p)), y: f.y(q.ns), say: () => `${Text.quantile(q.p)}: ${Text.time(q.ns)}`,
        }));
        Plot.marks(f, "mark now", "dot", marks.map((m) => [m.x, m.y]), 3.4);
        return {
            root: f.root, points: marks,
            keys: [
                calls.length && Plot.keyLine("every call, sorted", "line now"),
                old.length && Plot.keyLine("baseline", "line base"),
                given.length && Plot.keyMark("quantile and its interval", "mark now", "dot"),
            ].filter(Boolean),
        };
    }

    // The samples in a word's width, for a row of the summary.
    function spark(b) {
        const sample = b.sample(), [low, high] = middle(sample), span = high - low || 1;
        const stride = Math.max(1, Math.ceil(sample.points.length / 120));
        const shown = sample.points.filter((_, i) => i % stride === 0);
        const f = {root: svg("svg", {class: "spark", viewBox: "0 0 96 20", role: "img",
            "aria-label": `samples between ${Text.timeRange(sample.sorted[0], sample.sorted[sample.sorted.length - 1])}`})};
        const y = (ns) => 17 - (Math.min(high, Math.max(low, ns)) - low) / span * 14;
        Plot.path(f, "line now", shown.map((p, i) => [2 + (92 * i) / Math.max(1, shown.length - 1), y(p.ns)]));
        if (shown.length === 1)
            Plot.marks(f, "mark now", "dot", [[48, 10]], 2);
        return f.root;
    }

    return {density, timeline, regression, iterations, rows, change, percentiles, spark, least, most};
})();
