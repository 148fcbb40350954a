# SPDX-License-Identifier: Apache-2.0
"""Documents for the report: the same ones on every machine.

`everything` has each feature of docs/formats/run.md at least once, `broken` what a file may lack or
get wrong, `large` is for weighing. Run as a program it prints the one that is named.
"""
import json
import random
import statistics
import sys

MARKUP = "<img src=x onerror=alert(1)>"
HOSTILE = f"{MARKUP}</script><script>alert(2)</script>\u2028\"'&lt;`${{1}}"


def interval(median, width=0.01):
    return {"median": median, "low": median * (1 - width), "high": median * (1 + width), "coverage": 0.9648}


def estimate(point, width=0.01):
    return {"point": point, "low": point * (1 - width), "high": point * (1 + width), "standard_error": point * width / 2}


def times(rng, ns, count):
    """Iteration times as they come: a floor, some noise above it, now and then something else."""
    found = []
    for i in range(count):
        ripple = rng.gammavariate(2.0, 0.006)
        found.append(ns * (1 + ripple + (0.25 * rng.random() if rng.random() < 0.05 else 0)))
    return found


def sample(rng, ns, count=100, mode="flat", tags=False):
    each = times(rng, ns, count)
    base = max(1, int(2e7 / ns / (count if mode == "linear" else 1)))
    iterations = [base * (i + 1) for i in range(count)] if mode == "linear" else [base] * count
    made = {"mode": mode, "iterations": iterations if mode == "linear" else base,
            "times_ns": [round(t * n) for t, n in zip(each, iterations)]}
    if tags:
        made["steal_ticks"] = [int(i % 31 == 7) for i in range(count)]
        made["switches"] = [3 * int(i % 23 == 5) for i in range(count)]
    return made, statistics.median(each)


def measured(rng, name, ns, count=100, mode="flat", tags=False, **more):
    made, median = sample(rng, ns, count, mode, tags)
    each = [t / (made["iterations"] if mode == "flat" else made["iterations"][i]) for i, t in enumerate(made["times_ns"])]
    bench = {
        "id": name, "suite": "demo", "axes": {}, "tags": ["cpu"],
        "t0": "the call", "t1": "its return", "observer": "the caller, which compares the sum",
        "started": "2026-11-15T05:53:18Z", "outcome": "measured",
        "time_ns": {**interval(median, 0.004), "min": min(each), "max": max(each)},
        "estimates": {
            "mean": estimate(statistics.fmean(each)), "median": estimate(median, 0.004),
            "std_dev": estimate(statistics.stdev(each), 0.2), "median_abs_dev": estimate(median * 0.006, 0.2),
        },
        "autocorrelation_samples": 1.83, "block_samples": 2,
        "outliers": {"low_severe": 0, "low_mild": 0, "high_mild": 3, "high_severe": 2},
        "sample": made,
    }
    if mode == "linear":
        bench["estimates"]["slope"] = estimate(median, 0.003)
    bench.update(more)
    return bench


def run(benchmarks, **more):
    return {
        "schema": "gyre.run/1", "gyre": "0.1.0", "build": "gcc 12.2.0, Release, sanitizers none",
        "started": "2026-11-15T05:53:18Z", "duration_s": 65.36, "interrupted": False,
        "command": ["build/release/bin/gyre", "bench", "--baseline", "main", "queue|reduce me"],
        "options": {
            "sample_count": 100, "warm_up_ns": 1000000000, "measurement_ns": 3000000000, "confidence": 0.95,
            "resamples": 100000, "noise_threshold": 0.01, "significance": 0.05, "sampling": "auto", "precision": 0,
            "seed": 8675309, "isolate": "group", "order": "declared",
        },
        "settings": {"TERM": "xterm", "GYRE_LOG": "info"},
        "machine": {
            "cpu": "Intel(R) Xeon(R) Processor @ 2.80GHz", "hypervisor": "KVM", "kernel": "6.18.44-fc-v445", "cpus": 2,
            "allowed_cpus": 2, "cpu_quota": 0, "memory_bytes": 25274793984, "transparent_huge_pages": "madvise",
            "clock": {"source": "tsc", "cost_ns": 14.18, "resolution_ns": 14, "error_ppm": 14.14},
        },
        "benchmarks": benchmarks, **more,
    }


def latency(rng, ns, count=5000):
    calls = [round(ns * (1 + rng.gammavariate(2.0, 0.08)) * (40 if rng.random() < 0.002 else 1), 1) for _ in range(count)]
    ordered = sorted(calls)
    at = lambda p: ordered[min(count - 1, int(p * count))]
    return {
        "arrivals": "open", "rate_hz": 250000, "max_ns": ordered[-1], "calls_ns": calls,
        "quantiles": [{"p": p, "ns": at(p), "low": at(max(0, p - (1 - p) * 0.3)), "high": at(p + (1 - p) * 0.3), "coverage": 0.95}
                      for p in (0.5, 0.9, 0.99, 0.999)],
    }


def change(point, verdict, p):
    return {"baseline": "main", "point": point, "low": point - 0.008, "high": point + 0.008, "p": p, "verdict": verdict}


def series(name, medians, changes=(), drift=None, first=0):
    made = {"id": name, "run": list(range(first, first + len(medians))), "median": medians, "low": [m * 0.99 for m in medians],
            "high": [m * 1.02 for m in medians], "changes": [list(c) for c in changes]}
    return {**made, "drift": drift} if drift else made


def trends(rng, names, count=60):
    """The last runs of these benchmarks: each became slower at run 31, and the first once more."""
    runs = [[i + 1, f"2026-10-{i % 28 + 1:02}T05:53:18Z", f"{rng.getrandbits(160):040x}", i % 5 == 0] for i in range(count)]
    made = []
    for i, name in enumerate(names):
        level = [10.0 * (1.2 if k >= 30 else 1) * (1.5 if k >= 50 and i == 0 else 1) for k in range(count)]
        medians = [float(f"{v * rng.gauss(1, 0.01):.5g}") for v in level]
        changes = [[30, 10.0, 12.0, 0.2, 1e-20]] + ([[50, 12.0, 18.0, 0.5, 0.00099]] if i == 0 else [])
        made.append(series(name, medians, changes, [30, 0.0001, -0.0002, 0.0004] if i else [50, 0.01, 0.005, 0.015]))
    return {"machine": "1be46877", "runs": runs, "series": made}


def everything():
    rng = random.Random(1)
    now, old = [], []

    def pair(name, ns, before, verdict, **more):
        now.append(measured(rng, name, ns, change=change(ns / before - 1, verdict, 0.0001 if abs(ns / before - 1) > 0.01 else 0.4),
                            **more))
        old.append(measured(rng, name, before, mode=more.get("mode", "flat")))

    pair("clock/now_ns", 10.55, 10.6, "none", mode="flat", tags=True, items_per_iteration=1)
    pair("clock/sleep", 1.25e6, 1.24e6, "noise", count=20)
    pair("queue/push_pop", 41.2, 36.5, "regressed", mode="linear", tags=True, items_per_iteration=1,
         warnings=["The hypervisor took the CPU during 4 of 100 samples.", "Samples are correlated: 1.83 samples."],
         notes={"kernel": "spsc, 64-byte slots", "policy": "spin"}, counters={"retries": 12, "loss": 0, "fill": 0.318},
         memory={"peak_rss_bytes": 4460544, "allocations": 0, "allocated_bytes": 0},
         instructions={"source": "callgrind", "per_iteration": 118}, threads=2,
         beside={"id": "queue/bare", "ratio": {"point": 1.23456, "low": 1.2, "high": 1.3, "standard_error": 0.01}})
    pair("queue/wake", 2310.0, 2702.0, "improved", latency=latency(rng, 2100.0))
    old[-1]["latency"] = latency(rng, 2500.0)
    for function, speed in (("sum_f32", 24.0), ("sum_f32_scalar", 3.1), ("copy", 17.0)):
        for threads in (1, 2):
            for size in (4096, 65536, 1048576, 16777216):
                rate = speed * threads**0.8 * (1.0 if size < 2e6 else 0.45)
                operations = {} if function == "copy" else {"operations_per_iteration": size // 4}
                now.append(measured(rng, f"reduce/{function}/{size}/{threads}", 60 + size / rate,
                                    axes={"bytes": size, "threads": threads}, bytes_per_iteration=size,
                                    notes={"kernel": "avx512" if speed > 20 else "scalar"}, **operations))
    for waiters in (1, 2, 3):
        now.append(measured(rng, f"park/wake/{waiters}", 100.0 + 20 * waiters, axes={"waiters": waiters}))
    now.append(measured(rng, "peak/triad", 1e6, bytes_per_iteration=20400000, notes={"ceiling": "bandwidth"}))
    now.append(measured(rng, "peak/fma_avx512", 1e6, operations_per_iteration=176000000, notes={"ceiling": "compute"}))
    now.append(measured(rng, "gemm/f32_512", 1.9e6, bytes_per_iteration=3 * 512 * 512 * 4, operations_per_iteration=2 * 512**3))
    cold, cold_median = sample(rng, 9800.0, 60)
    hot, hot_median = sample(rng, 4100.0, 60)
    now.append(measured(rng, "device/saxpy", 12400.0, bytes_per_iteration=12582912, operations_per_iteration=2097152, tags=False,
                        device={"clock": "CUDA events", "cold": {**interval(cold_median), "sample": cold},
                                "hot": {**interval(hot_median), "sample": hot}}))
    stub = {"suite": "demo", "axes": {}, "t0": "the call", "t1": "its return", "observer": "the caller"}
    now.append({**stub, "id": "queue/overflow", "outcome": "failed", "reason": "signal 11 (segmentation fault) after 0.41 s",
                "last_words": "queue: slot 63 written\nqueue: slot 64 written\nqueue.c:118: head passed tail\n"})
    now.append({**stub, "id": "device/allreduce", "outcome": "skipped", "reason": "there is one GPU, it needs two"})
    now.append({**stub, "id": "clock/last", "outcome": "interrupted", "reason": "SIGINT"})
    now.append({**stub, "id": "status/name", "outcome": "checked"})
    now.append(measured(rng, f"hostile/{HOSTILE}", 77.0, suite=HOSTILE, t0=HOSTILE, t1=HOSTILE, observer=HOSTILE,
                        axes={HOSTILE: 3}, tags_=[], warnings=[HOSTILE], notes={HOSTILE: HOSTILE, "kernel": HOSTILE},
                        counters={HOSTILE: 5, "__proto__": 6}, unknown_member={"a": [HOSTILE]},
                        instructions={"source": HOSTILE, "per_iteration": 9}, change=change(0.5, "regressed", 0)))
    now.append({**stub, "id": "__proto__", "outcome": "failed", "reason": HOSTILE, "last_words": HOSTILE * 3})
    history = trends(rng, ["clock/now_ns", "queue/push_pop", f"hostile/{HOSTILE}", "__proto__"])
    history["runs"][30][2] = HOSTILE
    history["runs"][31][1] = HOSTILE
    history["series"].append(series("queue/wake", [2310.0, 2320.0]))  # too few
    return {"run": run(now), "baseline": run(old, started="2026-11-14T21:02:00Z"), "baseline_name": "main", "thinned": False,
            "history": history}


def broken():
    """Members that are missing, null, of the wrong type, or at the edge of what can be drawn."""
    rng = random.Random(2)
    odd = measured(rng, "odd/times", 50.0)
    odd["sample"]["times_ns"][3] = None
    odd["sample"]["times_ns"][4] = "fast"
    odd["time_ns"]["low"] = None
    odd["estimates"] = {"mean": None, "median": {"point": 5}}
    same = measured(rng, "odd/same", 50.0, count=10)
    same["sample"] = {"mode": "flat", "iterations": 10, "times_ns": [500] * 10}
    zero = measured(rng, "odd/zero", 50.0, axes={"n": 0}, bytes_per_iteration=64, operations_per_iteration=1)
    zero["sample"]["times_ns"] = [0] * 100
    zero["time_ns"] = {"median": 0, "low": 0, "high": 0, "min": 0, "max": 0}
    zero["change"] = {"point": 0}
    one = measured(rng, "odd/one", 50.0, axes={"n": 1})
    one["sample"] = {"mode": "linear", "iterations": [7], "times_ns": [350], "switches": [1]}
    one["latency"] = {"calls_ns": [5]}
    many = measured(rng, "odd/many", 50.0, count=10000, axes={"n": 2})
    many["latency"] = {"arrivals": "closed", "quantiles": [{"p": 1, "ns": 7}, {"p": 0.5, "ns": 3}, {"p": None}, 5], "calls_ns": []}
    older = {"id": "odd/older", "suite": "s", "axes": {}, "t0": "a", "t1": "b", "observer": "c", "outcome": "measured",
             "time_ns": {"median": 10, "low": 9, "high": 11, "coverage": 0.95, "min": 9, "max": 12},
             "sample": {"mode": "flat", "iterations": 2, "times_ns": [20, 22, 18]}}
    wrong = {"id": 7, "axes": [1], "outcome": 3, "warnings": "no", "notes": [], "counters": {"a": None}, "sample": 5, "latency": 1,
             "device": {"cold": {"median": "x"}, "hot": {"median": 3}}, "memory": {}, "instructions": {"per_iteration": 0},
             "time_ns": [], "outliers": {}, "change": {"point": None}, "tags": [None, "gpu"], "beside": {"id": 3, "ratio": 1}}
    names = [{"id": n, "outcome": "measured", "time_ns": {"median": 1}}
             for n in ("", "#", "%", "a b", "/", "\u00e9\U0001f600", "gyre-data", "half\ud800")]
    before = {"benchmarks": [dict(odd, sample=None), dict(one, sample=many["sample"]), dict(zero, time_ns=None, sample=None), None]}
    benchmarks = [odd, same, zero, one, many, older, wrong, None, 5, [], {}, *names]
    history = {"machine": 7, "runs": [[1, "2026", None, 1], [2], None, "x", [None, 5, "c"]], "series": [
        None, 5, {}, {"id": "odd/same", "run": [0, 1, 2, 3, 4, 99, -1, "x"], "median": [5, None, 5, "fast", 5, 5], "low": None, "high": [1],
                      "changes": [None, [2, 5, 5, 0, None], [2, 5, 6, "x"], [0, 5, 6, 0.2, 0.5], [99, 1, 2, 1, 0]], "drift": [1, None]},
        {"id": "odd/zero", "run": [0, 1, 4], "median": [0, 0, 0]}, {"id": "odd/times", "run": "all", "median": 5},
        {"id": "odd/one", "run": [0, 1, 4], "median": [7, 7, 7], "low": [7, 7, 7], "high": [7, 7, 7], "drift": [0, 0, 0, 0]},
        {"id": "odd/older", "run": [0, 1, 4], "median": [1e-300, 1e300, 1], "low": [9, 9, 9], "high": [1, 1, 1]}]}
    return {"run": {"benchmarks": benchmarks, "machine": None, "options": {"noise_threshold": 0.01}}, "baseline": before, "thinned": True,
            "history": history}


def large(count=200):
    rng = random.Random(3)
    now, old = [], []
    for i in range(count):
        name, ns = f"group{i // 20}/function_{i % 20}", 10 ** rng.uniform(0.5, 6)
        mode = "linear" if i % 2 else "flat"
        now.append(measured(rng, name, ns, mode=mode, change=change(0.02, "regressed", 0.01), items_per_iteration=100))
        old.append(measured(rng, name, ns / 1.02, mode=mode, items_per_iteration=100))
    return {"run": run(now), "baseline": run(old), "baseline_name": "main", "thinned": False,
            "history": trends(rng, [b["id"] for b in now], count=100)}


if __name__ == "__main__":
    json.dump({"everything": everything, "broken": broken, "large": large}[sys.argv[1]](), sys.stdout)
