--TEST--
runWorker(): messages composed when they are sent
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
use MailQueue\Job;

final class Text
{
    public function __construct(private string $text) {}
    public function __toString(): string { return $this->text; }
}
function composed(string $backend, ?callable $compose, array $enqueue = []): void
{
    $database = new Backend($backend);
    $queue = $database->queue();
    $id = $queue->enqueue(...$enqueue + ['reference' => 'r1', 'type' => 'user']);
    $database->pdo()->exec('UPDATE mail_queue SET created_at = created_at - 864000');
    $before = $queue->job($id);
    $report = $queue->runWorker(function (Job $job, string $message, string $from, array $recipients) use ($before): void {
        must(substr_count($message, $before->messageId) === 1, 'the Message-ID is the job\'s');
        must(preg_match('/^Date: (.*)\r$/m', $message, $date) && abs(strtotime($date[1]) - time()) < 60, 'the Date is now');
        preg_match('/^Subject: .*/m', $message, $subject);
        echo "  sent from '$from' to ", implode(' ', $recipients), ': ', trim($subject[0]), "\n";
    }, $compose, log: '');
    $job = $queue->job($id);
    echo '  ', $job ? "{$job->status->name} $job->attempts " . json_encode($job->lastError) . ' ' . json_encode($job->recipients) : 'gone',
        " sent $report->sent tryLater $report->tryLater orphans $report->orphans\n";
}
final class Template
{
    public function of(Job $job): array { return mail_fields(subject: "method for $job->id"); }
}
function mail_fields_for(Job $job): array
{
    return mail_fields(subject: "for $job->id");
}

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    foreach ([
        'fields' => [fn(Job $job) => mail_fields(subject: "$job->reference $job->type")],
        'fields, the envelope is the job\'s' => [fn() => mail_fields(), ['recipients' => ['x@example.net', 'y@example.net'], 'envelopeFrom' => '']],
        'several recipients' => [fn() => ['to' => ['a@example.net', 'b@example.net', 'A <a@example.net>']] + mail_fields()],
        'text' => [fn() => "Subject: text\n\nbody", ['recipients' => ['x@example.net'], 'envelopeFrom' => 'me@example.org']],
        'Stringable' => [fn() => new Text("Subject: object\n\nbody"), ['recipients' => ['x@example.net'], 'envelopeFrom' => 'me@example.org']],
        'text without an envelope' => [fn() => "Subject: text\n\nbody"],
        'null' => [fn() => null],
        'an exception' => [fn() => throw new DomainException('template broken')],
        'an Error' => [fn() => nonsense()],
        'a number' => [fn() => 7],
        'an object' => [fn() => new stdClass()],
        'a bad field' => [fn() => mail_fields(subject: "a\r\nBcc: b@example.net")],
        'a bad address' => [fn() => mail_fields(to: 'nobody')],
        'a missing field' => [fn() => ['from' => 'a@example.org']],
        'an empty text' => [fn() => '', ['recipients' => ['x@example.net'], 'envelopeFrom' => 'me@example.org']],
        'thrown by __toString()' => [fn() => new class { public function __toString(): string { throw new LogicException('no text'); } }],
        'thrown by a destructor' => [function (): ?array { $x = new class { public function __destruct() { throw new LogicException('late'); } }; return mail_fields(); }],
        'no compose function' => [null],
        'a method' => [[new Template(), 'of']],
        'a function by name' => ['mail_fields_for'],
    ] as $what => $case) {
        [$compose, $enqueue] = is_array($case[0] ?? null) ? [$case[0], []] : $case + [null, []];
        echo "$what:\n";
        composed($backend->name, $compose, $enqueue ?? []);
    }

    echo "by reference:\n";
    composed($backend->name, function &(Job $job): array { $fields = mail_fields(subject: "for $job->id"); return $fields; });
    composed($backend->name, function &(): ?array { $none = null; return $none; });
    $queue = $backend->another()->queue();
    $queue->enqueue(mail_fields(), 'reference');
    $dir = temp_directory();
    $report = $queue->runWorker('null://null', sign: function &(Job $job, string $message): string { $message = "X-Signed: yes\n$message"; return $message; },
        relays: function &(Job $job) use ($dir): string { $dsn = "file://$dir/$job->reference"; return $dsn; }, log: '');
    echo "  sent $report->sent: ", shell_exec("grep -h ^X-Signed $dir/reference/new/*");

    echo "recipients of the first composing stay:\n";
    $queue = $backend->queue();
    $id = $queue->enqueue();
    $work = fn(Closure $transport, string $to) => $queue->runWorker($transport, fn() => mail_fields(to: $to), log: '');
    $work(fn() => throw new Exception('busy'), 'first@example.net');
    echo json_encode($queue->job($id)->recipients), "\n";
    $backend->pdo()->exec('UPDATE mail_queue SET next_attempt_at = 1');
    $work(function ($job, $message, $from, $recipients): void { echo implode(' ', $recipients), "\n"; }, 'second@example.net');
});
?>
--EXPECT--
fields:
  sent from 'club@example.org' to ann@example.net: Subject: r1 user
  gone sent 1 tryLater 0 orphans 0
fields, the envelope is the job's:
  sent from '' to x@example.net y@example.net: Subject: Hello
  gone sent 1 tryLater 0 orphans 0
several recipients:
  sent from 'club@example.org' to a@example.net b@example.net: Subject: Hello
  gone sent 1 tryLater 0 orphans 0
text:
  sent from 'me@example.org' to x@example.net: Subject: text
  gone sent 1 tryLater 0 orphans 0
Stringable:
  sent from 'me@example.org' to x@example.net: Subject: object
  gone sent 1 tryLater 0 orphans 0
text without an envelope:
  Failed 1 "compose: envelopeFrom: missing, and the message has no From to take it from; give envelopeFrom: \"a@example.org\", or \"\" for none" null sent 0 tryLater 1 orphans 0
null:
  gone sent 0 tryLater 0 orphans 1
an exception:
  Failed 1 "compose: DomainException: template broken" null sent 0 tryLater 1 orphans 0
an Error:
  Failed 1 "compose: Error: Call to undefined function nonsense()" null sent 0 tryLater 1 orphans 0
a number:
  Failed 1 "compose: must return an array, a string, an object with toString() or __toString(), or null" null sent 0 tryLater 1 orphans 0
an object:
  Failed 1 "compose: must return an array, a string, an object with toString() or __toString(), or null" null sent 0 tryLater 1 orphans 0
a bad field:
  Failed 1 "compose: subject: control character U+000D at byte 2; remove it (headers are one line, folded where they are written)" null sent 0 tryLater 1 orphans 0
a bad address:
  Failed 1 "compose: to: the address \"nobody\" has no \"@\"; write it as name@example.org, and a name that has a comma in double quotes" null sent 0 tryLater 1 orphans 0
a missing field:
  Failed 1 "compose: to: missing; give a recipient, such as \"Name <a@example.org>\", or a list of them (or cc, or bcc)" null sent 0 tryLater 1 orphans 0
an empty text:
  Failed 1 "compose: message: line 1: the message has no headers; it must begin with \"Name: value\" lines" ["x@example.net"] sent 0 tryLater 1 orphans 0
thrown by __toString():
  Failed 1 "compose: LogicException: no text" null sent 0 tryLater 1 orphans 0
thrown by a destructor:
  Failed 1 "compose: LogicException: late" null sent 0 tryLater 1 orphans 0
no compose function:
  Pending 0 "the job has no message and the worker no compose function; give one" null sent 0 tryLater 0 orphans 0
a method:
  sent from 'club@example.org' to ann@example.net: Subject: method for 1
  gone sent 1 tryLater 0 orphans 0
a function by name:
  sent from 'club@example.org' to ann@example.net: Subject: for 1
  gone sent 1 tryLater 0 orphans 0
by reference:
  sent from 'club@example.org' to ann@example.net: Subject: for 1
  gone sent 1 tryLater 0 orphans 0
  gone sent 0 tryLater 0 orphans 1
  sent 1: X-Signed: yes
recipients of the first composing stay:
["first@example.net"]
first@example.net
