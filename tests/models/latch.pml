/* SPDX-License-Identifier: Apache-2.0
 *
 * latch: the lock of an actor (src/actor/latch.c), for spin. Interleavings only: every access there
 * is seq_cst. The word is three variables here, which change in one step. How one sleeps until it is
 * free is park.pml's matter: here who takes it blocks.
 *
 * Two threads change the actor's life, each twice: they have the latch, wait for as long as nobody
 * presses or for less, and give it back. Two others want it to end: they press, and have the latch
 * or, when their time is over, which may be at any moment, leave what they want to the holder. What
 * they want is done by whoever has the latch then, once for all that wanted it before.
 *
 * Verified: one at a time has it; what anybody wanted was done in the end; a holder who has seen that
 * somebody presses sees it again until he gives the latch back (life.c asks twice: he would return
 * too early, and not know why); and no end state in which somebody waits.
 *
 * -DPLAIN_GIVE    it is given back without a look at what was left.
 * -DPLAIN_LEAVE   what is wanted is left without a look at whether there is a holder still.
 * -DFORGET_FREE   nobody has the latch, and it is left to him.
 * -DCOUNT_FIRST   who presses no more says so before he leaves what he wants,
 * -DCOUNT_LAST    or after it, when somebody may have done it already.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define HOLDERS 2
#define PRESSERS 2
#define TIMES 2

bool taken = false;
bool left = false;
byte pressing = 0;

byte inside = 0; /* threads that have it */
bool wants[PRESSERS];
byte over = 0;

inline enter()
{
    inside++;
    assert(inside == 1)
}

/* By who has it. */
inline terminate()
{
    atomic { wants[0] = false; wants[1] = false }
}

inline give()
{
    do
    :: true ->
        inside--;
        atomic {
            given = !left;
            left = false;
#ifdef PLAIN_GIVE
            given = true;
#endif
            taken = !given
        };
        if
        :: given -> break
        :: else -> skip
        fi;
        enter();
        terminate()
    od
}

proctype holder()
{
    byte i;
    bool given, seen;

    for (i : 1 .. TIMES) {
        atomic { !taken -> taken = true };
        enter();
        seen = (left || pressing > 0);
        assert(!seen || left || pressing > 0);
        give()
    }
    over++
}

proctype presser(byte me)
{
    bool held, mine = false, given;

    wants[me] = true;
    pressing++;
    if
    :: atomic { !taken -> taken = true; mine = true; pressing-- }
    :: true -> /* its time is over */
#ifdef COUNT_FIRST
        pressing--;
#endif
#ifdef PLAIN_LEAVE
        held = taken;
#endif
        atomic {
#ifndef PLAIN_LEAVE
            held = taken;
#endif
#ifdef FORGET_FREE
            held = true;
#endif
            mine = !held;
            taken = true;
            left = left || held;
#if !defined(COUNT_FIRST) && !defined(COUNT_LAST)
            pressing--
#endif
        }
#ifdef COUNT_LAST
        pressing--
#endif
    fi;
    if
    :: mine ->
        enter();
        terminate();
        give()
    :: else -> skip
    fi;
    over++
}

/* A blocked end state is an error unless everything that was wanted was done. */
active proctype judge()
{
    run holder();
    run holder();
    run presser(0);
    run presser(1);
    (over == HOLDERS + PRESSERS);
    assert(!taken && !left && pressing == 0 && !wants[0] && !wants[1])
}
