# SPDX-License-Identifier: Apache-2.0
# Source this file: operator look-up, dynamic linker and self-test then find the package that it lies in.
_package_folder=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
case ":${ASCEND_CUSTOM_OPP_PATH:-}:" in
  *":$_package_folder:"*) ;;
  *) export ASCEND_CUSTOM_OPP_PATH=$_package_folder${ASCEND_CUSTOM_OPP_PATH:+:$ASCEND_CUSTOM_OPP_PATH} ;;
esac
case ":${LD_LIBRARY_PATH:-}:" in
  *":$_package_folder/op_api/lib:"*) ;;
  *) export LD_LIBRARY_PATH=$_package_folder/op_api/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ;;
esac
unset _package_folder
