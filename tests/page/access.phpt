--TEST--
The page is closed by default; login, throttle, session; tokens, foreign sites, viewers; headers
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--FILE--
<?php
require __DIR__ . '/page.inc';

$app = temp_directory() . '/app.sqlite';
$queue = new MailQueue($app);
$queue->enqueue(mail_fields(), 'r1');
$show = static function (string $what, Browser $browser): void {
    echo "$what: ", $browser->said(), "\n";
};

echo "-- closed\n";
$show('no password', (new Browser(serve_page($app, ['MAILQUEUE_PAGE_HASH' => ''])))->get());
$show('no hash', (new Browser(serve_page($app, ['MAILQUEUE_PAGE_HASH' => 'secret'])))->get());
$host = serve_page($app);
$show('no login', (new Browser($host))->get());
$show('a view', (new Browser($host))->get('/?view=mails'));
echo 'status.json: ', (new Browser($host))->get('/mailqueue.php/status.json')->body;
$show('metrics', (new Browser($host))->get('/?view=metrics'));
$show('a part', (new Browser($host))->get('/?view=overview&part=now'));
$show('another host', (new Browser($host, ['Host' => 'evil.example']))->get());
foreach (['127.0.0.1.evil.example', '127.evil.example:80', '[::1].evil.example', 'localhost.evil.example', '127.0.0.1@evil.example'] as $name) {
    $show($name, (new Browser($host, ['Host' => $name]))->get());
}
foreach (['127.0.0.1:8025', 'LOCALHOST', '[::1]:80', '127.8.9.10'] as $name) {
    $show($name, (new Browser($host, ['Host' => $name]))->get());
}
foreach (['X-Forwarded-For', 'X-Real-IP', 'Via'] as $name) {
    $show("a proxy, $name", (new Browser($host, [$name => '192.0.2.1']))->get());
}
$show('PUT', (new Browser($host))->get('/', 'PUT'));

echo "-- login\n";
$browser = new Browser($host);
$browser->logIn('wrong');
echo $browser->status, ' ', $browser->text('.alarm'), "\n";
$old = $browser->cookies['mailqueue'];
$show('in', $browser->logIn());
echo preg_replace('/=[\w.]+/', '=…', $browser->headers['set-cookie'], 1), "\n";
echo $old === substr($browser->cookies['mailqueue'], 0, 32) ? 'the same' : 'another', " number\n";
foreach (['content-security-policy', 'x-frame-options', 'cache-control', 'referrer-policy'] as $name) {
    echo "$name: ", $browser->headers[$name], "\n";
}
[$number, $since, $seen, $mac] = explode('.', $browser->cookies['mailqueue']);
$others = [strtr($number, '0123456789abcdef', '123456789abcdef0') . ".$since.$seen.$mac", "$number." . ($since + 1) . ".$seen.$mac", "$number.$since." . ($seen + 1) . ".$mac", "$number.$since.$seen." . substr($mac, 1), $number, ''];
foreach ($others as $other) {
    $thief = new Browser($host);
    $thief->cookies['mailqueue'] = $other;
    $show('a changed cookie', $thief->get());
}

echo "-- from another site: no cookie takes the place of one that the browser keeps back\n";
$browser->get();
$guest = new Browser($host, ['Sec-Fetch-Site' => 'cross-site']);
$tells = function () use (&$guest): string {
    return 'Refresh: ' . ($guest->headers['refresh'] ?? 'none') . ', ' . (isset($guest->headers['set-cookie']) ? 'a' : 'no') . " cookie\n";
};
$show('a link', $guest->get('/?view=mails'));
echo $tells();
$show('a form', $guest->post(['action' => 'log-in', 'password' => PASSWORD]));
echo $tells();
$guest->get('/?view=status.json');
echo 'status.json: ', $guest->status, ' ', $tells();
$guest->cookies = $browser->cookies;
$show('a link, with the cookie', $guest->get('/?view=mails'));
foreach (['same-origin', 'same-site', 'none'] as $site) {
    $guest = new Browser($host, ['Sec-Fetch-Site' => $site]);
    $show($site, $guest->get('/?view=mails'));
    echo $tells();
}

echo "-- sessions end\n";
foreach (['a fresh one' => [60, 60], 'after two hours without a click' => [7300, 7300], 'after twelve hours' => [43300, 60]] as $what => [$since, $seen]) {
    $signed = str_repeat('a', 32) . '.' . (time() - $since) . '.' . (time() - $seen);
    $other = new Browser($host);
    $other->cookies['mailqueue'] = "$signed." . hash_hmac('sha256', $signed, 'mailqueue page ' . page_hash());
    $show($what, $other->get());
}
$before = $browser->cookies;
sleep(1);
$browser->get('/?view=overview&part=now');
echo $browser->cookies === $before ? 'the poll renews nothing' : 'the poll renews it', "\n";
$browser->get('/?view=overview');
echo $browser->cookies === $before ? 'a click renews nothing' : 'a click renews it', "\n";

echo "-- forged\n";
$enabled = fn(): string => var_export($queue->config('mailQueueEnabled'), true) . "\n";
$off = ['action' => 'switch', 'to' => 'off'];
$show('no token', $browser->get('/?view=overview')->post($off + ['token' => '']));
$show('another token', $browser->get('/?view=overview')->post($off + ['token' => str_repeat('0', 64)]));
foreach ([['Origin' => 'http://evil.example'], ['Origin' => 'null'], ['Sec-Fetch-Site' => 'cross-site'], ['Sec-Fetch-Site' => 'same-site'],
    ['Sec-Fetch-Site' => 'cross-site', 'Origin' => "http://$host"], ['Origin' => 'http://127.0.0.1']] as $sends) {
    $browser->get('/?view=overview');
    $browser->sends = $sends;
    $what = array_map(fn(string $name, string $value): string => "$name $value", array_keys($sends), $sends);
    $show(str_replace($host, 'HOST', implode(', ', $what)), $browser->post($off));
    $browser->sends = [];
}
echo 'after all that: ', $enabled();
$browser->get('/?view=overview');
$browser->sends = ['Origin' => "http://$host", 'Sec-Fetch-Site' => 'same-origin'];
echo $browser->post($off)->text('.done'), ' ', $enabled();
// A proxy on another port may leave the port out of Host.
$browser->get('/?view=overview');
$browser->sends = ['Host' => '127.0.0.1', 'Origin' => 'https://127.0.0.1:8443', 'Sec-Fetch-Site' => 'same-origin'];
echo $browser->post(['action' => 'switch', 'to' => 'on'])->text('.done'), ' ', $enabled();
$browser->sends = [];
echo 'without these headers: ', $browser->get('/?view=overview')->post($off)->text('.done'), ' ', $enabled();
$kept = $browser->cookies;
$asset = $browser->get('/?view=page.css')->headers;
echo 'an asset: ', $asset['cache-control'], ', ', $asset['set-cookie'] ?? 'no cookie', "\n";
$browser->get();
$show('out', $browser->post(['action' => 'log-out']));
$show('and then', $browser->get('/?view=mails'));

$browser->cookies = $kept;
$show('with the cookie from before', $browser->get('/?view=mails'));
$show('in again', $browser->logIn());

echo "-- throttled\n";
$guesser = new Browser($host);
for ($i = 0; $i < 5; $i++) {
    $guesser->logIn('wrong');
}
echo preg_replace('/\d+ (min|s)/', 'N', $guesser->logIn()->status . ' ' . $guesser->text('.alarm')), "\n";

echo "-- logged\n", preg_replace('/(.*\n)\1+/', "\$1 …\n", page_log($host));

echo "-- behind an application's login\n";
foreach (["'viewer'", "null", "'root'"] as $access) {
    $other = new Browser(serve_page($app, [], page_script($app, $access, ', bodies: true')));
    $show($access, $other->get());
    $show("$access switches", $other->post($off + ['token' => hash_hmac('sha256', 'form 0', $other->cookies['mailqueue'])]));
    $show("$access reads", $other->get('/?view=source&id=1'));
    $show("$access from another site", (new Browser($other->host, ['Sec-Fetch-Site' => 'cross-site']))->get());
}
$host = serve_page($app, ['MAILQUEUE_PAGE_PROXIES' => '127.0.0.1, 10.0.0.1']);
$show('a trusted proxy over HTTP', (new Browser($host, ['X-Forwarded-For' => '192.0.2.1', 'X-Forwarded-Proto' => 'http']))->get());
$secure = (new Browser($host, ['X-Forwarded-For' => '192.0.2.1', 'X-Forwarded-Proto' => 'https', 'Host' => 'www.example.org']))->get();
$show('and over HTTPS', $secure);
echo preg_replace('/=\w+/', '=…', $secure->headers['set-cookie'], 1), "\n";
echo "-- whose attempts count\n";
foreach (['192.0.2.7', '192.0.2.8, 192.0.2.7', '192.0.2.7, 10.0.0.1', '192.0.2.9, 192.0.2.7 , 10.0.0.1, 127.0.0.1', '192.0.2.7', '192.0.2.8, 192.0.2.7', '192.0.2.7, 192.0.2.8'] as $for) {
    $guess = new Browser($host, ['X-Forwarded-For' => $for, 'X-Forwarded-Proto' => 'https', 'Host' => 'www.example.org']);
    echo "$for: ", $guess->logIn('wrong')->status, "\n";
}
foreach ([...array_fill(0, 5, '::ffff:192.0.2.50'), '::ffff:192.0.2.51', ...array_fill(0, 5, '192.0.2.60:1'), '192.0.2.60:2', '192.0.2.61:1', '[2001:db8::7]:1'] as $for) {
    $guess = new Browser($host, ['X-Forwarded-For' => $for, 'X-Forwarded-Proto' => 'https', 'Host' => 'www.example.org']);
    echo "$for: ", $guess->logIn('wrong')->status, "\n";
}
$show('a form through it', $secure->post(['action' => 'log-in', 'password' => 'x']));
$secure->sends = ['Origin' => 'https://shop.example.org', 'X-Forwarded-Host' => 'shop.example.org', 'X-Forwarded-Proto' => 'https'];
$show('the host that the proxy names', $secure->get()->post(['action' => 'log-in', 'password' => PASSWORD]));
$secure->sends['Origin'] = 'https://evil.example';
$show('and another', $secure->get()->post(['action' => 'switch', 'to' => 'off']));
?>
--EXPECT--
-- closed
no password: 403 This page is closed. Give it a password: "mailqueue page --password" makes a hash for MAILQUEUE_PAGE_HASH. Or pass "access" to the page, behind your own login.
no hash: 403 This page is closed: MAILQUEUE_PAGE_HASH is not a hash of a password. "mailqueue page --password" makes one; a shell needs single quotes around its "$".
no login: 403 Log in
a view: 403 Log in
status.json: {
    "error": "You may not see this page. Log in first."
}
metrics: 403 -
a part: 403 -
another host: 403 This page is only shown over HTTPS. Open it with https://, or on this machine as http://127.0.0.1.
127.0.0.1.evil.example: 403 This page is only shown over HTTPS. Open it with https://, or on this machine as http://127.0.0.1.
127.evil.example:80: 403 This page is only shown over HTTPS. Open it with https://, or on this machine as http://127.0.0.1.
[::1].evil.example: 403 This page is only shown over HTTPS. Open it with https://, or on this machine as http://127.0.0.1.
localhost.evil.example: 403 This page is only shown over HTTPS. Open it with https://, or on this machine as http://127.0.0.1.
127.0.0.1@evil.example: 403 This page is only shown over HTTPS. Open it with https://, or on this machine as http://127.0.0.1.
127.0.0.1:8025: 403 Log in
LOCALHOST: 403 Log in
[::1]:80: 403 Log in
127.8.9.10: 403 Log in
a proxy, X-Forwarded-For: 403 This request came through a proxy (127.0.0.1) that is not known. Name its address in MAILQUEUE_PAGE_PROXIES, or in mailqueue.page_proxies in php.ini.
a proxy, X-Real-IP: 403 This request came through a proxy (127.0.0.1) that is not known. Name its address in MAILQUEUE_PAGE_PROXIES, or in mailqueue.page_proxies in php.ini.
a proxy, Via: 403 This request came through a proxy (127.0.0.1) that is not known. Name its address in MAILQUEUE_PAGE_PROXIES, or in mailqueue.page_proxies in php.ini.
PUT: 405 This page only knows GET and POST.
-- login
403 This is not the password.
in: 200 Overview
mailqueue=…; Path=/; HttpOnly; SameSite=Strict
another number
content-security-policy: default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
x-frame-options: DENY
cache-control: no-store
referrer-policy: same-origin
a changed cookie: 403 Log in
a changed cookie: 403 Log in
a changed cookie: 403 Log in
a changed cookie: 403 Log in
a changed cookie: 403 Log in
a changed cookie: 403 Log in
-- from another site: no cookie takes the place of one that the browser keeps back
a link: 200 Go on to the page
Refresh: 0, no cookie
a form: 403 This form is not of this page, or it is too old. Nothing was changed. Go back, reload the page and try again.
Refresh: none, no cookie
status.json: 403 Refresh: none, no cookie
a link, with the cookie: 200 Mails
same-origin: 403 Log in
Refresh: none, a cookie
same-site: 403 Log in
Refresh: none, a cookie
none: 403 Log in
Refresh: none, a cookie
-- sessions end
a fresh one: 200 Overview
after two hours without a click: 403 Log in
after twelve hours: 403 Log in
the poll renews nothing
a click renews it
-- forged
no token: 403 This form is not of this page, or it is too old. Nothing was changed. Go back, reload the page and try again.
another token: 403 This form is not of this page, or it is too old. Nothing was changed. Go back, reload the page and try again.
Origin http://evil.example: 403 This form is not of this page, or it is too old. Nothing was changed. Go back, reload the page and try again.
Origin null: 403 This form is not of this page, or it is too old. Nothing was changed. Go back, reload the page and try again.
Sec-Fetch-Site cross-site: 403 This form is not of this page, or it is too old. Nothing was changed. Go back, reload the page and try again.
Sec-Fetch-Site same-site: 403 This form is not of this page, or it is too old. Nothing was changed. Go back, reload the page and try again.
Sec-Fetch-Site cross-site, Origin http://HOST: 403 This form is not of this page, or it is too old. Nothing was changed. Go back, reload the page and try again.
Origin http://127.0.0.1: 403 This form is not of this page, or it is too old. Nothing was changed. Go back, reload the page and try again.
after all that: NULL
Sending is off. Mail that is under way is still finished. '0'
Sending is on. '1'
without these headers: Sending is off. Mail that is under way is still finished. '0'
an asset: max-age=300, no cookie
out: 403 Log in
and then: 403 Log in
with the cookie from before: 403 Log in
in again: 200 Overview
-- throttled
429 Too many attempts. Try again in N.
-- logged
mailqueue page: visitor@127.0.0.1: login: wrong password
mailqueue page: admin@127.0.0.1: logged in
mailqueue page: admin@127.0.0.1: config mailQueueEnabled 0
mailqueue page: admin@127.0.0.1: config mailQueueEnabled 1
mailqueue page: admin@127.0.0.1: config mailQueueEnabled 0
mailqueue page: admin@127.0.0.1: logged out
mailqueue page: admin@127.0.0.1: logged in
mailqueue page: visitor@127.0.0.1: login: wrong password
 …
mailqueue page: visitor@127.0.0.1: login: too many attempts
-- behind an application's login
'viewer': 200 Overview
'viewer' switches: 403 You may look, but not change anything. Nothing was changed.
'viewer' reads: 403 Messages are hidden from viewers.
'viewer' from another site: 200 Go on to the page
null: 403 You may not see this page. Log in first.
null switches: 403 You may not see this page. Log in first.
null reads: 403 You may not see this page. Log in first.
null from another site: 200 Go on to the page
'root': 403 You may not see this page. Log in first.
'root' switches: 403 You may not see this page. Log in first.
'root' reads: 403 You may not see this page. Log in first.
'root' from another site: 200 Go on to the page
a trusted proxy over HTTP: 403 This page is only shown over HTTPS. Open it with https://, or on this machine as http://127.0.0.1.
and over HTTPS: 403 Log in
__Host-mailqueue=…; Path=/; HttpOnly; SameSite=Strict; Secure
-- whose attempts count
192.0.2.7: 403
192.0.2.8, 192.0.2.7: 403
192.0.2.7, 10.0.0.1: 403
192.0.2.9, 192.0.2.7 , 10.0.0.1, 127.0.0.1: 403
192.0.2.7: 403
192.0.2.8, 192.0.2.7: 429
192.0.2.7, 192.0.2.8: 403
::ffff:192.0.2.50: 403
::ffff:192.0.2.50: 403
::ffff:192.0.2.50: 403
::ffff:192.0.2.50: 403
::ffff:192.0.2.50: 403
::ffff:192.0.2.51: 403
192.0.2.60:1: 403
192.0.2.60:1: 403
192.0.2.60:1: 403
192.0.2.60:1: 403
192.0.2.60:1: 403
192.0.2.60:2: 429
192.0.2.61:1: 403
[2001:db8::7]:1: 403
a form through it: 403 Log in
the host that the proxy names: 200 Overview
and another: 403 This form is not of this page, or it is too old. Nothing was changed. Go back, reload the page and try again.
