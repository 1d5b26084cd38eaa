--TEST--
enqueueMany(): each message is stored under its own mail's id, even beside duplicates
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

/** The subject tells which row it must be in. */
function one(string $what, ?string $reference = null, int $octets = 0): array
{
    return ['message' => mail_fields(subject: $what, text: str_repeat("0123456789 abcdefghi\n", intdiv($octets, 21)) . "\xc3\xa9 \\ ' \" ?1\n"),
        'reference' => $reference, 'type' => 'a', 'recipients' => ["$what@example.org"]];
}

function show(MailQueue $queue): void
{
    $shown = [];
    foreach ($queue->claim(1000) as $job) {
        preg_match('/^Subject: (\S+)/m', (string) $job->message, $match);
        $subject = $job->message === null ? 'later' : $match[1];
        must($job->message === null || $job->recipients === ["$subject@example.org"], "$subject is $job->id's");
        $shown[] = ($job->reference ?? 'none') . "=$subject";
        $queue->complete($job);
    }
    sort($shown); // on a server, rows that replace others come last
    echo '  ', implode(' ', $shown), "\n";
}

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $attributes = $backend->name === 'mysql'
        ? [[], [PDO::ATTR_EMULATE_PREPARES => false], [PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false],
            [PDO::ATTR_EMULATE_PREPARES => false, PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false]] : [[]];
    $first = null;
    foreach ($attributes as $set) {
        ob_start();
        $database = $backend->another();
        $queue = $database->name === 'native' ? $database->queue() : new MailQueue($database->pdo($set));
        echo "mixed: ", $queue->enqueueMany([one('a'), one('b', 'B'), one('b2', 'B'), one('c'), ['reference' => 'L'], one('d', 'D'), one('e')]), "\n";
        echo "some are there: ", $queue->enqueueMany([one('f'), one('d2', 'D'), one('g', 'G'), one('h'), one('b3', 'B'), one('i', 'I')]), "\n";
        echo "all are there: ", $queue->enqueueMany([one('d3', 'D'), one('g2', 'G')]), "\n";
        show($queue);
        $id = $queue->enqueue(...one('parked', 'P'));
        $queue->hold([$id]);
        echo "a parked one is replaced: ", $queue->enqueueMany([one('j'), one('k', 'P'), one('l')]), "\n";
        show($queue);
        echo "large ones: ", $queue->enqueueMany([one('m', 'M', 300000), one('n', null, 400000), one('o', null, 100), one('p', 'Q', 900000)]), "\n";
        show($queue);
        $said = ob_get_clean();
        $first ??= $said;
        echo $said === $first ? '' : json_encode($set) . " differs:\n$said";
    }
    echo $first;

    if ($backend->name === 'pgsql' || $backend->name === 'mysql') {
        $pdo = $backend->pdo();
        $queue = new MailQueue($pdo);
        $pdo->exec('CREATE TABLE orders (n int)');
        $pdo->beginTransaction();
        $pdo->exec('INSERT INTO orders VALUES (1)');
        must($queue->enqueueMany([one('a', 'A'), one('b')]) === 2 && $queue->enqueueMany([one('a2', 'A'), one('c')]) === 1, 'within it');
        $pdo->rollBack();
        must($queue->jobs() === [], 'undone with it');
        $pdo->exec('CREATE UNIQUE INDEX just_one ON mail_queue (priority)');
        $pdo->beginTransaction();
        $pdo->exec('INSERT INTO orders VALUES (2)');
        must(str_contains(thrown(fn() => $queue->enqueueMany([one('x'), one('y')])), 'just_one'), "a key of the application's");
        $pdo->commit();
        must($queue->jobs() === [] && (int) $pdo->query('SELECT count(*) FROM orders')->fetchColumn() === 1, 'none of them');
    }
});
?>
--EXPECT--
mixed: 6
some are there: 4
all are there: 0
  B=b D=d G=g I=i L=later none=a none=c none=e none=f none=h
a parked one is replaced: 3
  P=k none=j none=l
large ones: 4
  M=m Q=p none=n none=o
