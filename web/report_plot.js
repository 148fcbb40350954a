// SPDX-License-Identifier: Apache-2.0
//
// plot: elements, axes and marks, of which charts are made.
//
// Everything from the data enters the document as a text node or as an attribute that cannot run.
// A chart is drawn at the width it has, so that its letters are the page's letters on a phone too,
// and drawn again when that width changes.
"use strict";

const Dom = (() => {
    const SVG = "http://www.w3.org/2000/svg";

    function fill(element, attributes, children) {
        for (const [key, value] of Object.entries(attributes ?? {}))
            if (typeof value === "function")
                element.addEventListener(key, value);
            else if (value !== null && value !== undefined && value !== false)
                element.setAttribute(key, value === true ? "" : String(value));
        for (const child of children.flat(Infinity))
            if (child !== null && child !== undefined && child !== false && child !== "")
                element.append(child); // a string becomes a text node
        return element;
    }

    const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

    return {
        el,
        // An id, which may be broken after each slash.
        id: (id) => id.split(/(?<=\/)/).flatMap((part, i) => (i ? [el("wbr"), part] : [part])),
        svg: (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children),
    };
})();

const Plot = (() => {
    const {el, svg} = Dom;
    const LETTER = 6.4; // width of a digit at the size of a tick's text
    const round = (v) => Math.round(v * 100) / 100;

    // A range with some width, whatever the values are.
    function widen(min, max, share = 0.04) {
        if (!Number.isFinite(min) || !Number.isFinite(max))
            return [0, 1];
        const pad = max > min ? (max - min) * share : Math.abs(max) * 0.05 || 1;
        return [min - pad, max + pad];
    }

    // 1, 2 or 5 times a power of ten: the least that makes not many more ticks than wanted.
    function stepOf(min, max, wanted) {
        const raw = (max - min) / Math.max(1, wanted), power = 10 ** Math.floor(Math.log10(raw));
        return power * [1, 2, 5, 10].find((m) => m * power >= raw * 0.7);
    }

    function linearTicks(min, max, wanted) {
        const step = stepOf(min, max, wanted), ticks = [];
        for (let i = Math.ceil(min / step - 1e-9); i * step <= max + step * 1e-9 && ticks.length < 20; i++)
            ticks.push(i * step);
        return {step, ticks};
    }

    // Decades; with 2 and 5 between them when there are few, evenly spaced when there is hardly one.
    function logTicks(min, max, wanted) {
        const decades = Math.log10(max / min), ticks = [];
        if (decades < 0.7)
            return linearTicks(min, max, wanted).ticks.filter((t) => t > 0);
        const every = Math.max(1, Math.round(decades / wanted));
        const parts = decades * 2 <= wanted ? [1, 2, 5] : [1];
        for (let e = Math.floor(Math.log10(min)); e <= Math.log10(max); e += every)
            for (const part of parts)
                if (part * 10 ** e >= min * 0.999 && part * 10 ** e <= max * 1.001)
                    ticks.push(part * 10 ** e);
        return ticks;
    }

    // One unit for the whole axis; it stands in the label.
    function linearAxis(min, max, label, units, wanted = 5) {
        const [size, name] = units ? Text.unitOf(Math.max(Math.abs(min), Math.abs(max)), units) : [1, ""];
        const {step, ticks} = linearTicks(min / size, max / size, wanted);
        const digits = Math.min(8, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
        return {
            min, max, label: name ? label + ", " + name : label, map: (v) => v,
            ticks: ticks.map((t) => ({
                at: t * size, text: units ? (Math.abs(t) < step / 2 ? 0 : t).toFixed(digits) : Text.compact(t),
            })),
        };
    }

    function logAxis(min, max, label, format, wanted = 5) {
        return {
            min, max, label, map: Math.log10,
            ticks: logTicks(min, max, wanted).map((t) => ({at: t, text: format(t)})),
        };
    }

    const timeAxis = (min, max, label, wanted) => linearAxis(min, max, label, Text.TIME, wanted);

    function scaleOf(axis, from, to) {
        const low = axis.map(axis.min), span = axis.map(axis.max) - low || 1;
        return (v) => round(from + ((axis.map(v) - low) / span) * (to - from));
    }

    // Ticks that would write over each other are thinned out.
    function sparse(ticks, scale) {
        let end = -Infinity;
        return ticks.filter((t) => {
            const at = scale(t.at), half = (t.text.length * LETTER) / 2 + 4;
            if (at - half < end)
                return false;
            end = at + half;
            return true;
        });
    }

    // An empty chart with its axes: {root, x, y, left, right, top, bottom}. `y` may be null. `title` is
    // what a screen reader says instead of the picture.
    function frame(kind, {width, height, x, y, title}) {
        const labels = y ? Math.max(0, ...y.ticks.map((t) => t.text.length)) : 0;
        const left = y ? Math.round(10 + labels * LETTER) : 10, right = width - 12;
        const top = y && y.label ? 22 : 8, bottom = height - 36;
        const root = svg("svg", {
            class: "chart " + kind, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title,
        });
        const f = {root, left, right, top, bottom, x: scaleOf(x, left, right), y: y && scaleOf(y, bottom, top)};
        for (const t of y ? y.ticks : [])
            root.append(
                svg("line", {class: "grid", x1: left, x2: right, y1: f.y(t.at), y2: f.y(t.at)}),
                svg("text", {class: "tick", x: left - 6, y: f.y(t.at) + 4, "text-anchor": "end"}, t.text));
        for (const t of sparse(x.ticks, f.x)) {
            const at = f.x(t.at), half = (t.text.length * LETTER) / 2;
            root.append(
                svg("line", {class: "axis", x1: at, x2: at, y1: bottom, y2: bottom + 4}),
                svg("text", {
                    class: "tick", x: Math.min(Math.max(at, half), width - half), y: bottom + 16, "text-anchor": "middle",
                }, t.text));
        }
        root.append(
            svg("line", {class: "axis", x1: left, x2: right, y1: bottom, y2: bottom}),
            svg("text", {class: "label", x: right, y: height - 4, "text-anchor": "end"}, x.label));
        if (y && y.label)
            root.append(svg("text", {class: "label", x: 0, y: 11}, y.label));
        return f;
    }

    const line = (f, kind, x1, y1, x2, y2) =>
        f.root.append(svg("line", {class: kind, x1, y1, x2, y2}));

    const path = (f, kind, points, close = "") => {
        if (points.length)
            f.root.append(svg("path", {
                class: kind, d: "M" + points.map(([x, y]) => round(x) + " " + round(y)).join("L") + close,
            }));
    };

    const SHAPES = {
        dot: (r) => `m${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
        square: (r) => `m${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
        diamond: (r) => `m0 ${-r * 1.3}l${r * 1.3} ${r * 1.3}l${-r * 1.3} ${r * 1.3}l${-r * 1.3} ${-r * 1.3}z`,
        triangle: (r) => `m0 ${-r * 1.2}l${r * 1.15} ${r * 2}h${-r * 2.3}z`,
        cross: (r) => `m${-r} ${-r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`,
        plus: (r) => `m${-r * 1.2} 0h${r * 2.4}m${-r * 1.2} ${-r * 1.2}v${r * 2.4}`,
    };

    // All marks of one kind are one path: ten thousand samples are one element.
    function marks(f, kind, shape, points, r) {
        if (points.length)
            f.root.append(svg("path", {
                class: kind, d: points.map(([x, y]) => `M${round(x)} ${round(y)}${SHAPES[shape](r)}`).join(""),
            }));
    }

    const SERIES = ["dot", "square", "triangle", "diamond", "cross", "plus"];
    const seriesShape = (i) => SERIES[i % SERIES.length];
    const seriesClass = (i) => "series s" + (i % 7) + (i >= 7 ? " again" : "");

    // The key of a mark or a line, drawn as it is in the chart.
    function key(text, draw) {
        const f = {root: svg("svg", {class: "key", viewBox: "0 0 22 12", "aria-hidden": "true"})};
        draw(f);
        return el("li", null, f.root, text);
    }
    const keyLine = (text, kind) => key(text, (f) => line(f, kind, 1, 6, 21, 6));
    const keyMark = (text, kind, shape, r = 3) => key(text, (f) => marks(f, kind, shape, [[11, 6]], r));
    const keyBand = (text, kind) =>
        key(text, (f) => f.root.append(svg("rect", {class: kind, x: 1, y: 1, width: 20, height: 10})));

    // Says what is under the pointer: `points` are {x, y, say} in the chart's own coordinates.
    function follow(root, points, readout) {
        const mark = svg("circle", {class: "under-pointer", r: 5, visibility: "hidden"});
        root.append(mark);
        root.addEventListener("pointermove", (event) => {
            const box = root.getBoundingClientRect(), scale = root.viewBox.baseVal.width / (box.width || 1);
            const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
            let best = null, least = Infinity;
            for (const p of points) {
                const far = (p.x - x) ** 2 + ((p.y - y) / 3) ** 2; // mostly by column
                if (far < least) {
                    least = far;
                    best = p;
                }
            }
            if (!best)
                return;
            mark.setAttribute("cx", best.x);
            mark.setAttribute("cy", best.y);
            mark.setAttribute("visibility", "visible");
            readout.textContent = best.say();
        });
        root.addEventListener("pointerleave", () => {
            mark.setAttribute("visibility", "hidden");
            readout.textContent = "";
        });
    }

    const mounted = new Set();
    let paperWidth = null;

    const widthOf = (m) => paperWidth?.[m.kind] ?? (m.figure.isConnected ? m.figure.clientWidth : 0);

    function drawInto(m, width) {
        if (width <= 0 || width === m.width)
            return;
        m.width = width;
        const made = m.draw(Math.max(260, Math.min(width, m.widest)));
        m.readout.textContent = "";
        m.body.replaceChildren(made.root, ...(made.keys?.length ? [el("ul", {class: "keys"}, made.keys)] : []),
            ...(made.note ? [el("p", {class: "note"}, made.note)] : []));
        if (made.points)
            follow(made.root, made.points, m.readout);
    }

    // A figure around `draw(width)`, which returns {root, keys, note, points}. Drawn once it is in the page:
    // see show.
    function figure(title, draw, options = {}) {
        const readout = el("span", {class: "readout", "aria-hidden": "true"}), body = el("div");
        const node = el("figure", {class: options.kind ?? null},
            el("figcaption", null, el("span", null, title), readout), options.controls, body);
        const m = {figure: node, body, readout, draw, width: 0, kind: options.kind ?? "narrow", widest: options.widest ?? 760};
        mounted.add(m);
        node.redraw = () => {
            m.width = 0;
            drawInto(m, widthOf(m));
        };
        return node;
    }

    // Draws the figures that are in the page and whose width changed. `width` is that of paper, as
    // {narrow, wide}; null is the screen's.
    function show(width = paperWidth) {
        paperWidth = width;
        // all widths are read before anything is drawn, which would have the browser lay out again
        for (const [m, found] of [...mounted].map((each) => [each, widthOf(each)]))
            drawInto(m, found);
    }

    return {
        widen, linearAxis, logAxis, timeAxis, frame, line, path, marks, seriesShape, seriesClass, key, keyLine, keyMark,
        keyBand, figure, show,
    };
})();
