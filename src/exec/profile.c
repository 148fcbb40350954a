/* SPDX-License-Identifier: Apache-2.0
 *
 * profile: to be written.
 */
#include "dev/backend.h"
