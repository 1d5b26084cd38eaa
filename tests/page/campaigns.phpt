--TEST--
The page's view of campaigns: shown once there is one; admins start, pause, resume, cancel and retry after a question with the number; viewers only look
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
$at = '/?view=campaigns';
$nav = fn(): string => str_contains($browser->get()->text('nav'), 'Campaigns') ? "shown\n" : "not shown\n";
echo $nav(), $browser->get($at)->text('.note'), "\n";
$message = ['from' => 'news@example.org', 'subject' => 'Hello', 'text' => 'Hello'];
$campaign = function (string $name, int $count) use ($queue, $message): MailQueue\Campaign {
    $campaign = $queue->campaign($name);
    $campaign->setMessage($message);
    $campaign->add(array_map(fn(int $i): string => "r$i@example.net", range(1, $count)));
    return $campaign;
};
$hostile = '<b>"spring"</b>';
$campaign('winter', 1);
$spring = $campaign($hostile, 1200);
$queue->campaign('empty');
echo $nav();
// How fast it went is not this test's subject.
$row = fn(string $name): string => preg_match('~<tr>(?:(?!</tr>).)*?' . preg_quote(htmlspecialchars($name)) . '</a>.*?</tr>~s', $browser->get($at)->body, $match)
    ? trim(preg_replace('/\s+/', ' ', html_entity_decode(strip_tags(str_replace('<', ' <', preg_replace('~<td class="(rate|next)".*?</td>~s', '', $match[0]))), ENT_QUOTES | ENT_HTML5))) : '-';
foreach (['winter', $hostile, 'empty'] as $name) {
    echo $row($name), "\n";
}
$post = fn(string $action, string $name, array $more = []) => $browser->get($at)->post(['action' => "campaign-$action", 'name' => $name] + $more, $at);
$ask = fn(string $action, string $name): string => $post($action, $name)->text();
/** Answers the question with Yes, as its form does. */
$yes = function () use ($browser, $at): string {
    preg_match_all('/type="hidden" name="(\w+)" value="([^"]*)"/', strstr($browser->body, '<main'), $hidden);
    return $browser->post(array_combine($hidden[1], array_map(htmlspecialchars_decode(...), $hidden[2])), $at)->text('.done');
};
echo "-- questions\n";
echo $ask('start', 'winter'), "\n", $queue->campaign('winter')->progress()['state'], "\n";
echo $ask('start', $hostile), ' ', $yes(), ' ', $row($hostile), "\n";
$queue->runWorker(fn() => null, messageLimit: 4, log: '');
echo $row($hostile), "\n", $ask('pause', $hostile), ' ', $yes(), ' ', $row($hostile), "\n";
echo $ask('resume', $hostile), ' ', $yes(), "\n";
$queue->runWorker(fn() => throw new MailQueue\RefusedException('no such user', 550), messageLimit: 3, log: '');
echo $row($hostile), "\n";
$queue->hold([$queue->jobs(MailQueue\Status::Pending, 1)[0]->id]);
preg_match('/<td class="failed"[^>]*><a href="([^"]*)"/', $browser->get($at)->body, $link);
echo substr_count($browser->get('/' . html_entity_decode($link[1]))->body, '<td class="mark"'), " failed mails\n";
echo $ask('retry', $hostile), ' ', $yes(), ' ', $row($hostile), "\n";
$post('cancel', $hostile, ['sure' => '1194']);
echo $browser->text(), ' ', $yes(), ' ', $row($hostile), "\n";

echo "-- refusals\n";
foreach ([['resume', $hostile], ['retry', 'winter'], ['start', 'empty'], ['pause', 'sprung'], ['explode', 'winter']] as [$action, $name]) {
    echo $post($action, $name, ['sure' => '9999'])->said(), "\n";
}
echo $browser->get($at)->get("$at&part=list")->status, ' ', $browser->get("$at&before=2")->status, ' ', substr_count($browser->body, '<progress'), ' ', $browser->get("$at&part=x")->status, "\n";
echo preg_replace('/"time":"[^"]*",?/', '', implode('', preg_grep('/"page"/', file("$directory/mail-queue.log"))));
$viewer = new Browser(serve_page($app, [], page_script($app, "'viewer'")));
echo preg_match_all('/<form|<button/', $viewer->get($at)->body), ' ', $viewer->text(), ' ', $viewer->post(['action' => 'campaign-start', 'name' => 'winter', 'sure' => '9'], $at)->status, ' ', $queue->campaign('winter')->progress()['state'], "\n";
$german = new Browser(serve_page($app, [], page_script($app, "'admin'")), ['Accept-Language' => 'de']);
echo $german->get($at)->text(), ' ', $german->text('thead'), ' ', $german->post(['action' => 'campaign-start', 'name' => 'winter'], $at)->text(), "\n";
$forged = new Browser(serve_page($app, [], page_script($app, "'admin'")));
echo $forged->get($at)->post(['action' => 'campaign-start', 'name' => 'winter', 'sure' => '9', 'token' => 'x'], $at)->status, ' ', $queue->campaign('winter')->progress()['state'], "\n";
$late = $campaign('late', 100);
$late->setMessage($message, expiresAt: time() + 7200);
$late->start();
$queue->setConfig('mailMaxPerHour', '10');
foreach ([$browser, $german] as $one) {
    echo preg_replace('/\d+ \w+( \d+ min)?/', 'TIME', $one->get($at)->text('.next')), "\n";
}

echo "-- asked once, though there are more at the answer\n";
$late->cancel();
$queue->setConfig('mailMaxPerHour', null);
$more = $campaign('more', 5);
$more->start();
echo $ask('pause', 'more'), ' ', $more->add(['late@example.net']), ' ', $yes(), "\n";
$more->resume();
$fail = fn() => $queue->runWorker(fn() => throw new MailQueue\RefusedException('no such user', 550), messageLimit: 2, log: '');
$fail();
echo $ask('retry', 'more'), ' ', $fail() ? $yes() : '', "\n";
?>
--EXPECT--
not shown
There is no campaign. "mailqueue campaign create" makes one.
shown
winter draft 0 of 1 0 Start Cancel
<b>"spring"</b> draft 0 of 1,200 0 Start Cancel
empty draft 0 of 0 0 Cancel
-- questions
Start "winter" (1 mail to send)?
draft
Start "<b>"spring"</b>" (1,200 mails to send)? The campaign is started. <b>"spring"</b> running 0 of 1,200 0 Pause Cancel
<b>"spring"</b> running 4 of 1,200 0 Pause Cancel
Pause "<b>"spring"</b>" (1,196 mails left)? The campaign is paused. <b>"spring"</b> paused 4 of 1,200 0 Resume Cancel
Resume "<b>"spring"</b>" (1,196 mails left)? The campaign goes on.
<b>"spring"</b> running 7 of 1,200 3 Pause Cancel Retry failed
4 failed mails
Try the failed mails of "<b>"spring"</b>" again (3 mails)? 3 mails brought back. <b>"spring"</b> running 5 of 1,200 1 Pause Cancel Retry failed
Cancel "<b>"spring"</b>" for good (1,195 mails will never be sent)? The campaign is cancelled. <b>"spring"</b> cancelled 5 of 1,200 995 gone 1
-- refusals
400 A campaign that is cancelled cannot be resumed. Nothing was changed.
400 The campaign is draft: only one that runs or has finished can try its failed mails again. Nothing was changed.
400 The campaign has no message: set it before the start. Nothing was changed.
400 There is no campaign "sprung".
400 There is no action "campaign-explode". Nothing was changed.
200 200 1 404
{"event":"page","user":"admin@127.0.0.1","reply":"campaign start <b>\"spring\"</b>"}
{"event":"page","user":"admin@127.0.0.1","reply":"campaign pause <b>\"spring\"</b>"}
{"event":"page","user":"admin@127.0.0.1","reply":"campaign resume <b>\"spring\"</b>"}
{"event":"page","user":"admin@127.0.0.1","reply":"campaign retry <b>\"spring\"</b>: 3"}
{"event":"page","user":"admin@127.0.0.1","reply":"campaign cancel <b>\"spring\"</b>"}
0 Campaigns 403 draft
Kampagnen Kampagne  Status  Fortschritt  Pro Stunde  Voraussichtlich fertig  Fehlgeschlagen  Aktion „winter“ starten (1 Mail zu senden)?
403 draft
expires in TIME, before all is sent
läuft in TIME ab, bevor alles gesendet ist
-- asked once, though there are more at the answer
Pause "more" (5 mails left)? 1 The campaign is paused.
Try the failed mails of "more" again (2 mails)? 4 mails brought back.
