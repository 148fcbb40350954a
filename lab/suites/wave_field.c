/* SPDX-License-Identifier: Apache-2.0
 *
 * wave_field: see wave_field.h.
 */
#include "suites/wave_field.h"

#include <stdlib.h>
#include <string.h>

#include "gyre/bench.h"
#include "suites/device_clock.h"

static float *field_at(const gyre_wave_field *field, uint32_t generation)
{
    return field->block + GYRE_WAVE_HEAD + (size_t)(generation & 1) * field->cells;
}

static bool is_inside(const gyre_wave_field *field, uint32_t cell)
{
    const uint32_t side = field->side, last = side - 1;
    const uint32_t x = cell % side, y = cell / side % side, z = cell / side / side;

    return x > 0 && x < last && y > 0 && y < last && z > 0 && z < last;
}

gyre_status gyre_wave_field_init(gyre_wave_field *field, int64_t side)
{
    *field = (gyre_wave_field){0};
    if (side < GYRE_WAVE_SIDE_LEAST || side > GYRE_WAVE_SIDE_MOST || (side & (side - 1)) != 0)
        return gyre_bench_refuse(GYRE_INVALID, "a grid has a side of 8, 16, ... 256 cells");
    field->side = (uint32_t)side;
    while (1U << field->bits < field->side)
        field->bits++;
    field->cells = field->side * field->side * field->side;
    field->bytes = (GYRE_WAVE_HEAD + 2 * (size_t)field->cells) * sizeof(float);
    field->block = calloc(1, field->bytes + GYRE_WAVE_MORE);
    if (!field->block)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for %u cells", field->cells);
    for (uint32_t i = 0; i < 2; i++) {
        gyre_bench_device_numbers(field_at(field, i), field->cells, 5 + i);
        for (uint32_t cell = 0; cell < field->cells; cell++)
            if (!is_inside(field, cell))
                field_at(field, i)[cell] = 0;
    }
    return GYRE_OK;
}

void gyre_wave_field_fini(gyre_wave_field *field)
{
    free(field->block);
    *field = (gyre_wave_field){0};
}

uint32_t gyre_wave_field_generation(const gyre_wave_field *field)
{
    uint32_t generation;

    memcpy(&generation, field->block, sizeof generation);
    return generation;
}

static float next_of(const float *now, float before, uint32_t side)
{
    const size_t plane = (size_t)side * side;
    const float sum =
        *(now - 1) + now[1] + (*(now - side) + now[side]) + (*(now - plane) + now[plane]);
    const float six = 6.0F * *now;
    const float rise = 0.25F * (sum - six);

    return *now + *now - before + rise;
}

void gyre_wave_field_step(gyre_wave_field *field)
{
    const uint32_t side = field->side;
    const uint32_t generation = gyre_wave_field_generation(field), reached = generation + 1;
    const float *const now = field_at(field, generation);
    float *const to = field_at(field, reached);

    for (uint32_t z = 1; z < side - 1; z++)
        for (uint32_t y = 1; y < side - 1; y++)
            for (uint32_t x = 1; x < side - 1; x++) {
                const uint32_t at = (z * side + y) * side + x;

                to[at] = next_of(now + at, to[at], side);
            }
    memcpy(field->block, &reached, sizeof reached);
}

gyre_wave_answer gyre_wave_field_query(const gyre_wave_field *field, uint32_t cell)
{
    const uint32_t generation = gyre_wave_field_generation(field);

    return (gyre_wave_answer){field_at(field, generation)[cell], generation};
}

gyre_wave_answer gyre_wave_field_inject(gyre_wave_field *field, gyre_wave_impulse impulse)
{
    const uint32_t generation = gyre_wave_field_generation(field);

    field_at(field, generation)[impulse.cell] += impulse.amplitude;
    return gyre_wave_field_query(field, impulse.cell);
}

gyre_wave_impulse gyre_wave_impulse_at(const gyre_wave_field *field, uint64_t n)
{
    const uint64_t random = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    const uint32_t inner = field->side - 2, side = field->side;
    const uint32_t x = 1 + (uint32_t)(random >> 56) % inner;
    const uint32_t y = 1 + (uint32_t)(random >> 48 & 255) % inner;
    const uint32_t z = 1 + (uint32_t)(random >> 40 & 255) % inner;
    const float amplitude = (float)(random >> 32 & 255) / 256 - 0.5F;

    return (gyre_wave_impulse){(z * side + y) * side + x, amplitude};
}
