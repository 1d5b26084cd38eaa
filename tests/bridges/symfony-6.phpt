--TEST--
Symfony Mailer 6: the bridge delivers what the library sends, with its events, log and errors
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
mbstring
iconv
intl
--INI--
error_reporting=E_ALL & ~E_DEPRECATED
--SKIPIF--
<?php
require __DIR__ . '/bridge.inc';
echo MailQueueTest\library_missing('symfony-6/vendor/autoload.php');
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/bridge.inc';
require library_path('symfony-6/vendor/autoload.php');
require __DIR__ . '/psr.inc';
require __DIR__ . '/symfony.inc';
symfony_same_bytes();
symfony_options();
symfony_events();
?>
--EXPECT--
ok   a signed option is obeyed, and stays
ok   the worker sent all, as the protocol wants it
ok   as many mails
ok   full: same bytes
ok   full: same envelope
ok   full: no Bcc in the message
ok   simple: same bytes
ok   simple: same envelope
ok   simple: no Bcc in the message
ok   other envelope: same bytes
ok   other envelope: same envelope
ok   other envelope: no Bcc in the message
ok   signed: same bytes
ok   signed: same envelope
ok   signed: no Bcc in the message
ok   defaults of the DSN
ok   options of a message
ok   they are not sent
ok   the message returned
Symfony\Component\Mailer\Exception\TransportException: Cannot queue the mail: X-MailQueue-Priority: not a number; give a whole one
Symfony\Component\Mailer\Exception\TransportException: Cannot queue the mail: X-MailQueue-Refrence: unknown; the fields for the queue are X-MailQueue-Type, X-MailQueue-Reference, X-MailQueue-Priority, X-MailQueue-Max-Attempts, X-MailQueue-Send-At, X-MailQueue-Expires-At, X-MailQueue-Relay
Symfony\Component\Mailer\Exception\TransportException: Cannot queue the mail: X-MailQueue-Send-At: not a time; give seconds since 1970 or a date as DateTimeImmutable reads it
Symfony\Component\Mailer\Exception\TransportException: Cannot queue the mail: type must have 1 to 64 octets, not 65
Symfony\Component\Mailer\Exception\InvalidArgumentException: The host of a mailqueue DSN is "default": mailqueue://default?database=/path/of/the.sqlite
Symfony\Component\Mailer\Exception\InvalidArgumentException: mailqueue DSN: table: belongs to a database; give the option "database" too
Symfony\Component\Mailer\Exception\InvalidArgumentException: mailqueue DSN: busy_timeout: not a number; give a whole one
mailqueue://default mailqueue://default?database=/a.db mailqueue://default?database=pgsql:…
ok   events
info: Mail queued as job 1 for 2 recipients
ok   a locked database is an error
ok   events
ok   log
ok   failover goes on
ok   nothing of it is stored
ok   it works again
ok   a replaced database is reopened
queued already
info: Mail queued as job 2 for 2 recipients
info: Mail "r1" of type mail was queued already
