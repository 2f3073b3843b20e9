// SPDX-License-Identifier: Apache-2.0
// The parts of this library that are in use. `cjose/header.h` declares its names as mutable globals, which Swift does
// not take: they are written out where they are needed, or not needed at all.
#pragma once
#include <cjose/error.h>
#include <cjose/jwk.h>
#include <cjose/jws.h>
