/* SPDX-License-Identifier: Apache-2.0
 *
 * broadcast: a sender that overwrites against a subscriber that reads, under DROP_OLDEST, for spin:
 * the protocol [all-reading] of src/flow/channel_all.c. Interleavings only: the announcement and the
 * tail are written and read with seq_cst.
 *
 * The subscriber announces the position that it is going to read, and then looks whether the tail
 * has gone past it. A sender moves the tail, and then waits while the position whose slot it is
 * going to overwrite is announced. One of them sees the other.
 *
 * Two senders send two items each through a ring of one, and a subscriber reads. Verified: nothing
 * is read from a slot that is being overwritten, or shared that was released; an item is read at
 * most once and in order; what was not received was missed, and all of it is counted.
 *
 * -DLOOK_FIRST  the subscriber looks at the tail before it announces.
 * -DWAIT_FIRST  a sender looks at the announcement before it moves the tail.
 * Both must be refused; tests/models_test.sh checks that they are.
 */
#define ROOM 1
#define SENDERS 2
#define ITEMS 2 /* of each */
#define ALL (SENDERS * ITEMS)
#define NOTHING 255

byte tail = 0;          /* positions claimed */
byte stamp[ROOM];       /* p + 1: the item of position p is there; 0: nothing yet */
byte slot[ROOM];        /* the position that it holds */
byte reading = NOTHING; /* the position that the subscriber announces */

bool released[ALL]; /* what the item of a position refers to is gone */
byte writers = 0;   /* in the slot */

#define MAY_OVERWRITE(p) (stamp[(p) % ROOM] == ((p) < ROOM -> 0 : (p) - ROOM + 1))
#define FILLED(p) (stamp[(p) % ROOM] == (p) + 1)
#define WAIT_FOR_READER(p) (p < ROOM || reading != p - ROOM)

active [SENDERS] proctype sender()
{
    byte items = ITEMS, at;

    do
    :: items == 0 -> break
    :: else ->
again:
        at = tail;
        (MAY_OVERWRITE(at) || tail != at);
#ifdef WAIT_FIRST
        WAIT_FOR_READER(at);
#endif
        atomic { if :: tail == at -> tail++ :: else -> goto again fi }
#ifndef WAIT_FIRST
        WAIT_FOR_READER(at);
#endif
        writers++;
        assert(writers == 1);
        if
        :: at >= ROOM -> released[at - ROOM] = true
        :: else -> skip
        fi;
        slot[at % ROOM] = at;
        writers--;
        stamp[at % ROOM] = at + 1;
        items--
    od
}

active proctype subscriber()
{
    byte cursor = 0, seen, delivered = 0, missed = 0;

    do
    :: cursor == ALL -> break
    :: else ->
        (tail != cursor);
#ifdef LOOK_FIRST
        seen = tail;
        reading = cursor;
#else
        reading = cursor;
        seen = tail;
#endif
        if
        :: seen - cursor <= ROOM && FILLED(cursor) ->
            assert(writers == 0);
            assert(slot[cursor % ROOM] == cursor);
            assert(!released[cursor]); /* shared */
            reading = NOTHING;
            cursor++;
            delivered++
        :: else ->
            reading = NOTHING;
            if
            :: seen - cursor > ROOM ->
                missed = missed + seen - ROOM - cursor;
                cursor = seen - ROOM
            :: else -> (FILLED(cursor) || tail != seen) /* on its way */
            fi
        fi
    od;
    assert(delivered + missed == ALL && delivered > 0)
}
