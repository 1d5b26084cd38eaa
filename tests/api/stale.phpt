--TEST--
enqueue() says once an hour in PHP's error log that mail is due and no worker runs, and asks rarely
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$dir = temp_directory();
$path = "$dir/mail.db";
$queue = new MailQueue($path);
$queue->stats();
$pdo = new PDO("sqlite:$path");
$files = fn(): array => glob("$dir/mailqueue-*/stale-*");

/** What other processes write into the error log while each of them stores mail, all at once. */
$log = function (string $code = '(new MailQueue($argv[1]))->enqueue(mail_fields());', int $processes = 1, string ...$ini) use ($dir, $path): array {
    @unlink("$dir/log");
    $library = var_export(dirname(__DIR__) . '/lib/queue.inc', true);
    $running = [];
    for ($i = 0; $i < $processes; $i++) {
        $running[] = proc_open(php_command('-d', "error_log=$dir/log", '-d', 'log_errors=1', ...$ini, ...['-r', "require $library; $code", '--', $path]),
            [STDIN, STDOUT, STDOUT], $pipes, null, ['TMPDIR' => $dir] + getenv());
    }
    must(array_sum(array_map(proc_close(...), $running)) === 0, 'the processes end well');
    return array_map(fn(string $line): string => preg_replace(['/^\[[^]]*\] /', '/\d{4}-\S+ \S+ UTC/'], ['', 'TIME'], $line), @file("$dir/log", FILE_IGNORE_NEW_LINES) ?: []);
};
$say = function (string $what, array $lines): void {
    echo "$what: ", implode("\n  ", $lines ?: ['nothing']), "\n";
};
/** The next look is due, and the last run was so many seconds ago. */
$due = function (?int $lastRun) use ($files, $queue): void {
    must(touch($files()[0], time() - 1), 'the file is there');
    $queue->setConfig('mailLastRun', $lastRun === null ? null : time() - $lastRun);
};
$next = fn(): int => (clearstatcache() ?? 0) + (int) round((filemtime($files()[0]) - time()) / 60);
$old = fn(int $age) => $pdo->exec('UPDATE mail_queue SET next_attempt_at = ' . (time() - $age) . ' WHERE id = 1');

$say('the first mail', $log());
echo count($files()), " file, the next look in {$next()} minutes\n";
$old(3700);
$say('too early', $log());
$due(null);
$say('due for an hour', $log());
echo "the next look in {$next()} minutes\n";
$say('said', $log());
$due(3700);
$say('the last run is over an hour ago', $log());
$due(3500);
$say('a worker ran within the hour', $log());
echo "the next look in {$next()} minutes\n";
$old(3500);
$due(86400);
$say('mail is due for less than an hour', $log());
$queue->setConfig('mailStaleAfter', 600);
$due(700);
$say('mailStaleAfter 600', $log());
$queue->setConfig('mailStaleAfter', 0);
$due(null);
$say('mailStaleAfter 0', $log());
$queue->setConfig('mailStaleAfter', null);
$pdo->exec("INSERT INTO config VALUES ('mailStaleAfter', 'often')");
$old(3700);
$due(null);
$say('an unreadable value is the default; eight processes at once', $log(processes: 8));
$due(null);
$say('enqueueMany()', $log('(new MailQueue($argv[1]))->enqueueMany([["message" => mail_fields()]]);'));
$due(null);
$say('mail()', $log('mail("ann@example.net", "Hello", "text", "From: club@example.org");', 1, '-d', 'mailqueue.capture_mail=1', '-d', "mailqueue.database=$path"));
$due(null);
$say('a process that goes on looks once in a minute', $log('$queue = new MailQueue($argv[1]); $queue->enqueue(mail_fields());
    touch(glob(sys_get_temp_dir() . "/mailqueue-*/stale-*")[0], time() - 1); $queue->enqueue(mail_fields());'));
touch($files()[0], time() + 7200);
$say('the clock was set back', $log());
chmod(dirname($files()[0]), 0777);
$due(null);
$say('others could write the file', $log());
chmod(dirname($files()[0]), 0700);
$say('a database in memory', $log('$queue = new MailQueue(new PDO("sqlite::memory:")); $queue->enqueue(mail_fields());'));
echo count($files()), " file\n";
?>
--EXPECT--
the first mail: nothing
1 file, the next look in 5 minutes
too early: nothing
due for an hour: mailqueue: mail is due, but no worker has run yet: start bin/mailqueue work by cron; `mailqueue doctor` names the cause (mailStaleAfter 0 turns this line off)
the next look in 60 minutes
said: nothing
the last run is over an hour ago: mailqueue: mail is due, but no worker has run since TIME: start bin/mailqueue work by cron; `mailqueue doctor` names the cause (mailStaleAfter 0 turns this line off)
a worker ran within the hour: nothing
the next look in 5 minutes
mail is due for less than an hour: nothing
mailStaleAfter 600: mailqueue: mail is due, but no worker has run since TIME: start bin/mailqueue work by cron; `mailqueue doctor` names the cause (mailStaleAfter 0 turns this line off)
mailStaleAfter 0: nothing
an unreadable value is the default; eight processes at once: mailqueue: mail is due, but no worker has run yet: start bin/mailqueue work by cron; `mailqueue doctor` names the cause (mailStaleAfter 0 turns this line off)
enqueueMany(): mailqueue: mail is due, but no worker has run yet: start bin/mailqueue work by cron; `mailqueue doctor` names the cause (mailStaleAfter 0 turns this line off)
mail(): mailqueue: mail is due, but no worker has run yet: start bin/mailqueue work by cron; `mailqueue doctor` names the cause (mailStaleAfter 0 turns this line off)
a process that goes on looks once in a minute: mailqueue: mail is due, but no worker has run yet: start bin/mailqueue work by cron; `mailqueue doctor` names the cause (mailStaleAfter 0 turns this line off)
the clock was set back: mailqueue: mail is due, but no worker has run yet: start bin/mailqueue work by cron; `mailqueue doctor` names the cause (mailStaleAfter 0 turns this line off)
others could write the file: nothing
a database in memory: nothing
1 file
