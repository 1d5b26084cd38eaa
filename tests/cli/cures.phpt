--TEST--
mailqueue doctor: each command that it prints as a cure works as printed
--EXTENSIONS--
mailqueue
pdo_sqlite
--SKIPIF--
<?php
foreach (['sqlite3', 'openssl'] as $program) {
    is_executable("/usr/bin/$program") || die("skip $program is missing");
}
?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory() . "/it's here"; // characters that a shell would interpret
mkdir($dir);
$app = "$dir/app.sqlite";
$environment = ['MAILQUEUE_TRANSPORT' => 'null://null'];
$doctor = static function (array $more = []) use ($app, &$environment): array {
    [$code, $output] = cli(['doctor', '--json', ...($more ?: ['--database', $app])], $environment);
    $faults = array_filter(json_decode($output, true, 8, JSON_THROW_ON_ERROR), static fn(array $one): bool => !$one['ok']);
    $code === ($faults ? 1 : 0) || print("exit $code\n");
    return array_column($faults, null, 'what');
};
$hidden = static fn(string $text): string => str_replace([$dir, escapeshellarg($app), escapeshellarg(dirname($app))], ['%', "'APP'", '%'], $text);
/**
 * Each fault that has a command as its cure: the command, and whether the fault is gone afterwards.
 */
$cure = static function (string $what, array $more = []) use ($doctor, $hidden, &$environment, $dir): void {
    echo "-- $what\n";
    foreach ($doctor($more) as $fault) {
        if ($fault['run'] === null) {
            continue; // such as the cron line
        }
        [$code, , $errors] = typed($fault['run'], $environment, $dir);
        $asked = preg_match('/^mailqueue: (.*\?) Add --yes\.$/', $errors, $match) ? $match[1] : null;
        if ($asked !== null) { // as if a person agreed
            [$code, , $errors] = typed("$fault[run] --yes", $environment, $dir);
        }
        $text = preg_replace('/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/', 'TIME', "$fault[what] $ $fault[run]");
        echo str_replace(escapeshellarg($dir), '%', str_replace(addcslashes($dir, "'"), '%', str_replace(str_replace("'", "'\\''", $dir), '%', $hidden($text)))), "\n",
            $asked === null ? '' : "  asks: $asked\n", $code === 0 ? '' : "  exit $code $errors", isset($doctor($more)[$fault['what']]) ? "  it is still there\n" : '';
    }
};

$cure('no database');
$queue = new MailQueue($app);
$work = static fn(string $transport, string ...$more): array => cli(['work', '--quiet', '--transport', $transport, '--database', $app, ...$more]);
echo "-- the cron line, as cron runs it\n";
$fault = $doctor()['no worker has run yet'];
$line = preg_match('/^ +\* \* \* \* \* (.*)$/m', $fault['cure'], $match) ? $match[1] : $fault['cure'];
$cron = ['PATH' => '/usr/bin:/bin', 'MAILQUEUE_TRANSPORT' => 'null://null'];
$program = realpath(dirname(__DIR__, 2) . '/bin/mailqueue');
echo str_replace([dirname($program), escapeshellarg($app)], ['BIN', 'APP'], $line), "\n";
$line = str_replace($program, implode(' ', array_map(escapeshellarg(...), cli_command([]))), str_replace('\%', '%', $line));
echo 'exit ', typed($line, $cron, '/')[0], "\n";
echo isset($doctor()['no worker has run yet']) ? "it is still there\n" : '';
echo "-- the cron line of a doctor with relative paths and its own relay\n";
file_put_contents("$dir/verdicts", '');
symlink('key.pem', "$dir/my.pem");
file_put_contents("$dir/key.pem", '');
file_put_contents("$dir/relays.php", "<?php return ['default' => 'null://null'];");
$queue->setConfig('mailLastRun', null);
[, $output] = typed('mailqueue doctor --database sqlite:app.sqlite --transport null://null --relays relays.php --dkim example.org:a:my.pem', ['MAILQUEUE_VERDICTS' => 'verdicts'], $dir);
echo preg_match('/^ +\* \* \* \* \* (.*)$/m', $output, $match)
    ? str_replace(["'\\''", dirname($program), $app, $dir], ["'", 'BIN', 'APP', 'DIR'], $match[1]) : $output, "\n";
$queue->setConfig('mailLastRun', time());
$cure('none');

$held = $queue->enqueue(mail_fields());
$queue->hold([$held]);
$cure('hold');
$queue->fail($queue->claim()[0], 'no', permanent: true);
$cure('refused');
$queue->hold([$held]);
$queue->enqueue(mail_fields());
$queue->fail($queue->claim()[0], 'no', permanent: true);
$cure('both');
echo $queue->stats()->pending, " pending\n";
$queue->delete(array_column($queue->jobs(), 'id'));

$queue->setConfig('mailQueueEnabled', 0);
$queue->setConfig('mailRedirectTo', 'test@example.org');
$queue->setConfig('mailRelayPause', json_encode(['smtp://mail.example.org:25' => time() + 600 . ' 3 451 4.3.0 later']));
$cure('off, in test mode, paused');
$queue->setConfig('mailRedirectToSchumbi', 1);
$queue->setConfig('mailRedirectTypes', 'a, b');
$cure('the other test mode');
$pdo = new PDO("sqlite:$app");
foreach (['mailMaxPerHour' => 'lots', 'mailRelayPause' => '{', 'mailRedirectTo' => 'x'] as $key => $value) {
    $pdo->exec("INSERT INTO config VALUES ('$key', '$value') ON CONFLICT DO UPDATE SET value = excluded.value");
}
$cure('settings that cannot be read');
$cure('the next one');
$cure('the last one');

chmod($app, 0662);
chmod("$dir/mail-queue.log", 0644);
chmod("$app.run", 0777);
file_put_contents("$dir/aliases", "root: a@example.org\n");
chmod("$dir/aliases", 0666);
file_put_contents("$dir/key.pem", "-----BEGIN PRIVATE KEY-----\n");
chmod("$dir/key.pem", 0604);
$environment += ['MAILQUEUE_ALIASES' => "$dir/aliases", 'MAILQUEUE_DKIM' => "example.org:a:/none/key.pem"];
symlink("$dir/key.pem", $key = temp_home() . '/key.pem'); // no blanks in this setting
$environment['MAILQUEUE_DKIM'] = "example.org:a:$key,example.org:b:" . temp_home() . '/new.pem';
$said = (static function () use ($cure): string {
    ob_start();
    $cure('files');
    return ob_get_clean();
})();
echo str_replace(temp_home(), '~', $said);
$environment = ['MAILQUEUE_TRANSPORT' => 'null://null'];

echo "-- a WAL that this SQLite can corrupt\n";
(new MailQueue($wal = "$dir/wal.sqlite", journal: 'wal'))->setConfig('mailLastRun', time());
foreach ($doctor(['--database', $wal]) as $what => $fault) {
    $ran = typed($fault['run'], $environment, $dir)[0];
    echo str_contains($what, 'journal mode wal') && $ran === 0 && $doctor(['--database', $wal]) === [] ? '' : "still: $what $fault[run]\n";
}

echo "-- a WAL that others can read and write\n";
$reader = new PDO("sqlite:$app"); // keeps the WAL
$reader->exec('PRAGMA journal_mode = wal');
$reader->exec("INSERT INTO config VALUES ('another', '1')"); // SQLite mends the mode of an empty WAL
chmod("$app-wal", 0606);
foreach ($doctor() as $what => $fault) {
    if (str_starts_with((string) $fault['run'], 'chmod')) {
        echo str_replace($dir, '%', $what), ' $ ', strtr($fault['run'], [escapeshellarg("$app-wal") => 'WAL']), "\n";
        typed($fault['run'], [], $dir);
    }
}
echo preg_grep('/has mode|can be read/', array_keys($doctor())) ? "it is still there\n" : '';
$reader->exec('PRAGMA journal_mode = truncate');
unset($reader);

echo "-- after migrate-store\n";
$queue->enqueue(mail_fields());
$claimed = $queue->claim();
$move = static fn(string ...$more): int => cli(['migrate-store', '--timeout', '0', ...$more, $app, "$dir/new.sqlite"])[0];
echo 'one is being sent: exit ', $move(), "\n";
$queue->release($claimed[0]);
$cure('while it is moved');
$queue->enqueue(mail_fields());
$cure('when it is over');
(new MailQueue("$dir/new.sqlite"))->setConfig('mailLastRun', time());
echo count((new MailQueue("$dir/new.sqlite"))->jobs()), " there\n";
$cure('there', ['--database', "$dir/new.sqlite"]);
show(cli(['config', '--unset', 'mailQueueMovedTo', '--database', $app]));
$cure('unset');

echo "-- a corrupt file\n";
(new PDO("sqlite:$app"))->exec('PRAGMA wal_checkpoint(TRUNCATE)'); // otherwise sound pages may be read from the WAL
$bytes = file_get_contents($app);
file_put_contents($app, substr($bytes, 0, 8192) . str_repeat("\xff", 100) . substr($bytes, 8292));
foreach ($doctor() as $what => $fault) {
    if (preg_match('/  (sqlite3 .* recovered.sqlite)  /', $fault['cure'], $match)) {
        typed($match[1], [], $dir); // SQLite 3.46's .recover exits with 1, because it has met the corrupt page
        echo (new PDO("sqlite:$dir/recovered.sqlite"))->query('PRAGMA integrity_check')->fetchColumn(), "\n";
        array_map(touch(...), ["$app-wal", "$app-shm", "$app-journal"]); // what a killed program leaves
        preg_match('/ Move the corrupt file away with its (.*?),? which/', $fault['cure'], $match);
        foreach (['', ...preg_split('/, | and /', $match[1])] as $suffix) {
            rename($app . $suffix, "$dir/away$suffix");
        }
        rename("$dir/recovered.sqlite", $app);
        echo implode(' ', array_map(basename(...), glob("$app*"))), "\n";
        echo preg_grep('/corrupt/', array_keys($doctor())) ? "it is still there\n" : '';
    }
}
?>
--EXPECT--
-- no database
There is no database %/app.sqlite, or this user cannot reach it. Check the path; mailqueue migrate creates it. $ mailqueue migrate --database 'APP'
-- the cron line, as cron runs it
BIN/mailqueue work --quiet --database APP
exit 0
-- the cron line of a doctor with relative paths and its own relay
BIN/mailqueue work --quiet --database 'APP' --transport null://null --relays 'DIR/relays.php' --dkim 'example.org:a:DIR/key.pem' --verdicts 'DIR/verdicts'
-- none
-- hold
1 mail is parked: 1 hold $ mailqueue retry --all --database 'APP'
  asks: Bring 1 mail back?
-- refused
1 mail is parked: 1 refused $ mailqueue retry --database 'APP'
  asks: Bring 1 mail back?
-- both
2 mails are parked: 1 hold, 1 refused $ mailqueue retry --all --database 'APP'
  asks: Bring 2 mails back?
2 pending
-- off, in test mode, paused
Test mode: mail of every type but organizer goes to test@example.org, not to its recipients (config key mailRedirectTo). $ mailqueue config --unset mailRedirectTo --database 'APP'
sending is switched off $ mailqueue config mailQueueEnabled 1 --database 'APP'
The relay smtp://mail.example.org:25 is paused until TIME: 451 4.3.0 later $ mailqueue config --unset mailRelayPause --database 'APP'
-- the other test mode
Test mode: mail of the types a, b goes to @schumbi.de, not to its recipients (config key mailRedirectToSchumbi). $ mailqueue config mailRedirectToSchumbi 0 --database 'APP'
-- settings that cannot be read
config key mailMaxPerHour cannot be read: "lots"; allowed values: 0 … 1000000000. Nothing is sent until it is corrected (`mailqueue config mailMaxPerHour VALUE`, or `mailqueue config --unset mailMaxPerHour`) $ mailqueue config --unset mailMaxPerHour --database 'APP'
-- the next one
config key mailRedirectTo cannot be read: "x"; allowed values: address | @domain. Nothing is sent until it is corrected (`mailqueue config mailRedirectTo VALUE`, or `mailqueue config --unset mailRedirectTo`) $ mailqueue config --unset mailRedirectTo --database 'APP'
-- the last one
config key mailRelayPause cannot be read: "{"; allowed values: JSON object of strings. Nothing is sent until it is corrected (`mailqueue config mailRelayPause VALUE`, or `mailqueue config --unset mailRelayPause`) $ mailqueue config --unset mailRelayPause --database 'APP'
-- files
DKIM key example.org:a names a file with mode 0604 $ chmod 600 ~/key.pem
DKIM key example.org:b names a file that does not exist or cannot be reached $ umask 077; openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out ~/new.pem
aliases %/aliases can be written by others than its owner, so others can read root's mail $ chmod go-w '%/aliases'
database has mode 0662 $ chmod o-w 'APP'
run directory has mode 0777 $ chmod 700 '%/app.sqlite.run'
the log is not private $ chmod 600 '%/mail-queue.log'
-- a WAL that this SQLite can corrupt
-- a WAL that others can read and write
%/app.sqlite-wal has mode 0606 $ chmod o-w WAL
the database can be read by every user of this machine $ chmod o-r WAL
-- after migrate-store
one is being sent: exit 75
-- while it is moved
This queue is being moved to %/new.sqlite: nothing is sent from here (config key mailQueueMovedTo). $ mailqueue migrate-store 'APP' '%/new.sqlite'
-- when it is over
This queue was moved to %/new.sqlite: nothing is sent from here (config key mailQueueMovedTo). $ mailqueue migrate-store 'APP' '%/new.sqlite'
  it is still there
2 there
-- there
exit 0
-- unset
-- a corrupt file
ok
app.sqlite app.sqlite.run
