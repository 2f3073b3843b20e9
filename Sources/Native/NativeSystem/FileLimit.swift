// SPDX-License-Identifier: Apache-2.0
import CLinux
internal import Glibc

/// How many files the process may have open, after the limit was raised as far as `wanted` needs and the hard limit
/// allows (getrlimit(2)); lower than `wanted` where the hard limit is.
///
/// - Throws: `SystemCallError` when the kernel refuses to tell or to change the limit.
package func raiseFileLimit(atLeast wanted: Int) throws(SystemCallError) -> Int {
    var limit = rlimit()
    guard unsafe clinux_get_file_limit(&limit) == 0 else { throw .last("getrlimit") }
    let target = min(rlim_t(max(wanted, 0)), limit.rlim_max)
    guard limit.rlim_cur < target else { return Int(clamping: limit.rlim_cur) }
    limit.rlim_cur = target
    guard unsafe clinux_set_file_limit(&limit) == 0 else { throw .last("setrlimit") }
    return Int(clamping: target)
}
