--TEST--
new MailQueue($pdo): after kill -9 at any time, each registration has its mail and each mail its registration
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
const CODE = <<<'PHP'
    $pdo = new PDO($argv[1]);
    $queue = new MailQueue($pdo);
    echo "ready\n";
    for ($i = 0; ; $i++) {
        $pdo->beginTransaction();
        $pdo->exec("INSERT INTO registrations VALUES ('$argv[2]-$i')");
        $queue->enqueue(mail_fields(), reference: "$argv[2]-$i", type: 'user');
        $queue->enqueue(mail_fields(), reference: "$argv[2]-$i", type: 'organizer');
        $i % 3 ? $pdo->commit() : $pdo->rollBack();
    }
    PHP;
$file = temp_directory() . '/run.php';
file_put_contents($file, '<?php require ' . var_export(__DIR__ . '/../lib/queue.inc', true) . ";\n" . CODE);
on_backends(['sqlite', 'pgsql', 'mysql'], function (Backend $backend) use ($file): void {
    $pdo = $backend->pdo();
    $pdo->exec('CREATE TABLE registrations (number VARCHAR(50) PRIMARY KEY)');
    new MailQueue($pdo);
    $count = fn(string $sql): int => $pdo->query("SELECT count(*) FROM $sql")->fetchColumn();
    mt_srand(4711);
    for ($run = 0; $run < 20 || ($run < 200 && $count('registrations') < 40); $run++) {
        $process = proc_open(php_command($file, $backend->dsn, "run$run"), [1 => ['pipe', 'w'], 2 => STDERR], $pipes);
        must(fgets($pipes[1]) === "ready\n", 'the registering process is ready');
        usleep(mt_rand(0, 120_000 + 30_000 * max(0, $run - 20))); // longer where commits take long
        proc_terminate($process, SIGKILL);
        proc_close($process);
    }
    /* Counted in one transaction, because a server may still be committing. */
    $pdo->exec($backend->name === 'pgsql' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'BEGIN');
    $registered = $count('registrations');
    echo $registered >= 40 ? 'registered' : "only $registered", "\n";
    var_dump($count("mail_queue WHERE reference NOT IN (SELECT number FROM registrations)"),
        $count("registrations WHERE (SELECT count(*) FROM mail_queue WHERE reference = number) <> 2"),
        $count('mail_body') === 2 * $registered,
        $count("registrations WHERE number LIKE 'run%-_' AND substr(number, length(number)) IN ('0', '3', '6', '9')"));
    echo $backend->name === 'sqlite' && $pdo->query('PRAGMA integrity_check')->fetchColumn() !== 'ok' ? "damaged\n" : '';
});
?>
--EXPECT--
registered
int(0)
int(0)
bool(true)
int(0)
