--TEST--
The page's view of suppressions: shown once there are some; admins add and remove, viewers only look; forgotten addresses; search
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--FILE--
<?php
require __DIR__ . '/page.inc';

$directory = temp_directory();
$app = "$directory/app.sqlite";
touch("$directory/mail-queue.log");
$queue = new MailQueue($app);
$browser = new Browser(serve_page($app));
$browser->logIn();
echo str_contains($browser->text('nav'), 'Suppressions') ? 'shown' : 'not shown', "\n";
$rows = fn(Browser $browser): string => preg_replace(['/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/', '/\s+/'], ['TIME', ' '], $browser->text('tbody'));
$at = '/?view=suppressions';
$browser->post(['action' => 'suppress', 'address' => 'Ann@Example.net', 'reason' => 'hard_bounce', 'scope' => ''], $at);
echo $browser->text('.done'), ' ', $rows($browser), "\n";
$browser->post(['action' => 'suppress', 'address' => 'bea@example.net', 'reason' => 'unsubscribe', 'scope' => 'list:<b>'], $at);
echo $rows($browser), "\n";
preg_match_all('/aria-label="(Remove[^"]*)"/', $browser->body, $labels);
echo implode("\n", $labels[1]), "\n";
echo str_contains($browser->get()->text('nav'), 'Suppressions') ? 'shown' : 'not shown', "\n";
foreach ([['address' => ''], ['address' => 'nobody'], ['address' => 'a@b.example', 'reason' => 'x'], ['address' => 'a@b.example', 'scope' => str_repeat('x', 191)]] as $bad) {
    echo $browser->get($at)->post(['action' => 'suppress'] + $bad, $at)->said(), "\n";
}
foreach (['ANN@example.net', 'bea@', 'example', 'zoe', "a' OR 1"] as $wanted) {
    $browser->get("$at&address=" . urlencode($wanted));
    echo "$wanted: ", preg_match_all('/<td class="address"/', $browser->body), ' ', $browser->status, "\n";
}
$queue->suppress('cy@example.net');
MailQueue\Internal::forgetSuppressed($queue, 'cy@example.net');
echo $rows($browser->get($at)), ' ', preg_match_all('/value="unsuppress"/', $browser->body), "\n";
$browser->post(['action' => 'unsuppress', 'address' => 'bea@example.net', 'scope' => 'list:<b>', 'reason' => 'unsubscribe'], $at);
echo $browser->text('.done'), ' ', count($queue->suppressions()), "\n";
echo preg_replace('/"time":"[^"]*",?/', '', (string) file_get_contents("$directory/mail-queue.log"));
// As many that are newer, so that the time is over before all are looked at.
(new PDO("sqlite:$app"))->exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800000) INSERT INTO mail_suppression (hash, scope, reason, seq, address, created_at) SELECT i, '', 'manual', 1000 + i, 'other' || i || '@example.net', 1 FROM n");
echo $browser->get("$at&address=ann")->text('.note'), ' ', $browser->get("$at&address=ann@example.net")->text('.note'), "\n";
echo preg_match_all('/<td class="address"/', $browser->get($at)->body), ' ', $browser->text('.note'), "\n";
(new PDO("sqlite:$app"))->exec('DELETE FROM mail_suppression WHERE seq > 1000');
$viewer = new Browser(serve_page($app, [], page_script($app, "'viewer'")));
echo preg_match_all('/<form/', $viewer->get($at)->body), ' ', $viewer->text(), ' ', $viewer->post(['action' => 'unsuppress', 'address' => 'ann@example.net'], $at)->status, ' ', count($queue->suppressions()), "\n";
must(!str_contains($browser->get('/?view=settings')->body, (string) $queue->config('mailSuppressionKey')) && str_contains($browser->body, '(set)'), 'the key is not shown');
?>
--EXPECT--
not shown
The address is suppressed. ann@example.net hard_bounce all mail TIME page (admin@127.0.0.1) Remove
bea@example.net unsubscribe list:<b> TIME page (admin@127.0.0.1) Remove ann@example.net hard_bounce all mail TIME page (admin@127.0.0.1) Remove
Remove: bea@example.net, unsubscribe, list:&lt;b&gt;
Remove: ann@example.net, hard_bounce, all mail
shown
400 Give an address. Nothing was changed.
400 The address "nobody" has no "@"; write it as name@example.org
400 Reason cannot be "x"; it is one of unsubscribe hard_bounce complaint manual
400 Scope must have at most 190 octets of UTF-8 without control characters
ANN@example.net: 1 200
bea@: 1 200
example: 2 200
zoe: 0 200
a' OR 1: 0 200
(forgotten) manual all mail TIME bea@example.net unsubscribe list:<b> TIME page (admin@127.0.0.1) Remove ann@example.net hard_bounce all mail TIME page (admin@127.0.0.1) Remove 2
The suppression is removed. 2
{"event":"page","user":"admin@127.0.0.1","reply":"suppress add Ann@Example.net --reason hard_bounce"}
{"event":"page","user":"admin@127.0.0.1","reply":"suppress add bea@example.net --reason unsubscribe --scope list:<b>"}
{"event":"page","user":"admin@127.0.0.1","reply":"suppress remove bea@example.net --reason unsubscribe --scope list:<b>"}
Looked only at the newest addresses; the rest would take too long. A whole address is found at once. -
100 These are the newest 100. "mailqueue suppress export" writes all.
1 Suppressions 403 2
