--TEST--
mailqueue status, work, doctor: test mode, a paused relay by its name, an empty queue
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$queue = new MailQueue($app);
$environment = ['MAILQUEUE_DATABASE' => $app, 'MAILQUEUE_TRANSPORT' => 'null://null'];
$run = static fn(string ...$words): array => cli($words, $environment);
/** The lines of status that this test is about. */
$status = static function () use ($run): void {
    preg_match_all('/^(?:empty|limits?|The |Test |Sending|\d+ mails? ).*\n/m', $run('status')[1], $match);
    echo preg_replace(['/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/', '/24 h \d min/', '/(?<=next one in )\d+/'], ['TIME', '24 h', 'N'], implode($match[0]));
};
$queue->setConfig('mailMaxPerHour', 60);
for ($i = 0; $i < 3; $i++) {
    $queue->enqueue(mail_fields());
}
echo "-- fewer than the tokens\n";
$status();
$queue->setConfig('mailMaxPerHour', 1);
echo "-- more\n";
$status();
echo "-- switched off\n";
$queue->setConfig('mailQueueEnabled', 0);
$status();
$queue->setConfig('mailQueueEnabled', null);
echo "-- paused\n";
$queue->setConfig('mailRelayPause', json_encode(['smtp://a.example.org:25' => time() + 60 . ' 1 @' . time() . ' 421 a', 'smtp://user:***@b.example.org:587' => time() + 600 . ' 2 451 4.3.0 b',
    'smtp://c.example.org:25' => time() - 60 . ' 1 421 over']));
$status();
$stats = json_decode($run('status', '--json')[1]);
echo "$stats->pausedRelay $stats->pauseReason\n";
$queue->setConfig('mailRelayPause', json_encode(['smtp://c.example.org:25' => time() - 60 . ' 1 421 over',
    'smtp://d.example.org:25' => time() + 86400 * 3650 . ' 1 the clock was ahead',
    'smtp://e.example.org:25' => time() + 3660 . ' 1 @' . time() + 3600 . ' by an hour']));
echo "-- over\n";
$status();
echo json_encode($queue->stats()->pausedRelay), "\n";
echo "-- a relay that cannot take the next mail after a dot\n";
$queue->setConfig('mailRelayPipelining', json_encode(['smtp://a.example.org:25' => 'dot', 'smtp://user:***@b.example.org:587' => 'group ' . time() + 600, 'smtp://c.example.org:25' => 'group ' . time() - 1,
    'smtp://d.example.org:25' => 'group', 'smtp://e.example.org:25' => '5']));
$status();
echo preg_match_all('/^ok    The relay .*otherwise \?pipelining=1\.$/m', $run('doctor')[1]), "\n";
$queue->setConfig('mailRelayPipelining', null);
echo "-- domains that are slowed down\n";
$queue->setConfig('mailSlowDomains', json_encode(['@slow.example' => '40 ' . time() . ' 1 3 17 450 4.7.1 try later', '@fine.example' => '0 0 1 99 1 450 x', '@over.example' => '320 ' . time() - 3600 . ' 1 0 9 450 x',
    '@odd.example' => 'x']));
echo preg_replace('/\n(?!\n)/', ' ', implode("\n", preg_grep('/^Mail to|^of its|^ *later/', explode("\n", $run('status')[1])))), "\n";
preg_match('/^\S+ +Mail to @slow.*(?:\n {4,}.*)*/m', $run('doctor')[1], $match);
echo "$match[0]\n";
preg_match_all('/^mailqueue_slow.*\n/m', $run('metrics')[1], $match);
echo implode($match[0]);
$queue->setConfig('mailSlowdown', 0);
echo substr_count($run('status')[1], '@slow'), ' ', $run('config', 'mailSlowdown', '101')[2];
$queue->setConfig('mailSlowDomains', null);
$queue->setConfig('mailSlowdown', null);
$queue->setConfig('mailMaxPerHour', 0);
$queue->delete(array_column($queue->jobs(), 'id'));

echo "-- limits in windows\n";
$queue->setConfig('mailRateMode', 'strict');
$queue->setConfig('mailLimits', '2/1h, 3/1d, 5/1d per sender');
for ($i = 0; $i < 5; $i++) {
    $queue->enqueue(mail_fields());
}
$status();
echo preg_replace('/ until .*Z/', ' until TIME', $run('work')[1]);
$status();
$waiting = $queue->jobs(expected: true);
foreach ($waiting as $job) {
    echo $job->waitsFor, ' ', $job->expectedAt - time() > 3590 ? 'later' : 'soon', "\n";
}
preg_match('/^waitsFor .*/m', $run('show', (string) $waiting[0]->id)[1], $match);
echo "$match[0]\n", $run('config', 'mailLimits', '60/0h')[2];
$queue->setConfig('mailLimits', '2/1h per sender');
$queue->setConfig('mailRateMode', 'average');
$queue->enqueue(['from' => 'c@example.org'] + mail_fields(), priority: 5);
$run('work');
echo json_encode(array_column($queue->jobs(), 'waitsFor')), ' ', json_encode($queue->stats()->limits), "\n";
$status();
preg_match_all('/^ok +(.*limit.*)/m', $run('doctor')[1], $match);
echo '  doctor: ', preg_replace('/\d{4}-\S+ \S+Z/', 'TIME', implode("\n  doctor: ", $match[1])), "\n";
$queue->setConfig('mailLimits', null);
$queue->setConfig('mailRateMode', null);
$queue->delete(array_column($queue->jobs(), 'id'));

echo "-- strict: what the last hour has taken does not count as left\n";
$queue->setConfig('mailRateMode', 'strict');
$queue->setConfig('mailMaxPerHour', 60);
$queue->setConfig('mailBurst', 60);
for ($i = 0; $i < 62; $i++) {
    $queue->enqueue(mail_fields());
}
echo $run('work')[0], ' ', count($queue->jobs()), " wait\n";
$queue->setConfig('mailLastRefill', time() - 1800);
$status();
$job = $queue->jobs(expected: true)[0];
echo $job->waitsFor, ' ', abs($job->expectedAt - time() - 3600) < 60 ? 'in an hour' : $job->expectedAt - time(), "\n";
foreach (['mailRateMode', 'mailMaxPerHour', 'mailBurst'] as $key) {
    $queue->setConfig($key, null);
}
$queue->delete(array_column($queue->jobs(), 'id'));

echo "-- test mode\n";
$doctor = static fn(): bool => (bool) preg_match('/^look  Test mode: .*\n .*\n +mailqueue config .*$/m', $run('doctor')[1]);
foreach ([['mailRedirectTo' => 'test@example.org'], ['mailRedirectTo' => '@example.org', 'mailRedirectTypes' => "a,b\u{202e}"], ['mailRedirectTypes' => null, 'mailRedirectTo' => null, 'mailRedirectToSchumbi' => 1],
    ['mailLiveFrom' => time() - 60], ['mailLiveFrom' => time() + 60], ['mailLiveFrom' => null, 'mailRedirectToSchumbi' => null]] as $settings) {
    foreach ($settings as $key => $value) {
        $queue->setConfig($key, $value);
    }
    $queue->enqueue(mail_fields());
    $status();
    $sent = $run('work');
    echo $sent[1], $doctor() ? "doctor says it\n" : "doctor does not\n", json_encode([$queue->stats()->redirectTo, json_decode($run('work', '--json')[1])->redirectTo]), "\n";
}
echo "-- quiet\n";
$queue->setConfig('mailRedirectTo', 'test@example.org');
$queue->enqueue(mail_fields());
show($run('work', '--quiet'));
file_put_contents("$dir/b.php", "<?php return ['queue' => new MailQueue('$app'), 'transport' => function () { throw new MailQueue\\RefusedException('550 no'); }];");
$queue->enqueue(mail_fields());
show($run('work', '--quiet', '--bootstrap', "$dir/b.php"));
?>
--EXPECT--
-- fewer than the tokens
limit     60 recipients an hour (average), 5.0 of 5 tokens left
empty in  one run, the limit allows all of it
-- more
limit     1 recipients an hour (average), 1.0 of 1 tokens left
empty in  about 2 h 0 min at this limit
-- switched off
limit     1 recipients an hour (average), 1.0 of 1 tokens left
Sending is switched off (mailQueueEnabled = 0).
-- paused
limit     1 recipients an hour (average), 1.0 of 1 tokens left
The relay smtp://user:***@b.example.org:587 is paused until TIME: 451 4.3.0 b
The relay smtp://a.example.org:25 is paused until TIME: 421 a
smtp://user:***@b.example.org:587 451 4.3.0 b
-- over
limit     1 recipients an hour (average), 1.0 of 1 tokens left
empty in  about 2 h 0 min at this limit
null
-- a relay that cannot take the next mail after a dot
limit     1 recipients an hour (average), 1.0 of 1 tokens left
empty in  about 2 h 0 min at this limit
The relay smtp://user:***@b.example.org:587 failed when a mail was started before it had answered the previous one. Until TIME each mail waits for that answer; then one mail tries again. To settle it, add ?pipelining=dot to the transport if the relay can do this, otherwise ?pipelining=1.
1
-- domains that are slowed down
Mail to @slow.example is slowed down to one in 40 s (mailSlowdown): of its recent recipients 85 % were deferred or refused, the last one with: 450 4.7.1 try later
look  Mail to @slow.example is slowed down to one in 40 s (mailSlowdown): of its recent recipients 85 % were deferred or refused, the last one with: 450 4.7.1 try later
      Its mail goes faster again when more of it is accepted. If the domain asks for less mail, set a limit for it (mailLimits, "to @…"). To forget what is known of all domains:
        mailqueue config --unset mailSlowDomains
mailqueue_slow_domains 1
mailqueue_slow_domain_pause_seconds{domain="@slow.example"} 40
0 mailqueue: mailSlowdown cannot be "101"; allowed values: 0 … 100
-- limits in windows
limit     none (mailqueue config mailMaxPerHour 60 sets one)
limits    2/1h: 2 left, 3/1d: 3 left, 5/1d per sender (strict)
empty in  about 24 h at this limit
mailqueue: 2 sent; the limit 2/1h is reached until TIME.
limit     none (mailqueue config mailMaxPerHour 60 sets one)
limits    2/1h: full until TIME, 3/1d: 1 left, 5/1d per sender (strict)
empty in  about 24 h at this limit
2/1h later
3/1d later
3/1d later
waitsFor        2/1h
mailqueue: mailLimits cannot be "60/0h"; "60/0h": the window's length must be from 1s to 31d: a number above 0, then s, m, h or d; allowed values: N/LENGTH, separated by commas
["2\/1h per sender"] [{"limit":"2\/1h per sender","left":null,"fullUntil":null}]
limit     none (mailqueue config mailMaxPerHour 60 sets one)
limits    2/1h per sender (average)
1 mail waits for the limit 2/1h per sender until TIME.
  doctor: 1 mail waits for the limit 2/1h per sender until TIME.
-- strict: what the last hour has taken does not count as left
0 2 wait
limit     60 recipients an hour (strict), 0.0 of 60 tokens left, the next one in N min
empty in  about 61 min at this limit
mailMaxPerHour in an hour
-- test mode
limit     none (mailqueue config mailMaxPerHour 60 sets one)
Test mode: mail of every type but organizer goes to test@example.org, not to its recipients (config key mailRedirectTo).
mailqueue: 1 sent; nothing more is due. Test mode: mail of every type but organizer goes to test@example.org, not to its recipients (config key mailRedirectTo).
doctor says it
["test@example.org","test@example.org"]
limit     none (mailqueue config mailMaxPerHour 60 sets one)
Test mode: mail of the types a,b? goes to @example.org, not to its recipients (config key mailRedirectTo).
mailqueue: 1 sent; nothing more is due. Test mode: mail of the types a,b? goes to @example.org, not to its recipients (config key mailRedirectTo).
doctor says it
["@example.org","@example.org"]
limit     none (mailqueue config mailMaxPerHour 60 sets one)
Test mode: mail of every type but organizer goes to @schumbi.de, not to its recipients (config key mailRedirectToSchumbi).
mailqueue: 1 sent; nothing more is due. Test mode: mail of every type but organizer goes to @schumbi.de, not to its recipients (config key mailRedirectToSchumbi).
doctor says it
["@schumbi.de","@schumbi.de"]
limit     none (mailqueue config mailMaxPerHour 60 sets one)
mailqueue: 1 sent; nothing more is due.
doctor does not
[null,null]
limit     none (mailqueue config mailMaxPerHour 60 sets one)
Test mode: mail of every type but organizer goes to @schumbi.de, not to its recipients (config key mailRedirectToSchumbi).
mailqueue: 1 sent; nothing more is due. Test mode: mail of every type but organizer goes to @schumbi.de, not to its recipients (config key mailRedirectToSchumbi).
doctor says it
["@schumbi.de","@schumbi.de"]
limit     none (mailqueue config mailMaxPerHour 60 sets one)
mailqueue: 1 sent; nothing more is due.
doctor does not
[null,null]
-- quiet
exit 0
exit 0
mailqueue: 0 sent, 1 refused, 1 parked; nothing more is due. Test mode: mail of every type but organizer goes to test@example.org, not to its recipients (config key mailRedirectTo).
