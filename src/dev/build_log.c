/* SPDX-License-Identifier: Apache-2.0
 *
 * build_log: to be written.
 */
#include "dev/backend.h"
