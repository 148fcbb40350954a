/* SPDX-License-Identifier: Apache-2.0
 *
 * monitor: to be written.
 */
#include "dev/backend.h"
