# SPDX-License-Identifier: Apache-2.0
# To be sourced by bash or zsh: the simulator stands in CANN's place for every program that is started from here.
# source "$(aclgrad config --set-env)"
if [ -n "${BASH_SOURCE:-}" ]; then
  aclgrad_file=$BASH_SOURCE
elif [ -n "${ZSH_VERSION:-}" ]; then
  eval 'aclgrad_file=${(%):-%x}'
else
  aclgrad_file=$0
fi
aclgrad_root=$(cd "$(dirname "$aclgrad_file")" && pwd)
if [ ! -f "$aclgrad_root/lib64/libascendcl.so" ]; then
  echo "set_env.sh: no toolkit in $aclgrad_root. Next: source \"\$(aclgrad config --set-env)\" in bash or zsh" >&2
else
  # Twice is once.
  aclgrad_prepend() {
    eval "aclgrad_old=\${$1:-}"
    case ":$aclgrad_old:" in
      ":$2:"* | *":$2:"*) ;;
      *) export "$1=$2${aclgrad_old:+:$aclgrad_old}" ;;
    esac
  }
  export ASCEND_HOME_PATH="$aclgrad_root" ASCEND_TOOLKIT_HOME="$aclgrad_root" ASCEND_OPP_PATH="$aclgrad_root/opp"
  aclgrad_prepend LD_LIBRARY_PATH "$aclgrad_root/lib64"
  aclgrad_prepend PATH "$aclgrad_root/bin"
  aclgrad_prepend PYTHONPATH "$aclgrad_root/python"
  unset -f aclgrad_prepend
fi
unset aclgrad_file aclgrad_root aclgrad_old
