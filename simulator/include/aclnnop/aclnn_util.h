/* SPDX-License-Identifier: Apache-2.0 */
/* Visibility of aclnn functions. */
#ifndef ACLNNOP_ACLNN_UTIL_H_
#define ACLNNOP_ACLNN_UTIL_H_

#ifndef ACLNN_API
#define ACLNN_API __attribute__((visibility("default")))
#endif

#endif /* ACLNNOP_ACLNN_UTIL_H_ */
