--TEST--
new MailQueue($pdo): works with every setting of the application's connection, and leaves it as it is
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
final class OwnStatement extends PDOStatement
{
    protected function __construct(private string $word)
    {
        echo "never made: $word\n";
    }
}
const LOOKED_AT = ['ERRMODE', 'CASE', 'ORACLE_NULLS', 'DEFAULT_FETCH_MODE', 'STATEMENT_CLASS'];
$settings = [
    'ATTR_ERRMODE' => [PDO::ERRMODE_SILENT, PDO::ERRMODE_WARNING, PDO::ERRMODE_EXCEPTION],
    'ATTR_CASE' => [PDO::CASE_LOWER, PDO::CASE_UPPER],
    'ATTR_ORACLE_NULLS' => [PDO::NULL_EMPTY_STRING, PDO::NULL_TO_STRING],
    'ATTR_STRINGIFY_FETCHES' => [true],
    'ATTR_EMULATE_PREPARES' => [true],
    'ATTR_DEFAULT_FETCH_MODE' => [PDO::FETCH_OBJ, PDO::FETCH_COLUMN, PDO::FETCH_LAZY],
    'ATTR_STATEMENT_CLASS' => [[OwnStatement::class, ['word']]],
];

/** Every call that reads or writes. */
function use_queue(PDO $pdo): string
{
    $queue = new MailQueue($pdo);
    $id = $queue->enqueue(mail_fields(), reference: 'r', expiresAt: 4000000000);
    $queue->enqueue("Subject: x\r\n\r\nb\\x' \u{20ac}\r\n", envelopeFrom: '', recipients: ['a@example.org'], priority: 5);
    $queue->setConfig('mailMaxPerHour', 60);
    [$urgent] = $queue->claim();
    [$job] = $queue->claim();
    $out = [preg_replace('/^(Date|Message-ID): .*\r\n/m', '', $urgent->message), $urgent->reference, $urgent->envelopeFrom, $job->reference, $job->attempts,
        $queue->fail($job, 'no'), $queue->complete($urgent), $queue->complete($urgent), $queue->config('mailMaxPerHour'),
        $queue->job($id)->lastError, $queue->stats()->failed, $queue->delete([$id])];
    $queue->enqueue(mail_fields(), priority: -7);
    [$low] = $queue->claim();
    array_push($out, $low->priority, $queue->complete($low));
    return json_encode($out);
}

on_backends(['sqlite', 'pgsql', 'mysql'], function (Backend $first) use ($settings): void {
    $usual = use_queue($first->pdo());
    foreach ($settings as $name => $values) {
        foreach ($values as $value) {
            foreach ([false, true] as $persistent) {
                if ($persistent && $name === 'ATTR_STATEMENT_CLASS') {
                    continue; // PDO refuses it
                }
                $pdo = (new Backend($first->name))->pdo([PDO::ATTR_PERSISTENT => $persistent]);
                $pdo->setAttribute(constant("PDO::$name"), $value);
                $look = function () use ($pdo): array {
                    $all = [];
                    foreach (LOOKED_AT as $attribute) {
                        $all[] = $pdo->getAttribute(constant("PDO::ATTR_$attribute"));
                    }
                    return $all;
                };
                $before = $look();
                $got = use_queue($pdo);
                echo $got === $usual && $look() === $before ? '' : "$name " . json_encode($value) . ": $got\n";
                /* Also after an error. */
                $pdo->exec('DROP TABLE mail_body');
                $error = thrown(fn() => (new MailQueue($pdo))->enqueue(mail_fields()));
                echo str_contains($error, 'mail_body') && $look() === $before ? '' : "$name: $error\n";
            }
        }
    }
    echo $usual, "\n";
});
?>
--EXPECT--
["Subject: x\r\n\r\nb\\x' \u20ac\r\n",null,"","r",1,true,true,false,"60","no",1,1,-7,true]
