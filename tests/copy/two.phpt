--TEST--
Moving a queue: two commands at once, and mail that is enqueued on either side in between
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/copy.inc';

echo "a second command takes over: what the target has sent does not come back\n";
for ($once = 1; $once <= 4; $once++) {
    $two = new Two();
    $two->from->exec("UPDATE mail_queue SET status = 'parked' WHERE id % 5 > 0");
    $two->source->setConfig('mailMaxPerHour', 0);
    $two->at = function (int $told) use ($two, $once): void {
        if ($told === $once) {
            migration($two->from, $two->to)->run();
            while ($jobs = $two->target->claim(100)) {
                array_map($two->target->complete(...), $jobs);
            }
        }
    };
    echo $two->refused(), ' ', Two::ask($two->to, 'SELECT count(*) FROM mail_queue'), ' ', $two->sends(), "\n";
}

echo "given up meanwhile\n";
for ($once = 1; $once <= 4; $once++) {
    $two = new Two();
    $two->at = fn(int $told) => $told !== $once || migration($two->from, $two->to)->abort();
    echo $two->refused(), ' ', Two::ask($two->to, 'SELECT count(*) FROM mail_queue'), ' ',
        json_encode([$two->source->stats()->enabled, $two->target->stats()->enabled]), "\n";
    $two->at = null;
    $two->move();
    must($two->same(), 'the same');
}

function own_mail(Two $two, int $id): void
{
    $now = $two->target->enqueue(mail_fields(), type: 'own');
    $two->to->exec("UPDATE mail_queue SET id = $id WHERE id = $now");
}

echo "mail of the target's own is never deleted\n";
$two = new Two();
$two->at = fn(int $told) => $told !== 1 || own_mail($two, 590);
echo $two->refused(), ' ', Two::ask($two->to, 'SELECT mail_type FROM mail_queue WHERE id = 590'), "\n";
$two->at = null;
$two->migration()->abort();
echo Two::ask($two->to, 'SELECT group_concat(id) FROM mail_queue'), "\n";

echo "stored between the look at the target and the record in it\n";
$two = new Two(false);
$two->source->enqueue(mail_fields());
[$job] = $two->source->claim(1);
$two->at = fn() => throw new LogicException('stopped'); // nothing was copied yet
echo $two->refused(), "\n";
$two->at = null;
$two->source->release($job);
own_mail($two, 1);
echo $two->refused(), ' ', Two::ask($two->to, 'SELECT mail_type FROM mail_queue'), ' ',
    json_encode([$two->source->stats()->enabled, $two->target->stats()->enabled]), "\n";

echo "a parked mail that was copied is queued again in the source, under a new id\n";
for ($once = 1; $once <= 4; $once++) {
    $two = new Two();
    $reference = Two::ask($two->from, 'SELECT reference FROM mail_queue WHERE id = 9');
    $type = Two::ask($two->from, 'SELECT mail_type FROM mail_queue WHERE id = 9');
    $two->source->hold([9]);
    $two->at = fn(int $told) => $told !== $once || $two->source->enqueue(mail_fields(), reference: $reference, type: $type);
    $two->move();
    var_dump($two->same() && Two::ask($two->to, "SELECT id FROM mail_queue WHERE reference = '$reference'") > 600);
}

echo "the same after the end: the target's copy gives way if it is still parked\n";
$two = new Two(false);
$two->source->enqueue(mail_fields(), reference: 'r');
$two->source->hold([1]);
$two->move();
$two->source->enqueue(mail_fields(), reference: 'r');
$two->move();
echo Two::ask($two->to, 'SELECT group_concat(id || status) FROM mail_queue'), "\n";
unset($two);
gc_collect_cycles(); // LeakSanitizer would report those as leaks
?>
--EXPECT--
a second command takes over: what the target has sent does not come back
MailQueue\Cli\Stop: another migrate-store has taken over this move, or it was cancelled: nothing more was written by this one 480 00
MailQueue\Cli\Stop: another migrate-store has taken over this move, or it was cancelled: nothing more was written by this one 480 00
MailQueue\Cli\Stop: another migrate-store has taken over this move, or it was cancelled: nothing more was written by this one 480 00
MailQueue\Cli\Stop: another migrate-store has taken over this move, or it was cancelled: nothing more was written by this one 480 00
given up meanwhile
MailQueue\Cli\Stop: another migrate-store has taken over this move, or it was cancelled: nothing more was written by this one 0 [true,true]
MailQueue\Cli\Stop: another migrate-store has taken over this move, or it was cancelled: nothing more was written by this one 0 [true,true]
MailQueue\Cli\Stop: another migrate-store has taken over this move, or it was cancelled: nothing more was written by this one 0 [true,true]
MailQueue\Cli\Stop: another migrate-store has taken over this move, or it was cancelled: nothing more was written by this one 0 [true,true]
mail of the target's own is never deleted
MailQueue\Cli\Stop: the target has mail 590, which this move did not write: delete it there, or cancel the move with --abort own
590
stored between the look at the target and the record in it
LogicException: stopped
MailQueue\Cli\Stop: the target has mail of its own already (1 mails in mail_queue of two): move into an empty queue own [true,true]
a parked mail that was copied is queued again in the source, under a new id
bool(true)
bool(true)
bool(true)
bool(true)
the same after the end: the target's copy gives way if it is still parked
3pending
