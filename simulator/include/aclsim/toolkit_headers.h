// SPDX-License-Identifier: Apache-2.0
// Says in the debug information of what includes it where these headers were: findings skip lines of the folder that has this one.
// A folder that is only called as theirs is a project's own.
#pragma once

#ifdef __cplusplus
[[gnu::used]] static void aclsimToolkitHeaders() {}
#endif
