--TEST--
The page says where mail goes in each kind of test mode, and that a queue that was moved sends nothing
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
$queue->enqueue(mail_fields());
$show = static function (string $what, array $environment = []) use ($app, $directory): Browser {
    $browser = (new Browser(serve_page($app, $environment)))->logIn();
    preg_match('~<h3>Test mode</h3>(.*?)</section>~', $browser->body, $box);
    $words = static fn(string $html): string => trim(preg_replace('/\s+/', ' ', html_entity_decode(strip_tags(str_replace('<', ' <', $html)), ENT_QUOTES | ENT_HTML5)));
    echo "$what\n  alarm: ", $browser->text('.alarm'), "\n  switch: ", str_replace($directory, '%', $words($box[1] ?? $browser->said())), "\n";
    return $browser;
};
$show('off');
$queue->setConfig('mailRedirectTo', 'team@example.org');
$queue->setConfig('mailRedirectTypes', 'news,mail');
$show('on');
$queue->setConfig('mailLiveFrom', time() - 60);
$show('live');
$show('of this machine', ['MAILQUEUE_REDIRECT_TO' => '@staging.example.org', 'MAILQUEUE_ALLOW_TO' => 'ann@example.net']);
$show('half of it', ['MAILQUEUE_ALLOW_TO' => 'ann@example.net']);
foreach (['mailLiveFrom', 'mailRedirectTo', 'mailRedirectTypes'] as $key) {
    $queue->setConfig($key, null);
}
$queue->setConfig('mailRedirectToSchumbi', '1');
$browser = $show('by the alias');
echo $browser->post(['action' => 'redirect-off'])->text('.done'), ' ', $browser->text('.alarm'), ' ', json_encode($queue->config('mailRedirectToSchumbi')), "\n";

echo "-- moved\n";
[$code] = cli(['migrate-store', $app, "$directory/other.sqlite"]);
$browser = (new Browser(serve_page($app)))->logIn();
echo "exit $code\n", str_replace($directory, '%', $browser->text('.state')), "\n";
preg_match('~<h3>Sending</h3>(.*?)</section>~', $browser->body, $box);
echo str_replace($directory, '%', strip_tags($box[1])), "\n";
?>
--EXPECT--
off
  alarm: -
  switch: Mail goes to its recipients. With an address here, mail of these types would go to it instead, also mail that waits already: every type but organizer. Waiting now: 1 mail. Address, or @domain Switch on
on
  alarm: Test mode: mail of these types goes to team@example.org, not to its recipients: news,mail (mailRedirectTo).
  switch: Mail of these types goes to team@example.org, not to its recipients: news,mail. Waiting now: 1 mail. Address, or @domain Switch on Switch test mode off
live
  alarm: -
  switch: Mail goes to its recipients at this time, by mailLiveFrom and mailLiveUntil. Waiting now: 1 mail. Address, or @domain Switch on Switch test mode off
of this machine
  alarm: Test mode of this machine: all mail goes to @staging.example.org, not to its recipients (MAILQUEUE_REDIRECT_TO). Only these still get theirs: ann@example.net.
  switch: This machine decides: MAILQUEUE_REDIRECT_TO is set, so a test mode of the database does not count.
half of it
  alarm: This machine's test mode cannot be read: MAILQUEUE_REDIRECT_TO (ini mailqueue.redirect_to) must be an address or @domain, and MAILQUEUE_ALLOW_TO (mailqueue.allow_to), if set, addresses and @domains beside it, separated by commas. Nothing is sent until they are corrected
  switch: 503 This machine's test mode cannot be read: MAILQUEUE_REDIRECT_TO (ini mailqueue.redirect_to) must be an address or @domain, and MAILQUEUE_ALLOW_TO (mailqueue.allow_to), if set, addresses and @domains beside it, separated by commas. Nothing is sent until they are corrected
by the alias
  alarm: Test mode: mail of these types goes to @schumbi.de, not to its recipients: every type but organizer (mailRedirectToSchumbi).
  switch: Mail of these types goes to @schumbi.de, not to its recipients: every type but organizer. Waiting now: 1 mail. Address, or @domain Switch on Switch test mode off
Saved. - null
-- moved
exit 0
This queue was moved to %/other.sqlite: nothing is sent from here.  "mailqueue doctor" says how to finish the move, or to cancel it.
This queue was moved to %/other.sqlite: nothing is sent from here.
