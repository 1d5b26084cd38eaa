--TEST--
docs/schema.sql has the tables that the extension creates
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
echo backends_missing('pgsql', 'mysql');
?>
--FILE--
<?php
ob_start();
require __DIR__ . '/print_schema.php';
$created = explode("\n", ob_get_clean());
$written = file(__DIR__ . '/../../docs/schema.sql', FILE_IGNORE_NEW_LINES);
$written[] = '';
foreach (array_diff($created, $written) as $line) {
    echo "created, not in docs/schema.sql: $line\n";
}
foreach (array_diff($written, $created) as $line) {
    echo "in docs/schema.sql, not created: $line\n";
}
echo $created === $written ? "the same\n" : "tools/schema writes it\n";
?>
--EXPECT--
the same
