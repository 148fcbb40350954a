/* SPDX-License-Identifier: Apache-2.0
 *
 * device: to be written.
 */
#include "dev/backend.h"
