--TEST--
Moving a queue: late mail, refusals, messages that were not stored as they were sent
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/copy.inc';

echo "what the source took after the end comes once, whatever the target did\n";
$two = new Two(false);
$two->source->enqueue(mail_fields());
$two->move();
$two->target->complete($two->target->claim(1)[0]);
$own = $two->target->enqueue(mail_fields(), reference: 'twice');
$two->source->enqueue(mail_fields(), reference: 'late');
$report = $two->move();
var_dump($report->late, $report->copied);
$jobs = $two->target->claim(5);
echo implode(' ', array_map(fn($job) => $job->id === $own ? 'own' : $job->id, $jobs)), "\n";
var_dump($two->move()->copied);
array_map($two->target->release(...), $jobs);
$two->source->enqueue(mail_fields(), reference: 'twice');
$two->source->enqueue(mail_fields());
echo str_replace("mail $own", 'mail OWN', $two->refused()), "\n";
$two->target->hold([$own]);
var_dump($two->move()->copied, Two::ask($two->to, "SELECT id FROM mail_queue WHERE reference = 'twice'"), $own > 1_000_000);
// Mail 1 was sent by the target, and what has the id 2 now was stored since: neither is deleted.
$two->from->exec("UPDATE mail_queue SET message_id = '<since@example.org>' WHERE id = 2");
$report = $two->move(deletes: true);
var_dump($report->deleted, $report->kept, Two::ask($two->from, 'SELECT count(*) FROM mail_queue'),
    Two::ask($two->from, 'SELECT count(*) FROM mail_body'));

echo "the application may store mail in the target from the first step on\n";
$two = new Two();
$two->at = fn() => $two->target->enqueue(mail_fields());
$two->move();
var_dump((int) Two::ask($two->to, 'SELECT count(*) FROM mail_queue WHERE id >= 1000000') === $two->told,
    Two::ask($two->to, 'SELECT count(*) FROM mail_queue WHERE id < 1000000'));

echo "refused\n";
$two = new Two(false);
$two->source->enqueue(mail_fields());
$mine = $two->target->enqueue(mail_fields());
echo $two->refused(), "\n";
$two->source->release($two->source->claim(1)[0]); // nothing was changed
$two->target->delete([$mine]);
$two->from->exec("UPDATE mail_queue SET priority = 'high'");
echo $two->refused(), "\n";
echo thrown(fn() => migration($two->from, Two::file()[0], name: 'three')->run()), "\n";
$two->from->exec("UPDATE mail_queue SET priority = 1, status = 'lost'");
echo $two->refused(), "\n";
$two->from->exec("UPDATE mail_queue SET status = 'pending'");
$two->move();
var_dump($two->same());

echo "a target that is unfinished, or moved on, is neither source nor target\n";
$two = new Two();
[$third] = Two::file();
$two->at = fn() => throw new LogicException('stopped');
echo $two->refused(), "\n";
$two->at = null;
echo thrown(fn() => migration($two->to, $third)->run()), "\n";
echo thrown(fn() => migration($third, $two->to)->run()), "\n";
$two->move();
migration($two->to, $third, name: 'three')->run();
echo $two->refused(), "\n";

echo "given up\n";
$two = new Two();
$two->at = fn(int $told) => $told === 2 ? throw new LogicException('stopped') : null;
echo $two->refused(), "\n";
var_dump(Two::ask($two->to, 'SELECT count(*) FROM mail_queue') > 0);
$two->at = null;
$two->migration()->abort();
var_dump(Two::ask($two->to, 'SELECT count(*) FROM mail_queue'), Two::ask($two->to, 'SELECT count(*) FROM mail_body'),
    $two->source->stats()->enabled, $two->target->stats()->enabled);
echo thrown($two->migration()->abort(...)), "\n";
$two->move();
var_dump($two->same());
echo thrown($two->migration()->abort(...)), "\n";

echo "a trigger stands for a database that cuts what it stores\n";
$two = new Two();
$two->to->exec('CREATE TRIGGER cut AFTER INSERT ON mail_queue WHEN new.id = 31 BEGIN UPDATE mail_queue '
    . 'SET message_id = substr(message_id, 1, 4) WHERE id = 31; END');
echo $two->refused(), "\n";
$two->to->exec('DROP TRIGGER cut');
$two->to->exec('CREATE TRIGGER cut AFTER INSERT ON mail_body WHEN new.id = 32 BEGIN UPDATE mail_body '
    . "SET content = x'00' WHERE id = 32; END");
echo $two->refused(), "\n";
$two->to->exec('DROP TRIGGER cut');
$two->to->exec('CREATE TRIGGER cut BEFORE INSERT ON mail_queue WHEN new.id = 33 BEGIN SELECT RAISE(ABORT, \'no room\'); END');
echo $two->refused(), "\n";
$two->to->exec('DROP TRIGGER cut');
$two->move();
var_dump($two->same());

echo "what changes the target behind our back is found by the comparison of all\n";
$two = new Two();
$two->at = fn(int $told) => $told !== 2 || $two->to->exec("UPDATE mail_body SET content = x'01' WHERE id = 2;"
    . 'DELETE FROM mail_queue WHERE id = 3; DELETE FROM mail_body WHERE id = 3;'
    . 'DELETE FROM mail_queue WHERE id = 600; DELETE FROM mail_body WHERE id = 600; UPDATE mail_queue SET id = 600 WHERE id = 15');
$report = $two->move();
var_dump($two->same(), $report->mails);
[$clean] = Two::file();
var_dump($report->checksum === migration($two->to, $clean, name: 'three')->run()->checksum);

echo "also after it, before the source is locked: without bodies\n";
$two = new Two();
$two->at = fn(int $told) => $told !== 4 || $two->to->exec('UPDATE mail_queue SET priority = 77 WHERE id = 5');
$two->move();
var_dump($two->told, $two->same());

echo "stopped between the commits of both: none sends, and the same command goes on\n";
foreach ([['from', 'moving'], ['to', 'copying'], ['from', 'moved'], ['to', 'copied']] as [$side, $state]) {
    $two = new Two();
    foreach (['INSERT', 'UPDATE'] as $event) {
        $two->$side->exec("CREATE TRIGGER stop$event BEFORE $event ON config WHEN new.value LIKE '% $state %' "
            . "BEGIN SELECT RAISE(ABORT, 'stop'); END");
    }
    $refused = $two->refused();
    echo "$state: ", str_contains($refused, 'stop') ? 'stopped' : $refused, ', sends ', $two->sends(), ', ';
    $two->$side->exec('DROP TRIGGER stopINSERT');
    $two->$side->exec('DROP TRIGGER stopUPDATE');
    $two->move();
    echo $two->same() ? 'the same' : 'not the same', ', sends ', $two->sends(), "\n";
}

echo "a setting that cannot be\n";
$two = new Two();
$two->from->exec("UPDATE config SET value = 'many' WHERE key = 'mailMaxPerHour'");
echo $two->refused(), "\n";
$two->source->setConfig('mailMaxPerHour', 7);
$two->move();
echo $two->target->config('mailMaxPerHour'), "\n";

echo "a dry run\n";
$two = new Two();
$two->from->exec('ALTER TABLE mail_queue ADD COLUMN colour TEXT');
$report = $two->migration()->run(isDry: true);
var_dump($report->mails, implode(' ', $report->ignoredColumns), $two->source->stats()->enabled,
    $two->source->config('mailQueueMovedTo'), Two::ask($two->to, 'SELECT count(*) FROM mail_queue'));

echo "a record that cannot be read stops claims\n";
foreach (['MovedTo', 'MovedFrom'] as $key) {
    $two = new Two(false);
    $two->source->enqueue(mail_fields());
    $two->from->exec("INSERT INTO config VALUES ('mailQueue$key', '{\"mail_queue\":\"nonsense\"}')");
    echo $two->sends(), ' ', $two->refused(), "\n";
    $two->from->exec("UPDATE config SET value = '{\"other\":\"nonsense\"}' WHERE key = 'mailQueue$key'");
    echo $two->sends(), "\n";
}
unset($two);
gc_collect_cycles(); // LeakSanitizer would report those as leaks
?>
--EXPECT--
what the source took after the end comes once, whatever the target did
bool(true)
int(1)
2 own
int(0)
MailQueue\Cli\Stop: mail 3 (twice, mail) is queued in the target already, as mail OWN: delete one of them and repeat the command
int(2)
string(1) "3"
bool(true)
int(2)
int(2)
string(1) "2"
string(1) "2"
the application may store mail in the target from the first step on
bool(true)
string(3) "600"
refused
MailQueue\Cli\Stop: the target has mail of its own already (1 mails in mail_queue of two): move into an empty queue
MailQueue\Cli\Stop: mail 1 cannot be moved: its column priority holds no integer. Correct the row in the source, or delete the mail, and repeat the command
MailQueue\Cli\Stop: the source is being moved to two: finish or abort that first
MailQueue\Cli\Stop: mail 1 has an unknown status: correct it, or delete the mail
bool(true)
a target that is unfinished, or moved on, is neither source nor target
LogicException: stopped
MailQueue\Cli\Stop: the source is the target of an unfinished move from one: finish or abort that first
MailQueue\Cli\Stop: the target is the target of an unfinished move from one: finish or abort that first
MailQueue\Cli\Stop: the target itself was moved to three
given up
LogicException: stopped
bool(true)
string(1) "0"
string(1) "0"
bool(true)
bool(true)
MailQueue\Cli\Stop: there is no unfinished move to cancel
bool(true)
MailQueue\Cli\Stop: the move is over, and the target sends: to go back, move the target into an empty queue
a trigger stands for a database that cuts what it stores
MailQueue\Cli\Stop: mail 31 is not read back as it was stored: its column message_id differs (too long there, or cut). Correct the row in the source, or delete the mail
MailQueue\Cli\Stop: mail 32 is not read back as it was stored: its column content differs (too long there, or cut). Correct the row in the source, or delete the mail
MailQueue\Cli\Stop: mail 33 could not be stored: two: SQLSTATE[23000]: Integrity constraint violation: 19 no room. What is copied stays: correct this and repeat the command to go on, or cancel the move with --abort
bool(true)
what changes the target behind our back is found by the comparison of all
bool(true)
int(600)
bool(true)
also after it, before the source is locked: without bodies
int(4)
bool(true)
stopped between the commits of both: none sends, and the same command goes on
moving: stopped, sends 10, the same, sends 01
copying: stopped, sends 00, the same, sends 01
moved: stopped, sends 00, the same, sends 01
copied: stopped, sends 00, the same, sends 01
a setting that cannot be
MailQueue\Cli\Stop: the source's setting mailMaxPerHour cannot be "many"; allowed values: 0 … 1000000000. Correct it there, and repeat the command
7
a dry run
int(600)
string(6) "colour"
bool(true)
NULL
string(1) "0"
a record that cannot be read stops claims
00 MailQueue\Cli\Stop: config key mailQueueMovedTo cannot be read: restore it, or unset it
10
00 MailQueue\Cli\Stop: config key mailQueueMovedFrom cannot be read: restore it, or unset it
10
