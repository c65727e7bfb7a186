# Needs bash, coreutils, tar, gzip and flock, and nothing else. What a run changes it first prepares in the folder
# vendors/.<vendor>.install, and then puts in place by renaming: a run that is killed leaves the old state or the new one,
# and the next run removes what it left behind.
set -u
umask 022
unset CDPATH TAR_OPTIONS GZIP POSIXLY_CORRECT
export LC_ALL=C
shopt -s nullglob dotglob

# No here-documents but for the help: bash writes them to temporary files, for which a full disk has no room.
readonly marker="custom operator package transaction"
: "${unpacked_kb:=0}"
action= quiet=0 install_path= toolkit= target= vendors= vendor_dir= transaction= lock_fd= state= problem= check_folder= interrupted=0
open_transaction=0 undone=1 staged=1 made=() custom_folders=()

say() { ((quiet)) || printf '%s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# A path as it can be copied into a command, whatever is in it.
q() { printf %q "$1"; }

usage() {
  if ((installed)); then
    cat <<TEXT
Usage: $0 [options]

Operator package $vendor $version ($device, $arch), as it is installed here.

  --uninstall          remove it (default)
  --check              compare every installed file with its sha256
  --list               list its files
  --quiet              print errors and warnings only
  --help               this text
TEXT
    return
  fi
  cat <<TEXT
Usage: $0 [options]

Installs the operator package $vendor $version ($device, $arch) into DIR/vendors/$vendor and puts it first in
DIR/vendors/config.ini.

  --install            install, or replace what is installed (default)
  --upgrade            replace an installed version; refuses to go back to an older one
  --uninstall          remove it, and its name from config.ini
  --check              compare every file of the package with its sha256; installs nothing
  --list               list the files of the package, and the packages that are installed in DIR
  --install-path=DIR   absolute path; default: \$ASCEND_CUSTOM_OPP_PATH, else \$ASCEND_OPP_PATH
  --toolkit=DIR        toolkit that the self-test runs with; default: \$ASCEND_HOME_PATH, else \$LD_LIBRARY_PATH
  --quiet              print errors and warnings only
  --help               this text
TEXT
}

usage_error() {
  printf 'error: %s Next: %s --help\n' "$1" "$0" >&2
  exit 2
}

choose() {
  [[ -z $action || $action == "$1" ]] || usage_error "--$action and --$1 exclude each other."
  action=$1
}

parse_options() {
  while (($#)); do
    case $1 in
      --install | --upgrade)
        ((!installed)) || usage_error "$1: this is the installed copy, without the operators."
        choose "${1#--}"
        ;;
      --uninstall | --check | --list) choose "${1#--}" ;;
      --install-path=* | --install-path)
        if [[ $1 == *=* ]]; then
          install_path=${1#*=}
        else
          (($# > 1)) || usage_error "--install-path: a folder is missing."
          install_path=$2
          shift
        fi
        [[ -n $install_path ]] || usage_error "--install-path: a folder is missing."
        ((!installed)) || usage_error "--install-path: the installed copy knows its folder."
        ;;
      --toolkit=*)
        toolkit=${1#*=}
        ((!installed)) || usage_error "--toolkit: the installed copy runs no self-test."
        [[ $toolkit == /* ]] || usage_error "--toolkit: want an absolute path."
        ;;
      --quiet) quiet=1 ;;
      # CANN's installers know this option, and here it is always so.
      --install-for-all) ;;
      -h | --help) choose help ;;
      *) usage_error "unknown option $1." ;;
    esac
    shift
  done
  ((installed)) && : "${action:=uninstall}" || : "${action:=install}"
}

need_tools() {
  local pair
  for pair in sha256sum:coreutils realpath:coreutils tar:tar gzip:gzip flock:util-linux; do
    command -v "${pair%:*}" >/dev/null ||
      fail "${pair%:*} is not installed. Next: apt-get install ${pair#*:}"
  done
}

# --- Manifest: lines of `<sha256>  <path>`, as sha256sum -c reads them ---

paths=()
# Keys begin with a slash: @ and * are no keys, but may be names of files.
declare -A sums known_folders link_targets=()
while read -r path link; do
  [[ -z $path ]] || link_targets[$path]=$link
done < <(printf '%s\n' "$links")

load_manifest() { # TEXT
  local line sum path folder
  paths=()
  sums=()
  known_folders=()
  while IFS= read -r line; do
    sum=${line%%  *}
    path=${line#*  }
    if [[ ! $sum =~ ^[0-9a-f]{64}$ || ! $path =~ ^[A-Za-z0-9_+][A-Za-z0-9._+-]*(/[A-Za-z0-9_+][A-Za-z0-9._+-]*)*$ ]]; then
      problem="manifest: the line '$line' names no file inside the package"
      return 1
    fi
    if [[ -n ${sums[/$path]:-} ]]; then
      problem="manifest: $path is listed twice"
      return 1
    fi
    paths+=("$path")
    sums[/$path]=$sum
    folder=$path
    while [[ $folder == */* ]]; do
      folder=${folder%/*}
      known_folders[/$folder]=1
    done
  done < <(printf '%s\n' "$1")
  for path in "${paths[@]}"; do
    if [[ -n ${known_folders[/$path]:-} ]]; then
      problem="manifest: $path is a file and a folder"
      return 1
    fi
  done
}

# Prints a line per file of the loaded manifest that is missing, of the wrong kind or damaged.
differences() { # FOLDER
  local path target line state=0 at=0
  local -a regular=()
  for path in "${paths[@]}"; do
    target=${link_targets[$path]:-}
    if [[ -n $target ]]; then
      if [[ ! -L $1/$path || $(readlink "$1/$path") != "$target" ]]; then
        printf '%s: want a link to %s\n' "$path" "$target"
        state=1
      fi
    elif [[ -L $1/$path || ! -f $1/$path ]]; then
      printf '%s: missing\n' "$path"
      state=1
    else
      regular+=("$path")
    fi
  done
  if ((${#regular[@]})); then
    while IFS= read -r line; do
      # A file that cannot be read has no line.
      while [[ ${regular[at]} != "${line#*  }" ]]; do
        printf '%s: cannot be read\n' "${regular[at++]}"
        state=1
      done
      path=${regular[at++]}
      if [[ ${line%%  *} != "${sums[/$path]}" ]]; then
        printf '%s: sha256 is %s, want %s\n' "$path" "${line%%  *}" "${sums[/$path]}"
        state=1
      fi
    done < <(cd "$1" && sha256sum -- "${regular[@]}" 2>/dev/null)
    for path in "${regular[@]:at}"; do
      printf '%s: cannot be read\n' "$path"
      state=1
    done
  fi
  return $state
}

# The first lines of a long report.
brief() {
  local lines
  mapfile -t lines < <(printf '%s\n' "$1")
  printf '  %s\n' "${lines[@]:0:8}"
  ((${#lines[@]} <= 8)) || printf '  and %d more\n' "$((${#lines[@]} - 8))"
}

# Prints what lies in an installed folder and is not in the loaded manifest.
foreign() { # FOLDER [PREFIX]
  local entry path
  for entry in "$1"/*; do
    path=${2:-}${entry##*/}
    if [[ -d $entry && ! -L $entry ]]; then
      if [[ -n ${known_folders[/$path]:-} ]]; then
        foreign "$entry" "$path/"
      else
        printf '%s/\n' "$path"
      fi
    elif [[ -z ${sums[/$path]:-} && $path != manifest.sha256 && $path != install.info ]]; then
      printf '%s\n' "$path"
    fi
  done
}

# --- The package file ---

check_length() {
  local size
  self=$(realpath -- "$0") || fail "cannot find $0. Next: bash FILE.run"
  [[ -f $self ]] || fail "$self is not the package file. Next: bash FILE.run"
  header_size=$((header_size))
  size=$(stat -Lc %s "$self")
  ((size == header_size + payload_size)) ||
    fail "$self is $size bytes, want $((header_size + payload_size)). Next: get the file again"
}

check_header() {
  local text zeros
  printf -v zeros '%064d' 0
  text=$(head -c "$header_size" "$self" | tr -d '\0' && printf x)
  text=${text%x}
  [[ $(printf '%s' "${text/"$header_sha256"/$zeros}" | sha256sum) == "$header_sha256  -" ]] ||
    fail "$self: the script at its start is damaged. Next: get the file again"
  load_manifest "$manifest" || fail "$self: $problem. Next: get the file again"
}

payload() { tail -c +"$((header_size + 1))" "$self"; }

# Unpacks into an empty folder that nobody else writes. Prints what is wrong, one line each.
unpack() { # FOLDER
  local listed expected=() path line errors at=0
  for path in "${paths[@]}"; do
    [[ -n ${link_targets[$path]:-} ]] || expected+=("vendors/$vendor/$path")
  done
  # Names first: nothing that the manifest does not name is written.
  while IFS= read -r line; do
    if [[ $line != "${expected[at]:-}" ]]; then
      printf '%s: not in the manifest at this place\n' "$line"
      return 1
    fi
    ((++at))
  done < <(payload | tar -tzf - --quoting-style=escape 2>/dev/null)
  # Not by -C, which takes backslashes apart.
  cd -- "$1" || return 1
  if ! errors=$(set -o pipefail && { payload | tar -xzmf - --strip-components=2 --no-same-owner \
    --no-same-permissions; } 2>&1); then
    printf '%s\n' "${errors:-tar was stopped}"
    return 2
  fi
  while IFS= read -r line; do
    if [[ $line == "regular"*" 1 "* ]]; then continue; fi
    printf '%s: not a file of its own (%s)\n' "${line##* }" "${line% *}"
    return 1
  done < <(stat -c '%F %h %n' -- "${expected[@]#vendors/"$vendor"/}" 2>/dev/null)
}

set_modes() { # FOLDER
  local path
  local -a plain=() executable=()
  for path in "${paths[@]}"; do
    [[ -z ${link_targets[$path]:-} ]] || continue
    case $path in
      *.so | bin/self_test | bin/switch | scripts/*) executable+=("$1/$path") ;;
      *) plain+=("$1/$path") ;;
    esac
  done
  ((!${#plain[@]})) || chmod 644 -- "${plain[@]}" || return 1
  ((!${#executable[@]})) || chmod 755 -- "${executable[@]}" || return 1
  local -a folders=("${!known_folders[@]}")
  chmod 755 -- "$1" "${folders[@]/#/"$1"}"
}

make_links() { # FOLDER
  local path root
  root=$(realpath -- "$1") || return 1
  for path in "${!link_targets[@]}"; do
    if [[ -z ${sums[/$path]:-} || ${link_targets[$path]} == /* || $(realpath -m -- "$root/${path%/*}/${link_targets[$path]}") != "$root"/* ]]; then
      printf '%s: a link that leaves the package\n' "$path"
      return 1
    fi
    mkdir -p -- "$root/${path%/*}" && ln -s -- "${link_targets[$path]}" "$root/$path" || return 1
  done
}

damaged() { # REPORT
  fail "$self: damaged or changed:"$'\n'"$(brief "$1")"$'\n'"Next: get the file again"
}

check_package() {
  local report
  check_folder=$(mktemp -d) || fail "no temporary folder. Next: set TMPDIR to a folder with $((unpacked_kb / 1024 + 1)) MB free"
  trap 'rm -rf -- "$check_folder"' EXIT
  report=$(unpack "$check_folder")
  case $? in
    0) ;;
    1) damaged "$report" ;;
    *)
      [[ $report != *"No space left"* ]] || fail "$check_folder: the disk is full. Next: set TMPDIR to a folder with $((unpacked_kb / 1024 + 1)) MB free"
      # tar's last words say little; what it could not unpack says which files are hit.
      make_links "$check_folder" 2>/dev/null
      damaged "$report"$'\n'"$(differences "$check_folder")"
      ;;
  esac
  report=$(make_links "$check_folder" 2>&1 && differences "$check_folder") || damaged "$report"
  [[ $(payload | sha256sum) == "$payload_sha256  -" ]] || damaged "the archive has another sha256, want $payload_sha256"
  say "ok: ${#paths[@]} files of $vendor $version, sha256 of each verified"
}

# --- Where to ---

find_target() {
  local custom=${ASCEND_CUSTOM_OPP_PATH:-} opp=${ASCEND_OPP_PATH:-} how
  if [[ -n $install_path ]]; then
    how=--install-path
    target=$install_path
    [[ $target == /* ]] || fail "--install-path: got $target, want an absolute path. Next: --install-path=$(q "$PWD/$target")"
  elif [[ -n $custom ]]; then
    how=ASCEND_CUSTOM_OPP_PATH
    [[ $custom != *:* ]] || fail "ASCEND_CUSTOM_OPP_PATH names several folders: $custom. Next: say which with --install-path=DIR"
    target=$custom
    # Once a package is set up the variable names a vendor folder: install beside that one, not into it.
    [[ ${target%/?*} != */vendors ]] || target=${target%/vendors/*}
  elif [[ -n $opp ]]; then
    how=ASCEND_OPP_PATH
    target=$opp
    [[ -d $target ]] || fail "ASCEND_OPP_PATH: $target is not a folder. Next: source the toolkit's set_env.sh, or --install-path=DIR"
  else
    fail "no folder to install into: ASCEND_CUSTOM_OPP_PATH and ASCEND_OPP_PATH are unset. Next: --install-path=DIR, or source the toolkit's set_env.sh"
  fi
  [[ $target == /* ]] || fail "$how: got $target, want an absolute path. Next: --install-path=DIR"
  while [[ $target == */ && $target != / ]]; do target=${target%/}; done
  [[ /$target/ != */../* && /$target/ != */./* && ! $target =~ [[:cntrl:]:\;] ]] ||
    fail "$how: $target has a part .., a colon, a semicolon or a control character. Next: --install-path=DIR with a plain path"
  if [[ -L $target ]]; then
    # Toolkits link the folder of the current version; a path that was typed names the real one.
    [[ $how == ASCEND_OPP_PATH ]] ||
      fail "$how: $target is a symbolic link. Next: --install-path=$(q "$(realpath -m -- "$target")"), if that is what you mean"
    target=$(realpath -- "$target") || fail "ASCEND_OPP_PATH: $opp is a broken link. Next: --install-path=DIR"
  fi
  [[ ! -e $target || -d $target ]] || fail "$how: $target is not a folder. Next: --install-path=DIR with another path"
  set_places
}

set_places() {
  vendors=$target/vendors
  vendor_dir=$vendors/$vendor
  transaction=$vendors/.$vendor.install
}

check_places() {
  local place
  for place in "$vendors" "$vendor_dir" "$vendors/config.ini" "$transaction" "$vendors/.$vendor.removed"; do
    [[ ! -L $place ]] || fail "$place is a symbolic link: it would lead writes to another place. Next: ls -l $(q "$place"), then remove the link or choose another --install-path"
  done
  for place in "$vendors" "$vendor_dir"; do
    [[ ! -e $place || -d $place ]] || fail "$place is not a folder. Next: move it away, or choose another --install-path"
  done
  [[ ! -e $vendors/config.ini || -f $vendors/config.ini ]] || fail "$vendors/config.ini is not a file. Next: move it away"
}

# Simulator kernels must not come first on a machine with an NPU, nor the other way round.
check_kind() {
  [[ $(uname -m) == "$arch" ]] || fail "the package is for $arch, this machine is $(uname -m). Next: get the package for $(uname -m)"
  if [[ $device == sim && -d $target/built-in ]]; then
    fail "$target belongs to a CANN toolkit, and this package holds kernels for the simulator only. Next: --install-path=DIR with another folder"
  fi
  if [[ $device == npu && -d $target/../include/aclsim ]]; then
    fail "$target belongs to the simulator's toolkit, and this package holds kernels for an NPU. Next: --install-path=DIR with another folder"
  fi
}

# Programs run what lies in the package: whoever may write a folder on the way to it can exchange that.
warn_of_others() {
  local folder=$vendors mode owner
  while :; do
    read -r mode owner < <(stat -c '%a %u' -- "$folder") || return 0
    # The sticky bit keeps others from exchanging what is there, not from adding to it.
    if ((8#$mode & 2)) && { ! ((8#$mode & 8#1000)) || [[ $folder == "$vendors" || $folder == "$target" ]]; }; then
      warn "all users may write $folder: what they put there may run in place of $vendor. Next: chmod o-w $(q "$folder"), or --install-path=DIR elsewhere"
    elif ((owner != 0 && owner != EUID)); then
      warn "$folder belongs to user $owner, who can exchange what is installed below it. Next: chown it, or --install-path=DIR elsewhere"
    fi
    [[ $folder != / ]] || return 0
    folder=$(dirname -- "$folder")
  done
}

existing_parent() {
  local folder=$1
  while [[ ! -e $folder ]]; do folder=$(dirname -- "$folder"); done
  printf '%s' "$folder"
}

check_writable() {
  local place free
  place=$(existing_parent "$vendors")
  [[ -d $place ]] || fail "$place is not a folder. Next: --install-path=DIR with another path"
  [[ -w $place && -x $place ]] ||
    fail "cannot write $place ($(stat -c 'owner %U, mode %a' -- "$place"), or a read-only file system). Next: run this as its owner, or --install-path=\$HOME/opp"
  if (($1)); then
    free=$(df -Pk --output=avail -- "$place" 2>/dev/null | tail -n 1)
    ((${free:-$1} >= $1)) ||
      fail "$place has $((free / 1024)) MB free, the package needs $(($1 / 1024 + 1)) MB. Next: free space there, or --install-path=DIR on another disk"
  fi
}

# Explains why a write failed, from what the tool said.
write_failed() { # WHAT MESSAGE
  case $2 in
    *"No space left"* | *"quota"*) fail "$1: the disk of $vendors is full; nothing was changed. Next: free $((unpacked_kb / 1024 + 1)) MB there, or --install-path=DIR on another disk" ;;
    *"Read-only file system"*) fail "$1: $vendors is read-only; nothing was changed. Next: mount it writable, or --install-path=DIR" ;;
    *"Permission denied"*) fail "$1: no permission in $vendors; nothing was changed. Next: run this as its owner, or --install-path=DIR" ;;
    *) fail "$1: ${2:-write error}; nothing was changed. Next: df -h $(q "$vendors"); ulimit -a" ;;
  esac
}

# --- One run at a time, and what a killed one left ---

make_vendors() {
  local folder=$vendors missing=() at message
  while [[ ! -e $folder ]]; do
    missing+=("$folder")
    folder=$(dirname -- "$folder")
  done
  for ((at = ${#missing[@]} - 1; at >= 0; at--)); do
    if message=$(mkdir -- "${missing[at]}" 2>&1); then
      made+=("${missing[at]}")
    elif [[ ! -d ${missing[at]} ]]; then
      write_failed "cannot make ${missing[at]}" "$message"
    fi
  done
}

lock_vendors() { # 1: make the folder when it is missing
  local tries status
  for ((tries = 0; tries < 100; tries++)); do
    (($1)) && make_vendors
    # The lock is on the folder itself, so that no lock file stays behind.
    if ! { exec {lock_fd}<"$vendors"; } 2>/dev/null; then
      (($1)) || return 1
      continue
    fi
    flock -n "$lock_fd"
    status=$?
    if ((status == 1)); then
      say "another run works in $vendors; waiting for it"
      flock "$lock_fd"
      status=$?
    fi
    ((status == 0)) || fail "cannot lock $vendors. Next: --install-path=DIR on a file system with locks (flock)"
    # Another run may have removed or replaced the folder while this one waited.
    if [[ /dev/fd/$lock_fd -ef $vendors ]]; then
      check_places
      return 0
    fi
    exec {lock_fd}<&-
  done
  fail "cannot lock $vendors. Next: is /proc mounted?"
}

on_exit() {
  local at
  trap '' INT TERM HUP
  if ((!undone)); then
    warn "what was there before is kept in $transaction, and put back by the next run"
  elif ((open_transaction)); then
    drop_transaction
  fi
  for ((at = ${#made[@]} - 1; at >= 0; at--)); do
    rmdir -- "${made[at]}" 2>/dev/null
  done
}

begin_transaction() {
  local message
  message=$(mkdir -- "$transaction" 2>&1) || write_failed "cannot make $transaction" "$message"
  open_transaction=1
  message=$({ printf '%s\n' "$marker" >"$transaction/transaction"; } 2>&1) || write_failed "cannot write in $transaction" "$message"
}

# The journal says what recover() has to finish.
journal() {
  local message
  message=$({ printf '%s\n' "$1" >"$transaction/journal.part" && mv -fT -- "$transaction/journal.part" "$transaction/journal"; } 2>&1) ||
    write_failed "cannot write in $transaction" "$message"
}

# Removes a package from a folder where nobody looks for it any more. Files that were changed since the installation are their
# owner's work: they go to a folder of their own. All of it without room on the disk.
remove_package() { # FOLDER NAME
  local path line at=0 number=1 saved=$target/$2.saved
  local -a there=() unchanged=() kept=()
  if [[ ! -f $1/manifest.sha256 || -L $1/manifest.sha256 ]] || ! load_manifest "$(<"$1/manifest.sha256")"; then
    # It never was a whole package.
    rm -rf -- "$1"
    return
  fi
  for path in "${paths[@]}"; do
    if [[ -L $1/$path && (! -e $1/$path || $(readlink -- "$1/$path") == "${link_targets[$path]:-}") ]]; then
      unchanged+=("$path")
    elif [[ -e $1/$path ]]; then
      there+=("$path")
    fi
  done
  if ((${#there[@]})); then
    while IFS= read -r line; do
      # Files that cannot be read have no line.
      while [[ ${there[at]} != "${line#*  }" ]]; do ((++at)); done
      path=${there[at++]}
      [[ ${line%%  *} != "${sums[/$path]}" ]] || unchanged+=("$path")
    done < <(cd "$1" && sha256sum -- "${there[@]}" 2>/dev/null)
  fi
  ((!${#unchanged[@]})) || rm -f -- "${unchanged[@]/#/"$1/"}" || return 1
  remove_empty "$1"
  mapfile -t kept < <(sums=() && foreign "$1")
  if ((${#kept[@]})); then
    while [[ -e $saved || -L $saved ]]; do saved=$target/$2.saved.$((++number)); done
    mv -T -- "$1" "$saved" || return 1
    warn "kept in $saved what was changed since the installation: ${kept[*]}"
    set -- "$saved"
  fi
  rm -f -- "$1/manifest.sha256" "$1/install.info" || return 1
  ((${#kept[@]})) || rmdir -- "$1"
}

# Removes the folders of the loaded manifest that are empty, the deeper ones first.
remove_empty() { # FOLDER
  local -a folders
  mapfile -t folders < <(printf '%s\n' "${!known_folders[@]}" | sort -r)
  [[ -z ${folders[*]} ]] || rmdir -- "${folders[@]/#/"$1"}" 2>/dev/null
  return 0
}

# The marker goes last: a folder without it that is not empty is not ours.
drop_transaction() {
  local entry name=${transaction##*/.}
  for entry in "$transaction"/*; do
    case ${entry##*/} in
      journal | transaction) ;;
      old | aside | new)
        # A staged folder has no owner yet.
        if [[ -d $entry && ! -L $entry && ($staged == 0 || $entry != */new) ]]; then
          remove_package "$entry" "${name%.install}"
        else
          rm -rf -- "$entry"
        fi
        ;;
      *) rm -rf -- "$entry" ;;
    esac
  done
  rm -f -- "$transaction/journal" && rm -f -- "$transaction/transaction" && rmdir -- "$transaction" ||
    warn "cannot remove $transaction; the next run tries again"
  open_transaction=0
}

move() { mv -T -- "$1" "$2"; }

exchange() {
  local aside=$transaction/aside
  if [[ -d $2 ]]; then
    mv -T -- "$2" "$aside" || return 1
    if ! mv -T -- "$1" "$2"; then
      mv -T -- "$aside" "$2" || undone=0
      return 1
    fi
    mv -T -- "$aside" "$1" && return 0
    mv -T -- "$2" "$1" && mv -T -- "$aside" "$2" || undone=0
    return 1
  fi
  cp -p -- "$2" "$aside" && mv -fT -- "$1" "$2" || return 1
  mv -T -- "$aside" "$1" && return 0
  mv -fT -- "$aside" "$2" || undone=0
  return 1
}

# apply TOOL [exchange|move A B]...: all of them or none. The tool makes the renames in one go, and an exchange without a moment
# in which a name is missing; where it cannot run, mv does nearly the same.
apply() {
  local tool=$1 undo=()
  shift
  [[ ! -x $tool ]] || ! "$tool" "$@" 2>/dev/null || return 0
  while (($#)); do
    if ! "$1" "$2" "$3"; then
      ((!${#undo[@]})) || apply "" "${undo[@]}" || undone=0
      return 1
    fi
    if [[ $1 == move ]]; then undo=(move "$3" "$2" "${undo[@]}"); else undo=("$1" "$2" "$3" "${undo[@]}"); fi
    shift 3
  done
}

# Takes a name out of config.ini.
remove_name() { # NAME
  begin_transaction
  plan_priority remove "$1"
  journal uninstall
  ((!${#plan[@]})) || apply "" "${plan[@]}" || write_failed "cannot write $vendors/config.ini" ""
  drop_transaction
}

installed_id() { [[ -f $1/manifest.sha256 && ! -L $1/manifest.sha256 ]] && sha256sum <"$1/manifest.sha256"; }

is_transaction() { # FOLDER
  local entries=("$1"/*) text
  [[ -d $1 && ! -L $1 ]] || return 1
  ((${#entries[@]})) || return 0
  [[ -f $1/transaction && ! -L $1/transaction ]] || return 1
  # The write of the marker may have been cut short.
  text=$(<"$1/transaction")
  [[ $marker == "$text"* ]]
}

recover() {
  local folder name entry state
  for folder in "$vendors"/.*.install; do
    name=${folder##*/.}
    name=${name%.install}
    [[ $name =~ ^[A-Za-z][A-Za-z0-9_-]*$ ]] || continue
    transaction=$folder
    if ! is_transaction "$folder"; then
      [[ $name != "$vendor" ]] || fail "$folder is in the way and not of this installer. Next: ls -la $(q "$folder"), then move it away"
      continue
    fi
    state= staged=1
    [[ ! -f $folder/journal ]] || state=$(<"$folder/journal")
    say "cleaning up after an interrupted run for $name"
    case $state in
      "install "*)
        if [[ $(installed_id "$vendors/$name") == "${state#install }" ]]; then
          staged=0
          plan_priority add "$name"
        elif [[ -d $vendors/$name ]]; then
          plan=()
        elif [[ -d $folder/aside ]]; then
          mv -T -- "$folder/aside" "$vendors/$name" || fail "cannot restore $vendors/$name. Next: mv $(q "$folder/aside") $(q "$vendors/$name")"
          plan=()
        else
          plan_priority remove "$name"
        fi
        ;;
      uninstall)
        plan_priority remove "$name"
        [[ ! -d $vendors/$name ]] || plan+=(move "$vendors/$name" "$folder/old")
        ;;
      *) plan=() ;;
    esac
    ((!${#plan[@]})) || apply "" "${plan[@]}" || fail "cannot finish the interrupted run in $vendors. Next: df -h $(q "$vendors"); ls -la $(q "$vendors")"
    drop_transaction
  done
  for folder in "$vendors"/.*.removed; do
    name=${folder##*/.}
    name=${name%.removed}
    [[ $name =~ ^[A-Za-z][A-Za-z0-9_-]*$ && -f $folder/manifest.sha256 && ! -L $folder ]] || continue
    say "cleaning up after an interrupted run for $name"
    remove_package "$folder" "$name"
    transaction=$vendors/.$name.install
    [[ -e $transaction || -d $vendors/$name ]] || remove_name "$name"
  done
  staged=1
  set_places
}

# --- config.ini ---

priority() { # prints the vendors of load_priority, one per line
  local line items
  [[ -f $vendors/config.ini ]] || return 0
  while IFS= read -r line || [[ -n $line ]]; do
    [[ $line =~ ^[[:space:]]*load_priority[[:space:]]*=(.*)$ ]] || continue
    IFS=$', \t\r' read -ra items < <(printf '%s\n' "${BASH_REMATCH[1]}")
    ((!${#items[@]})) || printf '%s\n' "${items[@]}"
  done <"$vendors/config.ini"
}

priority_line() {
  local names
  names=$(priority)
  printf 'load_priority=%s' "${names//$'\n'/,}"
}

# Writes the next config.ini into the transaction and sets plan to the renames that put it in place.
plan_priority() { # add|remove NAME
  local line item text= names= have=0 message
  plan=()
  while read -r item; do
    if [[ $item == "$2" ]]; then
      have=1
    else
      names+=${names:+,}$item
    fi
  done < <(priority)
  # Who is listed keeps the place.
  case $1:$have in add:1 | remove:0) return ;; esac
  [[ $1 == remove ]] || names=$2${names:+,$names}
  if [[ -f $vendors/config.ini ]]; then
    while IFS= read -r line || [[ -n $line ]]; do
      [[ $line =~ ^[[:space:]]*load_priority[[:space:]]*= ]] || text+=$line$'\n'
    done <"$vendors/config.ini"
  fi
  [[ -z $names ]] || text="load_priority=$names"$'\n'$text
  if [[ -z $text ]]; then
    plan=(move "$vendors/config.ini" "$transaction/config.ini")
    return
  fi
  message=$({ printf '%s' "$text" >"$transaction/config.ini" && chmod 644 "$transaction/config.ini"; } 2>&1) ||
    write_failed "cannot write in $transaction" "$message"
  if [[ -f $vendors/config.ini ]]; then
    chown --reference "$vendors/config.ini" "$transaction/config.ini" 2>/dev/null
    plan=(exchange "$transaction/config.ini" "$vendors/config.ini")
  else
    plan=(move "$transaction/config.ini" "$vendors/config.ini")
  fi
}

# --- Install ---

# look_at_installed tells what is installed under the vendor's name: nothing, or a package of ours, whose manifest it loads.
look_at_installed() {
  local others
  state=absent
  [[ -d $vendor_dir ]] || return 0
  if [[ ! -f $vendor_dir/manifest.sha256 || -L $vendor_dir/manifest.sha256 ]]; then
    # An empty folder is no package.
    others=("$vendor_dir"/*)
    ((${#others[@]})) || return 0
    fail "$vendor_dir was not made by this installer: ${others[0]##*/}. Next: remove that package with its own script, or move the folder away"
  fi
  load_manifest "$(<"$vendor_dir/manifest.sha256")" || fail "$vendor_dir/manifest.sha256: $problem. Next: move the folder away"
  others=$(foreign "$vendor_dir")
  [[ -z $others ]] || fail "$vendor_dir holds files that are not of the package: ${others//$'\n'/, }. Next: move them away"
  state=installed
}

installed_version() {
  local line
  while IFS= read -r line; do
    [[ $line != version=* ]] || printf '%s' "${line#version=}"
  done 2>/dev/null <"$1/version.info"
}

older() { # A B: version A comes before B
  [[ $1 != "$2" && $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]
}

stage() {
  local report status new=$transaction/new created=0 line
  if [[ $state == installed ]]; then
    while IFS= read -r line; do
      [[ ! $line =~ ^created=([0-9]+)$ ]] || created=${BASH_REMATCH[1]}
    done 2>/dev/null <"$vendor_dir/install.info"
  else
    created=${#made[@]}
  fi
  load_manifest "$manifest"
  [[ $(payload | sha256sum) == "$payload_sha256  -" ]] || fail "$self: the archive is damaged. Next: get the file again; $0 --check names the files"
  report=$(mkdir -- "$new" 2>&1) || write_failed "cannot make $new" "$report"
  report=$(unpack "$new")
  status=$?
  ((status != 1)) || damaged "$report"
  ((status == 0)) || write_failed "cannot unpack $self" "$report"
  report=$({ make_links "$new" && set_modes "$new" && printf '%s\n' "$manifest" >"$new/manifest.sha256" &&
    printf 'created=%d\n' "$created" >"$new/install.info" && chmod 644 "$new/manifest.sha256" "$new/install.info"; } 2>&1) ||
    write_failed "cannot write in $new" "$report"
  report=$(differences "$new") || damaged "$report"
}

# Other packages with one of our operators: which one runs is then decided by the order of the search.
report_conflicts() {
  local other entry pair type stem text file seen=() again found
  for entry in "$vendors"/* "${custom_folders[@]}" ${ASCEND_OPP_PATH:+"$ASCEND_OPP_PATH"/vendors/*}; do
    [[ -d $entry && ! $entry -ef $vendor_dir && ${entry##*/} != .* ]] || continue
    again=0
    for other in "${seen[@]}"; do [[ ! $entry -ef $other ]] || again=1; done
    ((!again)) || continue
    seen+=("$entry")
    found=()
    text=
    for file in "$entry"/op_impl/ai_core/tbe/config/*/*.json "$entry"/op_impl/ai_core/tbe/config/*.json; do
      [[ ! -r $file ]] || text+=$(<"$file")
    done
    for pair in $operators; do
      type=${pair%:*}
      stem=${pair#*:}
      local folders=("$entry"/op_impl/ai_core/tbe/kernel/*/"$stem")
      if ((${#folders[@]})) || [[ $text =~ \"$type\"[[:space:]]*: ]]; then found+=("$type"); fi
    done
    ((!${#found[@]})) || warn "conflict: ${found[*]} also in $entry. The one that runs is the first in ASCEND_CUSTOM_OPP_PATH, else in $(priority_line). Next: uninstall the other, or set the order there"
  done
}

# The entries of LD_LIBRARY_PATH that name the same folder from everywhere; an empty one is the current folder.
absolute_libraries() {
  local entry
  while IFS= read -r -d : entry; do
    [[ $entry != /* ]] || printf ':%s' "$entry"
  done < <(printf '%s:' "${LD_LIBRARY_PATH:-}")
}

self_test() {
  local output status home=${toolkit:-${ASCEND_HOME_PATH:-}}
  # The folder of CANN's operators names the toolkit if nothing else does.
  [[ -n $home || -n $install_path || -n ${ASCEND_CUSTOM_OPP_PATH:-} || -z ${ASCEND_OPP_PATH:-} ]] || home=$(dirname -- "$target")
  [[ -x $vendor_dir/bin/self_test ]] || {
    say "self-test skipped: $vendor_dir lies on a file system without execute permission"
    return 0
  }
  output=$(ASCEND_CUSTOM_OPP_PATH=$vendor_dir${ASCEND_CUSTOM_OPP_PATH:+:$ASCEND_CUSTOM_OPP_PATH} \
    LD_LIBRARY_PATH=$vendor_dir/op_api/lib$(absolute_libraries) ASCEND_HOME_PATH=$home \
    timeout --foreground -k 5 300 "$vendor_dir/bin/self_test" 2>&1 </dev/null)
  status=$?
  case $status in
    0) say "$output" ;;
    77) say "self-test skipped: $output" ;;
    124 | 137) printf '%s\nself-test: no result after 300 s\n' "$output" >&2 && return 1 ;;
    *) printf '%s\nself-test: failed with status %d\n' "$output" "$status" >&2 && return 1 ;;
  esac
}

say_how_to_use() { say "use it: source $(q "$vendor_dir/bin/set_env.bash")"; }

install_package() {
  local had id report plan=() whole=() undo=() before
  find_target
  check_places
  check_kind
  check_writable "$((unpacked_kb + 1024))"
  lock_vendors 1
  warn_of_others
  recover
  look_at_installed
  if [[ $state == installed ]]; then
    had=$(installed_version "$vendor_dir")
    if [[ $action == upgrade ]] && older "$version" "$had"; then
      fail "$vendor $had is installed, which is newer than $version. Next: $0 --install, to go back to $version"
    fi
    if [[ $(<"$vendor_dir/manifest.sha256") == "$manifest" ]] && report=$(differences "$vendor_dir"); then
      before=$(priority)
      if [[ $'\n'$before$'\n' == *$'\n'$vendor$'\n'* ]]; then
        say "$vendor $version is installed in $vendors already, and whole"
        say_how_to_use
        made=()
        return
      fi
    fi
  elif [[ $action == upgrade ]]; then
    fail "$vendor is not installed in $vendors. Next: $0 --install"
  fi
  begin_transaction
  stage
  id=$(installed_id "$transaction/new")
  plan_priority add "$vendor"
  if [[ $state == installed ]]; then
    whole=(exchange "$transaction/new" "$vendor_dir")
    undo=(exchange "$transaction/new" "$vendor_dir")
  else
    whole=(move "$transaction/new" "$vendor_dir")
    undo=(move "$vendor_dir" "$transaction/new")
  fi
  case ${plan[0]:-} in
    exchange) undo=("${plan[@]}" "${undo[@]}") ;;
    move) undo=(move "${plan[2]}" "${plan[1]}" "${undo[@]}") ;;
  esac
  journal "install $id"
  trap '' INT TERM HUP
  apply "$transaction/new/bin/switch" "${whole[@]}" "${plan[@]}" ||
    write_failed "cannot rename $transaction/new to $vendor_dir" ""
  interrupted=0 staged=0
  trap 'interrupted=1' INT TERM HUP
  if ! self_test || ((interrupted)); then
    trap '' INT TERM HUP
    staged=1
    apply "$vendor_dir/bin/switch" "${undo[@]}" || { undone=0 && fail "the self-test failed, and the state before could not be restored. Next: $0 --uninstall"; }
    ((!interrupted)) || fail "interrupted; the state before this run is restored"
    fail "$vendor $version does not work here; the state before this run is restored. Next: read the lines above"
  fi
  trap '' INT TERM HUP
  made=()
  drop_transaction
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  report_conflicts
  if [[ $state == installed ]]; then say "replaced $vendor $had by $version in $vendors"; else say "installed $vendor $version in $vendors"; fi
  say_how_to_use
}

# --- Uninstall, check, list ---

# Whether the disk takes what an orderly run writes: its records and the next config.ini.
has_room() {
  local message size=4096
  [[ ! -f $vendors/config.ini ]] || size=$((size + $(stat -c %s -- "$vendors/config.ini")))
  message=$({ mkdir -- "$transaction" && printf '%s\n' "$marker" >"$transaction/transaction" &&
    printf '%*s' "$size" "" >"$transaction/room"; } 2>&1)
  rm -rf -- "$transaction"
  [[ $message != *"No space left"* && $message != *"quota"* ]]
}

uninstall_package() {
  local plan=() created=0 line folder message
  ((installed)) || find_target
  check_places
  [[ -d $vendor_dir || -d $transaction || -d $vendors/.$vendor.removed ]] || fail "$vendor is not installed in $vendors. Next: $0 --list"
  check_writable 0
  lock_vendors 0 || fail "$vendor is not installed in $vendors. Next: $0 --list"
  recover
  look_at_installed
  if [[ $state == absent ]]; then
    rmdir -- "$vendors" 2>/dev/null
    fail "$vendor is not installed in $vendors. Next: $0 --list"
  fi
  while IFS= read -r line; do
    [[ ! $line =~ ^created=([0-9]+)$ ]] || created=${BASH_REMATCH[1]}
  done 2>/dev/null <"$vendor_dir/install.info"
  trap '' INT TERM HUP
  if has_room; then
    begin_transaction
    plan_priority remove "$vendor"
    journal uninstall
    if ! apply "$vendor_dir/bin/switch" "${plan[@]}" move "$vendor_dir" "$transaction/old"; then
      write_failed "cannot rename $vendor_dir" ""
    fi
    drop_transaction
  else
    # A name moves without room, and what is deleted then makes some.
    move "$vendor_dir" "$vendors/.$vendor.removed" || write_failed "cannot rename $vendor_dir" ""
    remove_package "$vendors/.$vendor.removed" "$vendor"
    remove_name "$vendor"
  fi
  folder=$vendors
  rmdir -- "$folder" 2>/dev/null
  for ((; created > 1; created--)); do
    folder=$(dirname -- "$folder")
    rmdir -- "$folder" 2>/dev/null || break
  done
  say "removed $vendor from $vendors"
}

check_installed() {
  local report
  load_manifest "$(<"$vendor_dir/manifest.sha256")" || fail "$vendor_dir/manifest.sha256: $problem. Next: install the package again"
  report=$(differences "$vendor_dir") ||
    fail "$vendor_dir: damaged or changed:"$'\n'"$(brief "$report")"$'\n'"Next: install the package again"
  report=$(foreign "$vendor_dir")
  [[ -z $report ]] || warn "$vendor_dir holds files that are not of the package: ${report//$'\n'/, }"
  say "ok: ${#paths[@]} files of $vendor $version, sha256 of each verified"
}

list_package() {
  local folder pair types=()
  for pair in $operators; do types+=("${pair%:*}"); done
  printf '%s %s (%s, %s), kernels for %s\noperators: %s\nfiles:\n' "$vendor" "$version" "$device" "$arch" "$socs" "${types[*]}"
  printf '  %s\n' "${paths[@]}"
  [[ -n $install_path$vendor_dir${ASCEND_CUSTOM_OPP_PATH:-}${ASCEND_OPP_PATH:-} ]] || return 0
  ((installed)) || find_target
  printf 'installed in %s:\n' "$vendors"
  for folder in "$vendors"/*; do
    [[ -d $folder && ${folder##*/} != .* ]] || continue
    printf '  %s %s\n' "${folder##*/}" "$(installed_version "$folder")"
  done
  printf '%s\n' "$(priority_line)"
}

main() {
  parse_options "$@"
  ((installed)) || check_length
  if [[ $action == help ]]; then
    usage
    return
  fi
  need_tools
  IFS=: read -ra custom_folders < <(printf '%s\n' "${ASCEND_CUSTOM_OPP_PATH:-}")
  if ((installed)); then
    vendor_dir=$(cd -P -- "$(dirname -- "$0")/.." && pwd -P) || fail "cannot find the folder of $0"
    target=$(dirname -- "$(dirname -- "$vendor_dir")")
    [[ $vendor_dir == */vendors/"$vendor" ]] || fail "$0: $vendor_dir is not vendors/$vendor. Next: remove it by hand"
    set_places
    load_manifest "$(<"$vendor_dir/manifest.sha256")" || fail "$vendor_dir/manifest.sha256: $problem"
  else
    check_header
  fi
  case $action in
    check)
      if ((installed)); then check_installed; else check_package; fi
      return
      ;;
    list)
      list_package
      return
      ;;
  esac
  trap on_exit EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  if [[ $action == uninstall ]]; then uninstall_package; else install_package; fi
}

main "$@"; exit
