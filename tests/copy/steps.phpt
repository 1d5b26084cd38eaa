--TEST--
Moving a queue: what is copied, what is paused, continuing after an interruption
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/copy.inc';

/* More than fits into one transaction, by rows and by octets; a gap in the ids; other programs'
 * keys. */
function large(): Two
{
    $two = new Two();
    $two->from->exec('UPDATE mail_body SET content = zeroblob(9000000) WHERE id = 14');
    $two->source->delete([400]);
    $two->from->exec("INSERT INTO config VALUES ('siteName', 'not ours')");
    return $two;
}

echo "all is there\n";
$two = large();
$two->target->setConfig('mailMaxPerHour', 70);
$two->target->setConfig('mailBurst', 3);
$report = $two->move();
var_dump($two->same());
echo told($report), "\n";
var_dump(Two::ask($two->to, "SELECT count(*) FROM config WHERE key = 'siteName'"), $two->target->config('mailTokens'),
    $two->target->config('mailMaxPerHour'));

echo "only the target sends, and its new ids are far away\n";
$two = new Two(false);
$two->source->enqueue(mail_fields());
$two->move();
$two->source->setConfig('mailQueueEnabled', 1); // switching the queue on in an admin page is not enough
var_dump($two->source->stats()->enabled, $two->sends(), $two->target->enqueue(mail_fields()) >= 1_000_000);

echo "none sends meanwhile\n";
$two = large();
$sends = [];
$two->at = function () use ($two, &$sends): void {
    $sends[$two->sends()] = [$two->source->stats()->enabled, $two->target->stats()->enabled];
};
$two->move();
echo json_encode($sends), ' ';
var_dump($two->told >= 4, $two->same());

echo "stopped at every place, the same command goes on; no row is written twice\n";
$two = large();
$copied = 0;
for ($stop = 1; $stop < 50; $stop++) {
    $two->at = fn(int $told) => $told === $stop ? throw new LogicException() : null;
    $migration = $two->migration();
    try {
        $report = $migration->run();
        break;
    } catch (LogicException) {
        must($two->sends() === '00', 'none sends');
        $pair = new ReflectionProperty($migration, 'pair');
        $copied += $pair->getValue($migration)->report->copied;
    }
}
var_dump($stop > 3 && $stop < 50, $copied + $report->copied, $two->same());

echo "mail that comes, goes and changes meanwhile\n";
$two = large();
$two->at = function (int $told) use ($two): void {
    if ($told <= 3) {
        $two->source->enqueue(mail_fields());
        $told % 2 ? $two->source->hold([21]) : $two->source->delete([20]);
    }
};
$report = $two->move();
var_dump($two->same(), $report->mails === (int) Two::ask($two->from, 'SELECT count(*) FROM mail_queue'), $report->mails);

echo "what is being sent is waited for\n";
$two = new Two(false);
$two->source->enqueue(mail_fields());
[$job] = $two->source->claim(1);
echo thrown(fn() => $two->migration(timeout: 0)->run()), "\n";
var_dump(Two::ask($two->to, 'SELECT count(*) FROM mail_queue'));
$two->at = function () use ($two, &$job): void {
    $job && $two->source->fail($job, '4.2.1 later', retryAfter: 60);
    $job = null;
};
$two->move();
var_dump($two->same(), $two->target->job(1)->status->value);

echo "one whose worker is gone is recovered as the source's rules say\n";
$two = new Two(false);
$two->source->enqueue(mail_fields());
$two->source->claim(1);
$two->at = fn() => $two->from->exec('UPDATE mail_queue SET locked_until = 1');
$two->move();
var_dump($two->same(), Two::ask($two->to, 'SELECT uncertain FROM mail_queue'));
unset($two, $migration, $pair);
gc_collect_cycles(); // LeakSanitizer would report those as leaks
?>
--EXPECT--
all is there
bool(true)
{"late":false,"copied":599,"deleted":0,"kept":0,"mails":599,"counts":{"pending":419,"sending":0,"failed":60,"parked":60,"held":60},"ignoredColumns":[],"changedKeys":["mailMaxPerHour"],"keptKeys":["mailBurst"]}
string(1) "0"
string(4) "7.25"
string(4) "3000"
only the target sends, and its new ids are far away
bool(false)
string(2) "01"
bool(true)
none sends meanwhile
{"00":[false,false]} bool(true)
bool(true)
stopped at every place, the same command goes on; no row is written twice
bool(true)
int(599)
bool(true)
mail that comes, goes and changes meanwhile
bool(true)
bool(true)
int(601)
what is being sent is waited for
MailQueue\Cli\Stop: mails are still being sent after 0 s. The source stays paused: repeat the command to go on, or cancel the move with --abort
string(1) "0"
bool(true)
string(6) "failed"
one whose worker is gone is recovered as the source's rules say
bool(true)
string(1) "1"
