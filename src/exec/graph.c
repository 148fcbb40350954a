/* SPDX-License-Identifier: Apache-2.0
 *
 * graph: to be written.
 */
#include "dev/backend.h"
