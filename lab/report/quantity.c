/* SPDX-License-Identifier: Apache-2.0
 *
 * quantity: see quantity.h.
 */
#include "report/quantity.h"

#include <stddef.h>
#include <stdio.h>

typedef struct unit {
    double size;
    const char *name;
} unit;

/* The number in the largest unit that leaves at least 1, or in the smallest. */
static gyre_quantity express(double value, const unit *units, size_t count)
{
    const unit *u = &units[0];
    gyre_quantity quantity;
    double number;
    int digits;

    for (size_t i = 1; i < count; i++)
        if (value >= units[i].size)
            u = &units[i];
    number = value / u->size;
    digits = number < 10 ? 4 : number < 100 ? 3 : number < 1000 ? 2 : number < 10000 ? 1 : 0;
    snprintf(quantity.text, sizeof quantity.text, "%.*f %s", digits, number, u->name);
    return quantity;
}

gyre_quantity gyre_quantity_time(double ns)
{
    static const unit units[] = {{1e-3, "ps"}, {1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};

    return express(ns, units, sizeof units / sizeof units[0]);
}

gyre_quantity gyre_quantity_bytes_rate(uint64_t work, double ns)
{
    static const unit units[] = {
        {1, "B/s"}, {1024.0, "KiB/s"}, {1048576.0, "MiB/s"}, {1073741824.0, "GiB/s"}};

    return express((double)work / ns * 1e9, units, sizeof units / sizeof units[0]);
}

gyre_quantity gyre_quantity_items_rate(uint64_t work, double ns)
{
    static const unit units[] = {
        {1, "elem/s"}, {1e3, "Kelem/s"}, {1e6, "Melem/s"}, {1e9, "Gelem/s"}};

    return express((double)work / ns * 1e9, units, sizeof units / sizeof units[0]);
}

gyre_quantity gyre_quantity_bytes(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    gyre_quantity quantity;
    double number = (double)bytes;
    size_t i = 0;

    while (number >= 1024 && i + 1 < sizeof units / sizeof units[0]) {
        number /= 1024;
        i++;
    }
    snprintf(quantity.text, sizeof quantity.text, "%.*f %s",
             number == (double)(uint64_t)number ? 0 : 1, number, units[i]);
    return quantity;
}

/* As many digits as tell something apart. */
static gyre_quantity percent(double part, const char *plus)
{
    const double number = 100 * part;
    const double size = number < 0 ? -number : number;
    gyre_quantity quantity;

    if (size < 1e6)
        snprintf(quantity.text, sizeof quantity.text, "%s%.*f", number < 0 ? "" : plus,
                 size < 1000 ? 2 : 0, number);
    else
        snprintf(quantity.text, sizeof quantity.text, "%s%.3g", number < 0 ? "" : plus, number);
    return quantity;
}

gyre_quantity gyre_quantity_percent(double part)
{
    return percent(part, "");
}

gyre_quantity gyre_quantity_change(double part)
{
    return percent(part, "+");
}
