/* SPDX-License-Identifier: Apache-2.0
 *
 * health: to be written.
 */
#include "dev/backend.h"
