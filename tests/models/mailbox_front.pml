/* SPDX-License-Identifier: Apache-2.0
 *
 * mailbox_front: how the warps of a seat on a GPU share a ring, and how they are stopped
 * (src/actor/cuda_chunk.h, src/actor/cuda_reader.h, src/actor/cuda_tell.h, src/actor/cuda_steward.h,
 * gyre_block_init of src/actor/loop_cuda.h), for spin. Widths are narrow: who reads a message
 * handles it; mailbox_hand.pml has the others, and bells. Slots and orders are whole here;
 * mailbox.pml and mailbox_order.pml look at their pieces.
 *
 * Chunks belong to readers in turn. A reader looks whether it is gated, and then whether the front
 * has come to its chunk, which may be long after. Of what is there it takes any part from the
 * beginning on, as it may see slots late. If the front has not passed the chunk the reader moves it
 * behind that, and looks at the gate once more, before it handles anything. It tells its progress
 * some time later. The steward moves the front by what it sees ahead, while nothing is gated, and
 * publishes heads: one less than is done, or, released, all of it. It obeys orders: one that has a
 * gate raises it to the front until that is reached. A seat that ended begins again at its head.
 *
 * A chunk that the front has passed is not looked at again. For nobody but its reader and the
 * steward moves the front over its end. That reader has seen that nothing was gated, and moved
 * nothing since; the steward moves nothing while it is. So the front was there before the gate,
 * which is raised to it then, and who does that waits for the whole chunk.
 *
 * Verified: every message is handled once, over pauses, parks and new launches; no slot is written
 * again before it was read; when the head says that all is handled, or an order is said to be
 * carried out, what was sent before is done, and for all to see; nothing is handled from when a
 * pause is carried out until the next order; nobody waits for ever.
 *
 * -DFORGET_RAISE   the gate is what the host says, wherever the front is.
 * -DLOOK_ONCE      a reader does not look at the gate again.
 * -DPASS_HALF      it takes a chunk for passed that the front is in.
 * -DSCOUT_GATED    the steward moves the front while there is a gate.
 * -DCREDIT_MORE    a head that returns room says one more than is done.
 * -DCREDIT_ALL     it says all that is done, and is not released.
 * -DTELL_FIRST     a reader tells what it did before that can be seen.
 * -DBEGIN_WHOLE    a reader begins with a whole chunk.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define CHUNK 2 /* the code below counts on that */
#define READERS 2
#define CAPACITY 4
#define FIRST 1 /* what sequences begin with */
#ifndef LAST
#define LAST 6 /* behind the last message */
#endif
#ifndef ORDERS
#define ORDERS 1 /* to pause or park */
#endif
#define DUE 2 /* slots, before a head is published while messages come fast */

/* The port's: messages in their slots, and what others know of them. */
byte there = FIRST;

/* The host's. */
byte order = 0, ends = 0, host_gate = FIRST;
bool go_on = false; /* `active` */

/* The seat's. */
byte heads = FIRST, carried_out = 0;
bool ended = false;

/* What its warps share. */
byte front, gate, published, progress[READERS];
bool gated, quit;
byte first;                      /* where the launch began */
bool begins[READERS], has_begun; /* readers, the steward */
byte running = 0;                /* readers */

/* Messages, as bits: in hand or handled, and what they did can be seen by others of the seat. What
 * is below `released` can be seen by the host. */
short handled = 0, done = 0;
byte released = FIRST;
bool quiet = false; /* nothing may be handled now */

#define UP_TO(n) ((1 << (n)) - (1 << FIRST))
#define IS_DONE(n) ((done & UP_TO(n)) == UP_TO(n))
#define OWN(reader) (reader == 0 -> 819 : 204) /* chunks in turn */

inline launch()
{
    d_step {
        first = heads;
        front = first;
        gate = first;
        published = first;
        progress[0] = (first / CHUNK % READERS == 0 -> first : (first / CHUNK + 1) * CHUNK);
        progress[1] = (first / CHUNK % READERS == 1 -> first : (first / CHUNK + 1) * CHUNK);
        gated = true;
        quit = false;
        ended = false;
        begins[0] = true;
        begins[1] = true;
        has_begun = true;
        running = READERS
    }
}

/* By the reader that has the chunk at `base`, of which `had` is done, as bits. */
#define NEXT (base + (had & 1))
#define CAN_READ (base <= front && NEXT < there)
#define HAS(i) (!(had & (1 << (i))) && base + (i) < there && base + (i) < below)
#ifdef PASS_HALF
#define IS_PASSED (base < front)
#else
#define IS_PASSED (base + CHUNK <= front)
#endif
#ifdef LOOK_ONCE
#define LOOKS_AGAIN false
#else
#define LOOKS_AGAIN (!passed)
#endif
#define OPEN 255
#define BEHIND (base + (ready >= 2 -> 2 : 1))

inline tell()
{
#ifdef TELL_FIRST
    progress[me] = NEXT;
    done = done | (handled & OWN(me));
#else
    done = done | (handled & OWN(me));
    progress[me] = NEXT;
#endif
    untold = false
}

inline take()
{
    atomic {
        if
        :: HAS(0) -> ready = 1
        :: HAS(0) && HAS(1) -> ready = 3
        :: HAS(1) && (had & 1) -> ready = 2
        :: else -> skip
        fi;
        below = 0;
        if
        :: ready && !passed && BEHIND > front -> front = BEHIND
        :: else -> skip
        fi
    };
    atomic {
        if
        :: LOOKS_AGAIN && gated && BEHIND > gate -> ready = 0
        :: else -> skip
        fi;
        passed = false;
        assert(!(handled & (ready << base)));
        assert(!ready || !quiet);
        handled = handled | (ready << base)
    };
    atomic {
        if
        :: ready ->
            assert(!quiet);
            had = had | ready;
            untold = true;
            if
            :: had == 3 -> base = base + CHUNK * READERS; had = 0
            :: else -> skip
            fi;
            ready = 0
        :: else -> skip
        fi
    }
}

proctype reader(byte me)
{
    byte base, had, below, ready;
    bool untold, passed;

end:
    do
    :: atomic {
        begins[me] ->
        begins[me] = false;
        base = (first / CHUNK + (me + READERS - first / CHUNK % READERS) % READERS) * CHUNK;
#ifndef BEGIN_WHOLE
        had = (base < first -> 1 : 0)
#endif
    }
end_looks:
        do
        :: atomic { !quit && gated && CAN_READ && NEXT < gate -> below = gate };
            take()
        :: atomic { !quit && !gated -> below = OPEN };
end_open: /* the front may come here when it is gated again */
            if
            :: atomic { CAN_READ -> passed = IS_PASSED };
                take()
            :: atomic { gated || untold || quit -> below = 0 }
            fi
        :: untold -> tell()
        :: quit -> break
        od;
        if
        :: untold -> tell()
        :: else -> skip
        fi;
        atomic { base = 0; had = 0; untold = false; running-- }
    od
}

#define LEAST (progress[0] < progress[1] -> progress[0] : progress[1])

inline publish_all()
{
    d_step {
        published = LEAST;
        heads = published;
        released = heads
    }
}

inline raise_gate()
{
    d_step {
        if
        :: gated && front > gate -> gate = front
        :: else -> skip
        fi
    }
}

/* What the steward sees ahead: the last slot of every second chunk. */
#define AHEAD ((front / CHUNK + 2) * CHUNK)
#ifdef SCOUT_GATED
#define SCOUTS true
#else
#define SCOUTS (!gated)
#endif

proctype steward()
{
    byte seen, obeyed, my_ends;

end:
    do
    :: atomic { has_begun -> has_begun = false; seen = carried_out; obeyed = carried_out }
end_looks:
        do
        :: atomic { SCOUTS && AHEAD <= there -> front = AHEAD }
        :: d_step {
            LEAST - published >= DUE ->
#ifdef CREDIT_MORE
            published = LEAST + 1;
#else
#ifdef CREDIT_ALL
            published = LEAST;
#else
            published = LEAST - 1;
#endif
#endif
            heads = published
        }
        :: LEAST > published -> publish_all()
        :: atomic { order != seen -> seen = order; my_ends = ends; gate = host_gate };
            gated = !go_on
        :: obeyed != seen && (!gated || LEAST > published || published >= gate) ->
#ifndef FORGET_RAISE
            raise_gate();
#endif
            publish_all();
            atomic {
                if
                :: gated && published < gate -> skip
                :: else ->
                    obeyed = seen;
                    if
                    :: my_ends -> quit = true; break
                    :: else -> carried_out = seen
                    fi
                fi
            }
        od;
        (running == 0);
        publish_all();
        atomic { carried_out = seen; ended = true; seen = 0; obeyed = 0; my_ends = 0 }
    od
}

inline give_order(goes_on, how)
{
    atomic {
        sent = there;
        host_gate = (goes_on -> host_gate : sent);
        go_on = goes_on;
        ends = how;
        order++
    }
}

active proctype host()
{
    byte sent, orders = 0;

    atomic {
        run reader(0);
        run reader(1);
        run steward()
    }
    give_order(true, 0);
    launch();
    do
    :: orders < ORDERS -> /* pause */
        orders++;
        give_order(false, 0);
        atomic { carried_out == order -> assert(IS_DONE(sent) && released >= sent); quiet = true };
        quiet = false;
        give_order(true, 0)
    :: orders < ORDERS -> /* park */
        orders++;
        give_order(false, 2);
        atomic { ended -> assert(IS_DONE(sent) && released >= sent) };
        give_order(true, 0);
        launch()
    :: break
    od
}

active proctype port()
{
    do
    :: atomic {
        there < LAST && there - heads < CAPACITY ->
        assert(there - FIRST < CAPACITY || (handled & (1 << (there - CAPACITY))));
        there++
    }
    :: atomic { heads == there -> assert(IS_DONE(there) && released >= there) };
        if
        :: there == LAST -> break
        :: else -> skip
        fi
    od
}
