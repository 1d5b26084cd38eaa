--TEST--
mailqueue doctor: sound installations, and each fault with its cure; a corrupt database is reported like any other fault
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$run = static fn(string $path, array $environment = [], string ...$more): array
    => cli(['doctor', '--database', $path, '--json', ...$more], $environment + ['MAILQUEUE_TRANSPORT' => 'null://null']);
/** The findings, one per line. */
$found = static function (array $run) use ($dir): string {
    $faults = array_filter(json_decode($run[1], true, 8, JSON_THROW_ON_ERROR), static fn(array $one): bool => !$one['ok']);
    $lines = array_map(static fn(array $one): string => "  $one[what] -- " . substr($one['cure'], 0, 40), $faults);
    return "exit $run[0]$run[2]\n" . str_replace([$dir, temp_home()], ['%', '~'], implode("\n", $lines)) . ($lines ? "\n" : '');
};

echo 'not there: ', $found($run($app)), file_exists($app) ? "created!\n" : '';
$queue = new MailQueue($app, journal: 'truncate'); // so that the whole queue is in one file
echo 'no run yet: ', $found($run($app));
$queue->enqueue(mail_fields(), reference: 'r1');
echo 'mail waits: ', $found($run($app));
cli(['work', '--quiet', '--transport', 'null://null', '--database', $app]);
echo 'sound: ', $found($run($app));
[$code, $text] = cli(['doctor', '--database', $app, '--transport', 'null://null']);
echo 'for people: ', preg_match('/^ok    database .*app.sqlite is writable$/m', $text), preg_match('/^ok    libcurl \d/m', $text),
    preg_match('/^look/m', $text), "\n";

// Limits for relays that this machine does not have.
$limits = static function (string $limits, string $transport, string $warmup = '', string ...$more) use ($app, $queue): string {
    $queue->setConfig('mailLimits', $limits);
    $queue->setConfig('mailWarmup', $warmup);
    [, $text] = cli(['doctor', '--json', '--database', $app, ...$more], ['MAILQUEUE_TRANSPORT' => $transport]);
    $found = array_filter(json_decode($text, true), static fn(array $one): bool => str_contains($one['what'], 'per relay'));
    return implode('', array_map(static fn(array $one): string => "  $one[what] -- $one[cure]\n", $found)) ?: "  none\n";
};
echo "limits per relay:\n", $limits('60/1h per relay Mail.example.org, 5/1m', 'smtp://u:p%40@mail.example.org:587?pipelining=1'),
    $limits('60/1h per relay mail.example.org:587, 600/1d per relay smtp://u:***@mail.example.org:587', 'smtp://u:p@mail.example.org:587'),
    $limits('60/1h per relay ::1, 9/1h per relay b.example', 'failover(smtp://[::1]:25 smtp://b.example)'),
    $limits('60/1h per relay', 'null://null'),
    $limits('60/1h  PER  Relay typo.example,9/1m per relay mail.example.org', 'smtp://u:secret@mail.example.org:587'),
    $limits('', 'failover(smtp://a.example smtp://b.example)', '2026-12-01: 50, 100 per relay c.example');
file_put_contents("$dir/relays.php", '<?php return ["shop@example.org" => "smtp://c.example"];');
echo $limits('60/1h per relay c.example', 'smtp://a.example', '', '--relays', "$dir/relays.php");
file_put_contents("$dir/boot.php", '<?php return ["relays" => fn() => "smtp://d.example"];');
echo $limits('60/1h per relay d.example', 'smtp://a.example', '', '--bootstrap', "$dir/boot.php");
$queue->setConfig('mailLimits', '');
$queue->setConfig('mailWarmup', '');

$queue->setConfig('mailLastRefill', time() + 7200);
$queue->setConfig('mailLastRun', time() - 3601);
$queue->setConfig('mailQueueEnabled', 0);
$queue->hold([$queue->enqueue(mail_fields())]);
chmod($app, 0666);
chmod("$dir/mail-queue.log", 0644);
chmod("$dir/app.sqlite.run", 0777);
file_put_contents("$app-wal", '');
ftruncate($wal = fopen("$app-wal", 'r+'), 65 << 20);
echo 'faults: ', $found($run($app));
@unlink("$app-wal");

// A document root: by its name, by the environment, and behind a link.
mkdir("$dir/public_html");
copy($app, "$dir/public_html/app.sqlite");
symlink("$dir/public_html", "$dir/data");
$roots = static fn(array $run): string => implode(', ', array_filter(array_column(json_decode($run[1], true), 'what'),
    static fn(string $what): bool => str_contains($what, 'looks like a document root')));
echo str_replace($dir, '%', $roots($run("$dir/public_html/app.sqlite"))), "\n";
echo str_replace($dir, '%', $roots($run("$dir/data/app.sqlite", ['MAIL_QUEUE_LOG' => "$dir/data/x.log"]))), "\n";
mkdir("$dir/served");
symlink("$dir/served", "$dir/alias");
echo str_replace($dir, '%', $roots($run($app, ['DOCUMENT_ROOT' => "$dir/alias", 'MAIL_QUEUE_LOG' => "$dir/served/a.log"]))), "\n";
echo '"', $roots($run($app, ['DOCUMENT_ROOT' => "$dir/app"])), "\"\n";
// Without one, the current directory does not matter.
echo '"', $roots($run($app, ['MAIL_QUEUE_LOG' => temp_home() . '/x.log'])), "\"\n";

// Without a WAL, writers wait for the quick check.
(new PDO("sqlite:$dir/big.sqlite"))->exec('CREATE TABLE big (x); INSERT INTO big VALUES (zeroblob(65 << 20))');
$checks = static fn(string $path): string => implode(', ', preg_replace('~sqlite3 \S*/~', 'sqlite3 %/', preg_grep('/quick.check/', array_column(json_decode($run($path)[1], true), 'what')))) ?: 'no check';
echo $checks("$dir/big.sqlite"), "\n";
(new PDO("sqlite:$dir/big.sqlite"))->exec('PRAGMA journal_mode = wal');
echo $checks("$dir/big.sqlite"), "\n";

// After a failed sync, only the queue itself may copy the WAL into the database.
$wal = new MailQueue("$dir/wal.sqlite", journal: 'wal');
$wal->enqueue(mail_fields());
exec('cd ' . escapeshellarg($dir) . ' && cp wal.sqlite un.sqlite && cp wal.sqlite-wal un.sqlite-wal && touch un.sqlite-unsynced');
$un = $run("$dir/un.sqlite");
echo implode("\n", preg_grep('/-unsynced/', explode("\n", $found($un)))), "\n", str_contains($un[1], 'quick check') ? "checked!\n" : '', file_exists("$dir/un.sqlite-unsynced") ? "not repaired\n" : '', $checks("$dir/un.sqlite"), "\n";

// Corrupt: no page of the tables is left, but the file header says that it is a database.
$bytes = file_get_contents($app);
file_put_contents("$dir/bad.sqlite", substr($bytes, 0, 8192) . random_bytes(strlen($bytes) - 8192));
[$code, $text] = cli(['doctor', '--database', "$dir/bad.sqlite"]);
echo "corrupt: exit $code, ", preg_match('/^look  the database is corrupt: .*\n      Stop the site.*sqlite3 .*\.recover/m', $text) ? 'with a cure' : $text, "\n";
file_put_contents("$dir/bad.sqlite", str_repeat('no database ', 900));
[$code, $text] = cli(['doctor', '--database', "$dir/bad.sqlite"]);
echo "garbage: exit $code, ", preg_match('/^look  the database is corrupt: .*\n      Stop the site.*sqlite3 .*\.recover/m', $text) ? 'with a cure' : $text, "\n";
?>
--EXPECTF--
not there: exit 1
  There is no database %/app.sqlite, or this user cannot reach it. Check the path; mailqueue migrate creates it. -- Nothing else can be checked.
no run yet: exit 1
  no worker has run yet -- Add to the crontab of the user that owns
mail waits: exit 1
  no worker has run yet -- Mail waits (1): add to the crontab of th
sound: exit 0
for people: 110
limits per relay:
  none
  none
  none
  none
  mailLimits has a limit per relay typo.example, and no relay of this machine has this name: it limits nothing here -- Unless another machine sends through it, write it in mailLimits as the transport has it: smtp://u:***@mail.example.org:587 (or only the host, with or without the port).
  mailWarmup has a limit per relay c.example, and no relay of this machine has this name: it limits nothing here -- Unless another machine sends through it, write it in mailWarmup as the transport has it: smtp://a.example, smtp://b.example (or only the host, with or without the port).
  none
  none
faults: exit 1
  the write-ahead log has 65 MiB -- A program reads in one long transaction,
  database has mode 0666 -- It can be written by everybody:
  the database can be read by every user of this machine -- So can the mails in it:
  run directory has mode 0777 -- Others can write to it, and the worker r
  the log is not private -- It names recipients, and others can read
  the limit was last calculated for a time %s ahead -- The clock was set back, or was wrong: ch
  last worker run 60 min ago -- Add to the crontab of the user that owns
  sending is switched off -- To switch it on:
  1 mail is parked: 1 hold -- mailqueue list --status parked --databas
database is under %/public_html, which looks like a document root, log is under %/public_html, which looks like a document root
database is under %/public_html, which looks like a document root, log is under %/public_html, which looks like a document root
log is under %/served, which looks like a document root
""
""
the database was not checked: it has 65 MiB, which takes too long here (sqlite3 %/big.sqlite 'PRAGMA quick_check' does it)
the database passes SQLite's quick check
  the disk did not store the write-ahead log: %/un.sqlite-unsynced says so -- Look for disk errors in the kernel's log
the database passes SQLite's quick check
corrupt: exit 1, with a cure
garbage: exit 1, with a cure
