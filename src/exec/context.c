/* SPDX-License-Identifier: Apache-2.0
 *
 * context: to be written.
 */
#include "dev/backend.h"
