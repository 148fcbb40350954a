/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel: to be written.
 */
#include "dev/backend.h"
