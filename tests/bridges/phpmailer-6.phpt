--TEST--
PHPMailer 6: the bridge delivers what the library sends, with its errors, log and events
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
mbstring
intl
--INI--
error_reporting=E_ALL & ~E_DEPRECATED
--SKIPIF--
<?php
require __DIR__ . '/bridge.inc';
echo MailQueueTest\library_missing('phpmailer-6/vendor/autoload.php');
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/bridge.inc';
require library_path('phpmailer-6/vendor/autoload.php');
require __DIR__ . '/psr.inc';
require __DIR__ . '/phpmailer.inc';
phpmailer_same_bytes();
phpmailer_options();
phpmailer_errors();
?>
--EXPECT--
ok   full: getSentMIMEMessage(), getLastMessageID()
ok   simple: getSentMIMEMessage(), getLastMessageID()
ok   long: getSentMIMEMessage(), getLastMessageID()
ok   the worker sent all, as the protocol wants it
ok   as many mails
ok   full: same bytes
ok   full: same envelope
ok   full: no Bcc in the message
ok   simple: same bytes
ok   simple: same envelope
ok   simple: no Bcc in the message
ok   long: same bytes
ok   long: same envelope
ok   long: no Bcc in the message
ok   signed: same bytes
ok   signed: same envelope
ok   signed: no Bcc in the message
callback: true ann@example.net 1
ok   send() returns true
ok   options of a message
ok   they are not sent
ok   Mailer chooses to send directly
ok   a locked database is an exception
ok   Mailer is as before
ok   event
ok   log
ok   or false
ok   nothing of it is stored
ok   it works again
MessageQueued, info: Mail queued as job 1 for 1 recipients
PHPMailer\PHPMailer\Exception: You must provide at least one recipient email address.
ok   Mailer is as before
