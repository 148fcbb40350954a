/* SPDX-License-Identifier: Apache-2.0
 *
 * load: to be written.
 */
#include "dev/backend.h"
