--TEST--
new MailQueue($pdo): kill -9 at any time leaves registrations and mails that belong together
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$path = database();
$pdo = new PDO("sqlite:$path");
$pdo->exec('CREATE TABLE registrations (number TEXT PRIMARY KEY)');
new MailQueue($pdo);
$code = <<<'PHP'
    $pdo = new PDO("sqlite:$argv[1]");
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
mt_srand(4711);
for ($run = 0; $run < 20; $run++) {
    $file = dirname($path) . '/run.php';
    file_put_contents($file, '<?php require ' . var_export(__DIR__ . '/../lib/queue.inc', true) . ";\n$code");
    $process = proc_open(php_command($file, $path, "run$run"), [1 => ['pipe', 'w'], 2 => STDERR], $pipes);
    must(fgets($pipes[1]) === "ready\n", 'the registering process is ready');
    usleep(mt_rand(0, 120_000));
    proc_terminate($process, SIGKILL);
    proc_close($process);
}
$count = fn(string $sql): int => $pdo->query("SELECT count(*) FROM $sql")->fetchColumn();
$registered = $count('registrations');
echo $registered > 40 ? 'registered' : "only $registered", "\n";
var_dump($count("mail_queue WHERE reference NOT IN (SELECT number FROM registrations)"),
    $count("registrations WHERE (SELECT count(*) FROM mail_queue WHERE reference = number) <> 2"),
    $count('mail_body') === 2 * $registered, $count("registrations WHERE number GLOB 'run*-[0369]'"),
    $pdo->query('PRAGMA integrity_check')->fetchColumn());
?>
--EXPECT--
registered
int(0)
int(0)
bool(true)
int(0)
string(2) "ok"
