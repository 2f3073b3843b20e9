// SPDX-License-Identifier: Apache-2.0
// Nothing of this library needs a function of our own.
#pragma once
#include <libpq-fe.h>
