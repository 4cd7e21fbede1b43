# shellcheck shell=bash
# shellcheck disable=SC2154 # what chroot.sh and programs.sh set
# Sourced by chroot.sh: the stages of the Dockerfile, and the programs of its last two run as an engine would run them.

# What is known of each stage, by its name.
declare -A environments users folders entrypoints commands volumes checks
# The values of ARG.
declare -A values
stage=""
shell=(/bin/sh -c)

# variables STAGE: into the array of that name, what ENV says there.
variables() { mapfile -t variables < <(grep . <<<"${environments[$1]}"); }

# begin IMAGE AS NAME: a stage on a Debian, on a Debian with the Swift toolchain of this machine, or on another stage.
begin() {
  local image="$1" place="$top/$3" name
  stage="$3"
  for name in "${!values[@]}"; do image="${image//\$\{$name\}/${values[$name]}}"; done
  printf '\n== %s, from %s\n' "$stage" "$image" >&2
  environments[$stage]="" users[$stage]=0:0 folders[$stage]=/
  shell=(/bin/sh -c)
  case "$image" in
    debian:bookworm-slim) fresh "$place" "$debian" ;;
    swift:*-bookworm)
      fresh "$place" "$debian"
      mkdir "$place/opt/swift"
      mount --bind -o ro "$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")" "$place/opt/swift"
      environments[$stage]="PATH=/opt/swift/bin:/usr/sbin:/usr/bin:/sbin:/bin"
      cp deploy/packages.sh "$place/tmp/"
      # shellcheck disable=SC2016 # for the shell inside
      inside "$place" / /bin/bash -c 'source /tmp/packages.sh; install_packages "${toolchain_packages[@]}"' >&2
      ;;
    *)
      fresh "$place" "$top/$image"
      environments[$stage]="${environments[$image]}"
      shell=(/bin/bash -euo pipefail -c)
      ;;
  esac
}

# copy [--from=STAGE] SOURCE… PLACE: into the stage; of a folder its contents.
copy() {
  local from="$PWD" place="${*: -1}" source
  [[ "$place" == /* ]] || place="${folders[$stage]}/$place"
  if [[ "$1" == --from=* ]]; then
    from="$top/${1#--from=}"
    shift
  fi
  for source in "${@:1:$#-1}"; do
    if [[ "$from" == "$PWD" ]] && ! grep -q -x -F "!$source" .dockerignore; then
      echo ".dockerignore keeps $source out" >&2
      exit 1
    fi
    if [[ -d "$from/$source" ]]; then
      mkdir -p "$top/$stage$place"
      cp -a --no-preserve=ownership "$from/$source/." "$top/$stage$place"
    else
      mkdir -p "$top/$stage$(dirname "${place}x")"
      cp --no-dereference --preserve=mode "$from/$source" "$top/$stage$place"
    fi
  done
}

# instruction WORD REST: one instruction of the file.
instruction() {
  local words variables
  case "$1" in
    ARG) values[${2%%=*}]="${2#*=}" ;;
    FROM)
      read -r -a words <<<"$2"
      begin "${words[@]}"
      ;;
    SHELL) mapfile -t shell < <(jq -r '.[]' <<<"$2") ;;
    WORKDIR)
      folders[$stage]="$2"
      mkdir -p "$top/$stage$2"
      # Where there is a compiler, what it has made before is found again, as an engine's cache would have it.
      if [[ -d "$top/$stage/opt/swift" ]]; then
        mkdir -p "$top/products" "$top/$stage$2/.build"
        mount --bind "$top/products" "$top/$stage$2/.build"
      fi
      ;;
    COPY)
      read -r -a words <<<"$2"
      copy "${words[@]}"
      ;;
    RUN)
      variables "$stage"
      inside "$top/$stage" "${folders[$stage]}" env "${variables[@]}" "${shell[@]}" "$2" >&2
      ;;
    ENV) environments[$stage]+=$'\n'"$2" ;;
    USER) users[$stage]="$2" ;;
    VOLUME) volumes[$stage]="$2" ;;
    ENTRYPOINT) entrypoints[$stage]="$2" ;;
    CMD) commands[$stage]="$2" ;;
    HEALTHCHECK) checks[$stage]="${2#*CMD }" ;;
    EXPOSE | LABEL) ;;
    *)
      echo "deploy/chroot.sh does not know $1" >&2
      exit 64
      ;;
  esac
}

# as_engine STAGE JSON [NAME=VALUE…]: becomes the command of the JSON array in a container of the stage.
as_engine() {
  local place="$1" command variables
  mapfile -t command < <(jq -r '.[]' <<<"$2")
  variables "$place"
  # shellcheck disable=SC2016 # for the shell inside
  exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${variables[@]}" "${@:3}" \
    chroot --userspec="${users[$place]}" "$top/$place" /bin/sh -c 'cd "$1"; shift; exec "$@"' engine \
    "${folders[$place]}" "${command[@]}"
}

# serve STAGE [NAME=VALUE…]: its program in the background, everything read-only but the volume.
serve() {
  local place="$1"
  mount -o remount,bind,ro "$top/$place"
  if [[ -n "${volumes[$place]-}" ]]; then
    mount -t tmpfs -o "mode=700,uid=${users[$place]%:*},gid=${users[$place]#*:}" volume "$top/$place${volumes[$place]}"
  fi
  start "$place" as_engine "$place" "$(jq -c -n "${entrypoints[$place]} + ${commands[$place]}")" "${@:2}"
}

while IFS= read -r line <&3; do
  instruction "${line%% *}" "${line#* }"
done 3< <(awk '/^#/ || /^$/ { next } { line = line $0 } sub(/\\$/, "", line) { next } { print line; line = "" }' \
  deploy/docker/Dockerfile)

# Any port that is free, in place of the one that the image names.
commands[mock-apple]='["serve", "--listen", "127.0.0.1:0"]'
serve mock-apple
apple="http://$address"
serve bramley BRAMLEY_LISTEN=127.0.0.1:0 BRAMLEY_APPLE_CLIENT_IDS=com.example.demo "BRAMLEY_APPLE_BASE_URL=$apple"
bramley="http://$address"
# shellcheck source=deploy/walk.sh
source deploy/walk.sh

health() { (as_engine bramley "${checks[bramley]}" "BRAMLEY_LISTEN=${bramley#http://}" 2>/dev/null); }
unhealthy() { ! health; }
stopped() {
  kill -TERM "${pids[-1]}"
  wait "${pids[-1]}"
}
printf '\n'
check "the service is not root" test "$(ps -o uid= -p "${pids[-1]}" | tr -d ' ')" == "${users[bramley]%:*}"
check "the health check finds it well" health
check "it stops as it is told to" stopped
check "the health check misses it" unhealthy
echo "The image is $(megabytes "$top/bramley") MB, of which $(megabytes "$debian") MB are Debian" \
  "and $(stat -c %s "$top/bramley/usr/bin/bramley" | awk '{ printf("%.1f", $1 / 1e6) }') MB the program."
