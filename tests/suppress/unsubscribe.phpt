--TEST--
List-Unsubscribe with a signed token that names no address in clear; the page behind it: GET changes nothing, POST unsubscribes, forged and old tokens are refused
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--FILE--
<?php
require __DIR__ . '/../page/page.inc';

$app = temp_directory() . '/app.sqlite';
$queue = new MailQueue($app);
$fields = fn(array $more): array => $more + mail_fields(to: 'Ann <Ann.Muster@example.net>');
$url = 'https://example.org/unsubscribe.php';
$id = $queue->enqueue($fields(['unsubscribe' => ['list' => 'news', 'url' => $url]]));
preg_match_all('/^List-Unsubscribe.*(?:\r\n .*)*/m', $queue->job($id)->message, $headers);
$found = preg_replace('/\r\n /', ' ', $headers[0]);
echo preg_replace('/t=[\w-]+/', 't=TOKEN', implode("\n", $found)), "\n";
preg_match('/t=([\w-]+)/', $found[0], $match);
$token = $match[1];
$clear = base64_decode(strtr($token, '-_', '+/'));
must(stripos("$clear $token", 'ann') === false && stripos("$clear $token", 'example') === false && stripos("$clear $token", 'news') === false, 'in clear');
must($queue->unsubscribeUrl('Ann.Muster@example.net', 'news', $url) === "$url?t=$token", 'the same link, on the same day');
echo preg_replace('/t=[\w-]+/', 't=TOKEN', $queue->unsubscribeUrl('ann@bücher.example', 'shop', "$url?a=b")), "\n";
$id = $queue->enqueue($fields(['unsubscribe' => 'mailto:leave@example.org']));
must(str_contains($queue->job($id)->message, 'List-Unsubscribe: <mailto:leave@example.org>'), 'plain URIs');

echo "-- refused\n";
foreach ([['list' => 'news'], ['url' => $url], ['list' => '', 'url' => $url], ['list' => 'news', 'url' => 'http://example.org'], ['list' => 'news', 'url' => "$url#x"],
    ['list' => 'news', 'url' => $url, 'mailto' => 'x'], ['list' => "a\nb", 'url' => $url], ['list' => str_repeat('x', 190), 'url' => $url]] as $bad) {
    echo thrown(fn() => $queue->enqueue($fields(['unsubscribe' => $bad]))), "\n";
}
echo thrown(fn() => $queue->enqueue(['to' => 'a@b.example, c@b.example', 'unsubscribe' => ['list' => 'news', 'url' => $url]] + mail_fields())), "\n";
echo thrown(fn() => $queue->enqueue($fields(['bcc' => 'c@b.example', 'unsubscribe' => ['list' => 'news', 'url' => $url]]))), "\n";
foreach (['http://example.org', "$url#x"] as $bad) {
    echo thrown(fn() => $queue->unsubscribeUrl('a@b.example', 'news', $bad)), "\n";
}
echo thrown(fn() => $queue->unsubscribeUrl('a@b.example', "ne\0ws", $url)), "\n";
$queue->delete([1, 2]);

echo "-- the page\n";
$script = '<?php require ' . var_export(dirname(__DIR__, 2) . '/web/autoload.php', true) . '; (new MailQueue\Web\Unsubscribe(fn () => new MailQueue('
    . var_export($app, true) . '), ["news" => "Our <newsletter>"]%s))->handle();';
$host = serve_page($app, [], sprintf($script, ''));
$browser = new Browser($host);
$state = fn(): string => json_encode(array_map(fn(array $one): array => [$one['address'], $one['scope'], $one['reason'], $one['source']], $queue->suppressions()));
$ask = fn(string $token, string $method = 'GET', string $body = ''): string => $browser->get("/?t=$token", $method, $body)->status . ' ' . $browser->text() . ' | ' . $browser->text('p');
echo $ask($token), ' ', $state(), "\n";
echo $browser->headers['content-security-policy'], "\n", isset($browser->headers['set-cookie']) ? 'a cookie' : 'no cookie', "\n";
foreach (['HEAD', 'PUT', 'OPTIONS'] as $method) {
    echo $method, ' ', $browser->get("/?t=$token", $method)->status, ' ', $state(), "\n";
}
echo $ask($token, 'POST'), ' ', $state(), "\n";
foreach (['', 'x', substr($token, 0, -4), strrev($token), substr($token, 0, 40) . ($token[40] === 'A' ? 'B' : 'A') . substr($token, 41), 'Ag' . substr($token, 2)] as $bad) {
    echo $ask($bad, 'POST', 'List-Unsubscribe=One-Click'), "\n";
}
echo $state(), "\n";
for ($i = 0; $i < 400; $i++) { // no octet can be changed
    $at = $i % strlen($token);
    $other = substr_replace($token, chr(ord('a') + random_int(0, 25)), $at, 1);
    $browser->get("/?t=$other", 'POST', 'List-Unsubscribe=One-Click');
    must($browser->status === 400 || base64_decode(strtr($other, '-_', '+/')) === $clear, "forged: $other");
    if ($i > 130) {
        break;
    }
}
$queue->unsuppress('ann.muster@example.net');
echo $ask($token, 'POST', 'List-Unsubscribe=One-Click'), ' ', $state(), "\n";
echo $ask($token, 'POST', 'List-Unsubscribe=One-Click'), ' ', $state(), "\n";
$queue->unsuppress('ann.muster@example.net');
$hosted = new Browser(serve_page($app, [], sprintf($script, ', fn () => throw new Exception("broken")'), HOSTED));
echo 'with functions disabled: ', $hosted->get("/?t=$token")->text(), ' | ', $hosted->get("/?t=$token", 'POST', 'List-Unsubscribe=One-Click')->text(), ' ', $state(), "\n";
$queue->enqueue($fields(['unsubscribe' => ['list' => 'news', 'url' => $url]]));
$queue->enqueue($fields([]));
$report = $queue->runWorker('null://null', log: '');
echo "sent $report->sent suppressed $report->suppressed\n";

echo "-- without a token no database is asked; what the application throws does not undo it\n";
require dirname(__DIR__, 2) . '/web/autoload.php';
$request = fn(string $token, string $method = 'GET'): MailQueue\Web\Request => new MailQueue\Web\Request(['t' => $token],
    $method === 'POST' ? ['List-Unsubscribe' => 'One-Click'] : [], [], ['REQUEST_METHOD' => $method]);
$broken = new MailQueue\Web\Unsubscribe(fn() => throw new Exception('the database is away'));
ini_set('error_log', '/dev/null');
foreach (['', '%', 'AQ', $token] as $one) {
    echo $broken->respond($request($one))->status, ' ';
}
$queue->unsuppress('ann.muster@example.net');
$told = [];
$page = new MailQueue\Web\Unsubscribe($queue, then: function (string ...$about) use (&$told): void {
    $told[] = $about;
    throw new Exception('the application is broken');
});
$page->respond($request($token));
echo json_encode($told), $state(), "\n";
$response = $page->respond($request($token, 'POST'));
echo $response->status, str_contains($response->body, 'You are unsubscribed') ? ' unsubscribed ' : ' NOT ', json_encode($told), $state(), "\n";

echo "-- old, and of another database\n";
$queue->enqueue($fields(['date' => time() - 86400 * 40, 'unsubscribe' => ['list' => 'shop', 'url' => $url]]));
preg_match('/t=([\w-]+)/', preg_replace('/\r\n /', '', $queue->job($queue->jobs()[0]->id)->message), $match);
$strict = new Browser(serve_page($app, [], sprintf($script, ', maxDays: 30')));
echo $strict->get("/?t=$match[1]")->status, ' ', $browser->get("/?t=$match[1]")->status, "\n";
$other = new MailQueue(temp_directory() . '/other.sqlite');
preg_match('/t=([\w-]+)/', $other->unsubscribeUrl('ann@example.net', 'news', $url), $match);
echo $browser->get("/?t=$match[1]")->status, "\n";
echo $browser->get("/?t=$token&language=de")->text(), ' | ', $browser->text('p'), ' | ', $browser->text('button'), "\n";

echo "-- without the key nothing is lost: the provider asks again\n";
$key = $queue->config('mailSuppressionKey');
foreach (["$key\n", substr($key, 2), ''] as $damaged) {
    (new PDO("sqlite:$app"))->prepare("UPDATE config SET value = ? WHERE key = 'mailSuppressionKey'")->execute([$damaged]);
    echo $browser->get("/?t=$token")->status, ' ';
}
?>
--EXPECT--
List-Unsubscribe: <https://example.org/unsubscribe.php?t=TOKEN>
List-Unsubscribe-Post: List-Unsubscribe=One-Click
https://example.org/unsubscribe.php?a=b&t=TOKEN
-- refused
MailQueue\MessageException [unsubscribe]: unsubscribe: give both, as ['list' => 'news', 'url' => 'https://example.org/unsubscribe.php']
MailQueue\MessageException [unsubscribe]: unsubscribe: give both, as ['list' => 'news', 'url' => 'https://example.org/unsubscribe.php']
MailQueue\MessageException [unsubscribe]: unsubscribe: give both, as ['list' => 'news', 'url' => 'https://example.org/unsubscribe.php']
MailQueue\MessageException [unsubscribe[url]]: unsubscribe[url]: it must be an https: URI without "#"
MailQueue\MessageException [unsubscribe[url]]: unsubscribe[url]: it must be an https: URI without "#"
MailQueue\MessageException [unsubscribe]: unsubscribe: unknown key "mailto"; known are list and url
ValueError: list has the control character U+000A at octet 2; remove it
ValueError: list must have 1 to 185 octets, not 190
MailQueue\MessageException [unsubscribe[list]]: unsubscribe[list]: the link names the recipient, so the mail must have exactly one; enqueue a mail for each (enqueueMany())
MailQueue\MessageException [unsubscribe[list]]: unsubscribe[list]: the link names the recipient, so the mail must have exactly one; enqueue a mail for each (enqueueMany())
MailQueue\MessageException [url]: url: it must be an https: URI without "#"
MailQueue\MessageException [url]: url: it must be an https: URI without "#"
ValueError: MailQueue::unsubscribeUrl(): Argument #2 ($list) must not contain any null bytes
-- the page
200 Unsubscribe from Our <newsletter> | A…@example.net gets no more mail of this list then. []
default-src 'none'; style-src 'sha256-AqDl0kr4XFejVnnyZt0j4DiVDTWEt487H7d/HzYKVP4='; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
no cookie
HEAD 200 []
PUT 405 []
OPTIONS 405 []
400 That did not work | This form is not of this page, or it is too old. Nothing was changed. Go back, reload the page and try again. []
400 That did not work | This link is not complete, or too old. You are not unsubscribed. Use the link of a newer mail.
400 That did not work | This link is not complete, or too old. You are not unsubscribed. Use the link of a newer mail.
400 That did not work | This link is not complete, or too old. You are not unsubscribed. Use the link of a newer mail.
400 That did not work | This link is not complete, or too old. You are not unsubscribed. Use the link of a newer mail.
400 That did not work | This link is not complete, or too old. You are not unsubscribed. Use the link of a newer mail.
400 That did not work | This link is not complete, or too old. You are not unsubscribed. Use the link of a newer mail.
[]
200 You are unsubscribed | A…@example.net gets no more mail of the list Our <newsletter>. [["ann.muster@example.net","list:news","unsubscribe","unsubscribe link"]]
200 You are unsubscribed | A…@example.net gets no more mail of the list Our <newsletter>. [["ann.muster@example.net","list:news","unsubscribe","unsubscribe link"]]
with functions disabled: Unsubscribe from Our <newsletter> | You are unsubscribed [["ann.muster@example.net","list:news","unsubscribe","unsubscribe link"]]
sent 1 suppressed 1
-- without a token no database is asked; what the application throws does not undo it
400 400 400 503 [][]
200 unsubscribed [["Ann.Muster@example.net","list:news"]][["ann.muster@example.net","list:news","unsubscribe","unsubscribe link"]]
-- old, and of another database
400 200
400
Our <newsletter> abbestellen | A…@example.net bekommt dann keine Mails dieser Liste mehr. | Abmelden
-- without the key nothing is lost: the provider asks again
200 503 503
