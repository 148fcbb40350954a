/* SPDX-License-Identifier: Apache-2.0
 *
 * cache: to be written.
 */
#include "dev/backend.h"
