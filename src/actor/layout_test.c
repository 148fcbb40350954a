/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre/layout.h"

#include <stdint.h>
#include <stdlib.h>

#include "gyre/actor_abi.h"
#include "test.h"

enum { LINE = 64 };

static const gyre_layout *find(const char *name)
{
    const gyre_layout *layout = NULL;

    for (size_t i = 0; (layout = gyre_layout_at(i)) && strcmp(layout->name, name) != 0; i++)
        ;
    return layout;
}

static const gyre_layout_field *find_field(const gyre_layout *layout, const char *name)
{
    for (size_t i = 0; layout && i < layout->field_count; i++)
        if (strcmp(layout->fields[i].name, name) == 0)
            return &layout->fields[i];
    return NULL;
}

static void sizes_are_those_that_devices_expect(void)
{
    const gyre_layout *const control = find("gyre_control_block");
    const gyre_layout *const telemetry = find("gyre_telemetry");
    const gyre_layout *const brief = find("gyre_brief");
    const gyre_layout *const message = find("gyre_message");
    const gyre_layout *const slot = find("gyre_ring_slot");

    REQUIRE(control && telemetry && brief && message && slot);
    CHECK(control->size == 128 && control->alignment == 128);
    CHECK(telemetry->size == 64 && telemetry->alignment == 64);
    CHECK(brief->size == 48 && find_field(brief, "body.reference.deadline_ns")->offset == 40);
    CHECK(message->size == 64 && find_field(message, "deadline_ns")->offset == 40);
    CHECK(slot->size == 64 && slot->alignment == 64 && slot->field_count == 12);
    CHECK(gyre_layout_at(SIZE_MAX) == NULL);
}

static void fields_lie_inside_in_order_and_apart(void)
{
    const gyre_layout *layout;

    for (size_t i = 0; (layout = gyre_layout_at(i)); i++) {
        size_t end = 0;

        CHECK(layout->field_count > 0);
        for (size_t k = 0; k < layout->field_count; k++) {
            const gyre_layout_field *const f = &layout->fields[k];

            CHECK(f->offset >= end && f->offset % f->size == 0);
            CHECK(f->type[0] == 'u' && (size_t)atoi(f->type + 1) == f->size * 8);
            CHECK(f->meaning[0] != '\0' && f->writer[0] != '\0');
            end = f->offset + f->size;
        }
        CHECK(end <= layout->size);
    }
}

static void writers_share_no_line(void)
{
    const gyre_layout *layout;

    for (size_t i = 0; (layout = gyre_layout_at(i)); i++)
        for (size_t k = 1; k < layout->field_count; k++)
            if (strcmp(layout->fields[k].writer, layout->fields[k - 1].writer) != 0)
                CHECK(layout->fields[k].offset / LINE > layout->fields[k - 1].offset / LINE);
}

/* A field found by the table is the one that the struct has. */
static void table_finds_the_structs_fields(void)
{
    static gyre_control_block block;
    const gyre_layout *const control = find("gyre_control_block");
    const gyre_layout_field *const tail = find_field(control, "host.input_tail");
    const gyre_layout_field *const head = find_field(control, "device.input_head");
    gyre_abi_u64 read;

    REQUIRE(control && tail && head);
    block.host.input_tail = 7;
    block.device.input_head = 5;
    CHECK((uintptr_t)&block % control->alignment == 0);
    memcpy(&read, (const char *)&block + tail->offset, sizeof read);
    CHECK(read == 7 && strcmp(tail->writer, "host") == 0);
    memcpy(&read, (const char *)&block + head->offset, sizeof read);
    CHECK(read == 5 && strcmp(head->writer, "device") == 0);
}

static const test_case cases[] = {
    TEST(sizes_are_those_that_devices_expect),
    TEST(fields_lie_inside_in_order_and_apart),
    TEST(writers_share_no_line),
    TEST(table_finds_the_structs_fields),
};
TEST_MAIN(cases)
