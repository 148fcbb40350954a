/* SPDX-License-Identifier: Apache-2.0
 *
 * mailbox_away: an actor that leaves the device when nothing comes, while its ports go on sending
 * (src/actor/away.h, src/actor/warden.c, src/actor/port.h), for spin. Orders are whole here, and so
 * are slots; mailbox_order.pml and mailbox.pml look at their pieces.
 *
 * A port reads the status, writes its message, and only then is it seen that it has sent: no step
 * is ordered against the others'. One that reads "away" tries the lock, and with it brings the
 * actor back before it writes; without it, it writes all the same. The warden has the lock from
 * moving the gates until the seat has ended and the status says so. After that it looks, again and
 * again, whether something was sent that is not handled. Time does not pass in a model: the warden
 * may send the actor away whenever nothing waits.
 *
 * Verified: when nobody can do anything any more, every message is handled; the seat is started
 * only after it has ended; a message that was handled is not handled again.
 *
 * -DFORGET_SLIPPED   the warden does not look at one that is away.
 * -DLOOK_ONCE        it looks once, when the seat has ended.
 * -DAWAY_EARLY       the status says "away" before the seat has ended, without the lock.
 * -DFORGET_ORDER     one that comes back is not told that it may go beyond the gates.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define PORTS 2
#define MESSAGES 2 /* of a port */
#define LEAVES 2

mtype = { here, away };
mtype status = here;
bool lock = false;

/* The ports'. */
byte there[PORTS]; /* messages in their slots */
byte tail[PORTS];  /* and what others know of them */
byte over = 0;     /* ports that have sent everything */

/* The host's. */
byte gate[PORTS];
bool gated = false;

/* The seat's. */
byte head[PORTS];
bool alive = true;

#define WAITS (tail[0] != head[0] || tail[1] != head[1])
#define AT_GATES (head[0] >= gate[0] && head[1] >= gate[1])

active proctype seat()
{
end:
    do
    :: atomic { alive && head[0] < there[0] && !(gated && head[0] >= gate[0]) -> head[0]++ }
    :: atomic { alive && head[1] < there[1] && !(gated && head[1] >= gate[1]) -> head[1]++ }
    :: atomic { alive && gated && AT_GATES -> alive = false }
    od
}

/* With the lock. */
inline come_back()
{
    atomic {
        assert(!alive);
#ifndef FORGET_ORDER
        gated = false;
#endif
        alive = true;
        status = here
    }
}

active proctype warden()
{
    byte leaves = 0;

end:
    do
    :: atomic { status == here && leaves < LEAVES && !lock && !WAITS -> lock = true; leaves++ };
        gate[0] = tail[0];
        gate[1] = tail[1];
        gated = true;
#ifdef AWAY_EARLY
        status = away;
        lock = false;
        (!alive)
#else
        (!alive);
        status = away;
#ifdef LOOK_ONCE
        if
        :: WAITS -> come_back()
        :: else -> skip
        fi;
#endif
        lock = false
#endif
#if !defined(FORGET_SLIPPED) && !defined(LOOK_ONCE)
    :: atomic { status == away && !lock && WAITS -> lock = true };
        if
        :: status == away -> come_back()
        :: else -> skip
        fi;
        lock = false
#endif
    od
}

proctype port(byte me)
{
    byte i = 0;

    do
    :: i == MESSAGES -> break
    :: i < MESSAGES ->
        if
        :: status == here -> skip
        :: status == away -> /* it tries the lock */
            if
            :: atomic { !lock -> lock = true };
                if
                :: status == away -> come_back()
                :: else -> skip
                fi;
                lock = false
            :: lock -> skip
            fi
        fi;
        there[me]++;
        tail[me] = there[me];
        i++
    od;
    over++
}

/* A blocked end state is an error unless everything was handled. */
active proctype judge()
{
    run port(0);
    run port(1);
    (over == PORTS && head[0] == MESSAGES && head[1] == MESSAGES);
    assert(there[0] == MESSAGES && there[1] == MESSAGES)
}
