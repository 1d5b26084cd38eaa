--TEST--
mailqueue adopt: several at once: one adopts, the others say that there is nothing left, and each mail is there once; on SQLite, PostgreSQL and MariaDB
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/adopt.inc';
require __DIR__ . '/../lib/backends.inc';

foreach (['sqlite', 'pgsql', 'mysql'] as $name) {
    $backend = new Backend($name);
    $pdo = $backend->pdo();
    $pdo->exec('CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number VARCHAR(20), mail_type VARCHAR(20), status VARCHAR(20))');
    $pdo->exec('INSERT INTO mail_queue VALUES ' . implode(', ', array_map(static fn(int $i): string => "($i, 'R$i', 'm', 'pending')", range(1, 300))));
    $command = cli_command(['adopt', '--reference-column', 'registration_number']);
    $environment = ['MAILQUEUE_DATABASE' => $backend->dsn] + getenv();
    $all = array_map(static function () use ($command, $environment): array {
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['pipe', 'w']], $pipes, null, $environment);
        return [$process, $pipes[2]];
    }, range(1, 4));
    $codes = [];
    foreach ($all as [$process, $errors]) {
        $said = stream_get_contents($errors);
        $code = proc_close($process);
        $codes[] = $code;
        $known = '/another process has adopted it meanwhile|There is nothing to adopt|is locked|Lock wait timeout/';
        must($code === 0 || preg_match($known, $said) === 1, "exit $code: $said");
    }
    echo "$name: ", count(array_keys($codes, 0, true)), ' adopted, ', implode(',', column($pdo, 'SELECT COUNT(*) FROM mail_queue UNION ALL SELECT COUNT(DISTINCT registration_number) FROM mail_queue UNION ALL SELECT COUNT(*) FROM mail_queue_before')), "\n";
}
?>
--EXPECT--
sqlite: 1 adopted, 300,300,300
pgsql: 1 adopted, 300,300,300
mysql: 1 adopted, 300,300,300
