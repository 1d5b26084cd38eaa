--TEST--
resend() corrects an address and sends again as a new mail in the place of the old one
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

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $pdo = $backend->pdo();
    $first = fn(?MailQueue\Job $job): ?string => $job === null ? 'gone' : json_encode(['of' => $job->resentOf,
        'status' => $job->status->value, 'ref' => $job->reference, 'attempts' => $job->attempts, 'to' => $job->recipients,
        'refused' => $job->refused, 'error' => $job->lastError]);
    $head = fn(MailQueue\Job $job): string => implode("\n", preg_grep('/^(To|Cc|X-|Message-ID|Date)/i',
        preg_split('/\r\n(?![ \t])/', strstr($job->message, "\r\n\r\n", true))));

    echo "-- the only one, refused\n";
    $old = $queue->enqueue(mail_fields(to: 'Ann <an@example.org>', cc: 'AN@example.org, Bob <bob@example.net>',
        subject: 'Grüße') + ['date' => 1000000000], 'r1', 'invoice', 5, recipients: ['an@example.org']);
    $queue->fail($queue->claim()[0], '550 5.1.1 no such user', true);
    $before = $queue->job($old);
    $new = $queue->resend($old, 'ann@bücher.example');
    $job = $queue->job($new);
    echo $first($queue->job($old)), "\n", $first($job), " $job->type $job->priority $job->subject\n";
    must($job->resentOf === $old && $new > $old, 'the new one names the old one');
    must($job->messageId !== $before->messageId && str_contains($job->message, "Message-ID: $job->messageId\r\n"), 'a new Message-ID');
    echo preg_replace(['/<\w+@/', '/Date: .*/'], ['<ID@', 'Date: ' . (time() - strtotime(preg_match('/Date: (.*)/', $job->message, $m)
        ? $m[1] : '') < 60 ? 'now' : $m[1])], $head($job)), "\n";
    $body = fn(MailQueue\Job $job): string => strstr($job->message, "\r\n\r\n");
    must($body($job) === $body($before), 'the body is the same');
    [$claimed] = $queue->claim();
    echo "claimed: ", json_encode($claimed->recipients), "\n";
    echo thrown(fn() => $queue->resend($claimed->id)), "\n";
    $queue->complete($claimed);

    echo "-- several: the refused one is replaced, or the one that is named\n";
    $enqueue = fn(string ...$to): int => $queue->enqueue(['to' => $to] + mail_fields(), recipients: $to);
    $id = $enqueue('left@example.net', 'wrong@example.org');
    $pdo->exec("UPDATE mail_queue SET status = 'failed', recipients = '[\"left@example.net\"]', "
        . "refused = '{\"wrong@example.org\":\"550 no\"}', attempts = 3, uncertain = 1 WHERE id = $id");
    $id = $queue->resend($id, 'right@example.org');
    preg_match('/^To: .*/m', $queue->job($id)->message, $to);
    echo $first($queue->job($id)), " $to[0]\n";
    echo thrown(fn() => $queue->resend($id, 'third@example.org')), "\n";
    echo thrown(fn() => $queue->resend($id, 'third@example.org', 'nobody@example.org')), "\n";
    $id = $queue->resend($id, 'third@example.org', 'LEFT@example.net');
    echo $first($queue->job($id)), "\n";
    $id = $queue->resend($id, 'right@example.org', 'third@example.org');
    echo $first($queue->job($id)), "\n";

    echo "-- what cannot be sent again\n";
    echo thrown(fn() => $queue->resend($id, 'no address')), "\n";
    echo thrown(fn() => $queue->resend(999999)), "\n";
    $signed = "DKIM-Signature: v=1; a=rsa-sha256; h=from:to; b=x\r\nFrom: a@example.org\r\nTo: b@example.org\r\n"
        . "Message-ID: <s@example.org>\r\nDate: Sat, 21 Nov 2026 09:35:00 +0000\r\n\r\nx\r\n";
    $id = $queue->enqueue($signed);
    echo thrown(fn() => $queue->resend($id, 'c@example.org')), "\n";
    $id = $queue->resend($id);
    must($queue->job($id)->message === $signed && $queue->job($id)->messageId === '<s@example.org>', 'a signed one stays as it is');
    $pdo->exec("UPDATE mail_queue SET recipients = 'nobody' WHERE id = $id");
    echo thrown(fn() => $queue->resend($id)), "\n";

    echo "-- composed when it is sent: the application has the header\n";
    $id = $queue->enqueue(null, 'later');
    echo thrown(fn() => $queue->resend($id, 'c@example.org')), "\n";
    $id = $queue->resend($id);
    $pdo->exec("UPDATE mail_queue SET recipients = '[\"b@example.org\"]' WHERE id = $id");
    $id = $queue->resend($id, 'c@example.org');
    echo $first($queue->job($id)), "\n";

    echo "-- its times, and what it has beside the message\n";
    $pdo->exec("UPDATE mail_queue SET expires_at = 1000000000 WHERE id = $id");
    echo thrown(fn() => $queue->resend($id)), "\n";
    $send = time() + 7200;
    $id = $queue->enqueue(mail_fields(to: 'b@example.org') + ['attachments' => [['name' => 'a.txt', 'data' => "A\n"]]],
        'times', sendAt: $send, expiresAt: $send + 60, maxAttempts: 4, dsn: ['notify' => 'never']);
    $pdo->exec("UPDATE mail_queue SET attempts = 0 WHERE id = $id");
    $before = $queue->job($id);
    $after = $queue->job($queue->resend($id, 'c@example.org'));
    must($after->nextAttemptAt === $send && $after->expiresAt === $send + 60 && $after->maxAttempts === 4, 'its times');
    must($body($after) === $body($before), 'the attachment');
    $fields = fn(int $id): string => $pdo->query("SELECT fields FROM mail_queue WHERE id = $id")->fetchColumn();
    echo $fields($after->id), "\n";

    echo "-- a time that it was put back to is not its own\n";
    $queue->setConfig('mailLimits', '1/2d per sender');
    foreach ([null, time() + 3600] as $expires) {
        $limited = $queue->enqueue(mail_fields(to: 'l@example.org'), expiresAt: $expires);
    }
    array_map($queue->complete(...), $queue->claim(9));
    $before = $queue->job($limited);
    $queue->setConfig('mailLimits', null);
    must($before->nextAttemptAt > $before->expiresAt, 'it waits for the limit');
    $limited = $queue->resend($limited);
    must($queue->job($limited)->nextAttemptAt <= time() && $queue->job($limited)->expiresAt === $before->expiresAt, 'at once');
    $queue->delete([$limited]);
    $busy = $queue->enqueue(mail_fields(), expiresAt: time() + 3600); // a run put it back, for its domain
    $pdo->exec("UPDATE mail_queue SET next_attempt_at = expires_at + 60 WHERE id = $busy");
    must($queue->job($busy = $queue->resend($busy))->nextAttemptAt <= time(), 'at once');
    $queue->delete([$busy]);

    echo "-- a time of its own is the Date, and stays\n";
    $later = $queue->resend($queue->enqueue(mail_fields(), sendAt: 4102444800));
    $date = fn(): string => preg_replace('/.*^Date: (.*?)\r.*/ms', '$1', $queue->job($later)->message);
    echo $date(), ' ', $queue->job($later)->nextAttemptAt, "\n";
    $queue->delete([$later]);

    echo "-- one transaction\n";
    if ($backend->name !== 'native') {
        $joined = new MailQueue($pdo);
        $pdo->beginTransaction();
        $joined->resend($after->id);
        $pdo->rollBack();
    }
    must($queue->job($after->id) !== null && count($queue->jobs(reference: 'times')) === 1, 'undone');
    $queue->setConfig('mailHistoryDays', 1);
    $new = $queue->resend($after->id);
    foreach (MailQueue\Internal::select($queue, 'SELECT job_id, event, reply FROM {H}') as [$of, $event, $reply]) {
        echo (int) $of === $after->id && $reply === "as mail $new" ? 'history: the old one ' : "$of, $reply: ", "$event\n";
    }

    echo "-- a domain in letters\n";
    $id = $queue->enqueue(mail_fields(to: 'one@bücher.example, two@bücher.example'));
    $id = $queue->resend($id, 'right@example.org', 'Two@Bücher.example');
    preg_match('/^To: .*/m', $queue->job($id)->message, $to);
    echo implode(' ', $queue->job($id)->recipients), " $to[0]\n";

    echo "-- a link to unsubscribe that names the old address\n";
    $right = fn(int $id): string => str_replace("mail $id ", 'mail ', thrown(fn() => $queue->resend($id, 'right@example.org')));
    foreach (['u.php', 'u.php?a=1'] as $url) {
        $link = ['list' => 'news', 'url' => "https://example.org/$url"];
        $id = $queue->enqueue(['unsubscribe' => $link] + mail_fields(to: 'wrong@example.org'));
        echo $right($id), "\n";
        must($queue->job($queue->resend($id)) !== null, 'to the same address');
    }
    echo 'no list: ', $right($queue->enqueue(['unsubscribe' => 'https://example.org/?t=1'] + mail_fields())), "\n";
    echo 'no token: ', $right($queue->enqueue(['unsubscribe' => 'https://example.org/?u=1'] + mail_fields(), list: 'news')), "\n";
});
?>
--EXPECT--
-- the only one, refused
gone
{"of":1,"status":"pending","ref":"r1","attempts":0,"to":["ann@xn--bcher-kva.example"],"refused":[],"error":null} invoice 5 Grüße
To: Ann <ID@xn--bcher-kva.example>
Cc: ann@xn--bcher-kva.example, Bob <ID@example.net>
Date: now
Message-ID: <ID@example.org>
claimed: ["ann@xn--bcher-kva.example"]
MailQueue\MessageException [id]: mail 2 is being sent at the moment: wait for the outcome
-- several: the refused one is replaced, or the one that is named
{"of":3,"status":"pending","ref":null,"attempts":0,"to":["left@example.net","right@example.org"],"refused":[],"error":null} To: left@example.net, right@example.org
MailQueue\MessageException [to]: mail 4 has several recipients that could be meant: name the one that the address replaces (instead)
MailQueue\MessageException [instead]: mail 4 is not for this recipient, or not any more
{"of":4,"status":"pending","ref":null,"attempts":0,"to":["third@example.org","right@example.org"],"refused":[],"error":null}
{"of":5,"status":"pending","ref":null,"attempts":0,"to":["right@example.org"],"refused":[],"error":null}
-- what cannot be sent again
MailQueue\MessageException [to]: to: the address "no address" has no "@"; write it as name@example.org
MailQueue\MessageException [id]: mail 999999 does not exist, or has left the queue
MailQueue\MessageException [to]: mail 7 has a DKIM-Signature, which a corrected address would break: enqueue it again, with the right address
MailQueue\MessageException [id]: mail 8 has recipients or a sender that cannot be read: correct the row, or delete it
-- composed when it is sent: the application has the header
MailQueue\MessageException [to]: mail 9 is composed when it is sent, and its recipients are not known yet: correct the address in the application
{"of":10,"status":"pending","ref":"later","attempts":0,"to":["c@example.org"],"refused":[],"error":null}
-- its times, and what it has beside the message
MailQueue\MessageException [id]: mail 11 has expired, so it would be deleted, not sent: enqueue it again
{"dsn":"NOTIFY=NEVER"}
-- a time that it was put back to is not its own
-- a time of its own is the Date, and stays
Fri, 01 Jan 2100 00:00:00 +0000 4102444800
-- one transaction
history: the old one resent
-- a domain in letters
one@xn--bcher-kva.example right@example.org To: one@xn--bcher-kva.example, right@example.org
-- a link to unsubscribe that names the old address
MailQueue\MessageException [to]: mail has a link to unsubscribe that names the old address: enqueue it again, with the right address
MailQueue\MessageException [to]: mail has a link to unsubscribe that names the old address: enqueue it again, with the right address
no list: nothing
no token: nothing
