/* SPDX-License-Identifier: Apache-2.0
 *
 * mailbox_front: how the warps of a seat on a GPU share a ring, and how they are stopped
 * (src/actor/cuda_reader.h, src/actor/cuda_steward.h, gyre_block_init of src/actor/loop_cuda.h),
 * for spin. Widths are narrow: who reads a message handles it. Slots and orders are whole here;
 * mailbox.pml and mailbox_order.pml look at their pieces.
 *
 * Chunks belong to readers in turn. A reader takes its chunk when the front has come to it: of what
 * is there any part from the beginning on, as it may see slots late. It moves the front when that
 * is handled, and tells its progress some time later. The steward moves the front by what it sees
 * ahead, and publishes heads: one less than is done, or, released, all of it. It obeys orders: one
 * that has a gate raises it to the front until that is reached. Readers look at the gate first and
 * at their chunk then, so one may come to its chunk long after the gate is there. A seat that ended
 * begins again at its head.
 *
 * Verified: every message is handled once, over pauses, parks and new launches; no slot is written
 * again before it was read; when the head says that all is handled, or an order is said to be
 * carried out, what was sent before is done, and for all to see; nobody waits for ever.
 * Not so: that nothing is handled any more when a pause is carried out. A reader that looked before
 * the gate was there may take what was sent after that.
 *
 * -DFORGET_RAISE   the gate is what the host says, wherever the front is.
 * -DTAKE_BEYOND    a reader takes what is there behind what is not.
 * -DCREDIT_MORE    a head that returns room says one more than is done.
 * -DCREDIT_ALL     it says all that is done, and is not released.
 * -DTELL_FIRST     a reader tells what it did before that can be seen.
 * -DFORGET_UNTOLD  a reader that ends keeps for itself what it has not told.
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
#define CAN_READ                                                                                   \
    (base <= front && (NEXT < there || TAKES_BEYOND) && (!gated || NEXT < gate))
#ifdef TAKE_BEYOND
#define TAKES_BEYOND (base + 1 < there && !(had & 2))
#else
#define TAKES_BEYOND false
#endif
#define HAS(i) (!(had & (1 << (i))) && base + (i) < there && base + (i) < below)

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

proctype reader(byte me)
{
    byte base, had, below, ready;
    bool untold;

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
        :: atomic { !quit && CAN_READ -> below = (gated -> 0 : 255) };
            if
            :: below == 0 -> below = gate
            :: else -> skip
            fi;
            atomic {
                if
                :: HAS(0) -> ready = 1
                :: HAS(0) && HAS(1) -> ready = 3
                :: HAS(1) && (had & 1) -> ready = 2
#ifdef TAKE_BEYOND
                :: HAS(1) && !(had & 1) -> ready = 2
#endif
                :: else -> skip
                fi;
                below = 0;
                assert(!(handled & (ready << base)));
                handled = handled | (ready << base)
            };
            atomic {
                if
                :: ready ->
                    had = had | ready;
                    untold = true;
                    if
                    :: base + (had >= 2 -> 2 : 1) > front -> front = base + (had >= 2 -> 2 : 1)
                    :: else -> skip
                    fi;
                    if
                    :: had == 3 -> base = base + CHUNK * READERS; had = 0
                    :: else -> skip
                    fi;
                    ready = 0
                :: else -> skip
                fi
            }
        :: untold -> tell()
        :: quit -> break
        od;
#ifndef FORGET_UNTOLD
        if
        :: untold -> tell()
        :: else -> skip
        fi;
#endif
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

proctype steward()
{
    byte seen, obeyed, my_ends;

end:
    do
    :: atomic { has_begun -> has_begun = false; seen = carried_out; obeyed = carried_out }
end_looks:
        do
        :: atomic { !gated && AHEAD <= there -> front = AHEAD }
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
        atomic { carried_out == order -> assert(IS_DONE(sent) && released >= sent) };
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
