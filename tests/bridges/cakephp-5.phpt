--TEST--
CakePHP 5: the bridge delivers what the SMTP transport sends, with its errors, log and events
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
echo MailQueueTest\library_missing('cakephp-5/vendor/autoload.php');
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/bridge.inc';
require library_path('cakephp-5/vendor/autoload.php');
require __DIR__ . '/psr.inc';
require __DIR__ . '/cakephp.inc';
cakephp_same_bytes();
cakephp_options_and_errors();
cakephp_readme();
?>
--EXPECT--
ok   full: same return value but for doubled dots
ok   simple: same return value but for doubled dots
ok   the worker sent all, as the protocol wants it
ok   as many mails
ok   full: same bytes
ok   full: same envelope
ok   full: no Bcc in the message
ok   simple: same bytes
ok   simple: same envelope
ok   simple: no Bcc in the message
ok   options
ok   they are not sent
ok   a locked database is an exception
ok   log
ok   nothing of it is stored
ok   it works again
MessageNotQueued MessageQueued, info: Mail queued as job 1 for 1 recipients
ok   as README.md shows
