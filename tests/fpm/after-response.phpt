--TEST--
runAfterResponse(): under PHP-FPM, mail is sent after the visitor has the response
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/fpm.inc'; echo MailQueueTest\Fpm::missing(); ?>
--FILE--
<?php
require __DIR__ . '/../lib/fpm.inc';
require __DIR__ . '/../lib/cli.inc';

use MailQueueTest\Fpm;

/* The relay is a program that takes a mail only when the file "open" is there. */
$dir = temp_directory();
mkdir("$dir/mails");
file_put_contents("$dir/take", "#!/bin/sh\necho \$\$ >>$dir/pids\nwhile ! [ -e $dir/open ]; do sleep 0.01; done\ncat >$dir/mails/\$\$.new && mv $dir/mails/\$\$.new $dir/mails/\$\$.eml\n");
chmod("$dir/take", 0700);
$mails = static fn(): int => count(glob("$dir/mails/*.eml"));
$started = static fn(): int => substr_count((string) @file_get_contents("$dir/pids"), "\n");
$app = "$dir/app.sqlite";
$log = "$dir/mail-queue.log";
$runs = static fn(): array => array_map(static fn(string $line): string => json_decode($line)->reply, array_values(array_filter(file($log), static fn(string $line): bool => str_contains($line, '"event":"run"'))));
$queue = new MailQueue($app);
$fpm = new Fpm(['mailqueue.database' => $app, 'mailqueue.log' => $log, 'session.save_path' => $dir,
    'mailqueue.transport' => "sendmail://default?command=$dir/take", 'mailqueue.capture_mail' => '1',
    'sendmail_path' => "cat >>$dir/php-mail"]);
$later = static function () use ($app): void {
    $lock = fopen("$app.run/after-response.lock", 'r+');
    must(wait_until(static fn(): bool => flock($lock, LOCK_EX | LOCK_NB)), 'the run before has ended');
    flock($lock, LOCK_UN);
    touch("$app.run/after-response.lock", time() - 11);
};
$mail = var_export(mail_fields(), true);
$page = $fpm->page('page', <<<PHP
    session_start();
    register_shutdown_function(fn() => print(', before'));
    \$queue = MailQueue::default();
    \$queue->enqueue($mail);
    echo \$queue->runAfterResponse() ? 'will run' : 'does nothing';
    register_shutdown_function(fn() => print(', after'));
    PHP);
$session = ['HTTP_COOKIE' => 'PHPSESSID=abcdefghijklmnopqrstuvwxyz'];

echo '-- ', $fpm->get($page, $session), "\n";
must(wait_until(static fn(): bool => $started() === 1), 'the relay is asked');
echo $mails(), " mails\n";
echo 'the same session, at the same time: ', $fpm->get($page, $session), "\n";
touch("$dir/open");
must(wait_until(static fn(): bool => $mails() >= 1), 'the first mail arrives'); // soon the second, in the same run
must(wait_until(static fn(): bool => count($runs()) === 1), 'the run ends');
echo 'too early: ', $fpm->get($page), ', ', $queue->stats()->pending, " pending\n";
$later();
$fpm->get($page);
must(wait_until(static fn(): bool => $mails() === 4), 'all arrive');
must(wait_until(static fn(): bool => count($runs()) === 2), 'the second run ends');
echo implode("\n", preg_replace('/ .*/', '', $runs())), "\n";

echo "-- 50 requests at once\n";
$later();
$requests = array_map(static fn() => $fpm->begin($page), range(1, 50));
echo implode("\n", array_unique(array_map($fpm->end(...), $requests))), "\n";
must(wait_until(static fn(): bool => count($runs()) === 3), 'a run ends');
must(wait_until(static fn(): bool => $mails() + $queue->stats()->pending === 54), 'each mail is there once');
echo count($runs()) - 2, ' run, at most 20 mails: ', $mails() - 4 <= 20 && $mails() > 4 ? 'yes' : $mails(), "\n";

echo "-- kill -9 while a mail is handed over\n";
unlink("$dir/open");
$before = [$mails(), $started()];
$later();
$fpm->get($page);
must(wait_until(static fn(): bool => $started() > $before[1]), 'the relay is asked');
$holder = trim(shell_exec("fuser $app.run/after-response.lock 2>/dev/null") ?? '');
must($holder !== '', 'a process runs');
posix_kill((int) $holder, SIGKILL);
touch("$dir/open");
cli(['config', 'mailMaxPerHour', '1000000'], ['MAILQUEUE_DATABASE' => $app]);
must(wait_until(function () use ($queue, $app, $dir): bool {
    cli(['work', '--transport', "sendmail://default?command=$dir/take"], ['MAILQUEUE_DATABASE' => $app]);
    return $queue->jobs(limit: 1) === [];
}, 120), 'the queue is empty'); // what may have arrived is tried again after a minute
$ids = array_map(static fn(string $mail): string => preg_match('/^Message-ID: (.*)$/mi', file_get_contents($mail), $match) ? $match[1] : '', glob("$dir/mails/*.eml"));
echo count(array_unique($ids)), " of 55 mails arrived\n";

echo "-- what goes wrong is not the visitor's business\n";
$visit = static function (string $code) use ($fpm, $later, $dir, $app): void {
    $before = strlen($fpm->log());
    $later();
    echo $fpm->get($fpm->page(bin2hex(random_bytes(4)), $code)), "\n";
    must(wait_until(static fn(): bool => strlen($fpm->log()) > $before), 'the log has it');
    echo '  ', preg_replace(['/^\[.*?\] /m', '/(?<=waited )\d+ ms/'], ['', 'N ms'], str_replace($dir, '%', substr($fpm->log(), $before)));
};
$queue->enqueue(mail_fields());
$visit(<<<PHP
    set_exception_handler(fn() => touch('$dir/handled'));
    \$pdo = new PDO('sqlite:$app');
    \$pdo->beginTransaction();
    \$queue = new MailQueue(\$pdo, busyTimeout: 100);
    \$queue->enqueue($mail);
    \$queue->runAfterResponse();
    echo 'an open transaction';
    PHP);
$visit("rename('$app.run', '$dir/run'); touch('$app.run'); MailQueue::default()->runAfterResponse(); echo 'no run directory';");
echo file_exists("$dir/handled") ? "the application's handler was called\n" : '';
unlink("$app.run");
rename("$dir/run", "$app.run");
echo $fpm->get($fpm->page('fatal', "MailQueue::default()->runAfterResponse(); echo 'a fatal error'; ini_set('display_errors', 0); nothing();")), "\n";
must(wait_until(static fn(): bool => $queue->jobs(limit: 1) === []), 'mail is sent after a fatal error');
$later();
$queue->enqueue(null, 'r1');
echo $fpm->get($fpm->page('compose', <<<PHP
    MailQueue::default()->runAfterResponse(compose: fn(MailQueue\\Job \$job) => ['subject' => \$job->reference] + $mail,
        sign: fn(MailQueue\\Job \$job, string \$message) => "X-Signed: yes\\n\$message");
    echo 'composed later';
    PHP)), "\n";
must(wait_until(static fn(): bool => $queue->jobs(limit: 1) === []), 'it is composed');
echo shell_exec("grep -l '^Subject: r1' $dir/mails/*.eml | xargs grep -l '^X-Signed: yes' | wc -l");

$later();
$queue->enqueue(null, 'r6');
echo $fpm->get($fpm->page('private', <<<PHP
    final class Mailer
    {
        public function run(): bool
        {
            return MailQueue::default()->runAfterResponse(compose: [\$this, 'compose'], sign: [\$this, 'sign']);
        }
        private function compose(MailQueue\\Job \$job): array
        {
            return ['subject' => \$job->reference] + $mail;
        }
        private function sign(MailQueue\\Job \$job, string \$message): string
        {
            return "X-Signed: yes\\n\$message";
        }
    }
    echo (new Mailer())->run() ? 'composed by a private method' : 'not';
    register_shutdown_function(fn() => print(', later functions run'));
    PHP)), "\n";
must(wait_until(static fn(): bool => $queue->jobs(limit: 1) === []), 'it is composed');
echo shell_exec("grep -l '^Subject: r6' $dir/mails/*.eml | xargs grep -l '^X-Signed: yes' | wc -l");

echo "-- what the web server sets counts\n";
$later();
$queue->enqueue(mail_fields(), 'r7', relay: 'box');
echo $fpm->get($fpm->page('staging', "echo MailQueue::default()->runAfterResponse(relays: ['box' => 'file://$dir/staging']) ? 'will run: ' : '', getenv('MAILQUEUE_REDIRECT_TO'), \"\\n\";"),
    ['MAILQUEUE_REDIRECT_TO' => 'team@example.org', 'MAIL_QUEUE_LOG' => "$dir/staging.log"]);
must(wait_until(static fn(): bool => $queue->jobs(limit: 1) === []), 'it is sent');
echo shell_exec("grep -h '^X-Envelope-To' $dir/staging/new/*");
must(wait_until(static fn(): bool => str_contains((string) @file_get_contents("$dir/staging.log"), '"event":"run"')), 'the log is there');

echo "-- mail() in a callback is not captured\n";
$later();
$queue->enqueue(null, 'r5');
echo $fpm->get($fpm->page('within', <<<PHP
    MailQueue::default()->runAfterResponse(compose: function (MailQueue\\Job \$job): array {
        mail('ann@example.net', 'within a run', 'x', 'From: club@example.org');
        return ['subject' => 'composed'] + $mail;
    });
    mail('ann@example.net', 'before the run', 'x', 'From: club@example.org');
    PHP));
must(wait_until(static fn(): bool => $queue->jobs(limit: 1) === []), 'all is sent');
$last = static fn(string $text): string => trim(shell_exec("grep -l '^Subject: $text' $dir/mails/*.eml | wc -l"));
echo $last('composed'), ' composed, ', $last('before the run'), ' captured before, ', $last('within a run'), ' captured within; ',
    substr_count((string) @file_get_contents("$dir/php-mail"), 'Subject: within a run'), " by PHP itself\n";

echo "-- several relays\n";
$later();
$box = static fn(string $name): int => count(glob("$dir/$name/new/*"));
$queue->setConfig('mailHistoryDays', 1);
$queue->enqueue(mail_fields(), 'r3', relay: 'other');
$fpm->get($fpm->page('alone', 'MailQueue::default()->runAfterResponse();'));
must(wait_until(static fn(): bool => $queue->jobs(limit: 1)[0]->lastError !== null), 'it is put back');
echo $queue->jobs()[0]->lastError, "\n";
$queue->retryFailed([$queue->jobs()[0]->id]);
$later();
echo $fpm->get($fpm->page('map', "MailQueue::default()->runAfterResponse(relays: ['other' => 'file://$dir/other']); echo 'a map';")), ', ';
must(wait_until(static fn(): bool => $queue->jobs(limit: 1) === []), 'it is sent');
echo $box('other'), " in the other's box\n";
$queue->enqueue(mail_fields(), 'r4');
$later();
echo $fpm->get($fpm->page('function', "MailQueue::default()->runAfterResponse(relays: fn(MailQueue\\Job \$job): string => 'file://$dir/' . \$job->reference); echo 'a function';")), ', ';
must(wait_until(static fn(): bool => $queue->jobs(limit: 1) === []), 'it is sent');
echo $box('r4'), " in its box\n";
$visit("MailQueue::default()->runAfterResponse(relays: ['other' => 'smtq://user:secret@a.example']); echo 'a map that cannot be read';");

echo "-- phpinfo() as HTML\n";
$other = new Fpm(['mailqueue.transport' => 'failover(smtp://me&amp;you:s3cret@a.example null://null)'], children: 1);
echo $other->get($other->page('info', <<<'PHP'
    ob_start();
    phpinfo(INFO_MODULES);
    echo preg_match('~failover[^<]*~', ob_get_clean(), $shown) ? $shown[0] : 'nothing';
    PHP)), "\n";

echo "-- a fatal error within a run leaves the host's lock free\n";
$later();
$queue->enqueue(null, 'r2');
echo $fpm->get($fpm->page('stopped', <<<PHP
    MailQueue::default()->runAfterResponse(compose: fn() => trigger_error('stopped', E_USER_ERROR));
    echo 'compose stops PHP';
    PHP)), "\n";
must(wait_until(static fn(): bool => str_contains($fpm->log(), 'error:  stopped')), 'PHP stops');
must(wait_until(static function () use ($app): bool {
    return flock(fopen("$app.run/after-response.lock", 'r'), LOCK_EX | LOCK_NB);
}), 'no process holds the lock');
echo "free\n";

echo "-- where the response cannot be finished\n";
ini_set('error_log', "$dir/cli.log");
ini_set('log_errors', '1');
function fastcgi_finish_request(): bool { return true; } // an application's stand-in ends no response
var_dump($queue->runAfterResponse(), $queue->runAfterResponse());
echo preg_replace('/^\[.*?\] /m', '', file_get_contents("$dir/cli.log"));
echo thrown(fn() => $queue->runAfterResponse(0)), "\n", thrown(fn() => $queue->runAfterResponse(5, -1)), "\n",
    thrown(fn() => $queue->runAfterResponse(relays: 'smtp://a.example')), "\n";
?>
--EXPECT--
-- will run, before, after
0 mails
the same session, at the same time: will run, before, after
too early: will run, before, after, 1 pending
end=empty
end=empty
-- 50 requests at once
will run, before, after
1 run, at most 20 mails: yes
-- kill -9 while a mail is handed over
55 of 55 mails arrived
-- what goes wrong is not the visitor's business
an open transaction
  MailQueue::runAfterResponse(): another connection holds the write lock on %/app.sqlite; waited N ms: keep its transactions short, or raise the busy timeout; if it is the application's own connection in this process, call this after its commit
no run directory
  MailQueue::runAfterResponse(): the run directory %/app.sqlite.run is not a directory; move what is there away
a fatal error
composed later
1
composed by a private method, later functions run
1
-- what the web server sets counts
will run: team@example.org
X-Envelope-To: team@example.org
-- mail() in a callback is not captured
1 composed, 1 captured before, 0 captured within; 1 by PHP itself
-- several relays
the mail names the relay "other", which the map of relays does not have; add it there (mailqueue work --relays)
a map, 1 in the other's box
a function, 1 in its box
a map that cannot be read
  MailQueue::runAfterResponse(): relays: "other": transport: it does not begin with a scheme that is known; write smtp://user:password@host:587, smtps://user:password@host:465, lmtp:///run/dovecot/lmtp, sendmail://default, file:///directory, null://null, or a mail API's ses+https://, mailgun+https://, microsoftgraph+https:// or gmail+https://
-- phpinfo() as HTML
failover(smtp://me&amp;amp;you:***@a.example&nbsp;null://null)
-- a fatal error within a run leaves the host's lock free
compose stops PHP
free
-- where the response cannot be finished
bool(false)
bool(false)
MailQueue::runAfterResponse() does nothing: PHP's "cli" cannot end the response before the script ends, or it runs one script for many requests; start bin/mailqueue work by cron instead
ValueError: MailQueue::runAfterResponse(): Argument #1 ($seconds) must be between 1 and 300 (seconds)
ValueError: MailQueue::runAfterResponse(): Argument #2 ($mails) must be between 1 and 1000
TypeError: MailQueue::runAfterResponse(): Argument #5 ($relays) must be of type Closure|array|null, string given
