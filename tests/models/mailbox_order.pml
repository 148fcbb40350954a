/* SPDX-License-Identifier: Apache-2.0
 *
 * mailbox_order: how an actor is told to pause, resume, park, drain and end while its port goes on
 * sending (src/actor/actor.c, src/actor/loop_single.h, src/actor/seat_single.h), for spin. Slots are
 * whole here; mailbox.pml looks at their pieces.
 *
 * An order is the gate, `active` and `ends`, in any order, and then its number. The gate is what
 * the port had sent when the host looked, so the seat may be beyond it before it reads the order.
 * The seat reads the number and the words one after the other, while the host may be writing the
 * next ones: it may mix two orders. It says which order is carried out, or made it end; a host that
 * finds that it ended by an older one brings it back. The host may give up waiting, and then the
 * order stands. A seat that was parked comes back where it was. Bells have gates of their own, to
 * which the same applies.
 *
 * Verified: when a pause is carried out, everything that was sent before is handled, and nothing
 * more is until the host resumes; a park or drain ends when everything that was sent before is
 * handled; a call that was sent before a drain gets its answer; ending always ends, with a full
 * ring too, and then nobody waits for room.
 *
 * -DORDER_FIRST     the number of an order is there before its gate.
 * -DACK_EARLY       an order is said to be carried out before the gate is reached.
 * -DEXACT_GATE      a seat that is beyond the gate does not count as at it.
 * -DEMPTY_ONLY      the seat looks for orders only when its ring is empty.
 * -DEND_UNSEEN      the host does not ask which order it was that made a seat end.
 * -DLOOK_ONCE       who waits for an answer and sees the end does not look for the answer again.
 * -DFORGET_CLOSE    who waits for room does not look for the end.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define CAPACITY 2
#define MESSAGES 3
#define ORDERS 2 /* to pause or park */

/* The port's. */
byte there = 0; /* messages in their slots */
byte tail = 0;  /* and what others know of them */

/* The host's. */
byte order = 0, gate = 0, ends = 0;
bool go_on = false; /* `active` */
bool alive = false; /* the seat is started, and ends by itself */
bool draining = false, terminated = false;

/* The seat's. */
byte heads = 0, carried_out = 0;
bool ended = false;

byte handled = 0;   /* and answered */
bool quiet = false; /* nothing may be handled now */
byte promised = 0;  /* messages that the last drain is to handle */

#ifdef EXACT_GATE
#define AT_GATE (head == my_gate)
#else
#define AT_GATE (head >= my_gate)
#endif
#define IS_DONE (my_ends == 1 || !gated || AT_GATE)
#ifdef EMPTY_ONLY
#define LOOKS (head == there)
#else
#define LOOKS true
#endif

active proctype seat()
{
    byte head, seen, my_gate, my_ends;
    bool gated;

end:
    do
    :: atomic {
        alive ->
        head = heads;
        my_gate = heads;
        gated = true;
        my_ends = 0;
        seen = carried_out
    }
        do
        :: atomic { head < there && !(gated && AT_GATE) -> assert(!quiet); head++; handled = head }
        :: heads != head -> heads = head
        :: atomic { LOOKS && order != seen -> seen = order };
            gated = !go_on;
            my_ends = ends;
            my_gate = gate
#ifdef ACK_EARLY
            ;
            carried_out = (my_ends == 0 -> seen : carried_out)
#endif
        :: atomic { LOOKS && IS_DONE && my_ends == 0 && carried_out != seen ->
            heads = head; carried_out = seen }
        :: LOOKS && IS_DONE && my_ends != 0 -> break
        od;
        atomic {
            heads = head;
            carried_out = seen;
            alive = false;
            ended = true;
            head = 0; my_gate = 0; my_ends = 0; seen = 0; gated = false
        }
    od
}

/* The words arrive in any order, before the number; `sent` is what the port had sent. */
inline give_order(goes_on, how)
{
    sent = tail;
#ifdef ORDER_FIRST
    order++;
#endif
    if
    :: gate = (goes_on -> gate : sent); go_on = goes_on; ends = how
    :: go_on = goes_on; ends = how; gate = (goes_on -> gate : sent)
    :: ends = how; gate = (goes_on -> gate : sent); go_on = goes_on
    fi;
#ifndef ORDER_FIRST
    order++
#endif
}

inline come_to_life()
{
    atomic { ended = false; alive = true }
}

/* Until the seat has carried out the last order, and ended if that is what it says. One that ended
 * by an order before comes back for this one. */
#ifdef END_UNSEEN
#define ENDED ended
#else
#define ENDED (ended && carried_out == order)
#endif
inline await(condition)
{
    do
    :: condition -> break
#ifndef END_UNSEEN
    :: ended && carried_out != order -> come_to_life()
#endif
    od
}

mtype = { running, paused, parked };

active proctype host()
{
    byte sent, orders = 0;
    mtype status = running;

    give_order(true, 0);
    come_to_life();
    do
    :: atomic { orders < ORDERS && status != parked -> orders++; quiet = false }; /* pause */
        give_order(false, 0);
        status = paused;
        if
        :: true ->
            await(carried_out == order);
            atomic { assert(handled >= sent); quiet = true; sent = 0 }
        :: sent = 0 /* the deadline */
        fi
    :: atomic { orders < ORDERS && status != parked -> orders++; quiet = false }; /* park */
        give_order(false, 2);
        status = paused;
        if
        :: true ->
            await(ENDED);
            atomic { assert(handled >= sent); quiet = true; sent = 0; status = parked }
        :: sent = 0 /* the deadline */
        fi
    :: atomic { status != running -> quiet = false }; /* resume */
        give_order(true, 0);
        atomic {
            if
            :: status == parked -> come_to_life()
            :: else -> skip
            fi;
            status = running;
            sent = 0
        }
#ifndef END_UNSEEN
        await(carried_out == order)
#endif
    :: atomic { /* drain */
        true ->
        quiet = false;
        if
        :: status == parked -> come_to_life()
        :: else -> skip
        fi
    }
        give_order(false, 2);
        atomic { promised = sent; draining = true };
        await(ENDED);
        assert(handled >= sent);
        break
    :: status == parked -> break
    :: atomic { status != parked -> quiet = false }; /* end at once */
        give_order(false, 1);
        draining = true;
        (ended);
        break
    od;
    atomic { quiet = true; terminated = true }
}

active proctype port()
{
    byte i = 0;

    do
    :: i == MESSAGES || draining -> break
    :: i < MESSAGES && !draining ->
        if
        :: there - heads < CAPACITY -> there++
#ifndef FORGET_CLOSE
        :: terminated -> break
#endif
        fi;
        tail = there;
        if
        :: i++
        :: true -> /* a call */
            if
            :: handled > i -> i++
            :: terminated ->
#ifdef LOOK_ONCE
                assert(i >= promised);
#else
                assert(i >= promised || handled > i);
#endif
                break
            fi
        fi
    od
}
