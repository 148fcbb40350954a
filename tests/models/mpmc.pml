/* SPDX-License-Identifier: Apache-2.0
 *
 * mpmc: the publish protocol of include/gyre/mpmc.h, for spin. Interleavings only: that the bytes of
 * a slot follow its state, and that no state is read a lap too late, is what the acquires and
 * releases of the source are for.
 *
 * Two producers fill or abandon positions 0, 1, 2, ..., three laps of them, and two consumers empty
 * them; one of each claims two at once where it can. A state keeps one bit of the lap, where the
 * source keeps six. What is written for a position is its number, so a consumer knows what it must
 * find there. Verified: a slot never has two owners, every position is popped once with what was
 * pushed there, and there is no end state with one left. A thread for which the queue is full or
 * empty sleeps here until that changes, so that nobody can be busy for ever instead.
 *
 * -DFORGET_LAP       states without the lap: two producers of different laps meet in a slot.
 * -DFORGET_TURN      the counter moves without comparing: two threads claim one position.
 * -DHAND_OVER_FIRST  full before the copy: a consumer reads what was there before.
 * -DFREE_FIRST       empty before the copy: a producer writes over what is being read.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define CAPACITY 2
#define POSITIONS 6

#define EMPTY 0
#define FULL 1
#define VOID 2

#define SLOT(position) ((position) % CAPACITY)
#ifdef FORGET_LAP
#define STATE(position, phase) (phase)
#else
#define STATE(position, phase) (4 * (((position) / CAPACITY) % 2) + phase)
#endif
#define IS(position, phase) (state[SLOT(position)] == STATE(position, phase))

byte tail = 0, head = 0;
byte state[CAPACITY];  /* all empty, lap 0 */
byte slot[CAPACITY];   /* the bytes: the position that was pushed there */
byte owners[CAPACITY]; /* threads between claim and hand-over; not in the source */

/* gyre_mpmc_run_: `got` slots from `position` on are in that phase */
inline look(phase, most)
{
    do
    :: atomic { got < most && position + got < POSITIONS && IS(position + got, phase) -> got++ }
    :: atomic { else -> break }
    od
}

/* gyre_mpmc_claim_: they are ours, or none is */
inline swap(counter)
{
    atomic {
        if
        :: got == 0 -> position = 0
#ifndef FORGET_TURN
        :: got > 0 && counter != position -> got = 0; position = 0
#endif
        :: else ->
            counter = position + got;
            owners[SLOT(position)]++;
            owners[SLOT(position + 1)] = owners[SLOT(position + 1)] + (got == 2);
            assert(owners[0] < 2 && owners[1] < 2)
        fi
    }
}

/* gyre_mpmc_hand_over_ of one, and on to the next */
inline hand_over(as)
{
    atomic {
        state[SLOT(position)] = as;
        owners[SLOT(position)]--;
        got--;
        position = (got > 0 -> position + 1 : 0)
    }
}

proctype producer(byte most)
{
    byte position = 0, got = 0;

    do
    :: tail == POSITIONS -> break
    :: atomic { tail < POSITIONS && IS(tail, EMPTY) -> position = tail }
        look(EMPTY, most);
        swap(tail);
        do
#ifdef HAND_OVER_FIRST
        :: atomic { got > 0 -> state[SLOT(position)] = STATE(position, FULL) }
            slot[SLOT(position)] = position;
            hand_over(STATE(position, FULL))
#endif
        :: atomic { got > 0 -> slot[SLOT(position)] = position }
            hand_over(STATE(position, FULL))
        :: atomic { got > 0 -> hand_over(STATE(position, VOID)) }
        :: got == 0 -> break
        od
    od
}

proctype consumer(byte most)
{
    byte position = 0, got = 0;

    do
    :: head == POSITIONS -> break
    :: atomic { head < POSITIONS && IS(head, FULL) -> position = head }
        look(FULL, most);
        swap(head);
        do
#ifdef FREE_FIRST
        :: atomic { got > 0 -> state[SLOT(position)] = STATE(position + CAPACITY, EMPTY) }
            assert(slot[SLOT(position)] == position);
            hand_over(STATE(position + CAPACITY, EMPTY))
#endif
        :: atomic { got > 0 -> assert(slot[SLOT(position)] == position) }
            hand_over(STATE(position + CAPACITY, EMPTY))
        :: got == 0 -> break
        od
    :: atomic { head < POSITIONS && IS(head, VOID) -> position = head }
        look(VOID, 1);
        swap(head);
        if
        :: atomic { got > 0 -> hand_over(STATE(position + CAPACITY, EMPTY)) }
        :: else
        fi
    od
}

init {
    atomic {
        slot[0] = POSITIONS; /* nobody's */
        slot[1] = POSITIONS;
        run producer(1);
        run producer(2);
        run consumer(1);
        run consumer(2)
    }
    (_nr_pr == 1);
    assert(head == POSITIONS && tail == POSITIONS);
    assert(IS(POSITIONS, EMPTY) && IS(POSITIONS + 1, EMPTY))
}
