// SPDX-License-Identifier: Apache-2.0
//
// groups: the pictures of several benchmarks: lines over an axis, and the roofline.
"use strict";

const Groups = (() => {
    const {el, svg} = Dom;
    const LINES = 21; // three times the palette; more cannot be told apart

    // What can stand on the y axis, and where it does: null where a benchmark lacks it.
    const MEASURES = [
        {name: "time", label: "time of one iteration", units: Text.TIME, of: (b, ns) => ns},
        {name: "bytes/s", label: "throughput", units: Text.BYTE_RATE, of: (b, ns) => Text.rate(b.bytes, ns)},
        {name: "elements/s", label: "throughput", units: Text.ITEM_RATE, of: (b, ns) => Text.rate(b.items, ns)},
        {name: "operations/s", label: "throughput", units: Text.OPERATION_RATE, of: (b, ns) => Text.rate(b.operations, ns)},
    ];

    const timeFor = (measure, b) => (measure === MEASURES[0] ? b.time : b.workTime);

    // The lines over one axis: a line for every function and combination of the other axes.
    function linesOver(axis, benchmarks) {
        const lines = new Map();
        for (const b of benchmarks) {
            const value = b.axes.find(([name]) => name === axis)?.[1];
            if (value === undefined)
                continue;
            const others = b.values.filter(([name]) => name !== axis).map(([name, v]) => `${name}=${v}`);
            const name = [b.name, ...others].join(", ");
            if (!lines.has(name))
                lines.set(name, {name, points: []});
            lines.get(name).points.push({b, value});
        }
        for (const line of lines.values())
            line.points.sort((a, b) => a.value - b.value);
        return [...lines.values()];
    }

    // Those axes of a group that have two values or more: [{axis, lines}].
    function axesOf(benchmarks) {
        const drawn = benchmarks.filter((b) => b.time && b.time.point > 0);
        const names = new Set(drawn.flatMap((b) => b.axes.map(([name]) => name)));
        return [...names].map((axis) => ({axis, lines: linesOver(axis, drawn)}))
            .filter(({lines}) => lines.some((l) => new Set(l.points.map((p) => p.value)).size >= 2));
    }

    function valueAxis(values, axis, log, width) {
        const low = Charts.least(values), high = Charts.most(values);
        const [min, max] = !log ? Plot.widen(low, high)
            : low < high ? [low / (high / low) ** 0.04, high * (high / low) ** 0.04] : [low / 2, high * 2];
        const own = [...new Set(values)].sort((a, b) => a - b);
        const made = log ? Plot.logAxis(min, max, axis, Text.compact, width / 90)
            : Plot.linearAxis(min, max, axis, null, width / 90);
        if (own.length <= width / 60)
            made.ticks = own.map((v) => ({at: v, text: Text.compact(v)}));
        return made;
    }

    function drawLines(group, {axis, lines}, measure, log, width) {
        const shown = lines.slice(0, LINES);
        const rows = shown.map((l) => l.points.map((p) => ({
            ...p, y: measure.of(p.b, timeFor(measure, p.b).point),
            ends: [timeFor(measure, p.b).low, timeFor(measure, p.b).high].map((ns) => measure.of(p.b, ns ?? NaN)),
        })).filter((p) => Number.isFinite(p.y) && (!log || (p.y > 0 && p.value > 0))));
        const all = rows.flat(), ys = all.flatMap((p) => [p.y, ...p.ends]);
        const low = Charts.least(ys), high = Charts.most(ys);
        const yAxis = log ? Plot.logAxis(low / 1.25, high * 1.25, measure.label, (v) => Text.short(v, measure.units))
            : Plot.linearAxis(0, high * 1.06, measure.label, measure.units);
        const f = Plot.frame("axis-lines " + (log ? "log" : "linear"), {
            width, height: 300, x: valueAxis(all.map((p) => p.value), axis, log, width), y: yAxis,
            title: `${group}: ${measure.name} over ${axis}, ${Text.plural(shown.length, "line")}`,
        });
        rows.forEach((row, i) => {
            const g = {root: svg("g", {class: Plot.seriesClass(i)})};
            Plot.path(g, "line", row.map((p) => [f.x(p.value), f.y(p.y)]));
            for (const p of row)
                if (p.ends.every((v) => Number.isFinite(v) && (!log || v > 0)))
                    Plot.line(g, "whisker", f.x(p.value), f.y(p.ends[0]), f.x(p.value), f.y(p.ends[1]));
            Plot.marks(g, "mark", Plot.seriesShape(i), row.map((p) => [f.x(p.value), f.y(p.y)]), 3.4);
            f.root.append(g.root);
        });
        return {
            root: f.root,
            points: all.map((p) => ({x: f.x(p.value), y: f.y(p.y), say: () => `${p.b.id}: ${Text.express(p.y, measure.units)}`})),
            keys: shown.map((l, i) => Plot.key(l.name, (k) => {
                const g = {root: svg("g", {class: Plot.seriesClass(i)})};
                Plot.line(g, "line", 1, 6, 21, 6);
                Plot.marks(g, "mark", Plot.seriesShape(i), [[11, 6]], 3);
                k.root.append(g.root);
            })),
            note: lines.length > LINES ? `The first ${LINES} of ${lines.length} lines are drawn.` : null,
        };
    }

    // A row of buttons of which one is pressed.
    function choice(label, names, chosen, pick) {
        const buttons = names.map((name, i) => el("button", {
            type: "button", "aria-pressed": String(i === chosen),
            click: () => {
                buttons.forEach((b, k) => b.setAttribute("aria-pressed", String(k === i)));
                pick(i);
            },
        }, name));
        return el("div", {class: "choice", role: "group", "aria-label": label}, buttons);
    }

    function axisFigure(group, over) {
        const points = over.lines.flatMap((l) => l.points), values = points.map((p) => p.value);
        const can = Charts.least(values) > 0;
        const measures = MEASURES.filter((m) => points.every((p) => Number.isFinite(m.of(p.b, p.b.time.point))));
        const wide = (list) => Charts.most(list) / Charts.least(list) > 10;
        let log = can && (wide(values) || wide(points.map((p) => p.b.time.point))), measure = measures[0];
        const figure = Plot.figure(`${group} over ${over.axis}`, (width) => drawLines(group, over, measure, log, width), {
            widest: 1200, kind: "wide",
            controls: el("div", {class: "controls"},
                can && choice("Scale", ["linear", "log-log"], log ? 1 : 0, (i) => {
                    log = i === 1;
                    figure.redraw();
                }),
                measures.length > 1 && choice("Measure", measures.map((m) => m.name), 0, (i) => {
                    measure = measures[i];
                    figure.redraw();
                })),
        });
        return figure;
    }

    // What the machine was measured to do at most, and what declares both bytes and operations.
    function rooflineOf(benchmarks) {
        const timed = benchmarks.filter((b) => b.time && b.time.point > 0);
        const ceiling = (kind, work) => timed.filter((b) => Data.note(b, "ceiling") === kind && b[work])
            .map((b) => ({id: b.id, rate: Text.rate(b[work], b.workTime.point)}))
            .sort((a, b) => b.rate - a.rate);
        const points = timed.filter((b) => b.bytes && b.operations && Data.note(b, "ceiling") === null)
            .map((b) => ({b, intensity: b.operations / b.bytes, rate: Text.rate(b.operations, b.workTime.point)}));
        return points.length === 0 ? null
            : {points, bandwidth: ceiling("bandwidth", "bytes"), compute: ceiling("compute", "operations")};
    }

    // The highest that an intensity allows, NaN where no ceiling was measured.
    function roofAt(roofline, intensity) {
        const roofs = [roofline.compute[0]?.rate, roofline.bandwidth[0] && roofline.bandwidth[0].rate * intensity];
        return Charts.least(roofs.map((r) => r ?? NaN).concat(Infinity).filter((r) => r < Infinity));
    }

    function drawRoofline(r, width) {
        const ridge = r.compute[0] && r.bandwidth[0] ? r.compute[0].rate / r.bandwidth[0].rate : null;
        const xs = r.points.map((p) => p.intensity).concat(ridge ?? []), ys = r.points.map((p) => p.rate);
        const x0 = Charts.least(xs) / 3, x1 = Charts.most(xs) * 3;
        const heights = [...ys, ...r.compute.map((c) => c.rate), ...r.bandwidth.map((c) => c.rate * x0)];
        const y0 = Charts.least(heights) / 2, y1 = Charts.most(heights) * 2.2;
        const f = Plot.frame("roofline", {
            width, height: Math.min(420, Math.max(300, width * 0.5)),
            x: Plot.logAxis(x0, x1, "operations per byte", (v) => String(Number(v.toPrecision(3))), width / 90),
            y: Plot.logAxis(y0, y1, "operations per second", (v) => Text.short(v, Text.OPERATION_RATE), 6),
            title: `Roofline of ${Text.plural(r.points.length, "benchmark")}: operations per second against operations per byte`,
        });
        const top = r.compute[0]?.rate ?? Infinity;
        for (const c of r.bandwidth) {
            const from = Math.max(x0, y0 / c.rate), to = Math.min(x1, Math.min(top, y1) / c.rate);
            if (to <= from)
                continue;
            Plot.line(f, "roof", f.x(from), f.y(from * c.rate), f.x(to), f.y(to * c.rate));
            const turn = (Math.atan2(f.y(to * c.rate) - f.y(from * c.rate), f.x(to) - f.x(from)) * 180) / Math.PI;
            const x = f.x(from) + 8, y = f.y(from * c.rate) + Math.tan((turn * Math.PI) / 180) * 8 - 5;
            f.root.append(svg("text", {class: "label", x, y, transform: `rotate(${turn.toFixed(1)} ${x} ${y})`},
                Text.express(c.rate, Text.BYTE_RATE)));
        }
        for (const c of r.compute) {
            const from = r.bandwidth[0] ? Math.max(x0, c.rate / r.bandwidth[0].rate) : x0;
            Plot.line(f, "roof", f.x(Math.min(from, x1)), f.y(c.rate), f.right, f.y(c.rate));
            f.root.append(svg("text", {class: "label", x: f.right - 2, y: f.y(c.rate) - 5, "text-anchor": "end"},
                Text.operationRate(c.rate)));
        }
        const groups = [...new Set(r.points.map((p) => p.b.group))];
        groups.forEach((group, i) => {
            const g = {root: svg("g", {class: Plot.seriesClass(i)})};
            Plot.marks(g, "mark", Plot.seriesShape(i),
                r.points.filter((p) => p.b.group === group).map((p) => [f.x(p.intensity), f.y(p.rate)]), 4.2);
            f.root.append(g.root);
        });
        return {
            root: f.root,
            points: r.points.map((p) => ({
                x: f.x(p.intensity), y: f.y(p.rate),
                say: () => `${p.b.id}: ${Text.operationRate(p.rate)} at ${Number(p.intensity.toPrecision(3))} op/B`,
            })),
            keys: groups.map((group, i) => Plot.key(group, (k) => {
                const g = {root: svg("g", {class: Plot.seriesClass(i)})};
                Plot.marks(g, "mark", Plot.seriesShape(i), [[11, 6]], 3.4);
                k.root.append(g.root);
            })),
            note: ceilingNote(r),
        };
    }

    function ceilingNote(r) {
        const names = (list) => list.map((c) => c.id).join(", ");
        if (!r.compute.length && !r.bandwidth.length)
            return "No ceiling was measured in this run, so only the points are drawn.";
        const above = r.points.some((p) => p.rate > roofAt(r, p.intensity) * 1.05);
        return [
            r.bandwidth.length ? `Bandwidth as measured by ${names(r.bandwidth)}.` : "No bandwidth ceiling was measured.",
            r.compute.length ? `Compute as measured by ${names(r.compute)}.` : "No compute ceiling was measured.",
            above ? "A point above the roof did less than it declares, or its data is nearer than the ceiling's was." : "",
        ].join(" ");
    }

    const rooflineFigure = (r) =>
        Plot.figure("Operations per second against operations per byte", (width) => drawRoofline(r, width),
            {widest: 1200, kind: "wide"});

    return {axesOf, axisFigure, rooflineOf, rooflineFigure, roofAt};
})();
