/* SPDX-License-Identifier: Apache-2.0
 *
 * trial: how many replicas of a bell are best on a GPU, tried at the first launch.
 *
 * More warps that watch see a call sooner, and make the reads of each other slower; where the best
 * lies depends on the GPU, its PCIe and the host. So the first launch of a process on a device
 * launches a seat with few, more and most replicas, calls each a few hundred times with a message
 * that is not the behaviour's, and takes the fewest that are within a few percent of the best. No
 * other number is tried, and no call made, once 40 ms are over; what was not tried to the end does
 * not count. What is found is remembered, for each number of ports and each kind of width.
 *
 * Threads   any; an actor's lock is held.
 * Owns      what was found, for the life of the process.
 */
#ifndef GYRE_ACTOR_TRIAL_H
#define GYRE_ACTOR_TRIAL_H

#include "actor/actor.h"

/* Tries, unless it is known or the caller wishes a number. What goes wrong is left for the launch
 * to find. The lock is held; nothing is ready, before and after. */
void gyre_trial_make(gyre_actor *actor, const gyre_actor_launch_options *options);

/* What was found for such an actor; 0: nothing yet. */
uint32_t gyre_trial_found(const gyre_actor *actor);

/* The same for people: " (4: 2.01 us, 8: 1.95 us)", or nothing. Static. */
const char *gyre_trial_words(const gyre_actor *actor);

#endif
