/* SPDX-License-Identifier: Apache-2.0
 *
 * devices: the drivers and devices of this machine, as gyre info shows them.
 */
#ifndef GYRE_DEVICES_H
#define GYRE_DEVICES_H

#include "facts.h"

/* Two sections: every backend with its driver or why there is none, and every device, those that
 * cannot be used with the reason. */
void devices_show(facts *f);

#endif
