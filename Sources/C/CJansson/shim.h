// SPDX-License-Identifier: Apache-2.0
// What Swift cannot call of this library (variadics, cast macros), and nothing else.
#pragma once
#include <jansson.h>
