/* SPDX-License-Identifier: Apache-2.0
 *
 * stream: to be written.
 */
#include "dev/backend.h"
