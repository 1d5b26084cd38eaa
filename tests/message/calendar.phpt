--TEST--
Array messages: calendar makes an invitation, the last alternative; a text that is not an invitation is refused
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php
require __DIR__ . '/../lib/servers.inc';
echo \MailQueueTest\missing('/usr/bin/python3');
?>
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
require __DIR__ . '/../lib/servers.inc';
require __DIR__ . '/mime.inc';

const READ = 'import sys, email, email.policy
for part in email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.SMTP).walk():
    if part.get_content_type() == "text/calendar":
        print(" ", part["Content-Type"], part["Content-Transfer-Encoding"], part.get_content_charset())
        print(" ", repr(part.get_payload(decode=True)))
    elif part.get_content_type() == "multipart/alternative":
        print(" ", "/".join(p.get_content_type() for p in part.iter_parts()))';

$queue = new MailQueue(database());
$message = fn(array $fields): string => $queue->job($queue->enqueue($fields + mail_fields()))->message;
$ics = fn(string $method, string $summary = 'Meeting'): string => "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\n$method"
    . "BEGIN:VEVENT\r\nUID:1@example.org\r\nDTSTAMP:20261126T040000Z\r\nDTSTART:20261127T090000Z\r\nSUMMARY:$summary\r\n"
    . "ORGANIZER:mailto:club@example.org\r\nATTENDEE;RSVP=TRUE;PARTSTAT=NEEDS-ACTION;ROLE=REQ-PARTICIPANT:mail\r\n to:ann@example.net\r\n"
    . "END:VEVENT\r\nEND:VCALENDAR\r\n";
foreach ([
    'text' => ['calendar' => $ics("METHOD:REQUEST\r\n")],
    'HTML, an image and a file' => ['calendar' => new class ($ics("METHOD:CANCEL\r\n", 'Größe')) {
            public function __construct(private string $text) {}
            public function __toString(): string { return $this->text; }
        }, 'html' => '<p><img src="cid:logo">', 'inline' => ['logo' => ['data' => 'PNG', 'type' => 'image/png']],
        'attachments' => ['invite.ics' => ['data' => $ics("METHOD:CANCEL\r\n"), 'name' => 'invite.ics']]],
    'HTML alone, LF' => ['calendar' => strtr($ics("METHOD:PUBLISH\r\n", '日本'), ["\r" => '']), 'html' => '<p>x', 'text' => ''],
] as $what => $fields) {
    $text = $message($fields);
    $leaves = leaves($text, $shape);
    $calendar = array_values(array_filter($leaves, fn(array $leaf): bool => $leaf['type'] === 'text/calendar' && $leaf['disposition'] === ''))[0];
    echo "$what: $shape\n  ", $calendar['content'] === preg_replace('/\r?\n/', "\r\n", (string) $fields['calendar']) ? 'the same octets' : 'changed', "\n";
    file_put_contents($file = temp_directory() . '/mail', $text);
    $process = proc_open(['/usr/bin/python3', '-c', READ], [['file', $file, 'r'], STDOUT, STDOUT], $pipes, null, ['PATH' => '/usr/bin']);
    proc_close($process);
}
echo "nothing\n  ", leaves($message(['calendar' => null]), $shape)[0]['type'], " $shape\n";
echo "wrong\n";
foreach (['', 'invite.ics', $ics(''), $ics("METHOD:INVITE\r\n"), $ics("METHOD:ADD\r\n") . $ics("METHOD:REPLY\r\n"), substr($ics("METHOD:ADD\r\n"), 0, 200),
    $ics("METHOD:ADD\r\n", "\xe4"), 7, ['x']] as $wrong) {
    echo '  ', thrown(fn() => $queue->enqueue(['calendar' => $wrong] + mail_fields())), "\n";
}
echo '  ', thrown(fn() => $queue->enqueue(['from' => 'a@example.org', 'to' => 'b@example.org', 'subject' => 'x', 'calendar' => $ics("METHOD:ADD\r\n")])), "\n";
?>
--EXPECT--
text: alternative(text/plain text/calendar)
  the same octets
  text/plain/text/calendar
  text/calendar; method="REQUEST"; charset="utf-8" 7bit utf-8
  b'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:1@example.org\r\nDTSTAMP:20261126T040000Z\r\nDTSTART:20261127T090000Z\r\nSUMMARY:Meeting\r\nORGANIZER:mailto:club@example.org\r\nATTENDEE;RSVP=TRUE;PARTSTAT=NEEDS-ACTION;ROLE=REQ-PARTICIPANT:mail\r\n to:ann@example.net\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n'
HTML, an image and a file: mixed(alternative(text/plain related(text/html image/png) text/calendar) text/calendar)
  the same octets
  text/plain/multipart/related/text/calendar
  text/calendar; method="CANCEL"; charset="utf-8" quoted-printable utf-8
  b'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\nMETHOD:CANCEL\r\nBEGIN:VEVENT\r\nUID:1@example.org\r\nDTSTAMP:20261126T040000Z\r\nDTSTART:20261127T090000Z\r\nSUMMARY:Gr\xc3\xb6\xc3\x9fe\r\nORGANIZER:mailto:club@example.org\r\nATTENDEE;RSVP=TRUE;PARTSTAT=NEEDS-ACTION;ROLE=REQ-PARTICIPANT:mail\r\n to:ann@example.net\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n'
  text/calendar; charset="utf-8"; name="invite.ics" base64 utf-8
  b'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\nMETHOD:CANCEL\r\nBEGIN:VEVENT\r\nUID:1@example.org\r\nDTSTAMP:20261126T040000Z\r\nDTSTART:20261127T090000Z\r\nSUMMARY:Meeting\r\nORGANIZER:mailto:club@example.org\r\nATTENDEE;RSVP=TRUE;PARTSTAT=NEEDS-ACTION;ROLE=REQ-PARTICIPANT:mail\r\n to:ann@example.net\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n'
HTML alone, LF: alternative(text/plain text/html text/calendar)
  the same octets
  text/plain/text/html/text/calendar
  text/calendar; method="PUBLISH"; charset="utf-8" quoted-printable utf-8
  b'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\nMETHOD:PUBLISH\r\nBEGIN:VEVENT\r\nUID:1@example.org\r\nDTSTAMP:20261126T040000Z\r\nDTSTART:20261127T090000Z\r\nSUMMARY:\xe6\x97\xa5\xe6\x9c\xac\r\nORGANIZER:mailto:club@example.org\r\nATTENDEE;RSVP=TRUE;PARTSTAT=NEEDS-ACTION;ROLE=REQ-PARTICIPANT:mail\r\n to:ann@example.net\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n'
nothing
  text/plain text/plain
wrong
  MailQueue\MessageException [calendar]: calendar: it is empty; leave it out
  MailQueue\MessageException [calendar]: calendar: it does not begin with BEGIN:VCALENDAR; give the contents of an .ics file
  MailQueue\MessageException [calendar]: calendar: it has no METHOD, so nobody would be invited; add METHOD:REQUEST (or METHOD:PUBLISH for an event to be noted), or attach it
  MailQueue\MessageException [calendar]: calendar: METHOD "INVITE" is none of RFC 5546; give PUBLISH, REQUEST, REPLY, ADD, CANCEL, REFRESH, COUNTER or DECLINECOUNTER
  MailQueue\MessageException [calendar]: calendar: it has different METHODs; make a mail of each
  MailQueue\MessageException [calendar]: calendar: END:VCALENDAR is missing; give all of the data
  MailQueue\MessageException [calendar]: calendar: byte 156 is not valid UTF-8; convert the text
  MailQueue\MessageException [calendar]: calendar: must be a string, int given
  MailQueue\MessageException [calendar]: calendar: must be a string, array given
  MailQueue\MessageException [text]: text: missing; give the text (it may be empty), or html, or both
