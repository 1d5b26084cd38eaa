--TEST--
mailqueue sendmail ends with 75 if the server is out of memory, and -bs replies 451: the caller tries again
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
[$code, $output, $errors] = sendmail(['-bs'], "HELO x\r\nMAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.net>\r\n"
    . "DATA\r\nSubject: x\r\n\r\nx\r\n.\r\nQUIT\r\n", $environment);
echo "$code $errors", strstr($output, '354');
?>
--EXPECTF--
75 mailqueue: SQLSTATE[53200]: %sout of memory%s
0 mailqueue: SQLSTATE[53200]: %sout of memory%s
354 go on; a line with a lone dot ends it
451 4.3.0 try again later
221 2.0.0 %s goodbye
