--TEST--
Laravel 12: the mailer "mailqueue" delivers what the mailer "smtp" sends, with the application's services
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
mbstring
iconv
intl
fileinfo
--INI--
error_reporting=E_ALL & ~E_DEPRECATED
--SKIPIF--
<?php
require __DIR__ . '/bridge.inc';
echo MailQueueTest\library_missing('laravel-12/vendor/autoload.php');
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/bridge.inc';
require library_path('laravel-12/vendor/autoload.php');
require __DIR__ . '/php85.inc';
require __DIR__ . '/psr.inc';
require __DIR__ . '/laravel.inc';
if (laravel_ran_without_leak_check(__FILE__)) {
    return;
}
laravel_same_bytes();
laravel_application();
laravel_readme();
?>
--EXPECT--
ok   options of a mailer
ok   the worker sent all, as the protocol wants it
ok   as many mails
ok   mailable: same bytes
ok   mailable: same envelope
ok   mailable: no Bcc in the message
ok   the same: same bytes
ok   the same: same envelope
ok   the same: no Bcc in the message
ok   a queue of the container
MessageSending MessageSent, MessageEvent MessageQueued SentMessageEvent
production.INFO: Mail queued as job {id} for {recipients} recipients {"id":1,"type":"faked","reference":"r7","recipients":1} 
ok   a locked database is an exception
MessageEvent MessageNotQueued FailedMessageEvent
ok   nothing of it is stored
ok   as README.md shows
ok   its log
