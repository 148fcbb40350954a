/* SPDX-License-Identifier: Apache-2.0
 *
 * dispatch: to be written.
 */
#include "dev/backend.h"
