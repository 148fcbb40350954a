/* SPDX-License-Identifier: Apache-2.0
 *
 * backends: the only list of them. A new one is a folder, a declaration and a line here.
 */
#include "dev/backend.h"

extern const gyre_backend gyre_backend_cpu;
extern const gyre_backend gyre_backend_cuda;
extern const gyre_backend gyre_backend_opencl;
extern const gyre_backend gyre_backend_null;

/* clang-format off */
const gyre_backend *const gyre_backends[] = {
    &gyre_backend_cpu,
    &gyre_backend_cuda,
    &gyre_backend_opencl,
    &gyre_backend_null,
    NULL,
};
/* clang-format on */
