<?php
/*
 * Who runs which block of the documentation, in which order. Keys of a step:
 *   block, text  what is run as printed: "FILE: how the block begins", or a text that FILE has
 *   run, name    what is run beside that: what a reader has already, or what shows that it worked
 *   user, in     a login and its directory: "me", in its home, unless said otherwise
 *   through      makes a shell script of the block
 *   shows        patterns of the output; code: the exit code; seconds: the time limit
 *   type         a line for the shell that all steps share
 */
declare(strict_types=1);

const CHECKOUT = '/home/me/mailqueue';

/** Runs a block of PHP code as a separate file, after the lines that a reader already has. */
function php(string $before = '', string $after = ''): Closure
{
    return static function (string $block) use ($before, $after): string {
        $code = str_starts_with($block, '<?php') ? $block : "<?php\n$block";
        return 'f=$(mktemp -d); printf %s ' . escapeshellarg(base64_encode("<?php\n$before"))
            . ' | base64 -d >$f/before.php; printf %s '
            . escapeshellarg(base64_encode("$code\n$after")) . ' | base64 -d >$f/it.php; '
            . 'php -d display_errors=1 -d auto_prepend_file=$f/before.php $f/it.php';
    };
}

/** Puts the lines into a crontab, and waits until the relay has one mail more. */
$cron = static fn(string $block): string => 'n=$(wc -l </srv/relay/accepted); '
    . 'printf %s ' . escapeshellarg($block) . ' | crontab -; for i in $(seq 75); do '
    . '[ "$(wc -l </srv/relay/accepted)" -gt "$n" ] && break; sleep 1; done; crontab -r; '
    . 'test "$(wc -l </srv/relay/accepted)" -gt "$n"';
$queue = '$queue = new MailQueue("/home/me/app.sqlite");';
$count = static fn(int $n): array => ['name' => "$n waiting", 'run' => 'mailqueue status '
    . '--database /home/me/app.sqlite', 'shows' => "/pending +$n\\b/"];
/** Calls mail() of a PHP that has the line in its php.ini. */
$mail = static fn(string $block): string => 'export MAILQUEUE_DATABASE=/home/me/app.sqlite; mkdir -p ini; printf %s '
    . escapeshellarg($block) . ' >ini/mail.ini; PHP_INI_SCAN_DIR=:/home/me/ini php -r '
    . escapeshellarg('exit(mail("b@example.net", "x", "hi", "From: a@example.org") ? 0 : 1);');
$empty = ['name' => 'an empty queue', 'run' => 'rm -rf /home/me/app.sqlite*'];
$server = 'export MAILQUEUE_DATABASE_USER=app MAILQUEUE_DATABASE_PASSWORD=secret; ';

/** No systemd runs here that could start a unit: tests/share/systemd.phpt has one. */
$offline = static fn(string $block): string => 'export SYSTEMD_OFFLINE=1; ' . str_replace(' --now', '', $block);
$siteMail = 'echo hi | runuser -u www-data -- mailqueue sendmail --database=/var/www/app/data/app.sqlite b@example.net' . "\n";
/** A block about mail 4711, in a queue that has only this one. */
$wrong = static fn(string $block): string => 'export MAILQUEUE_DATABASE=/home/me/wrong.sqlite; rm -f wrong.sqlite*; '
    . 'mailqueue migrate; printf "From: a@example.org\nTo: an@example.org\n\nhi\n" | mailqueue sendmail -t; '
    . 'sqlite3 wrong.sqlite "UPDATE mail_queue SET id = 4711; UPDATE mail_body SET id = 4711"; ' . $block;

$steps = [
    ['name' => 'a user with a checkout', 'user' => 'root', 'in' => '/',
        'run' => 'useradd -m -s /bin/bash me; chown -R me: /home/me; chmod 700 /home/me'],
    ['block' => 'README.md: apt-get update', 'user' => 'root', 'seconds' => 600],
    ['block' => 'README.md: phpize', 'user' => 'root', 'in' => CHECKOUT, 'seconds' => 300,
        'shows' => ['/mailqueue support => enabled/', '/DKIM|OpenSSL/i']],
    ['name' => 'loaded once, for every SAPI', 'run' => 'php -v; command -v mailqueue; '
        . 'ls /etc/php/*/cli/conf.d/*mailqueue.ini', 'shows' => '~^/usr/bin/mailqueue$~m'],
    ['name' => 'the servers of this test', 'user' => 'root', 'seconds' => 600, 'in' => CHECKOUT,
        'run' => 'export DEBIAN_FRONTEND=noninteractive
apt-get install -y --no-install-recommends cron composer zip unzip openssl ca-certificates curl \
    iproute2 sqlite3 postgresql php-pgsql mariadb-server php-mysql php-mbstring php-xml php-intl \
    php-symfony-mailer php-symfony-framework-bundle libphp-phpmailer make gcc libc6-dev systemd \
    logrotate man-db nginx php-fpm >/dev/null
make -s -C tests/sink OUT=/srv/relay
touch /srv/relay/accepted && chmod 644 /srv/relay/accepted'],
    ['name' => 'an application with Composer', 'user' => 'me',
        'run' => 'mkdir site && echo \'{"repositories": {"packagist.org": false}}\' >site/composer.json'],
    ['block' => 'integrations/README.md: composer config', 'in' => '/home/me/site', 'seconds' => 200],
    ['name' => 'its classes are found', 'in' => '/home/me/site', 'run' => 'php -r \'require "vendor/autoload.php";
        echo class_exists(MailQueue\Bridge\Outbox::class) ? "found" : "missing";\'', 'shows' => '/found/'],

    ['type' => 'exec unshare --net bash'],
    ['type' => 'ip link set lo up'],
    ['name' => 'a relay with a certificate', 'user' => 'root', 'in' => '/srv/relay',
        'run' => 'echo "127.0.0.1 mail.example.org db.example.org" >>/etc/hosts
openssl req -x509 -newkey rsa:2048 -nodes -days 3 -subj /CN=Test -keyout ca.key -out ca.pem 2>/dev/null
for name in mail db; do
    openssl req -newkey rsa:2048 -nodes -subj /CN=$name.example.org -keyout $name.key -out $name.csr 2>/dev/null
    printf "subjectAltName=DNS:$name.example.org\n" >$name.ext
    openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3 -extfile $name.ext -out $name.pem 2>/dev/null
done
cp ca.pem /usr/local/share/ca-certificates/test.crt && update-ca-certificates >/dev/null
(./mq-sink --port 587 --log accepted --cert mail.pem --key mail.key --auth user:password >sink.out 2>&1 &)
printf \'#!/bin/sh\ncat >>/srv/relay/cron-mail\n\' >/usr/sbin/sendmail; chmod 755 /usr/sbin/sendmail
touch cron-mail; chmod 666 cron-mail; cron; sleep 0.5; cat sink.out; kill -0 $(pidof mq-sink)'],

    ['block' => "README.md: // In the request", 'through' => php()],
    ['block' => 'README.md: # Once: 60 recipients', 'shows' => '/\b1 sent/'],
    ['block' => "README.md: // In the request", 'through' => php()],
    ['block' => 'README.md: MAILQUEUE_DATABASE=/home/me/app.sqlite', 'through' => $cron],
    ['name' => 'cron had nothing to tell', 'user' => 'root', 'run' => 'cat /srv/relay/cron-mail; '
        . 'test ! -s /srv/relay/cron-mail'],
    ['name' => 'a site of www-data', 'user' => 'root', 'run' => 'install -d -o www-data /var/www/app/data'],
    ['block' => 'docs/operations.md: install -m 644 /usr/share/mailqueue/service/mailqueue@.service', 'user' => 'root'],
    ['block' => 'docs/operations.md: runuser -u www-data', 'user' => 'root', 'through' => $offline,
        'shows' => '~multi-user.target.wants/mailqueue@www-data.service~'],
    ['name' => 'what the unit starts', 'user' => 'root', 'run' => $siteMail . 'install -d -o www-data /var/log/mailqueue/www-data
set -a; . /etc/mailqueue/www-data.conf; runuser -u www-data -- $(sed -n "s/ \$.*//; s/^ExecStart=//p" /etc/systemd/system/mailqueue@.service) --time-limit 2
mailqueue log --id 1 --log /var/log/mailqueue/www-data/mail-queue.log', 'shows' => '/Mail 1 was sent/'],
    // Microsoft is not here.
    ['block' => 'docs/operations.md: install -d -o www-data -g www-data', 'user' => 'root', 'through' => static fn(string $block): string
        => preg_replace('/login microsoft (.*) --account .*/', 'accounts $1', $block), 'shows' => '~No accounts in /var/lib/mailqueue/www-data/accounts~'],
    ['block' => 'docs/operations.md: install -m 644 /usr/share/mailqueue/service/mailqueue-work@.service', 'user' => 'root',
        'through' => $offline, 'shows' => '~timers.target.wants/mailqueue-work@www-data.timer~'],
    ['block' => 'docs/operations.md: install -m 600 /usr/share/mailqueue/service/mailqueue.cron', 'user' => 'root',
        'through' => static fn(string $block): string => $siteMail . $block . 'for i in $(seq 75); do '
            . 'mailqueue status --json --database /var/www/app/data/app.sqlite | grep -q \'"pending": 0\' && break; '
            . 'sleep 1; done; rm /etc/cron.d/mailqueue; mailqueue status --database /var/www/app/data/app.sqlite',
        'shows' => '/pending +0/'],
    ['block' => 'docs/operations.md: install -m 644 /usr/share/mailqueue/service/mailqueue.logrotate', 'user' => 'root',
        'shows' => '~considering log /var/log/mailqueue/www-data/mail-queue.log~'],
    ['block' => 'docs/operations.md: apt-get update && apt-get install -y nginx', 'user' => 'root', 'in' => CHECKOUT,
        'through' => static fn(string $block): string => page_without_systemd($block, false), 'seconds' => 300],
    ['name' => 'the page shows the mail', 'user' => 'root', 'run' => page_visit(8025), 'shows' => '/count-pending">1</'],
    ['block' => "docs/operations.md: require '/usr/share/mailqueue/web/autoload.php'", 'through' => php($queue . '$isAdmin = true; $login = "ann";
        $_SERVER = ["REMOTE_ADDR" => "127.0.0.1", "HTTP_HOST" => "127.0.0.1"] + $_SERVER;'), 'shows' => '/<h1>Overview/'],
    ['block' => 'docs/operations.md: export MAILQUEUE_PAGE_HASH', 'user' => 'root', 'through' => static fn(string $block): string
        => str_replace(['--password)', '--serve 127.0.0.1:8025'], ['--password <<<"correct horse")', '--database /var/www/mail/app.sqlite --serve 127.0.0.1:8026 & sleep 2; '
        . page_visit(8026) . '; kill $!'], $block), 'shows' => '/count-pending">1</'],
    ['block' => 'docs/operations.md: MailQueue::default()->runAfterResponse', 'through' => static fn(string $block): string
        => str_replace('php -d', 'php -d mailqueue.database=/home/me/app.sqlite -d', php('ini_set("error_log", "");')($block)),
        'shows' => '/cannot end the response before the script ends/'],
    ['text' => 'docs/operations.md: man 1 mailqueue', 'shows' => '/MAILQUEUE\(1\)/'],
    ['text' => 'docs/operations.md: man 5 mailqueue', 'shows' => '/mailMaxPerHour/'],
    ['block' => 'docs/operations.md: mailqueue config mailLimits', 'through' => static fn(string $block): string
        => 'export MAILQUEUE_DATABASE=/home/me/app.sqlite; ' . $block
            . "\nmailqueue config; mailqueue config --unset mailLimits; mailqueue config --unset mailRateMode",
        'shows' => '~500/1d per sender~'],
    ['block' => 'docs/operations.md: mailqueue config mailSlowdown', 'through' => static fn(string $block): string
        => 'export MAILQUEUE_DATABASE=/home/me/app.sqlite; ' . $block
            . "\nmailqueue config; mailqueue config --unset mailSlowdown", 'shows' => '~mailSlowdown +40~'],
    ['block' => 'docs/operations.md: mailqueue config mailReserve', 'through' => static fn(string $block): string
        => 'export MAILQUEUE_DATABASE=/home/me/app.sqlite; ' . $block
            . "\nmailqueue config; mailqueue config --unset mailReserve", 'shows' => '~mailReserve +20~'],
    ['block' => 'docs/operations.md: mailqueue work --processes', 'through' => static fn(string $block): string
        => "export MAILQUEUE_DATABASE=/home/me/processes.sqlite MAILQUEUE_TRANSPORT=null://null; mailqueue migrate
for i in 1 2 3; do echo hi | mailqueue sendmail b@example.net; done; $block", 'shows' => '~: 3 sent; nothing more is due~'],
    ['name' => 'no limit', 'run' => 'mailqueue config --database /home/me/app.sqlite mailMaxPerHour 0'],
    ['name' => 'files of a shop', 'user' => 'root', 'run' => 'mkdir -p /srv/shop; '
        . 'echo png >/srv/shop/logo.png; echo pdf >/srv/shop/terms.pdf'],
    ['block' => "docs/messages.md: \$queue = new MailQueue", 'through' => php()],
    ['block' => "docs/messages.md: \$queue->enqueue([", 'through' => php("$queue \$pdf = '%PDF';")],
    ['block' => "docs/messages.md: \$id = \$queue->enqueue(['from' => 'club@example.org'", 'through' => php($queue,
        'echo preg_match("~multipart/alternative.*text/calendar; method=REQUEST~s", ($job = $queue->jobs(subject: "Meeting")[0])->message
            ?? $queue->job($job->id)->message), $queue->delete([$job->id]);'), 'shows' => '/^11$/m'],
    $count(1),
    ['block' => 'docs/databases.md: $pdo->beginTransaction', 'through' => php(
        '$pdo = new PDO("sqlite:/home/me/app.sqlite");
        $pdo->exec("CREATE TABLE registrations (number TEXT, name TEXT, email TEXT)");
        $number = "4712"; $email = "zoe@example.com";')],
    $count(2),
    ['block' => "docs/suppression.md: \$queue->suppress(", 'through' => php($queue, 'echo json_encode([count($why),
        $queue->suppressions()[0]["address"]]); $queue->unsuppress("ann@example.net");'), 'shows' => '/^\[1,"ann@example.net"\]$/m'],
    ['block' => 'docs/suppression.md: export MAILQUEUE_DATABASE', 'shows' => ['/cy@example.net +complaint/', '/1 removed/']],
    ['block' => 'docs/suppression.md: $queue->enqueueMany(array_map', 'through' => php($queue . '$members = [["email" => "b@example.net"]];',
        '$id = $queue->jobs(subject: "News")[0]->id; echo preg_match_all("~unsubscribe.php\?t=[-\w]{40}~", $queue->job($id)->message), $queue->delete([$id]);'),
        'shows' => '/^21$/m'],
    ['block' => 'docs/suppression.md: <?php // unsubscribe.php', 'through' => php('$_GET["t"] = "x";'), 'shows' => '/not complete, or too old/'],
    ['block' => "docs/bounces.md: \$queue->enqueue(['from' => 'Shop", 'through' => php($queue,
        'echo $queue->job($queue->jobs(subject: "Your order")[0]->id)->envelopeFrom, $queue->delete([$queue->jobs(subject: "Your order")[0]->id]);'),
        'shows' => '/^bounces\+\*@example.org1$/m'],
    ['block' => 'docs/bounces.md: <?php // webhook.php', 'through' => php('putenv("MAILGUN_WEBHOOK_KEY=0123456789abcdef"); putenv("POSTMARK_WEBHOOK_SECRET=hook:0123456789");
        $_SERVER["REQUEST_METHOD"] = "GET";'), 'shows' => '/takes POST only/'],
    ['block' => 'docs/bounces.md: mailqueue bounce --dry-run', 'through' => static fn(string $block): string
        => 'printf "From: ann@example.net\nSubject: Re: x\n\nhi\n" >message.eml; ' . $block, 'shows' => '/^Not a report\.$/m'],
    ['block' => "docs/campaigns.md: \$campaign = \$queue->campaign('spring')", 'through' => php($queue . '$members = [["email" => "ann@example.net", "name" => "Ann"]];',
        '$campaign->cancel(); $queue->delete(array_column($queue->jobs(type: "campaign"), "id"));'), 'shows' => '/^Subject: Spring, Ann!/m'],
    ['block' => 'docs/campaigns.md: export MAILQUEUE_DATABASE', 'shows' => ['/^Subject: May, Ann!/m', '/^may starts at /m', '/^recipients  2$/m']],
    ['name' => 'no campaign', 'run' => 'export MAILQUEUE_DATABASE=/home/me/app.sqlite; mailqueue campaign cancel may --yes; mailqueue delete --type campaign --yes'],
    ['block' => 'docs/campaigns.md: <?php // bootstrap.php', 'through' => static fn(string $block): string
        => 'printf %s ' . escapeshellarg(base64_encode($block)) . ' | base64 -d >finished.php; php -r '
        . escapeshellarg('exit(is_callable((require "finished.php")["onFinished"]) ? 0 : 1);')],
    ['block' => 'docs/messages.md: $queue->enqueue(reference: $number', 'through' => php("$queue \$number = '4713';")],
    $count(3),
    ['block' => 'docs/messages.md: <?php // bootstrap.php', 'through' => static fn(string $block): string
        => 'mkdir -p app; printf %s ' . escapeshellarg(base64_encode($block)) . ' | base64 -d '
        . '>app/bootstrap.php; printf %s ' . escapeshellarg(base64_encode('<?php
            function find_registration($number): ?array {
                $pdo = new PDO("sqlite:/home/me/app.sqlite");
                $find = $pdo->prepare("SELECT * FROM registrations WHERE number = ?");
                $find->execute([$number]);
                return $find->fetch() ?: null;
            }')) . ' | base64 -d >find.php'],
    ['text' => 'docs/messages.md: mailqueue work --bootstrap /home/me/app/bootstrap.php',
        'through' => static fn(string $text): string
            => 'export MAILQUEUE_TRANSPORT=null://null; php -d auto_prepend_file=/home/me/find.php '
            . "/usr/bin/$text", 'shows' => '/\b2 sent/'],
    ['block' => 'docs/transports.md: failover(smtp://user', 'through' => static fn(string $block): string
        => implode(' && ', array_map(static fn(string $line): string => 'MAILQUEUE_TRANSPORT=' . escapeshellarg($line)
            . ' mailqueue doctor --database app.sqlite | grep "^ok *mail goes to [fr]"', explode("\n", trim($block))))],
    ['block' => 'docs/transports.md: <?php // relays.php', 'through' => static fn(string $block): string
        => 'printf %s ' . escapeshellarg(base64_encode($block)) . ' | base64 -d >app/relays.php; chmod 600 app/relays.php; '
        . 'mailqueue doctor --database app.sqlite --relays /home/me/app/relays.php | grep -c "^ok *mail goes to"',
        'shows' => '/^4$/m'],
    // The bridge and its network are not here.
    ['block' => 'docs/transports.md: <?php // postmark.php', 'through' => static fn(string $block): string
        => 'printf %s ' . escapeshellarg(base64_encode($block)) . ' | base64 -d >postmark.php; php -l postmark.php',
        'shows' => '/No syntax errors/'],
    ['block' => 'docs/messages.md: $queue->enqueue($rfc5322', 'through' => php("$queue
        \$rfc5322 = \"From: a@example.org\\nSubject: x\\n\\nhi\\n\";
        file_put_contents('mail.eml', \"From: a@example.org\\nTo: b@example.net\\n\\nhi\\n\");")],
    $count(2),
    ['text' => 'docs/messages.md: enqueue($message, dsn: [\'notify\' => [\'failure\'], \'ret\' => \'hdrs\', \'envid\' => \'a7\'])',
        'through' => static fn(string $text): string => php("$queue \$message = file_get_contents('mail.eml');")("\$queue->$text;")],
    ['block' => 'docs/messages.md: $queue->enqueueMany(', 'through' => php($queue)],
    $count(5),
    ['block' => "docs/transports.md: return ['transport' =>", 'through' => static fn(string $block): string
        => 'printf %s ' . escapeshellarg(base64_encode("<?php\nfunction my_api(...\$mail): void\n{\n}\n$block"))
        . ' | base64 -d >app/api.php; '
        . 'mailqueue work --database app.sqlite --bootstrap /home/me/app/api.php', 'shows' => '/\b4 sent/'],
    ['block' => 'docs/messages.md: $queue->enqueue($rfc5322', 'through' => php("$queue
        \$rfc5322 = \"From: a@example.org\\nSubject: x\\n\\nhi\\n\";")],
    ['block' => 'docs/transports.md: <?php // smime.php', 'through' => static fn(string $block): string
        => 'mkdir -p smime box && openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=a@example.org -keyout smime/key.pem '
        . '-out smime/cert.pem 2>/dev/null; printf %s ' . escapeshellarg(base64_encode($block)) . ' | base64 -d >smime/smime.php'],
    ['text' => 'docs/transports.md: mailqueue work --bootstrap /home/me/smime/smime.php', 'through' => static fn(string $text): string
        => 'mailqueue migrate --database signed.sqlite && '
        . 'printf "From: a@example.org\nTo: b@example.net\n\nhi\n" | mailqueue sendmail --database signed.sqlite -t; '
        . "MAILQUEUE_TRANSPORT=file:///home/me/box $text --database signed.sqlite; openssl cms -verify -in box/new/* -CAfile "
        . 'smime/cert.pem -purpose any', 'shows' => ['/\b1 sent/', '/^hi\r?$/m', '/Verification successful/']],
    ['block' => 'docs/settings.md: mailqueue config mailWarmup', 'through' => static fn(string $block): string
        => "export MAILQUEUE_DATABASE=/home/me/app.sqlite; $block\nmailqueue config mailWarmup && mailqueue config --unset mailWarmup", 'shows' => '/: 50, 100/'],
    ['block' => 'docs/settings.md: mailqueue config mailHours', 'through' => static fn(string $block): string
        => "export MAILQUEUE_DATABASE=/home/me/app.sqlite; $block\nmailqueue config mailHours && mailqueue config --unset mailHours", 'shows' => '/digest: Mo-Fr/'],
    ['name' => 'limits', 'run' => 'mailqueue config --database /home/me/app.sqlite mailMaxPerHour 6000; '
        . 'mailqueue config --database /home/me/app.sqlite mailLimits 5000/1d'],
    ['block' => 'docs/operations.md: pending   128', 'through' => static fn(string $block): string
        => 'mailqueue status --database /home/me/app.sqlite >seen; for word in '
        . implode(' ', array_map(static fn(string $line): string => escapeshellarg(preg_replace('/\s{2,}.*/', '', $line)),
            array_filter(explode("\n", $block)))) . '; do grep -q "^$(printf %s "$word" | cut -d" " -f1)" seen || '
        . '{ echo "status does not show $word"; cat seen; exit 1; }; done'],
    ['block' => 'docs/operations.md: hour            sent', 'through' => static fn(string $block): string
        => 'mailqueue stats --by hour --database /home/me/app.sqlite >seen; cat seen; for word in '
        . strtok($block, "\n") . '; do head -n 1 seen | grep -qw "$word" || exit 1; done'],
    ['block' => 'docs/operations.md: mailqueue resend 4711', 'through' => $wrong,
        'shows' => '/takes the place of mail 4711, for ann@example\.org/'],
    ['block' => 'docs/operations.md: mailqueue uncertain --sent 4711', 'through' => static fn(string $block): string
        => $wrong('sqlite3 wrong.sqlite "UPDATE mail_queue SET status = \'failed\', uncertain_to = recipients";'
            . str_replace('--type', '--yes --type', $block)), 'shows' => '/1 counted as sent.*0 brought back/s'],
    ['block' => 'docs/operations.md: export MAILQUEUE_REDIRECT_TO=', 'through' => static fn(string $block): string
        => "$block\nmailqueue status --database /home/me/app.sqlite",
        'shows' => '/Test mode of this machine: all mail goes to team@example\.org/'],
    ['block' => 'docs/transports.md: openssl genpkey', 'through' => static fn(string $block): string
        => 'export MAILQUEUE_DATABASE=/home/me/app.sqlite MAILQUEUE_TRANSPORT=null://null; ' . $block,
        'shows' => '/2 sent/'],
    ['block' => 'docs/transports.md: # relay', 'through' => static fn(string $block): string
        => "cat >verdicts <<'END'\n{$block}END\n"
        . "mailqueue verdict '421 your daily quota' --at mail --relay smtp.example.net --verdicts verdicts",
        'shows' => '/relay: .*6 h.*verdicts, line 2/s'],
    ['text' => 'docs/databases.md: sqlite3 app.sqlite ".backup copy.sqlite"'],
    ['block' => 'docs/adopting.md: sendmail_path = "/usr/bin', 'through' => $mail],
    ['block' => 'docs/adopting.md: sendmail_path = "php -n', 'through' => $mail],
    $count(3),
    $empty,
    ['name' => 'a queue of another program', 'run' => 'sqlite3 app.sqlite "CREATE TABLE mail_queue (id INTEGER PRIMARY KEY,
        registration_number TEXT, mail_type TEXT NOT NULL, status TEXT NOT NULL, created_at TEXT);
        INSERT INTO mail_queue VALUES (7, \'4711\', \'confirmation\', \'pending\', \'2026-11-21 09:35:00\')"'],
    ['block' => 'docs/adopting.md: mailqueue adopt --dry-run', 'shows' => '/Would adopt 1 mail .*Adopted 1 mail /s'],
    ['name' => 'the adopted mail', 'run' => 'mailqueue list --database app.sqlite --reference-column registration_number',
        'shows' => '/4711/'],

    $empty,
    ['name' => 'database servers', 'user' => 'root', 'seconds' => 200, 'run' => '
pg=$(ls -d /etc/postgresql/*/main); version=$(basename $(dirname $pg))
install -o postgres -m 600 /srv/relay/db.key $pg/db.key; install -o postgres /srv/relay/db.pem $pg/db.pem
printf "ssl=on\nssl_cert_file=\'$pg/db.pem\'\nssl_key_file=\'$pg/db.key\'\n" >>$pg/postgresql.conf
pg_ctlcluster $version main start
su postgres -c "psql -q -c \"CREATE ROLE app LOGIN PASSWORD \'secret\'\" -c \"CREATE DATABASE app OWNER app\""
mkdir -p /run/mysqld; chown mysql: /run/mysqld
(mariadbd-safe --bind-address=127.0.0.1 >/dev/null 2>&1 &)
for i in $(seq 60); do mariadb -e "SELECT 1" >/dev/null 2>&1 && break; sleep 1; done
mariadb -e "CREATE DATABASE app; CREATE USER app@localhost IDENTIFIED BY \'secret\';
    CREATE USER app@\'127.0.0.1\' IDENTIFIED BY \'secret\'; GRANT ALL ON app.* TO app@localhost; GRANT ALL ON app.* TO app@\'127.0.0.1\'"
install -d -o me -m 700 /home/me/.postgresql; install -o me /srv/relay/ca.pem /home/me/.postgresql/root.crt
printf secret >/home/me/.mailqueue-password; chown me /home/me/.mailqueue-password; chmod 600 /home/me/.mailqueue-password'],
    ['block' => "docs/databases.md: \$queue = new MailQueue('pgsql:", 'through' => static fn(string $block): string
        => $server . php('$pdo = new PDO("sqlite:/home/me/app.sqlite");',
            '$queue->stats(); (new MailQueue("pgsql:host=db.example.org;dbname=app;sslmode=verify-full"))
            ->enqueue(["from" => "a@example.org", "to" => "b@example.net", "subject" => "x", "text" => "x"]);')($block)],
    ['block' => 'docs/databases.md: MAILQUEUE_DATABASE=pgsql:', 'through' => static fn(string $block): string => $cron(
        "MAILQUEUE_TRANSPORT=smtp://user:password@mail.example.org:587\n$block")],
    ['name' => 'a queue to move', 'run' => 'php -r ' . escapeshellarg('(new MailQueue("/home/me/move.sqlite"))->enqueue('
        . '["from" => "a@example.org", "to" => "b@example.net", "subject" => "x", "text" => "x"]);')],
    ['text' => 'docs/databases.md: mailqueue migrate-store FROM TO', 'through' => static fn(string $text): string
        => $server . str_replace('FROM TO', "/home/me/move.sqlite "
        . "'pgsql:host=db.example.org;dbname=app;sslmode=verify-full'", $text),
        'shows' => '/^Moved 1 mails to pgsql:.*: 1 pending\.$/m'],

    ['block' => 'integrations/symfony/README.md: // config/bundles.php', 'in' => '/home/me/site', 'through'
        => static fn(string $block): string => php('require "vendor/autoload.php";
            require "/usr/share/php/Symfony/Bundle/FrameworkBundle/autoload.php";')(
            "\$bundles = [\n$block];\necho class_exists(key(\$bundles)) ? 'found' : 'missing';"),
        'shows' => '/found/'],
    ['block' => 'integrations/symfony/README.md: # .env: the database of', 'in' => '/home/me/site', 'through'
        => static fn(string $block): string => "set -a\n$block" . symfony_sends()],
    ['block' => 'integrations/symfony/README.md: # .env: or a database', 'in' => '/home/me/site', 'through'
        => static fn(string $block): string => "set -a\n$block" . symfony_sends()],
    ['block' => 'integrations/phpmailer/README.md: use MailQueue', 'in' => '/home/me/site', 'through' => php(
        'require "vendor/autoload.php"; require "/usr/share/php/libphp-phpmailer/autoload.php";',
        '$mail->setFrom("a@example.org"); $mail->addAddress("b@example.net"); $mail->Body = "x"; $mail->send();
        echo "queued as ", $mail->mailqueue_id ?? "?";'), 'shows' => '/queued as/'],
    ['block' => 'integrations/wordpress/README.md: tools/wordpress-plugin', 'in' => CHECKOUT, 'shows' => '~/home/me/mailqueue.zip~',
        'through' => static fn(string $block): string => "export MQ_NO_SETUP=1; $block"],
    ['name' => "WordPress's directory", 'run' => 'mkdir -p blog/wp-content'],
    ['block' => 'integrations/wordpress/README.md: mkdir -p wp-content', 'in' => '/home/me/blog'],
    ['block' => "integrations/wordpress/README.md: define('MAILQUEUE_OPTIONS'", 'through' => php('',
        'new MailQueue(MAILQUEUE_OPTIONS["database"]);')],

    ['name' => 'the site of the example', 'run' => 'mkdir -p /home/me/mailqueue/examples/registration/var'],
    ['block' => 'examples/registration/README.md: cd ', 'through' => static fn(string $block): string
        => preg_replace('/(?<=\n)(php .*)/', '(\1 >/tmp/site.out 2>&1 &)', $block) . 'for i in $(seq 50); do '
        . 'curl -sf localhost:8080 >/dev/null && break; sleep 0.1; done; curl -sf -d name=Zoe '
        . '-d email=zoe@example.com localhost:8080/register', 'shows' => '/You are registered/'],
    ['block' => 'examples/registration/README.md: mailqueue config', 'shows' => '/pending +2/'],
    ['block' => 'examples/registration/README.md: MAILQUEUE_TRANSPORT', 'through' => $cron],
];

/** Sends a mail through the DSN of the environment. */
/** What is installed already is left out, and servers start without systemd. */
function page_without_systemd(string $block, bool $isBare): string
{
    $lines = explode("\n", trim($block));
    if (!$isBare) {
        $lines[0] = 'phpenmod mailqueue'; // as the second line, now for PHP-FPM too
        unset($lines[1]);
    }
    $block = str_replace(['mailqueue page --password |', "systemctl restart nginx 'php*-fpm'"], ['mailqueue page --password <<<"correct horse" |',
        // The link is made by PHP-FPM's unit.
        'for f in /usr/sbin/php-fpm*; do $f; done; ln -sf /run/php/php[0-9]*.sock /run/php/php-fpm.sock; nginx'], implode("\n", $lines));
    return $block;
}

/** Logs in to the page, and prints it. */
function page_visit(int $port): string
{
    return "c=\$(mktemp); u=http://127.0.0.1:$port/; t=\$(curl -s -c \$c \$u | sed -n 's/.*name=\"token\" value=\"\\([^\"]*\\).*/\\1/p'); "
        . "curl -s -L -b \$c -c \$c -d action=log-in -d token=\$t -d 'password=correct horse' \$u";
}

function symfony_sends(): string
{
    return "\n" . 'php -d mailqueue.database=/home/me/app.sqlite -r \'require "vendor/autoload.php";
        require "/usr/share/php/Symfony/Component/Mailer/autoload.php";
        $factory = new MailQueue\Bridge\Symfony\MailQueueTransportFactory();
        $dsn = Symfony\Component\Mailer\Transport\Dsn::fromString(getenv("MAILER_DSN"));
        $mail = (new Symfony\Component\Mime\Email())->from("a@example.org")->to("b@example.net")->text("x");
        $factory->create($dsn)->send($mail);\'';
}

return ['steps' => $steps, 'left' => [
    'README.md: pie repository:add' => 'PIE is not in Debian; run by hand',
    'docs/architecture.md: ┌─────────┐' => 'a picture',
    'docs/architecture.md: BEGIN IMMEDIATE' => 'a picture',
    'docs/bounces.md: bounces: "|mailqueue' => 'part of a file; tests/bounce/postfix.phpt has such an alias',
    'docs/bounces.md: mailqueue unix' => 'part of a file; tests/bounce/postfix.phpt has such a transport',
    'docs/bounces.md: # a router' => 'part of a file; tests/bounce/exim.phpt has them',
    'docs/bounces.md: export MAILQUEUE_DATABASE' => 'needs a mailbox; tests/bounce/mailbox.phpt has some',
    'docs/bounces.md: "|/home/me' => 'part of a file',
    'docs/campaigns.md: {' => 'fields of a recipient, as JSON',
    'docs/campaigns.md: Hello {{' => 'tests/unit/mime/test_campaign_docs.c renders it',
    'docs/campaigns.md: Hello Ann' => 'tests/unit/mime/test_campaign_docs.c compares it',
    'integrations/cakephp/README.md: // config/app.php' => 'part of a file; '
        . 'tests/bridges/cakephp-*.phpt run it',
    'integrations/laravel/README.md: // routes/web.php' => 'part of an application; '
        . 'tests/bridges/laravel-page.phpt runs it',
    'integrations/symfony/README.md: // src/Controller' => 'part of an application; '
        . 'tests/bridges/symfony-page.phpt runs it',
    'integrations/laravel/README.md: // config/mail.php' => 'part of a file; '
        . 'tests/bridges/laravel-*.phpt run it',
]];
