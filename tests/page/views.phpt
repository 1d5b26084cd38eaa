--TEST--
The page's views and what they change; every action is logged with its user
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--FILE--
<?php
require __DIR__ . '/page.inc';

$directory = temp_directory();
$app = "$directory/app.sqlite";
$queue = new MailQueue($app);
$pdo = new PDO("sqlite:$app");
$queue->setConfig('mailHistoryDays', 30);
touch("$directory/mail-queue.log");
$html = '<p onclick="x()"><a href=https://evil.example>Hello</a> <link rel=preconnect href=https://evil.example><META http-equiv=refresh content="0;url=https://evil.example"><script>x()</script></p>';
foreach (['news', 'news', 'mail', 'mail'] as $i => $type) {
    $queue->enqueue(['to' => "b$i@example.net", 'subject' => "Hello <b>$i</b>", 'text' => "Täxt $i", 'html' => $html] + mail_fields(), "r$i", $type);
}
foreach ([1, 2, 3] as $id) {
    [$job] = $queue->claim();
    $queue->fail($job, "550 5.1.1 <$id@example.net>: user unknown", permanent: true);
}
$pdo->exec("UPDATE mail_queue SET parked_for = 'uncertain', uncertain_to = recipients WHERE id = 3");
$host = serve_page($app, ['MAILQUEUE_PAGE_BODIES' => 'on', 'HOME' => '/nonexistent']);
$browser = new Browser($host);
$browser->logIn();
$words = static fn(string $element): string => trim(preg_replace(['/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/', '/\b\d+ s\b/', '/<[0-9a-f]+@/', '/\s+/'], ['TIME', 'N s', '<ID@', ' '], $browser->text($element)));

echo "-- overview\n";
foreach (['.state', '.counts', '.facts'] as $element) {
    echo $words($element), "\n";
}
preg_match_all('/aria-label="([^"]*at a time)"/', $browser->body, $charts);
echo implode("\n", $charts[1]), "\n";
echo $browser->get('/?view=overview&part=now')->status, ' ', substr($browser->body, 0, 10), "\n";
$status = json_decode($browser->get('/any/status.json')->body, true);
echo implode(' ', array_keys($status)), ": $status[pending] $status[parked]\n";
must(str_contains($browser->get('/?view=metrics')->body, 'mailqueue_mails{status="parked"} 3'), 'metrics');

echo "-- mails\n";
$list = static fn(string $filter): string => implode(' ', preg_match_all('/view=mail&amp;id=(\d+)/', $browser->get("/?view=mails$filter")->body, $ids) ? array_unique($ids[1]) : []);
foreach (['', '&status=parked', '&type=mail', '&recipient=B2@', '&error=unknown&type=news', '&reference=r3', '&subject=zzz', '&older=1h', '&after=2'] as $filter) {
    echo "$filter: ", $list($filter) ?: $words('.note'), "\n";
}
echo $browser->get('/?view=mails&status=parked')->body !== '' ? $words('tbody') : '', "\n";
must(str_contains($browser->body, '<option value="news">') && str_contains($browser->body, 'Hello &lt;b&gt;1'), 'completion, escaping');

echo "-- a mail\n";
$browser->get('/?view=mail&id=1');
echo $words('.facts'), "\n", $words('.timeline'), "\n";
foreach (['text', 'source', 'preview'] as $view) {
    $browser->get("/?view=$view&id=1");
    echo "$view: $browser->status ", $browser->headers['content-type'], '; ', $browser->headers['content-security-policy'], "\n";
    echo $view === 'source' ? '' : trim($browser->body) . "\n";
}
$pdo->exec("INSERT INTO mail_log (at, job_id, mail_type, event, attempt, recipients, uncertain) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001)
    SELECT 1, 77, 'mail', 'try_later', i, 1, 0 FROM n");
$browser->get('/?view=mail&id=77');
echo $words('.note'), ' ', preg_match_all('/attempt (\d+)/', $browser->body, $match), ' from ', $match[1][0], ' to ', end($match[1]), "\n";

echo "-- many\n";
/** What the question says, then what the answer did. */
$sure = static function (array $form, string $path = '/?view=mails') use ($browser, $queue): void {
    echo $browser->get('/?view=mails')->post($form, $path)->text();
    preg_match_all('/name="(ids\[\]|sure)" value="(\d+)"/', $browser->body, $hidden, PREG_SET_ORDER);
    $form['ids'] = array_column(array_filter($hidden, static fn(array $one): bool => $one[1] === 'ids[]'), 2) ?: ($form['ids'] ?? []);
    $form['sure'] = array_column($hidden, 2, 1)['sure'];
    echo ' ', $browser->post($form, $path)->text('.done'), ' ', $queue->stats()->parked, " parked\n";
};
$sure(['ids' => ['1', '2', '4', 'x', '-1', '99'], 'which' => 'marked', 'action' => 'retry']);
$all = ['which' => 'all', 'type' => 'news', 'action' => 'hold'];
echo $browser->get()->post($all, '/?view=mails')->text(), "\n";
$queue->enqueue(mail_fields(), 'r5', 'news');
echo $browser->post($all + ['sure' => '2'], '/?view=mails')->text(), ' ', $queue->stats()->parked, " parked\n";
echo $browser->post($all + ['sure' => '3'], '/?view=mails')->text('.done'), ' ', $queue->stats()->parked, " parked\n";
echo $browser->post($all + ['sure' => '3'], '/?view=mails')->said(), "\n";
$queue->delete([5]);
echo 'back to ', $browser->get('/?view=mails')->post(['action' => 'retry', 'ids' => ['1'], 'status' => 'parked', 'sure' => '1'], '/?view=mails', false)->headers['location'], "\n";
$queue->hold([1]);
$sure(['action' => 'delete', 'ids' => ['4']], '/?view=mail&id=4');
echo $browser->get()->post(['action' => 'retry', 'which' => 'marked'], '/?view=mails')->said(), "\n";
$browser->get('/?view=uncertain');
echo $words('tbody'), "\n";
$uncertain = $queue->enqueue(mail_fields(), 'r6');
$queue->hold([$uncertain]);
echo $browser->get()->post(['action' => 'sent', 'ids' => [(string) $uncertain]], '/?view=uncertain')->said(), "\n";
$pdo->exec("UPDATE mail_queue SET parked_for = 'uncertain', uncertain_to = recipients WHERE id = $uncertain");
$browser->get('/?view=uncertain');
echo $words('tbody'), "\n";
echo $browser->get('/?view=uncertain')->post(['action' => 'retry', 'which' => 'all'], '/?view=uncertain')->text(), "\n";
$sure(['action' => 'sent', 'ids' => [(string) $uncertain]], '/?view=uncertain');
$queue->retryFailed([1, 2]);
[$job] = $queue->claim();
$queue->fail($job, 'later', retryAfter: 60);
echo $browser->get()->post(['action' => 'retry-all'])->text('.done'), "\n";

echo "-- an address is corrected\n";
$wrong = $queue->enqueue(mail_fields(to: 'wrnog@example.org'), 'r7');
$browser->get("/?view=mail&id=$wrong");
must(str_contains($browser->body, 'Corrected address'), 'a form');
foreach (['not an address', 'right@example.org', 'right@example.org'] as $to) {
    $browser->get("/?view=mail&id=$wrong")->post(['action' => 'resend', 'id' => (string) $wrong, 'to' => $to], "/?view=mail&id=$wrong");
    echo str_replace(["mail $wrong", "Mail $wrong"], 'mail OLD', $browser->text('.done') === '-' ? $browser->said() : $browser->text('.done')), "\n";
}
[$new] = $queue->jobs(reference: 'r7');
echo implode(' ', $new->recipients), ' ', $new->resentOf === $wrong ? 'names the old one' : '', ' ', str_contains($queue->job($new->id)->message, 'To: right@example.org') ? 'in the header, too' : '', "\n";
$browser->get("/?view=mail&id=$new->id");
echo str_contains($browser->body, "id=$wrong") ? 'leads to the old one' : '', "\n";
// With the address as it is, a signed message can be sent again, too.
$signed = $queue->enqueue("DKIM-Signature: v=1\r\nMessage-ID: <x@example.org>\r\nDate: Mon, 2 Nov 2026 10:00:00 +0000\r\nFrom: a@example.org\r\nTo: one@example.org\r\nSubject: s\r\n\r\nx\r\n", 'r8', recipients: ['one@example.org']);
$browser->get("/?view=mail&id=$signed")->post(['action' => 'resend', 'id' => (string) $signed, 'to' => 'one@example.org', 'instead' => 'one@example.org'], "/?view=mail&id=$signed");
echo $browser->text('.done'), "\n";
$several = $queue->enqueue(mail_fields(to: 'a@example.org, b@example.org'), 'r9');
$browser->get("/?view=mail&id=$several")->post(['action' => 'resend', 'id' => (string) $several, 'to' => 'c@example.org', 'instead' => 'b@example.org'], "/?view=mail&id=$several");
echo implode(' ', $queue->jobs(reference: 'r9')[0]->recipients), "\n";
$queue->delete([$new->id, $queue->jobs(reference: 'r8')[0]->id, $queue->jobs(reference: 'r9')[0]->id]);

echo "-- switches\n";
foreach ([['action' => 'switch', 'to' => 'off'], ['action' => 'switch', 'to' => 'on'], ['action' => 'limit', 'limit' => '30'], ['action' => 'limit', 'limit' => 'none'],
    ['action' => 'redirect', 'to' => 'test@example.org'], ['action' => 'redirect-off'], ['action' => 'set', 'key' => 'mailBurst', 'value' => '7']] as $form) {
    echo implode(' ', $form), ': ', $browser->get()->post($form)->text('.done'), ' | ', $browser->text('.alarm'), "\n";
}
echo implode(' ', array_map(fn(string $key) => json_encode($queue->config($key)), ['mailQueueEnabled', 'mailMaxPerHour', 'mailRedirectTo', 'mailBurst'])), "\n";
preg_match_all('/<button[^>]*>(?:Set|Switch o\w+)</', $browser->get()->body, $buttons);
must(count($buttons[0]) === 5 && array_unique($buttons[0]) === $buttons[0] && !preg_grep('/aria-label="(Set|Switch o\w+): /', $buttons[0], PREG_GREP_INVERT), 'each switch says what it sets');
$browser->get('/?view=settings');
preg_match_all('/<button[^>]*>Save</', $browser->body, $buttons);
must(count($buttons[0]) > 10 && array_unique($buttons[0]) === $buttons[0] && str_contains($buttons[0][0], 'aria-label="Save: '), 'each button says which setting it saves');
foreach (MailQueue::configKeys() as $key => $about) {
    must(str_contains($browser->body, ">$key<") && str_contains($browser->body, htmlspecialchars($about['meaning'], ENT_QUOTES | ENT_HTML5)), $key);
}
$queue->setConfig('mailRelayPause', json_encode(['smtp://relay.example.org:25' => (time() + 600) . ' 3 535 5.7.8 login refused']));
$queue->setConfig('mailSlowDomains', json_encode(['@slow.example' => '40 ' . time() . ' 1 3 17 450 4.7.1 try later', '@fine.example' => '0 0 1 99 1 450 x', '@over.example' => '320 ' . time() - 3600 . ' 1 0 9 450 x']));
$browser->get('/?view=relays');
echo $words('section'), "\n";
echo preg_match('~<h2>Mail to @slow\.example</h2>.*?</section>~s', $browser->body, $match) ? trim(preg_replace('/(<[^>]*>|\s)+/', ' ', $match[0])) : '-', "\n";
echo substr_count($browser->body, '@fine') + substr_count($browser->body, '@over'), "\n";
$queue->setConfig('mailRelayPause', json_encode(['smtp://a.example.org:25' => time() + 60 . ' 1 connection refused', 'smtp://b.example.org:25' => time() + 600 . ' 1 535 5.7.8 login refused']));
preg_match_all('~The relay (\S+) is paused~', $browser->get()->body, $match);
echo implode(' ', $match[1]), "\n";

echo "-- uncertain mail of a campaign that is paused\n";
$held = $queue->enqueue(mail_fields(), 'r8');
$pdo->exec("UPDATE mail_queue SET status = 'held', uncertain_to = recipients WHERE id = $held");
echo $browser->get()->post(['action' => 'retry', 'ids' => [(string) $held]], '/?view=uncertain')->said(), "\n";
$sure(['action' => 'sent', 'ids' => [(string) $held]], '/?view=uncertain');

echo "-- all failed mail, one of it uncertain\n";
$failed = $queue->enqueue(mail_fields(), 'r10');
$pdo->exec("UPDATE mail_queue SET status = 'failed', uncertain_to = recipients WHERE id = $failed");
$sure(['action' => 'retry-all'], '/');

echo "-- logged\n";
echo preg_replace('/"time":"[^"]*",/', '', file_get_contents("$directory/mail-queue.log"));
?>
--EXPECT--
-- overview
No worker has run yet. Mail is due. Start "mailqueue work", or look at cron; "mailqueue doctor" finds out why. Waiting for a decision: 3 mails. See the parked mails.
1 pending 0 sending 0 failed 3 parked
Due now 1 Longest wait N s Limit none Workers 0 Last run never
Last hour, by minute: 0 recipients, at most 0 at a time
Last 24 hours: 0 recipients, at most 0 at a time
200 <ul class=
pending sending failed parked held due estimated oldestWaitingSince nextDueAt enabled limit burst reserve rateMode tokens nextTokenAt limits emptyIn lastRunAt pausedUntil closed testMode now: 1 3
-- mails
: 1 2 3 4
&status=parked: 1 2 3
&type=mail: 3 4
&recipient=B2@: 3
&error=unknown&type=news: 1 2
&reference=r3: 4
&subject=zzz: No mail.
&older=1h: No mail.
&after=2: 3 4
1 parked b0@example.net Hello <b>0</b> 550 5.1.1 <ID@example.net>: user unknown news – 2 parked b1@example.net Hello <b>1</b> 550 5.1.1 <ID@example.net>: user unknown news – 3 parked b2@example.net Hello <b>2</b> 550 5.1.1 <ID@example.net>: user unknown mail –
-- a mail
Status parked (refused) Recipients b0@example.net Subject Hello <b>0</b> From club@example.org Type news Reference r0 Attempts 1 Queued TIME Message-ID <ID@example.org>
TIME refused attempt 1 550 5.1.1 <ID@example.net>: user unknown There is no such mailbox. Ask for the right address, then correct it and send again. TIME parked attempt 1 550 5.1.1 <ID@example.net>: user unknown There is no such mailbox. Ask for the right address, then correct it and send again.
text: 200 text/plain; charset=utf-8; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox
Täxt 0
source: 200 text/plain; charset=utf-8; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox
preview: 200 text/html; charset=utf-8; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox
<!DOCTYPE html>
<style>x-script { display: none }</style>
<p onclick="x()"><x-a href=https://evil.example>Hello</x-a> <x-link rel=preconnect href=https://evil.example><x-META http-equiv=refresh content="0;url=https://evil.example"><x-script>x()</x-script></p>
There are older attempts. The newest 1,000: 1000 from 2 to 1001
-- many
Bring 2 mails back? 2 mails brought back. 1 parked
Park 2 mails?
Park 3 mails? 1 parked
3 mails parked. 4 parked
400 None of these mails can be changed so: they are gone, are being sent, belong to a campaign that is paused, or are where you want them. Nothing was changed.
back to ?view=mails&status=parked&done=retry&count=1
Delete 1 mail? They are not sent. 1 mail deleted. 3 parked
400 No mail is marked. Mark some in the list, then choose what to do with them. Nothing was changed.
3 parked Hello <b>2</b> TIME
400 None of these mails can be changed so: they are gone, are being sent, belong to a campaign that is paused, or are where you want them. Nothing was changed.
3 parked Hello <b>2</b> TIME 6 parked ann@example.net Hello –
Send 2 mails again? Recipients may get them twice.
Count 1 mail as sent? Recipients that cannot have it yet still get it. 1 mail counted as sent. 3 parked
1 mail brought back.
-- an address is corrected
400 mail OLD was not sent again: to: the address "not an address" has no "@"; write it as name@example.org. Nothing was changed.
Sent again as this new mail.
400 mail OLD was not sent again: mail OLD does not exist, or has left the queue. Nothing was changed.
right@example.org names the old one in the header, too
leads to the old one
Sent again as this new mail.
a@example.org c@example.org
-- switches
switch off: Sending is off. Mail that is under way is still finished. | -
switch on: Sending is on. | -
limit 30: Saved. | -
limit none: Saved. | -
redirect test@example.org: Saved. | Test mode: mail of these types goes to test@example.org, not to its recipients: every type but organizer (mailRedirectTo).
redirect-off: Saved. | -
set mailBurst 7: Saved. | -
"1" null null "7"
smtp://relay.example.org:25 Paused until TIME, trial 3. 535 5.7.8 login refused The relay does not accept the login. Check user and password of the transport (MAILQUEUE_TRANSPORT).
Mail to @slow.example Slowed down to one mail in 40 s: 85 % of its recent recipients were deferred or refused. 450 4.7.1 try later The recipient&apos;s server asks to try again later. Nothing. The queue tries again by itself. It goes faster again when more of it is accepted. The setting mailSlowdown says how many may fail.
0
smtp://b.example.org:25 smtp://a.example.org:25
-- uncertain mail of a campaign that is paused
400 None of these mails can be changed so: they are gone, are being sent, belong to a campaign that is paused, or are where you want them. Nothing was changed.
Count 1 mail as sent? Recipients that cannot have it yet still get it. 1 mail counted as sent. 1 parked
-- all failed mail, one of it uncertain
Bring all failed mail back? 1 may arrive twice. 1 mail brought back. 1 parked
-- logged
{"event":"page","user":"admin@127.0.0.1","reply":"read 1"}
{"event":"page","user":"admin@127.0.0.1","reply":"read 1"}
{"event":"page","user":"admin@127.0.0.1","reply":"read 1"}
{"event":"page","user":"admin@127.0.0.1","reply":"read 1"}
{"event":"page","user":"admin@127.0.0.1","reply":"retry 1 2: 2"}
{"event":"page","user":"admin@127.0.0.1","reply":"hold {\"type\":\"news\"}: 3"}
{"event":"page","user":"admin@127.0.0.1","reply":"retry 1: 1"}
{"event":"page","user":"admin@127.0.0.1","reply":"delete 4: 1"}
{"event":"page","user":"admin@127.0.0.1","reply":"sent 6: 1"}
{"event":"page","user":"admin@127.0.0.1","reply":"retry: 1 brought back"}
{"event":"page","user":"admin@127.0.0.1","reply":"read 7"}
{"event":"page","user":"admin@127.0.0.1","reply":"read 7"}
{"event":"page","user":"admin@127.0.0.1","reply":"read 7"}
{"event":"page","user":"admin@127.0.0.1","reply":"resend 7: 8 to right@example.org"}
{"event":"page","user":"admin@127.0.0.1","reply":"read 8"}
{"event":"page","user":"admin@127.0.0.1","reply":"read 8"}
{"event":"page","user":"admin@127.0.0.1","reply":"read 9"}
{"event":"page","user":"admin@127.0.0.1","reply":"resend 9: 10"}
{"event":"page","user":"admin@127.0.0.1","reply":"read 10"}
{"event":"page","user":"admin@127.0.0.1","reply":"read 11"}
{"event":"page","user":"admin@127.0.0.1","reply":"resend 11: 12 to c@example.org"}
{"event":"page","user":"admin@127.0.0.1","reply":"read 12"}
{"event":"page","user":"admin@127.0.0.1","reply":"config mailQueueEnabled 0"}
{"event":"page","user":"admin@127.0.0.1","reply":"config mailQueueEnabled 1"}
{"event":"page","user":"admin@127.0.0.1","reply":"config mailMaxPerHour 30"}
{"event":"page","user":"admin@127.0.0.1","reply":"config --unset mailMaxPerHour"}
{"event":"page","user":"admin@127.0.0.1","reply":"config mailRedirectTo test@example.org"}
{"event":"page","user":"admin@127.0.0.1","reply":"config --unset mailRedirectTo"}
{"event":"page","user":"admin@127.0.0.1","reply":"config mailBurst 7"}
{"event":"page","user":"admin@127.0.0.1","reply":"sent 13: 1"}
{"event":"page","user":"admin@127.0.0.1","reply":"retry: 1 brought back"}
