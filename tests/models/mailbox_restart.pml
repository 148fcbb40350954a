/* SPDX-License-Identifier: Apache-2.0
 *
 * mailbox_restart: one life of an actor after the other in the same memory (gyre_ring_salt and
 * gyre_ring_stamp of src/flow/ring_abi.h, make_mailbox of src/actor/actor.c), for spin. Slots are
 * whole here; mailbox.pml looks at their pieces.
 *
 * In each life a port makes calls, and a seat answers them, until both are done or the life is
 * over, which is at any moment but in the last one: messages and answers stay where they are. Then
 * the rings are zeroed, the salt is another, and sequences begin anew, with any number whose first
 * lap is without the salt: the stamp there would be 0, which is what a zeroed slot has.
 *
 * Verified: a seat takes what the port of its own life has sent, in its order, and a port the
 * answers to its own calls; the last life comes to its end.
 *
 * -DKEEP_SLOTS     the rings are not zeroed. With two lives that is well, as their salts differ in
 *                  the low bits; in a third they may come round.
 * -DKEEP_ALL       the rings are not zeroed, and the salt stays.
 * -DFORGET_TOP     salts may be small, so that 0 is a stamp of the first lap.
 * -DFIRST_AT_SALT  sequences may begin with any number.
 * All must be refused but the first with -DLIVES=2; tests/models_test.sh checks that they are.
 */
#define CAPACITY 2
#define CALLS 3 /* of a life: one comes into its second lap */
#define WRAP 8
#ifndef LIVES
#define LIVES 3
#endif

#ifdef KEEP_SLOTS
#define KEEP
#endif
#ifdef KEEP_ALL
#define KEEP
#define SALT(life) 5
#else
#ifdef FORGET_TOP
#define SALT(life) (((life) * 3) % WRAP)
#else
#define SALT(life) ((((life) * 3) % WRAP) | 4)
#endif
#endif
#define STAMP(n) (((n) % WRAP) ^ salt)

typedef slot { byte stamp, value };
slot requests[CAPACITY], replies[CAPACITY];

byte life = 1, salt, first;
byte running = 0; /* of port and seat */
bool over = false;

/* What a message says. */
#define CALL(n) (16 * life + ((n) % WRAP))

proctype port()
{
    byte tail = first, oldest = first;

    do
    :: over || oldest == first + CALLS -> break
    :: d_step {
        tail - oldest < CAPACITY && tail < first + CALLS ->
        requests[tail % CAPACITY].value = CALL(tail);
        requests[tail % CAPACITY].stamp = STAMP(tail);
        tail++
    }
    :: d_step {
        oldest < first + CALLS && replies[oldest % CAPACITY].stamp == STAMP(oldest) ->
        assert(oldest < tail && replies[oldest % CAPACITY].value == CALL(oldest));
        oldest++
    }
    od;
    running--
}

proctype seat()
{
    byte head = first;

    do
    :: over || head == first + CALLS -> break
    :: d_step {
        head < first + CALLS && requests[head % CAPACITY].stamp == STAMP(head) ->
        assert(requests[head % CAPACITY].value == CALL(head));
        replies[head % CAPACITY].value = CALL(head);
        replies[head % CAPACITY].stamp = STAMP(head);
        head++
    }
    od;
    running--
}

init {
    byte i;

    do
    :: life <= LIVES ->
        atomic {
            salt = SALT(life);
#ifdef FORGET_TOP
            first = 0;
#else
            select (first : 0 .. WRAP - 1);
#endif
#if !defined(FIRST_AT_SALT) && !defined(FORGET_TOP)
            if
            :: salt == first || salt == (first + 1) % WRAP -> first = (first + CAPACITY) % WRAP
            :: else -> skip
            fi;
#endif
            over = false;
            running = 2;
            run port();
            run seat()
        }
        if
        :: life < LIVES -> over = true
        :: true -> skip
        fi;
        (running == 0 && _nr_pr == 1);
        d_step {
#ifndef KEEP
            for (i : 0 .. CAPACITY - 1) {
                requests[i].stamp = 0; requests[i].value = 0;
                replies[i].stamp = 0; replies[i].value = 0
            }
#endif
            i = 0;
            life++
        }
    :: else -> break
    od
}
