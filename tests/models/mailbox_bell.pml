/* SPDX-License-Identifier: Apache-2.0
 *
 * mailbox_bell: the one slot by which a quiet port calls (ring_bell and is_quiet of
 * src/actor/port.c, src/actor/loop_single.h), for spin. Pieces of slots are written, arrive and are
 * read in any order, as in mailbox.pml; bell n has stamp 2n, its answer 2n + 1.
 *
 * The port rings, and takes the answer or gives up at any moment; then it does not ring again
 * before that answer came, which it drops. With -DIN_PLACE the answer is written over the bell,
 * otherwise into a slot of its own. Stamps count modulo less than there are bells.
 *
 * Verified: every bell is heard once, whole and in its order; an answer that is taken is that of
 * the last bell; nobody waits for ever.
 *
 * -DRING_AGAIN  the port rings although the last bell was given up and is not answered.
 * It must be refused, both in place and not; tests/models_test.sh checks that it is.
 */
#ifndef BELLS
#define BELLS 5
#endif
#define FIRST 3 /* bells that count as rung at the beginning */
#define SALT 7
#define STAMP(n) (((n) % 8) ^ SALT)

typedef slot {
    byte stamp[2], value[2];
    bit coming[2]; /* the piece is on its way */
    byte coming_stamp, coming_value
};
slot slots[2];
#define BELL slots[0]
#ifdef IN_PLACE
#define ANSWER slots[0]
#else
#define ANSWER slots[1]
#endif

inline write(s, n, what)
{
    atomic { /* stores to the same place come one after the other */
        !s.coming[0] && !s.coming[1] ->
        s.coming_stamp = STAMP(n);
        s.coming_value = what;
        s.coming[0] = 1;
        s.coming[1] = 1
    }
}

inline arrive(s, q)
{
    d_step {
        s.coming[q] ->
        s.stamp[q] = s.coming_stamp;
        s.value[q] = s.coming_value;
        s.coming[q] = 0;
        if
        :: !s.coming[1 - q] -> s.coming_stamp = 0; s.coming_value = 0
        :: else -> skip
        fi
    }
}

active proctype memory()
{
end:
    do
    :: arrive(slots[0], 0)
    :: arrive(slots[0], 1)
    :: arrive(slots[1], 0)
    :: arrive(slots[1], 1)
    od
}

#define HAS(s, q, n) (s.stamp[q] == STAMP(n))

/* The second piece of a slot whose first is in `value`; `found` is whether it belongs to it. */
inline read_rest(s, n)
{
    atomic {
        found = HAS(s, rest, n);
        if
        :: found -> assert(s.value[rest] == value)
        :: else -> value = 0
        fi;
        rest = 0
    }
}

byte heard = FIRST;

active proctype seat()
{
    byte value;
    bit rest;
    bool found;

end:
    do
    :: atomic { HAS(BELL, 0, 2 * (heard + 1)) -> value = BELL.value[0]; rest = 1 }
        goto hear
    :: atomic { HAS(BELL, 1, 2 * (heard + 1)) -> value = BELL.value[1]; rest = 0 }
hear:
        read_rest(BELL, 2 * (heard + 1));
        if
        :: found ->
            atomic { heard++; assert(value == heard); value = 0; found = false };
            write(ANSWER, 2 * heard + 1, 16 + heard)
        :: else -> skip
        fi
    od
}

active proctype port()
{
    byte rung = FIRST, value;
    bit rest;
    bool found, is_due = false;

    do
    :: rung == FIRST + BELLS && !is_due -> break
#ifdef RING_AGAIN
    :: rung < FIRST + BELLS ->
#else
    :: rung < FIRST + BELLS && !is_due ->
#endif
        is_due = false;
        rung++;
        write(BELL, 2 * rung, rung);
        do
        :: atomic { HAS(ANSWER, 0, 2 * rung + 1) -> value = ANSWER.value[0]; rest = 1 }
            goto take
        :: atomic { HAS(ANSWER, 1, 2 * rung + 1) -> value = ANSWER.value[1]; rest = 0 }
take:
            read_rest(ANSWER, 2 * rung + 1);
            if
            :: found -> assert(value == 16 + rung); break
            :: else -> skip
            fi
        :: is_due = true; break
        od;
        value = 0;
        found = false
    :: is_due && HAS(ANSWER, 0, 2 * rung + 1) && HAS(ANSWER, 1, 2 * rung + 1) -> is_due = false
    od;
    assert(heard == FIRST + BELLS)
}
