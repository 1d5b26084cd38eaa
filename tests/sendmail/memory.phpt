--TEST--
mailqueue sendmail ends with 75, as for any trouble that passes, if the server is out of memory
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/pgsql.inc'; die(MailQueueTest\PostgreSQL::missing()); ?>
--FILE--
<?php
require __DIR__ . '/sendmail.inc';
require __DIR__ . '/../lib/pgsql.inc';

$server = new MailQueueTest\PostgreSQL();
(new MailQueue($server->dsn()))->migrate();
$server->connect()->exec(<<<'SQL'
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'out of memory' USING ERRCODE = 'out_of_memory'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON mail_queue FOR EACH ROW EXECUTE FUNCTION refuse();
    SQL);
$environment = ['MAILQUEUE_DATABASE' => $server->dsn()];
[$code, , $errors] = sendmail(['ann@example.net'], "Subject: x\n\nx\n", $environment);
echo "$code $errors";
?>
--EXPECTF--
75 mailqueue: SQLSTATE[53200]: %sout of memory%s
