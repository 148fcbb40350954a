/* SPDX-License-Identifier: Apache-2.0
 *
 * baton: the turns of lab/bench/baton.c and turns.c, for spin. Interleavings only: `turn` is one
 * word, passed on with release and read with acquire, and nothing else is shared without it.
 *
 * Two sides are set up in any order. The leader, which is either, finds its pace and hands on; the
 * other finds its own, makes the plan and gives the turn to the side that begins. Then they take the
 * turns A B B A B A A B, or the mirror image, and wait for the end; whoever watches may end it at any
 * moment, as when one of them has died. Verified: never two at once, what
 * is over stays over, and no end state in which a side still sleeps.
 *
 * The nap of the source, which looks again after a while, is left out: without it a lost wake would
 * be for ever, so that it cannot hide one.
 *
 * -DFORGET_COMPARE  the futex does not compare: a pass between look and sleep is lost.
 * -DFORGET_OVER     a pass overwrites the end, and a side waits for one that is gone.
 * Both must be refused; tests/models_test.sh checks that they are.
 */
#define OLD 0
#define NEW 1
#define NOBODY 2
#define OVER 3
#define TURNS 8

byte turn = NOBODY;
byte arrived = 0; /* sides that are set up */
bool asleep[2];   /* in the futex */
byte inside = 0;  /* running an epoch */
bool ended = false;

byte leader;
byte begins;
bool planned = false;

/* whose the i-th turn is */
#define SIDE(i) ((i == 0 || i == 3 || i == 5 || i == 6) -> begins : 1 - begins)

inline pass(to)
{
    atomic {
        if
#ifndef FORGET_OVER
        :: turn == OVER -> skip
#endif
        :: else -> turn = to
        fi
    }
    atomic { asleep[OLD] = false; asleep[NEW] = false } /* FUTEX_WAKE: all that sleep now */
}

/* Until it is `mine`, or over. */
inline await(mine)
{
    do
    :: true ->
        seen = turn;
        if
        :: seen == mine || seen == OVER -> break
        :: else ->
            atomic {
                if
#ifndef FORGET_COMPARE
                :: turn != seen -> skip
#endif
                :: else -> asleep[me] = true
                fi
            }
            !asleep[me] /* blocks until it is woken */
        fi
    od
}

proctype side(byte me)
{
    byte i = 0, seen;
    bool last;

    atomic { arrived++; last = (arrived == 2) }
    if
    :: last -> pass(leader)
    :: else -> skip
    fi;
    await(me);
    if
    :: seen == OVER -> goto out
    :: else -> skip
    fi;
    inside++; /* finding its pace */
    assert(inside == 1);
    inside--;
    if
    :: me == leader ->
        pass(1 - me);
        await(me);
        if
        :: seen == OVER -> goto out
        :: else -> skip
        fi;
        assert(planned)
    :: else ->
        planned = true;
        pass(begins)
    fi;
    do
    :: i == TURNS -> break
    :: i < TURNS && SIDE(i) != me -> i++
    :: i < TURNS && SIDE(i) == me ->
        if
        :: i == 0 || SIDE(i - 1) != me ->
            await(me);
            if
            :: seen == OVER -> goto out
            :: else -> skip
            fi
        :: else -> skip
        fi;
        inside++;
        assert(inside == 1);
        inside--;
        if
        :: i + 1 == TURNS -> pass(OVER)
        :: i + 1 < TURNS && SIDE(i + 1) != me -> pass(1 - me)
        :: else -> skip
        fi;
        i++
    od;
    await(OVER);
out:
    skip
}

/* May end it, at any moment or never. */
proctype watcher()
{
    if
    :: pass(OVER); ended = true; assert(turn == OVER)
    :: true
    fi
}

init {
    atomic {
        if
        :: leader = OLD
        :: leader = NEW
        fi;
        if
        :: begins = OLD
        :: begins = NEW
        fi;
        run side(OLD);
        run side(NEW);
        run watcher()
    }
}
