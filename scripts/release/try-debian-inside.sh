# The steps of try-debian.sh, run by systemd in the namespaces. Each says what holds; the first that does not ends the trial.
set -eu
try=/run/try
export HOLDFAST_CA_FILE=/etc/holdfast/ca.pem
say() { echo "ok - $*"; }
refuse() { echo "not ok - $*"; exit 1; }
pid() { systemctl show --property MainPID --value holdfast; }
until_true() {
  for _ in $(seq 150); do
    if "$@" > /dev/null 2>&1; then return 0; fi
    sleep 0.2
  done
  refuse "gave up waiting for: $*"
}
as_node() { setpriv --reuid=holdfast --regid=holdfast --clear-groups "$@"; }

ip link set lo up

dpkg --install $try/holdfast_*~before_*.deb
[ "$(stat -c '%U %a' /var/lib/holdfast)" = 'holdfast 700' ] || refuse 'the data directory belongs to the node'
say 'it installs with a user and a folder of its own'
systemctl start holdfast
[ "$(systemctl is-active holdfast)" = inactive ] || refuse 'without a configuration it is not started'
say 'without a configuration it is not started and has not failed'

holdfast config create --dir /tmp/made --node n1=127.0.0.1 --data-dir /var/lib/holdfast > /dev/null
for file in ca.pem n1.pem n1.key master.key; do install -o holdfast -g holdfast -m 0600 "/tmp/made/$file" /etc/holdfast/; done
install -o holdfast -g holdfast -m 0600 /tmp/made/n1.yaml /etc/holdfast/node.yaml
systemctl start holdfast
[ "$(systemctl is-active holdfast)" = active ] || refuse 'it is active when the start returns'
systemctl show --property StatusText holdfast | grep -q serving || refuse 'it has said that it serves'
say 'systemctl start returns when it listens'

until_true as_node holdfast admin-token create --name ops --role owner --data /var/lib/holdfast --json
HOLDFAST_ADMIN_TOKEN=$(as_node holdfast admin-token create --name try --role owner --data /var/lib/holdfast --json | sed 's/.*"token":"\([^"]*\)".*/\1/')
export HOLDFAST_ADMIN_TOKEN HOLDFAST_ADMIN_ENDPOINT=https://127.0.0.1:9001 HOLDFAST_ENDPOINT=https://127.0.0.1:9000
until_true holdfast tenant create Acme --id acme
key=$(holdfast key create --tenant acme --scopes read,write,delete,admin --json)
HOLDFAST_ACCESS_KEY_ID=$(echo "$key" | sed 's/.*"accessKeyId":"\([^"]*\)".*/\1/')
HOLDFAST_SECRET_KEY=$(echo "$key" | sed 's/.*"secretKey":"\([^"]*\)".*/\1/')
export HOLDFAST_ACCESS_KEY_ID HOLDFAST_SECRET_KEY
holdfast bucket create kept > /dev/null
echo 'kept over an upgrade' | holdfast put - kept/letter > /dev/null
say 'it keeps an object'

before=$(pid)
systemctl reload holdfast
until_true grep -q 'log level read again' $try/node.log
[ "$(pid)" = "$before" ] || refuse 'a reload leaves the process'
until_true sh -c '[ "$(systemctl is-active holdfast)" = active ]'
say 'systemctl reload leaves it running'

sleep 12
[ "$(pid)" = "$before" ] || refuse 'signs of life keep the watchdog quiet'
say 'it outlives the time of the watchdog'
kill -STOP "$before"
until_true sh -c '[ "$(systemctl show --property NRestarts --value holdfast)" -ge 1 ]'
until_true sh -c '[ "$(systemctl is-active holdfast)" = active ]'
[ "$(pid)" != "$before" ] || refuse 'another process serves'
say 'the watchdog replaces a process that stands still'

before=$(pid)
echo '# mine' >> /etc/default/holdfast
new=$(ls $try/holdfast_*.deb | grep -v '~before')
dpkg --force-confold --install "$new"
[ "$(pid)" != "$before" ] || refuse 'an upgrade starts the new version'
[ "$(systemctl is-active holdfast)" = active ] || refuse 'it serves after an upgrade'
grep -q '# mine' /etc/default/holdfast || refuse 'an upgrade keeps a changed configuration'
until_true holdfast get kept/letter /tmp/letter
[ "$(cat /tmp/letter)" = 'kept over an upgrade' ] || refuse 'the object is the same'
say 'an upgrade starts the new version with the same data and configuration'

dpkg --remove holdfast
[ "$(systemctl is-active holdfast)" != active ] || refuse 'a removed package runs nothing'
dpkg --purge holdfast
[ ! -e /etc/default/holdfast ] || refuse 'a purge removes its own configuration'
[ ! -e /usr/lib/holdfast/bin/node ] || refuse 'a removal removes the program'
[ -s /etc/holdfast/master.key ] || refuse 'the master key is kept'
[ -n "$(ls /var/lib/holdfast)" ] || refuse 'the data is kept'
say 'a purge keeps the master key and the data'
echo passed > $try/result
