// SPDX-License-Identifier: Apache-2.0
#include <gyre/bench.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace
{
struct numbers {
    std::vector<std::uint64_t> value;
    std::uint64_t sum = 0;
};

gyre_status make(const gyre_bench_case *c, void **out_fixture)
{
    auto *n = new numbers;

    n->value.resize(static_cast<std::size_t>(gyre_bench_axis(c, "count")));
    std::iota(n->value.begin(), n->value.end(), 0u);
    *out_fixture = n;
    return GYRE_OK;
}

void add_up(void *fixture, std::uint64_t iterations)
{
    auto *n = static_cast<numbers *>(fixture);

    for (std::uint64_t i = 0; i < iterations; i++) {
        gyre_bench_keep(n->value.data());
        n->sum = std::accumulate(n->value.begin(), n->value.end(), n->sum);
    }
}

bool is_right(const void *fixture, std::uint64_t iterations)
{
    const auto *n = static_cast<const numbers *>(fixture);

    return n->sum == iterations * (n->value.size() * (n->value.size() - 1) / 2);
}

// C++17 has no designated initialisers: the entry is filled in field by field.
gyre_bench sum_bench()
{
    gyre_bench b = {};

    b.name = "sum/u64";
    b.axes[0] = GYRE_AXIS("count", 100, 10000);
    b.t0 = "the first load";
    b.t1 = "the last addition";
    b.observer = "the same thread, which compares the sum";
    b.setup = make;
    b.run = add_up;
    b.check = is_right;
    b.teardown = [](void *fixture) { delete static_cast<numbers *>(fixture); };
    return b;
}
} // namespace

int main(int argc, char **argv)
{
    const gyre_bench benches[] = {sum_bench()};
    const gyre_suite suite = GYRE_SUITE("sum", benches);
    const gyre_suite *const suites[] = {&suite, nullptr};

    return gyre_bench_main(argc, argv, suites);
}
