--TEST--
open_basedir applies to the database, its directory and the log
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$inside = temp_directory();
$outside = temp_directory();
symlink("$outside/linked.db", "$inside/link.db");
new MailQueue("$outside/linked.db", journal: 'truncate');

/* open_basedir can only be narrowed, so a separate process gets the restriction. */
$other = new Other(<<<'PHP'
    [, $inside, $outside] = $argv;
    $hide = [$inside, $outside];
    $queue = new MailQueue("$inside/before.db");
    $queue->enqueue(mail_fields());
    ini_set('open_basedir', $inside);
    echo thrown(fn() => new MailQueue("$inside/mail.db"), ...$hide), "\n";
    echo thrown(fn() => new MailQueue("$outside/mail.db"), ...$hide), "\n";
    echo thrown(fn() => new MailQueue("$inside/../" . basename($outside) . '/mail.db'), $inside, basename($outside)), "\n";
    echo thrown(fn() => new MailQueue("$inside/link.db"), ...$hide), "\n";
    echo thrown(fn() => $queue->runWorker('null://null', log: "$outside/mail.log"), ...$hide), "\n";
    echo $queue->runWorker('null://null', log: "$inside/mail.log")->sent, " sent\n";
    ini_set('open_basedir', "$inside/before.db");
    echo thrown(fn() => new MailQueue("$inside/before.db"), ...$hide), "\n";
    PHP, $inside, $outside);
echo $other->end()[0];
echo implode(' ', array_map('basename', glob("$outside/*"))), "\n";
?>
--EXPECT--
nothing
MailQueue\DatabaseException [cantopen]: %/mail.db: open_basedir does not allow this file and its directory; add the directory to open_basedir or move the database
MailQueue\DatabaseException [cantopen]: %/../%/mail.db: open_basedir does not allow this file and its directory; add the directory to open_basedir or move the database
MailQueue\DatabaseException [cantopen]: %/link.db: open_basedir does not allow this file and its directory; add the directory to open_basedir or move the database
MailQueue\Exception: %/mail.log: open_basedir does not allow this log file
1 sent
MailQueue\DatabaseException [cantopen]: %/before.db: open_basedir does not allow this file and its directory; add the directory to open_basedir or move the database
linked.db linked.db-journal
