/* SPDX-License-Identifier: Apache-2.0
 *
 * reply: one place of the table of src/flow/reply.c, for spin. Interleavings only: state and
 * generation are one word, swapped with acquire and release, and the answer is written between two
 * swaps of it.
 *
 *   free g --take--> waiting g --sleep--> asleep g
 *   waiting or asleep g --answer begins--> answering g --answer ends--> answered g
 *   waiting or asleep g --give up--> free g+1        answered g --received--> free g+1
 *
 * A caller makes two calls, one after the other, in the same place, and may give up one that is not
 * patient at any moment; the tickets are answered, the first by two threads, at any time, perhaps
 * during the second call. Verified: an answer that was taken is received by the call it was meant
 * for, whole, and one that was refused wrote nothing; a call has at most one; nobody sleeps for
 * ever.
 *
 * -DFREE_WHILE_ANSWERING  who gives up does not look whether an answer is being written.
 * -DPLAIN_ANSWER          an answer begins with a look and a store instead of one swap.
 * -DFORGET_WAKE           an answer does not wake the caller that sleeps.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define CALLS 2
#define NOTHING 9

mtype = { free, waiting, sleeping, answering, answered };

mtype state = free;  /* the word: this */
byte generation = 0; /* and this */
byte first = NOTHING, second = NOTHING; /* the answer, in two stores: who wrote them */
bool asleep = false; /* in the futex */

byte taken[CALLS];    /* answers that returned GYRE_OK */
byte received[CALLS]; /* answers that the caller got */

proctype answerer(byte ticket; byte id)
{
    mtype was;
    bool mine;

#ifdef PLAIN_ANSWER
    atomic {
        was = state;
        mine = (generation == ticket && (state == waiting || state == sleeping))
    }
    if
    :: mine -> state = answering
    :: else -> skip
    fi;
#else
    atomic { /* one swap */
        was = state;
        mine = (generation == ticket && (state == waiting || state == sleeping));
        if
        :: mine -> state = answering
        :: else -> skip
        fi
    }
#endif
    if
    :: mine ->
        first = id;
        second = id;
        atomic {
            assert(generation == ticket && state == answering);
            state = answered;
            taken[ticket]++
        }
#ifndef FORGET_WAKE
        if
        :: was == sleeping -> asleep = false
        :: else -> skip
        fi
#endif
    :: else -> skip
    fi
}

proctype caller()
{
    byte call = 0, ticket;
    bool patient;

    do
    :: call == CALLS -> break
    :: else ->
        if
        :: patient = true
        :: patient = false
        fi;
        atomic {
            assert(state == free);
            state = waiting;
            ticket = generation;
            run answerer(ticket, 2 * call);
            if
            :: call == 0 -> run answerer(ticket, 1)
            :: else -> skip
            fi
        }
        do
        :: state == answered -> break
        :: atomic { state == waiting -> state = sleeping }
        :: state == sleeping ->
            atomic { if :: state == sleeping -> asleep = true :: else -> skip fi } /* FUTEX_WAIT */
            if
            :: !asleep
            :: !patient -> asleep = false
            fi
        :: state == answering -> (state != answering) /* no longer than it is being written */
        :: !patient -> /* the deadline */
            atomic {
                if
#ifdef FREE_WHILE_ANSWERING
                :: state != answered -> state = free; generation++; goto next
#else
                :: state == waiting || state == sleeping -> state = free; generation++; goto next
#endif
                :: else -> skip
                fi
            }
            (state == answered);
            break
        od;
        assert(first == second && first / 2 == call);
        received[ticket]++;
        atomic { state = free; generation++ }
next:
        call++
    od
}

init {
    byte ticket = 0;

    run caller();
    (_nr_pr == 1);
    do
    :: ticket == CALLS -> break
    :: else ->
        assert(taken[ticket] == received[ticket] && taken[ticket] <= 1);
        ticket++
    od
}
