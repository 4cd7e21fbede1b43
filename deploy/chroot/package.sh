# shellcheck shell=bash
# shellcheck disable=SC2154 # what chroot.sh and programs.sh set
# Sourced by chroot.sh: the life of the Debian package, in a fresh Debian.

install_packages lintian
package="$(deploy/debian.sh "$top")"
newer="$(DEB_REVISION=2 deploy/debian.sh "$top")"

place="$top/installed"
fresh "$place" "$debian"
cp "$package" "$place/root/old.deb"
cp "$newer" "$place/root/new.deb"
state=/var/lib/bramley
settings=/etc/bramley/bramley.yaml

# apt ARGUMENTS…: in that Debian, without questions; what was said goes to $folder/said.
apt() {
  inside "$place" / env DEBIAN_FRONTEND=noninteractive apt-get -y -qq --no-install-recommends "$@" \
    >"$folder/said" 2>&1 || {
    cat "$folder/said" >&2
    exit 1
  }
}
there() { [[ -e "$place$1" || -L "$place$1" ]]; }
gone() { ! there "$1"; }
said() { grep -q -F "$1" "$folder/said"; }
# shellcheck disable=SC2016 # dpkg's own
version() { inside "$place" / dpkg-query -W -f='${Version}' bramley; }
config_status() {
  local status=0
  inside "$place" / bramley config check --config "$settings" >/dev/null 2>&1 || status=$?
  echo "$status"
}
serve() {
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin BRAMLEY_LISTEN=127.0.0.1:0 chroot --userspec=bramley:bramley "$place" \
    bramley serve --config "$settings"
}

check "lintian has nothing to say" lintian --fail-on error,warning --allow-root \
  --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$package"

apt update
apt install /root/old.deb
check "it says that it waits for its settings" said "Bramley starts when"
check "without client ids the settings are wrong" test "$(config_status)" == 78
check "it is to start with the machine" there /etc/systemd/system/multi-user.target.wants/bramley.service
check "there is a user for it" inside "$place" / id bramley

sed -i 's/client_ids: \[\]/client_ids: [com.example.app]/' "$place$settings"
check "with them they are right" test "$(config_status)" == 0
# As systemd makes it.
inside "$place" / install -d -m 700 -o bramley -g bramley "$state"
start bramley serve
check "it serves" curl -sS --fail -o /dev/null "http://$address/livez"
kill -TERM "${pids[-1]}"
wait "${pids[-1]}"

apt install /root/new.deb
check "the newer one takes its place" test "$(version)" == "$(dpkg-deb -f "$newer" Version)"
check "the settings stay as they were written" test "$(config_status)" == 0
apt remove bramley
check "removed, the program is gone" gone /usr/bin/bramley
check "the settings stay" there "$settings"
check "the database stays" there "$state/bramley.db"
apt purge bramley
check "purged, the settings are gone" gone "$settings"
check "the database stays all the same" there "$state/bramley.db"
check "and that is said" said "$state is kept"
apt install /root/new.deb
check "installed anew, it finds the database" there "$state/bramley.db.master-key"
echo "The package is $(stat -c %s "$package" | awk '{ printf("%.1f", $1 / 1e6) }') MB."
