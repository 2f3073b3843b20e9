// SPDX-License-Identifier: Apache-2.0
import GatewayAssembly
import Glibc

exit(await Program.run())
