/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the head of a notice board with lines behind it; and with the words that are always
 * the same put right, so that what is behind them is reached, too. And as a name of a file, and as
 * what /proc tells of a process.
 */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "actor/board_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_text(const char *text, size_t size)
{
    const size_t length = strnlen(text, size);

    assert(length < size);
    for (size_t i = 0; i < length; i++)
        assert((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
}

static void look_at_head(const uint8_t *data, size_t size)
{
    gyre_board_head head;
    const char *const why = gyre_board_head_read(data, size, &head);

    if (why) {
        assert(head.pid == 0 && head.size == 0);
        return;
    }
    assert(size >= sizeof head && head.size == sizeof(gyre_board_file));
    assert(head.lines == GYRE_BOARD_LINES);
    look_at_text(head.program, sizeof head.program);
}

static void look_at_line(const gyre_board_line *line)
{
    gyre_board_row row = {.pid = 0};

    if (!gyre_board_line_read(line, &row)) {
        assert(row.launch == 0);
        return;
    }
    assert(row.launch > 0);
    assert(strcmp(gyre_actor_status_name(row.status), "unknown") != 0);
    assert(isfinite(row.mean_ns) && row.mean_ns >= 0);
    look_at_text(row.actor, sizeof row.actor);
    look_at_text(row.behaviour, sizeof row.behaviour);
    look_at_text(row.device, sizeof row.device);
}

static void look_at_name(const uint8_t *data, size_t size)
{
    char name[256], again[GYRE_BOARD_NAME];
    gyre_board_process process;
    gyre_board_owner owner;

    size = size < sizeof name - 1 ? size : sizeof name - 1;
    memcpy(name, data, size);
    name[size] = '\0';
    (void)!gyre_board_process_read(name, &process);
    if (!gyre_board_name_read(name, &owner))
        return;
    assert(owner.pid > 0);
    gyre_board_name(&owner, again);
    assert(strcmp(name, again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gyre_board_head head;
    gyre_board_line line;

    look_at_name(data, size);
    look_at_head(data, size);
    if (size < sizeof head)
        return 0;
    memcpy(&head, data, sizeof head);
    memcpy(head.magic, "GYRB", sizeof head.magic);
    head.version = GYRE_BOARD_VERSION;
    head.size = sizeof(gyre_board_file);
    head.lines = GYRE_BOARD_LINES;
    look_at_head((const uint8_t *)&head, sizeof head);
    for (size_t at = sizeof head; at + sizeof line <= size; at += sizeof line) {
        memcpy(&line, data + at, sizeof line);
        look_at_line(&line);
        line.launch |= 1;
        line.status %= GYRE_ACTOR_AWAY + 1;
        look_at_line(&line);
    }
    return 0;
}
