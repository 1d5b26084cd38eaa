--TEST--
mailqueue@USER under systemd itself: ready, watched, hardened, reloaded, stopped; the timer's run; mail over SMTP in both
--EXTENSIONS--
mailqueue
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/servers.inc';
if (!glob(dirname(__DIR__, 2) . '/.build/*/Makefile')) die('skip tools/build was not run');
echo MailQueueTest\missing('/usr/bin/make', '/lib/systemd/systemd', '/usr/sbin/ip');
if (posix_geteuid() !== 0) die('skip only root can boot systemd in namespaces');
$dir = MailQueueTest\temporary_directory();
exec("env -u LD_PRELOAD unshare --kill-child -mpfCuin sh -c 'mount -t tmpfs t $dir && cd $dir && mkdir u w r && mount -t overlay -o lowerdir=/,upperdir=u,workdir=w o r && mount -t cgroup2 c r/mnt' 2>&1", $output, $code);
if ($code !== 0) die('skip this machine lets nobody mount in namespaces of its own');
?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
$root = dirname(__DIR__, 2);
$files = "$dir/files";
$makefile = dirname(glob("$root/.build/*/Makefile")[0]);
/** A shell's line that must succeed. */
$run = static function (string $line, int $seconds = 400): void {
    exec("env -u LD_PRELOAD -u MAKEFLAGS timeout -k 5 $seconds $line 2>&1", $output, $code);
    must($code === 0, "exit $code: " . implode("\n", $output));
};
$run("make -s -C $makefile install-mailqueue-command install-mailqueue-share INSTALL_ROOT=$files prefix=/usr");
$run("make -s -C $root/tests/sink OUT=$files/srv/relay");
$scan = trim(shell_exec("env -u LD_PRELOAD php -r 'echo PHP_CONFIG_FILE_SCAN_DIR;'"));
mkdir("$files$scan", 0755, true);
copy(glob("$makefile/modules/mailqueue.so")[0], "$files/usr/mailqueue.so");
chmod("$files/usr/mailqueue.so", 0755);
file_put_contents("$files$scan/99-mailqueue.ini", "extension=/usr/mailqueue.so\n");
file_put_contents("$files/inside.sh", <<<'SH'
ip link set lo up
useradd -m -s /bin/bash me
touch /srv/relay/accepted
(cd /srv/relay && ./mq-sink --port 2525 --log accepted >/dev/null 2>&1 &)
runuser -u me -- mailqueue migrate --database /home/me/app.sqlite >/dev/null
mail() { echo hi | runuser -u me -- mailqueue sendmail --database=/home/me/app.sqlite -f a@example.org b@example.net; }
value() { systemctl show -p "$2" --value "$1"; }
soon() { for i in $(seq 150); do eval "$1" && return; sleep 0.2; done; echo "not so: $1"; systemctl status --no-pager -l 'mailqueue*'; }
accepted() { [ "$(wc -l </srv/relay/accepted)" = "$1" ]; }

mail
cd /usr/share/mailqueue/service
install -m 644 *@.service *@.timer /etc/systemd/system/
install -d /etc/mailqueue
log=/var/log/mailqueue/me/mail-queue.log
printf '%s\n' MAILQUEUE_DATABASE=/home/me/app.sqlite 'MAILQUEUE_TRANSPORT=smtp://127.0.0.1:2525?tls=none' \
    MAIL_QUEUE_LOG=$log 'MAILQUEUE_OPTIONS=--grace 5 --batch 7' >/etc/mailqueue/me.conf
chmod 600 /etc/mailqueue/me.conf
mkdir /etc/systemd/system/mailqueue@me.service.d
printf '[Service]\nWatchdogSec=2\nRestartSec=1\n' >/etc/systemd/system/mailqueue@me.service.d/sooner.conf
systemctl daemon-reload
systemctl start mailqueue@me && echo "started: $(value mailqueue@me ActiveState)"
soon 'accepted 1'
soon 'value mailqueue@me StatusText | grep -q "^1 sent"'
echo "status: $(value mailqueue@me StatusText)"
pid=$(value mailqueue@me MainPID)
grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/$pid/status | tr -s '\t\n' '  '; echo
tr '\0' ' ' </proc/$pid/cmdline | sed 's/.*work/work/'; echo
nsenter -t $pid -m sh -c 'ls /home /root | tr "\n" " "; for d in /usr /etc /var/lib /opt /home/me /srv /var/log/mailqueue/me /var/lib/mailqueue/me; do
    touch $d/x 2>/dev/null && echo "$d is written"; done'
stat -c '%U %a %n' /var/lib/mailqueue/me /var/log/mailqueue/me $log

echo "-- reload"
mv $log $log.1
systemctl reload mailqueue@me
soon "test -f $log"
[ "$(value mailqueue@me MainPID)" = $pid ] && echo "the same process"
mail
soon 'accepted 2'
sed s/www-data/me/g mailqueue.logrotate >/etc/logrotate.d/mailqueue
logrotate -f -s /tmp/state /etc/logrotate.d/mailqueue
soon "! test -f $log"; ls /var/log/mailqueue/me

echo "-- the watchdog"
sleep 3
echo "restarts: $(value mailqueue@me NRestarts)"
kill -STOP $pid
soon '[ "$(value mailqueue@me NRestarts)" = 1 ]'
soon '[ "$(value mailqueue@me ActiveState)" = active ]'
mail
soon 'accepted 3'
systemctl stop mailqueue@me
echo "stopped: $(value mailqueue@me Result)"
grep -o 'end=signal' $log

echo "-- the timer"
mail
systemctl start --no-block mailqueue-work@me.timer
systemctl start mailqueue-work@me
echo "$(value mailqueue-work@me Result) $(value mailqueue-work@me.timer ActiveState)"
accepted 4 && echo "sent"

echo "-- no settings"
systemctl start mailqueue@nobody 2>&1 | head -n 1
SH);
$run("unshare --kill-child -mpfCuin sh $root/tests/tools/boot-systemd.sh $dir", 180);
echo file_get_contents("$dir/out/log");
?>
--EXPECT--
started: active
status: 1 sent, 0 to be tried later, 0 parked, 0 under way
CapEff: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 
work --daemon --quiet --grace 5 --batch 7 
/home: me  /root: /home/me is written
/srv is written
/var/log/mailqueue/me is written
/var/lib/mailqueue/me is written
me 700 /var/lib/mailqueue/me
me 750 /var/log/mailqueue/me
me 600 /var/log/mailqueue/me/mail-queue.log
-- reload
the same process
mail-queue.log.1
mail-queue.log.2.gz
x
-- the watchdog
restarts: 0
stopped: success
end=signal
-- the timer
success active
sent
-- no settings
Assertion failed on job for mailqueue@nobody.service.