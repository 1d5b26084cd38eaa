--TEST--
A campaign from its message to its end: recipients once, templates, pause, cancel, suppression, failures, progress
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';

/** What changes with each run is left out. */
function progress(MailQueue\Campaign $campaign): string
{
    $shown = array_filter(array_diff_key($campaign->progress(), array_flip(['id', 'perHour', 'endsAt', 'createdAt', 'startedAt', 'finishedAt', 'startAt', 'name'])));
    return implode(' ', array_map(fn(string $key, mixed $value): string => "$key=$value", array_keys($shown), $shown));
}

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $pdo = $backend->pdo();
    $message = ['from' => 'News <news@example.org>', 'subject' => 'Hello {{name}}', 'text' => 'You live in {{city}}, {{name}}.',
        'html' => '<p>You live in {{city}}.</p>', 'unsubscribe' => ['list' => 'news', 'url' => 'https://example.org/u.php']];
    $people = fn(int $from, int $to): iterable => (function () use ($from, $to): iterable {
        for ($i = $from; $i < $to; $i++) {
            yield ['address' => "r$i@example.net", 'name' => "Reader $i", 'fields' => ['city' => "Bärlin <$i>"]];
        }
    })();
    $sent = $finished = [];
    $refuse = '~^$~';
    $work = function (?int $mails = null) use ($queue, &$sent, &$finished, &$refuse): string {
        $sent = [];
        $report = $queue->runWorker(function ($job, $message, $from, $recipients) use (&$sent, &$refuse): void {
            if (preg_match($refuse, $recipients[0])) {
                throw new MailQueue\RefusedException('no such user', 550);
            }
            $sent[$recipients[0]] = $message;
        }, log: '', messageLimit: $mails, onFinished: function (MailQueue\Campaign $campaign) use (&$finished): void {
            $finished[] = $campaign->progress()['name'];
        });
        return "sent $report->sent parked $report->parked suppressed $report->suppressed";
    };

    echo "-- the message and the recipients\n";
    $campaign = $queue->campaign('spring');
    foreach ([fn() => $campaign->start(), fn() => $campaign->add(['a@example.net']), fn() => $campaign->setMessage(['to' => 'a@example.net'] + $message),
        fn() => $campaign->setMessage(['text' => '{{#if a}}'] + $message), fn() => $campaign->setMessage(['date' => 1] + $message),
        fn() => $campaign->setMessage($message, priority: 101), fn() => $campaign->setMessage($message, envelopeFrom: str_repeat('b', 33) . '*@example.org'),
        fn() => $campaign->setMessage(['from' => str_repeat('b', 33) . '*@example.org'] + $message), fn() => $queue->campaign("a\nb")] as $wrong) {
        echo thrown($wrong), "\n";
    }
    $campaign->setMessage($message);
    var_dump($campaign->add($people(0, 10)), $queue->campaign('spring')->add($people(5, 12)), $campaign->add([['address' => 'R1@EXAMPLE.net', 'name' => 'x', 'fields' => ['city' => 'x']]]));
    foreach ([['a b'], [['address' => 'a@example.net', 'name' => 'a', 'town' => 1]], ['bare@example.net'], [7], [['address' => 'a@example.net', 'name' => 'A', 'fields' => ['city' => NAN]]],
        [['address' => 'ok@example.net', 'name' => 'Ok', 'fields' => ['city' => 'x']], ['address' => 'a@example.net', 'name' => 'A', 'fields' => ['town' => 'x']]]] as $wrong) {
        echo thrown(fn() => $campaign->add($wrong)), "\n";
    }
    echo progress($campaign), "\n";

    echo "-- fields as JSON; some are refused, and the others are added\n";
    $more = $backend->another()->queue()->campaign('more');
    $more->setMessage($message);
    $json = fn(mixed $fields, string $name = 'a'): array => ['address' => "$name@example.net", 'name' => 'A', 'fields' => $fields];
    $refused = [];
    echo $more->add([$json('{"city": 3.00}'), 'a b', $json('[1]'), ...$people(0, 1000), $json('{"city": 1'), $json(['city' => 1.50], 'b'), $json('{}', 'c'), $json(7, 'd'), $json('', 'e')],
        function (int $number, string $why) use (&$refused): void {
            $refused[$number] = $why;
        }), "\n";
    foreach ($refused as $number => $why) {
        echo "$number: $why\n";
    }
    foreach (['a', 'b'] as $name) {
        echo preg_match('/^You live in .*/m', $more->preview("$name@example.net"), $m) ? trim($m[0]) . "\n" : 'not found';
    }
    echo thrown(fn() => $more->add(['a b', $json('{"city": 1}', 'f')], fn() => throw new LogicException('stop'))), ' ', thrown(fn() => $more->add([], 'no function')), ' ', progress($more), "\n";

    echo "-- preview and test\n";
    $mail = $campaign->preview('r3@example.net');
    echo preg_replace(['/^(?!Subject:|To:|List-U|You live).*\R/m', '/t=[-\w]+/'], ['', 't=TOKEN'], $mail), "\n";
    echo str_contains(quoted_printable_decode($mail), '<p>You live in Bärlin &lt;3&gt;.</p>') ? "escaped\n" : $mail;
    echo thrown(fn() => $campaign->preview('nobody@example.net')), "\n";
    foreach (['bad@', 7] as $wrong) {
        echo thrown(fn() => $campaign->test(['me@example.org', $wrong])), ' ', count($queue->jobs()), "\n";
    }
    echo count($campaign->test(['me@example.org', 'you@example.org'], 'r3@example.net')), ' ', $work(), ' ', json_encode(array_keys($sent)), "\n";
    echo preg_match('/^Subject: .*\R/m', $sent['me@example.org'], $m) ? $m[0] : 'no subject', progress($campaign), "\n";

    echo "-- pause, resume\n";
    $queue->suppress('r0@example.net', 'unsubscribe', 'list:news');
    $campaign->start();
    $queue->suppress('r2@example.net');
    echo $work(4), '; ', progress($campaign), "\n";
    $campaign->pause();
    echo thrown(fn() => $campaign->start()), "\n", $work(), '; ', progress($campaign), "\n";
    $campaign->resume();

    echo "-- failures, the end\n";
    $refuse = '~^r7@~';
    $queue->enqueue(mail_fields(to: 'other@example.net'));
    echo $work(), '; ', json_encode($finished), ' ', progress($campaign), "\n";
    foreach ($campaign->failures() as $job) {
        echo $job->parkedFor, ' ', json_encode($job->recipients ?: $job->refused), ' ', $job->priority, ' ', $job->type, "\n";
    }
    $refuse = '~^$~';
    echo $campaign->retryFailed(), ' ', json_encode($campaign->progress()['finishedAt']), ' ', $work(), '; ', json_encode($finished), ' ', progress($campaign), "\n";
    $ids = array_filter(array_map(fn(string $mail): string => preg_match('/^Message-ID: <[0-9a-f]{32}\.(\d+)@example\.org>/mi', $mail, $m) ? $m[1] : '', $sent));
    echo count($ids), ' ', $campaign->add($people(20, 21)), ' ', $work(), '; ', json_encode($finished), ' ', progress($campaign), "\n";

    echo "-- the last recipient is forgotten before its mail is made\n";
    $campaign->add($people(21, 22));
    MailQueue\Internal::eraseRecipients($queue, [$pdo->query('SELECT max(id) FROM mail_recipient')->fetchColumn()]);
    echo progress($campaign), "\n", $work(), '; ', progress($campaign), "\n";

    echo "-- cancel\n";
    $other = $queue->campaign('summer');
    $other->setMessage($message, type: 'news', priority: -20);
    $other->add($people(0, 1200));
    $other->start();
    $work(2);
    echo progress($other), "\n";
    $other->cancel();
    echo $work(), '; ', progress($other), ' ', $pdo->query('SELECT count(*) FROM mail_queue')->fetchColumn(), ' ', thrown(fn() => $other->resume()), ' ', thrown(fn() => $other->add($people(0, 1))), "\n";

    echo "-- what was taken cannot be stored, and another one is refused\n";
    $lost = $backend->another()->queue()->campaign('lost');
    $lost->setMessage($message);
    echo thrown(fn() => $lost->add((function () use ($lost, $people): iterable {
        yield from $people(0, 2);
        $lost->cancel();
        yield 'no address';
    })())), ' ', progress($lost), "\n";

    echo "-- later\n";
    $late = $queue->campaign('autumn');
    $late->setMessage(['unsubscribe' => 'mailto:u@example.org'] + $message, 'late', 5, 3, 'bounce@example.org', 'some relay');
    $late->add($people(0, 2));
    $late->start(new DateTimeImmutable('+1 hour'));
    echo $work(), '; ', progress($late), ' ', $late->progress()['startAt'] - time() > 3500 ? 'waits' : 'does not wait', "\n";
    $late->start($at = time() + 7200);
    echo json_encode($late->progress()['startAt'] === $at && $late->progress()['startedAt'] === $at), ' ', json_encode($finished), ' ', $queue->config('mailCampaigns'), "\n";
    $moved = $backend->another()->queue()->campaign('moved');
    $moved->setMessage($message, expiresAt: $at);
    $moved->start($at - 1);
    echo thrown(fn() => $moved->start($at)), ' ', json_encode($moved->progress()['startAt'] === $at - 1), "\n";
    $moved->start();
    $moved->start();
    echo json_encode([$moved->progress()['startAt'], $moved->progress()['startedAt'] <= time()]), ' ', thrown(fn() => $moved->start($at - 1)), "\n";

    echo "-- claim(), and a message that is damaged\n";
    $claim = fn(): string => json_encode(array_map(fn($job): array => [$job->recipients[0], preg_match('/^Subject: .*/m', $job->message ?? '', $m) ? trim($m[0]) : null], $queue->claim(10)));
    foreach (['winter', 'broken', 'lost'] as $name) {
        $campaign = $queue->campaign($name);
        $campaign->setMessage($message);
        $campaign->add($people(0, 2));
        $campaign->start();
        $name === 'broken' && $pdo->exec("UPDATE mail_body SET content = 'x' WHERE id = (SELECT -id FROM mail_campaign WHERE name = 'broken')");
        $name === 'lost' && $pdo->exec("DELETE FROM mail_body WHERE id = (SELECT -id FROM mail_campaign WHERE name = 'lost')");
        echo $name === 'lost' ? $work() : $claim(), "\n";
    }

    echo "-- all\n";
    $all = $queue->campaigns();
    echo json_encode(array_map(fn(array $one): array => [$one['name'], $one['state'], $one['recipients'], $one['refused'], $one['parked']], $all)), "\n";
    foreach ($all as $one) {
        must(array_diff_key($one, ['perHour' => 0, 'endsAt' => 0]) === array_diff_key($queue->campaign($one['name'])->progress(), ['perHour' => 0, 'endsAt' => 0]), $one['name']);
    }
    echo json_encode(array_column($queue->campaigns(2), 'name')), json_encode(array_column($queue->campaigns(50, $all[4]['id']), 'name')), json_encode($backend->another()->queue()->campaigns()), ' ',
        thrown(fn() => $queue->campaigns(0)), ' ', thrown(fn() => $queue->campaigns(1, -1)), "\n";
    foreach (['lost', 'broken', 'nosuch'] as $name) {
        echo "$name: ", json_encode(array_map(fn($job): array => [$job->recipients[0], $job->status->value], $queue->jobs(campaign: $name))), "\n";
    }
});
?>
--EXPECT--
-- the message and the recipients
MailQueue\Exception: the campaign has no message: set it before the start
MailQueue\Exception: the campaign has no message yet: set it first
MailQueue\MessageException [to]: to: the recipients of a campaign are added to it; leave it out
MailQueue\MessageException [text]: text: line 1, column 1: {{#if}} has no {{/if}}; add it
MailQueue\MessageException [date]: date: each mail of a campaign gets its own; leave it out
ValueError: priority must be -100 … 100, not 101
MailQueue\MessageException [envelopeFrom]: envelopeFrom: a token of 32 octets takes the place of the *, so at most 32 can be before it; write a shorter name, as bounces+*@example.org
MailQueue\MessageException [envelopeFrom]: envelopeFrom: a token of 32 octets takes the place of the *, so at most 32 can be before it; write a shorter name, as bounces+*@example.org
ValueError: name must have 1 to 100 octets of UTF-8 without control characters
int(10)
int(2)
int(0)
MailQueue\MessageException [address]: recipient 0: address: the address "a b" has no "@"; write it as name@example.org
MailQueue\MessageException [town]: recipient 0: town: unknown key; known are address, name and fields
MailQueue\MessageException [subject]: recipient 0: subject: line 1, column 7: the field "name" is missing; give it, or write {{name|default("…")}}
MailQueue\MessageException [address]: recipient 0: address: must be an address or an array, int given
MailQueue\MessageException [fields]: recipient 0: fields: they cannot be written as JSON: give texts in UTF-8, finite numbers, and at most 32 arrays within each other
MailQueue\MessageException [text]: recipient 1: text: line 1, column 13: the field "city" is missing; give it, or write {{city|default("…")}}
state=draft recipients=13 waiting=13
-- fields as JSON; some are refused, and the others are added
1002
1: address: the address "a b" has no "@"; write it as name@example.org
2: fields: byte 1, at "": not a JSON object of UTF-8 text without NUL; correct the value
1003: fields: byte 11, at "city": not a JSON object of UTF-8 text without NUL; correct the value
1005: text: line 1, column 13: the field "city" is missing; give it, or write {{city|default("…")}}
1006: fields: must be an array or a JSON object as text, int given
1007: text: line 1, column 13: the field "city" is missing; give it, or write {{city|default("…")}}
You live in 3.00, A.
You live in 1.5, A.
LogicException: stop TypeError: MailQueue\Campaign::add(): Argument #2 ($onRefused) must be a valid callback or null, function "no function" not found or invalid function name state=draft recipients=1002 waiting=1002
-- preview and test
To: Reader 3 <r3@example.net>
Subject: Hello Reader 3
List-Unsubscribe: <https://example.org/u.php?t=TOKEN>
List-Unsubscribe-Post: List-Unsubscribe=One-Click
You live in B=C3=A4rlin <3>, Reader 3.

escaped
MailQueue\Exception: nobody@example.net is not a recipient of the campaign: add it first
MailQueue\MessageException [addresses]: addresses: the address "bad@" has nothing after the "@"; write it as name@example.org 0
MailQueue\MessageException [addresses]: addresses: must be a list of strings, int given 0
2 sent 2 parked 0 suppressed 0 ["me@example.org","you@example.org"]
Subject: Hello Reader 3
state=draft recipients=13 waiting=13
-- pause, resume
sent 4 parked 0 suppressed 2; state=running recipients=13 pending=7 sent=4 suppressed=2
MailQueue\Exception: a campaign that is paused cannot be started
sent 0 parked 0 suppressed 0; state=paused recipients=13 held=7 sent=4 suppressed=2
-- failures, the end
sent 7 parked 1 suppressed 0; ["spring"] state=finished recipients=13 sent=10 refused=1 suppressed=2 onFinished=called
refused {"r7@example.net":"550 no such user"} -10 campaign
1 null sent 1 parked 0 suppressed 0; ["spring"] state=finished recipients=13 sent=11 suppressed=2 onFinished=called
1 1 sent 1 parked 0 suppressed 0; ["spring"] state=finished recipients=14 sent=12 suppressed=2 onFinished=called
-- the last recipient is forgotten before its mail is made
state=running recipients=14 sent=12 suppressed=2 onFinished=called
sent 0 parked 0 suppressed 0; state=finished recipients=14 sent=12 suppressed=2 onFinished=called
-- cancel
state=running recipients=1200 waiting=200 pending=996 sent=2 suppressed=2
sent 0 parked 0 suppressed 0; state=cancelled recipients=1200 waiting=200 sent=2 suppressed=2 gone=996 0 MailQueue\Exception: a campaign that is cancelled cannot be resumed MailQueue\Exception: the campaign is cancelled: it takes no recipients any more, make another
-- what was taken cannot be stored, and another one is refused
MailQueue\Exception: the campaign is cancelled: it takes no recipients any more, make another state=cancelled
-- later
sent 0 parked 0 suppressed 0; state=running recipients=2 waiting=2 waits
true ["spring"] 1
MailQueue\Exception: expiresAt: the campaign's mails expire before they could be sent; set its message with a later time, or make another campaign true
[null,true] MailQueue\Exception: the campaign has begun already: it cannot get another start; pause() holds its mails
-- claim(), and a message that is damaged
[["r1@example.net","Subject: Hello Reader 1"]]
[["r1@example.net",null]]
sent 0 parked 1 suppressed 1
-- all
[["lost","finished",2,0,1],["broken","running",2,0,0],["winter","running",2,0,0],["autumn","running",2,0,0],["summer","cancelled",1200,0,0],["spring","finished",14,0,0]]
["lost","broken"]["spring"][] ValueError: MailQueue::campaigns(): Argument #1 ($limit) must be between 1 and 1000 ValueError: MailQueue::campaigns(): Argument #2 ($before) must be an id, or 0 to begin
lost: [["r1@example.net","parked"]]
broken: [["r1@example.net","sending"]]
nosuch: []
