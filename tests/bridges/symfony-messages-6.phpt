--TEST--
Symfony Mime 6: messages passed to MailQueue directly go where Symfony Mailer would send them
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
require __DIR__ . '/symfony-messages.inc';
symfony_messages_as_mailer();
symfony_messages_otherwise();
?>
--EXPECT--
ok   Email: envelope()
ok   Email: stored
ok   Email, several From: envelope()
ok   Email, several From: stored
ok   Email, Sender: envelope()
ok   Email, Sender: stored
ok   Email, Return-Path and Cc: envelope()
ok   Email, Return-Path and Cc: stored
ok   Email, only Bcc: envelope()
ok   Email, only Bcc: stored
ok   Message: envelope()
ok   Message: stored
ok   Message, Sender: envelope()
ok   Message, Sender: stored
ok   Message, Return-Path: envelope()
ok   Message, Return-Path: stored
ok   the worker sent all, as the protocol wants it
ok   as many mails
ok   Email: same bytes
ok   Email: same envelope
ok   Email: no Bcc in the message
ok   Email, several From: same bytes
ok   Email, several From: same envelope
ok   Email, several From: no Bcc in the message
ok   Email, Sender: same bytes
ok   Email, Sender: same envelope
ok   Email, Sender: no Bcc in the message
ok   Email, Return-Path and Cc: same bytes
ok   Email, Return-Path and Cc: same envelope
ok   Email, Return-Path and Cc: no Bcc in the message
ok   Email, only Bcc: same bytes
ok   Email, only Bcc: same envelope
ok   Email, only Bcc: no Bcc in the message
ok   Message: same bytes
ok   Message: same envelope
ok   Message: no Bcc in the message
ok   Message, Sender: same bytes
ok   Message, Sender: same envelope
ok   Message, Sender: no Bcc in the message
ok   Message, Return-Path: same bytes
ok   Message, Return-Path: same envelope
ok   Message, Return-Path: no Bcc in the message
given recipients: 'zoe@example.org' → a@example.net
given sender: '' → ann@example.net hidden@example.net
RawMessage: 'zoe@example.org' → dora@example.net ann@example.net
RawMessage of parts: 'zoe@example.org' → ann@example.net
SentMessage: 'bounces@example.org' → hidden@example.net
enqueueMany(): 2 'zoe@example.org' → ann@example.net hidden@example.net
Symfony\Component\Mime\Exception\LogicException: A message must have a text or an HTML part or attachments.
Symfony\Component\Mime\Exception\LogicException: An email must have a "From" or a "Sender" header.
MailQueue\MessageException [recipients]: recipients: missing, and the message names none in To, Cc or Bcc; give recipients: ["a@example.org"]
composed: 'zoe@example.org' → ann@example.net hidden@example.net
