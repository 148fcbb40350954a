/* SPDX-License-Identifier: Apache-2.0
 *
 * signature: to be written.
 */
#include "dev/backend.h"
