// SPDX-License-Identifier: Apache-2.0
//
// data: the run as the page uses it, and numbers as people read them.
//
// Data.read is the border: behind it every member has its type or is null, whatever the file held,
// so nothing else on the page asks. Times are nanoseconds of one iteration. Text has the digits and
// units of the command line (lab/report/quantity.c). Stats computes what is drawn from the samples.
"use strict";

const Text = (() => {
    const NONE = "\u2013";
    const TIME = [[1e-3, "ps"], [1, "ns"], [1e3, "us"], [1e6, "ms"], [1e9, "s"]];
    const BYTE_RATE = [[1, "B/s"], [1024, "KiB/s"], [1048576, "MiB/s"], [1073741824, "GiB/s"]];
    const ITEM_RATE = [[1, "elem/s"], [1e3, "Kelem/s"], [1e6, "Melem/s"], [1e9, "Gelem/s"]];
    const OPERATION_RATE = [[1, "op/s"], [1e3, "Kop/s"], [1e6, "Mop/s"], [1e9, "Gop/s"], [1e12, "Top/s"]];
    const SIZE = ["B", "KiB", "MiB", "GiB", "TiB"];

    function fixed(number) {
        const m = Math.abs(number);
        return number.toFixed(m < 10 ? 4 : m < 100 ? 3 : m < 1000 ? 2 : m < 10000 ? 1 : 0);
    }

    // The largest unit that leaves at least 1, or the smallest.
    function unitOf(value, units) {
        let unit = units[0];
        for (const u of units)
            if (Math.abs(value) >= u[0])
                unit = u;
        return unit;
    }

    function express(value, units) {
        if (!Number.isFinite(value))
            return NONE;
        const [size, name] = unitOf(value, units);
        return fixed(value / size) + " " + name;
    }

    // Two numbers in the unit of the second.
    function range(low, high, units) {
        if (!Number.isFinite(low) || !Number.isFinite(high))
            return NONE;
        const [size, name] = unitOf(high, units);
        return fixed(low / size) + " " + NONE + " " + fixed(high / size) + " " + name;
    }

    const rate = (work, ns) => (ns > 0 && work !== null ? (work / ns) * 1e9 : NaN);

    function count(value) {
        if (!Number.isFinite(value))
            return NONE;
        if (!Number.isInteger(value) || Math.abs(value) >= 1e15)
            return String(Number(value.toPrecision(6)));
        return String(value).replace(/\B(?=(\d{3})+$)/g, "\u2009");
    }

    function bytes(value) {
        let number = value, i = 0;
        if (!Number.isFinite(value))
            return NONE;
        while (number >= 1024 && i + 1 < SIZE.length) {
            number /= 1024;
            i++;
        }
        return number.toFixed(Number.isInteger(number) ? 0 : 1) + " " + SIZE[i];
    }

    function percent(ratio, signed = true) {
        if (!Number.isFinite(ratio))
            return NONE;
        const value = Math.abs(ratio * 100);
        const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
        return (ratio < 0 ? "\u2212" : signed ? "+" : "") + value.toFixed(digits) + " %";
    }

    // Few digits, for the ticks of an axis: "1 us", "250 ns".
    function short(value, units) {
        if (!Number.isFinite(value))
            return NONE;
        const [size, name] = unitOf(value, units);
        return Number((value / size).toPrecision(3)) + " " + name;
    }

    // 1500 is "1.5 K"; powers of two from 1024 up are "64 Ki".
    function compact(value) {
        if (!Number.isFinite(value))
            return NONE;
        const binary = value >= 1024 && Number.isInteger(Math.log2(value));
        const base = binary ? 1024 : 1000;
        let number = value, i = 0;
        while (Math.abs(number) >= base && i < 4) {
            number /= base;
            i++;
        }
        return Number(number.toPrecision(4)) + (i ? " " + "KMGT"[i - 1] + (binary ? "i" : "") : "");
    }

    // "2026-11-15T05:53:18Z" without its letters
    const moment = (t) => (t ? t.replace("T", " ").replace(/(:\d\d)?Z$/, " UTC") : null);
    // "1 sample", "2 samples"
    const plural = (n, noun, nouns = noun + "s") => count(n) + " " + (n === 1 ? noun : nouns);
    // 0.95 is "95 %"
    const coverage = (p) => (Number.isFinite(p) ? Number((p * 100).toFixed(1)) + " %" : NONE);
    // 0.999 is "p99.9"
    const quantile = (p) => (p >= 1 ? "max" : "p" + Number((p * 100).toPrecision(12)));

    return {
        NONE, TIME, BYTE_RATE, ITEM_RATE, OPERATION_RATE, unitOf, rate, count, bytes, percent, short,
        compact, moment, plural, coverage, quantile, range, express,
        time: (ns) => express(ns, TIME),
        timeRange: (low, high) => range(low, high, TIME),
        operationRate: (perSecond) => express(perSecond, OPERATION_RATE),
    };
})();

const Stats = (() => {
    const ascending = (values) => Float64Array.from(values).sort();

    // Of sorted values, between the two nearest.
    function quantile(sorted, p) {
        if (sorted.length === 0)
            return NaN;
        const at = (sorted.length - 1) * p, below = Math.floor(at);
        const above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
    }

    // Tukey's: mild beyond 1.5 interquartile ranges, severe beyond 3.
    function fences(sorted) {
        const q1 = quantile(sorted, 0.25), q3 = quantile(sorted, 0.75), iqr = q3 - q1;
        return {
            q1, q3, iqr,
            lowSevere: q1 - 3 * iqr, lowMild: q1 - 1.5 * iqr,
            highMild: q3 + 1.5 * iqr, highSevere: q3 + 3 * iqr,
        };
    }

    const severity = (value, f) =>
        value < f.lowSevere || value > f.highSevere ? 2 : value < f.lowMild || value > f.highMild ? 1 : 0;

    function deviation(values) {
        let mean = 0, squares = 0;
        for (const v of values)
            mean += v / values.length;
        for (const v of values)
            squares += (v - mean) * (v - mean);
        return Math.sqrt(squares / Math.max(1, values.length - 1));
    }

    // Silverman's rule; the smaller of the two spreads, so that outliers do not smear the middle.
    function bandwidth(sorted) {
        const sd = deviation(sorted), spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.34;
        return 0.9 * (spread > 0 ? Math.min(sd, spread) : sd) * Math.pow(sorted.length, -0.2);
    }

    // A Gaussian kernel density on a grid. Values are first shared out between their two nearest grid
    // points, so that ten thousand of them cost what a hundred do. NULL where all are the same.
    function density(sorted, min, max, points = 240) {
        const h = bandwidth(sorted), step = (max - min) / (points - 1);
        if (!(h > 0) || !(step > 0))
            return null;
        const reach = Math.min(points, Math.max(1, Math.ceil((4 * h) / step)));
        const bins = new Float64Array(points + 2 * reach), heights = new Float64Array(points);
        for (const v of sorted) {
            const at = (v - min) / step + reach, below = Math.floor(at);
            if (below < 0 || below + 1 >= bins.length)
                continue;
            bins[below] += below + 1 - at;
            bins[below + 1] += at - below;
        }
        // a kernel narrower than the grid would lose its area between two points
        const width = Math.max(h, step / 2), kernel = new Float64Array(reach + 1);
        for (let k = 0; k <= reach; k++)
            kernel[k] = Math.exp(-0.5 * ((k * step) / width) ** 2) / (width * sorted.length);
        for (let i = 0; i < points; i++)
            for (let k = -reach; k <= reach; k++)
                heights[i] += bins[i + reach + k] * kernel[Math.abs(k)];
        return {min, step, heights};
    }

    // Of a line through the origin: the time that one more iteration takes.
    function slope(xs, ys) {
        let xy = 0, xx = 0;
        for (let i = 0; i < xs.length; i++) {
            xy += xs[i] * ys[i];
            xx += xs[i] * xs[i];
        }
        return xx > 0 ? xy / xx : NaN;
    }

    // The median of the first k values, for every k.
    function runningMedian(values) {
        const sorted = [];
        return values.map((value) => {
            let low = 0, high = sorted.length;
            while (low < high) {
                const middle = (low + high) >> 1;
                if (sorted[middle] < value)
                    low = middle + 1;
                else
                    high = middle;
            }
            sorted.splice(low, 0, value);
            return quantile(sorted, 0.5);
        });
    }

    return {ascending, quantile, fences, severity, bandwidth, density, slope, runningMedian};
})();

const Data = (() => {
    const number = (x) => (typeof x === "number" && Number.isFinite(x) ? x : null);
    const positive = (x) => (number(x) > 0 ? x : null);
    const text = (x) => (typeof x === "string" && x !== "" ? x : null);
    const list = (x) => (Array.isArray(x) ? x : []);
    const isRecord = (x) => x !== null && typeof x === "object" && !Array.isArray(x);
    const record = (x) => (isRecord(x) ? x : {});
    const texts = (x) => list(x).filter((s) => text(s) !== null);
    const numbers = (x) => list(x).filter((n) => number(n) !== null);
    const show = (x) => (typeof x === "string" ? x : JSON.stringify(x) ?? "");

    function once(make) {
        let made = false, value;
        return () => {
            if (!made) {
                value = make();
                made = true;
            }
            return value;
        };
    }

    // A sample whose time or count of iterations is not a number is left out.
    function readSample(raw) {
        const s = record(raw), flat = number(s.iterations), counts = list(s.iterations);
        const steal = list(s.steal_ticks), switches = list(s.switches);
        const points = [];
        let elapsed = 0;
        list(s.times_ns).forEach((total, i) => {
            const iterations = positive(flat ?? counts[i]);
            if (number(total) === null || total < 0 || iterations === null)
                return;
            elapsed += total;
            points.push({
                number: i + 1, iterations, total, elapsed, ns: total / iterations,
                steal: number(steal[i]) ?? 0, switches: number(switches[i]) ?? 0,
            });
        });
        if (points.length === 0)
            return null;
        const sorted = Stats.ascending(points.map((p) => p.ns));
        return {mode: s.mode === "linear" ? "linear" : "flat", points, sorted, fences: Stats.fences(sorted)};
    }

    function readInterval(raw, point) {
        const r = record(raw);
        const value = number(r[point]);
        return value === null ? null : {
            point: value, low: number(r.low), high: number(r.high), coverage: number(r.coverage),
            error: number(r.standard_error), min: number(r.min), max: number(r.max),
        };
    }

    function readTime(raw, sample) {
        const time = readInterval(raw, "median");
        if (time || !sample())
            return time;
        const sorted = sample().sorted;
        return {
            point: Stats.quantile(sorted, 0.5), low: null, high: null, coverage: null, error: null,
            min: sorted[0], max: sorted[sorted.length - 1],
        };
    }

    function readClock(raw, name) {
        if (!isRecord(raw))
            return null;
        const sample = once(() => readSample(raw.sample));
        const time = readTime(raw, sample);
        return time && {name, time, sample};
    }

    function readDevice(raw) {
        if (!isRecord(raw))
            return null;
        const clocks = [readClock(raw.cold, "cold"), readClock(raw.hot, "hot")].filter(Boolean);
        return clocks.length ? {clock: text(raw.clock), clocks} : null;
    }

    function readLatency(raw) {
        if (!isRecord(raw))
            return null;
        const quantiles = list(raw.quantiles).map(record)
            .filter((q) => number(q.p) !== null && number(q.ns) !== null && q.p >= 0 && q.p <= 1)
            .map((q) => ({p: q.p, ns: q.ns, low: number(q.low), high: number(q.high), coverage: number(q.coverage)}))
            .sort((a, b) => a.p - b.p);
        return {
            arrivals: text(raw.arrivals), rate: positive(raw.rate_hz), quantiles, max: number(raw.max_ns),
            calls: once(() => Stats.ascending(numbers(raw.calls_ns).filter((v) => v >= 0))),
        };
    }

    function readNumbers(raw, names) {
        const found = names.map(([key, ...rest]) => [number(record(raw)[key]), ...rest]).filter((x) => x[0] !== null);
        return found.length ? found : null;
    }

    function readChange(raw) {
        const change = readInterval(raw, "point");
        return change && {
            ...change, baseline: text(raw.baseline), p: number(raw.p),
            verdict: ["none", "noise", "improved", "regressed"].includes(raw.verdict) ? raw.verdict : null,
        };
    }

    function readBeside(raw) {
        const ratio = readInterval(record(raw).ratio, "point"), id = text(record(raw).id);
        return ratio && id && {...ratio, id};
    }

    // "queue/push_pop/64/2" with axes bytes=64, threads=2 is of group "queue", function "push_pop".
    function splitId(id, axes) {
        const parts = id.split("/");
        let end = parts.length;
        for (let i = axes.length - 1; i >= 0 && end > 1 && parts[end - 1] === String(axes[i][1]); i--)
            end--;
        const group = parts[0] || id;
        return {group, name: parts.slice(1, end).join("/") || group};
    }

    const OUTCOMES = ["measured", "checked", "failed", "skipped", "interrupted"];

    function readBenchmark(raw, index) {
        const b = record(raw), id = text(b.id) ?? "(no name)";
        const values = Object.entries(record(b.axes)).filter(([, v]) => number(v) !== null || text(v) !== null);
        const axes = values.filter(([, v]) => number(v) !== null);
        const sample = once(() => readSample(b.sample));
        const time = readTime(b.time_ns, sample);
        const outcome = OUTCOMES.includes(b.outcome) ? b.outcome : time ? "measured" : "unknown";
        const device = readDevice(b.device);
        return {
            index, id, axes, values, ...splitId(id, values), sample, time: outcome === "failed" ? null : time, outcome,
            // what rates are of: the device's own time in a batch, where there is one
            workTime: outcome === "failed" ? null : device?.clocks.find((c) => c.name === "hot")?.time ?? time,
            suite: text(b.suite), tags: texts(b.tags), threads: number(b.threads),
            t0: text(b.t0), t1: text(b.t1), observer: text(b.observer), started: text(b.started),
            reason: text(b.reason), lastWords: text(b.last_words), warnings: texts(b.warnings),
            bytes: positive(b.bytes_per_iteration), items: positive(b.items_per_iteration),
            operations: positive(b.operations_per_iteration),
            counters: Object.entries(record(b.counters)).filter(([, v]) => number(v) !== null),
            notes: Object.entries(record(b.notes)).map(([k, v]) => [k, show(v)]),
            estimates: new Map(["slope", "median", "mean", "std_dev", "median_abs_dev"]
                .map((name) => [name, readInterval(record(b.estimates)[name], "point")])
                .filter(([, e]) => e)),
            autocorrelation: number(b.autocorrelation_samples), block: number(b.block_samples),
            outliers: isRecord(b.outliers) ? ["low_severe", "low_mild", "high_mild", "high_severe"]
                .map((name) => [name, number(b.outliers[name]) ?? 0]) : null,
            device, latency: readLatency(b.latency), beside: readBeside(b.beside),
            memory: readNumbers(b.memory, [["peak_rss_bytes", "peak resident", Text.bytes],
                ["allocations", "allocations / iteration", Text.count],
                ["allocated_bytes", "allocated / iteration", Text.bytes]]),
            instructions: readNumbers(b.instructions, [["per_iteration", "instructions / iteration", Text.count],
                ["cycles_per_iteration", "cycles / iteration", Text.count]]),
            instructionsSource: text(record(b.instructions).source),
            change: readChange(b.change), baseline: null,
        };
    }

    const note = (b, key) => b.notes.find(([k]) => k === key)?.[1] ?? null;

    // "1a2b3c", and that the files were not all its own.
    const readCommit = (c) => (text(c.id) ? c.id + (c.dirty === true ? ", and changes" : "") : null);

    function readRun(raw) {
        const r = record(raw), commit = record(r.commit);
        return {
            commit: readCommit(commit), branch: text(commit.branch),
            schema: text(r.schema), gyre: text(r.gyre), build: text(r.build), started: text(r.started),
            duration: number(r.duration_s), interrupted: r.interrupted === true,
            command: list(r.command).map(show), options: record(r.options),
            settings: Object.entries(record(r.settings)).map(([k, v]) => [k, show(v)]),
            machine: record(r.machine), clock: record(record(r.machine).clock),
            benchmarks: list(r.benchmarks).map(readBenchmark),
        };
    }

    // The document of the page. Throws only where the bytes are not JSON.
    function read(source) {
        const doc = record(JSON.parse(source));
        const run = isRecord(doc.run) ? readRun(doc.run) : null;
        const baseline = isRecord(doc.baseline) ? readRun(doc.baseline) : null;
        const old = new Map((baseline?.benchmarks ?? []).map((b) => [b.id, b]));
        for (const b of run?.benchmarks ?? [])
            b.baseline = old.get(b.id) ?? null;
        return {
            run, baseline, baselineName: text(doc.baseline_name), thinned: doc.thinned === true,
            failure: text(doc.failure), history: doc.history, // which Trend.read reads
        };
    }

    return {read, note, number, text, list, record, show};
})();
