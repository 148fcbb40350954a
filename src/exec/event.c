/* SPDX-License-Identifier: Apache-2.0
 *
 * event: to be written.
 */
#include "dev/backend.h"
