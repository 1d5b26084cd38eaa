--TEST--
The page and bad input: a sentence with cause and cure, never a stack trace, and nothing is changed
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
$queue->enqueue(mail_fields(), 'r1');
$queue->setConfig('mailMaxPerHour', 60);
$host = serve_page($app, ['MAILQUEUE_PAGE_BODIES' => '1']);
$browser = new Browser($host);
$browser->logIn();
$kept = fn(): string => md5(serialize((new PDO("sqlite:$app"))->query('SELECT * FROM config, mail_queue ORDER BY 1, 2')->fetchAll()));
$before = $kept();
$say = static function (string $what) use (&$browser, $kept, &$before, $directory): void {
    must(!preg_match('/Stack trace|on line|#0 /', $browser->body), "no trace: $browser->body");
    echo "$what: ", str_replace($directory, '%', $browser->said()), $kept() === $before ? "\n" : " CHANGED\n";
};
echo "-- asked for\n";
foreach (['view=nothing', 'view[]=x', 'view=../../etc/passwd', 'view=page.css/../../Page.php', 'view=mails&status=lost', 'view=mails&older=soon', 'view=mails&status[]=parked',
    'view=mails&after=-1', 'view=mail', 'view=mail&id=99', 'view=mail&id=0', 'view=mail&id=-1', 'view=mail&id=1e3', 'view=mail&id=999999999999999999999', "view=mail&id=1'", 'view=mail&id=../1',
    'view=mail&id=1%00', 'view=mail&id=%ff', 'view=preview&id=..%2f1', 'view=source&id=2', 'view=overview&part=x', 'view=mails&type=%f0%28'] as $query) {
    $browser->get("/?$query");
    $say($query);
}
$browser->get('/../../etc/passwd');
$say('a path');
echo "-- told to do\n";
foreach ([['action' => 'limit', 'limit' => '0'], ['action' => 'limit', 'limit' => '-1'], ['action' => 'limit', 'limit' => '1000000000000'], ['action' => 'limit', 'limit' => 'many'], ['action' => 'limit'],
    ['action' => 'switch', 'to' => 'maybe'], ['action' => 'redirect', 'to' => 'nobody'], ['action' => 'redirect', 'to' => ''], ['action' => 'set', 'key' => 'mailBurst', 'value' => '0'], ['action' => 'set', 'key' => 'mailTokens', 'value' => '5'],
    ['action' => 'set', 'key' => 'mailLastRun', 'value' => '1'], ['action' => 'set', 'key' => 'x', 'value' => '1'], ['action' => 'set', 'key' => 'mailLiveFrom', 'value' => 'tomorrow'], ['action' => 'drop'], ['action' => ''],
    ['action' => 'delete', 'ids' => 'all', 'sure' => '1'], ['action' => 'delete', 'ids' => ['99'], 'sure' => '1'], ['action' => 'delete', 'which' => 'all', 'status' => 'lost', 'sure' => '1'],
    ['action' => 'delete', 'which' => 'all', 'status' => ['parked'], 'sure' => '1'], ['action' => 'delete', 'which' => 'all', 'type' => "\xff", 'sure' => '1'],
    ['action' => 'resend', 'id' => '../1'], ['action' => 'delete', 'ids' => ['../1', '1e0', "1'--", '01'], 'sure' => '4'], ['action' => 'unsuppress', 'address' => '../x']] as $form) {
    $browser->get('/?view=overview')->post($form);
    $say(json_encode($form, JSON_INVALID_UTF8_SUBSTITUTE));
}
echo "-- half of it\n";
$many = "$directory/many.sqlite";
foreach (range(1, 1500) as $i) {
    ($other ??= new MailQueue($many))->enqueue(mail_fields());
}
(new PDO("sqlite:$many"))->exec("CREATE TRIGGER stop BEFORE UPDATE ON mail_queue WHEN old.id = 1200 BEGIN SELECT RAISE(ABORT, 'not this one'); END");
$half = serve_page($many);
$held = (new Browser($half))->logIn()->get('/?view=mails')->post(['action' => 'hold', 'which' => 'all', 'sure' => '1500'], '/?view=mails');
echo str_replace($directory, '%', $held->said()), "\n", $other->stats()->parked, ' parked; ', str_replace($directory, '%', strstr(page_log($half), 'hold'));

echo "-- the database\n";
$full = serve_page($app, [], null, 'ulimit -f 4; exec "$@"');
$browser = new Browser($full);
$browser->logIn();
$browser->get()->post(['action' => 'limit', 'limit' => '5']);
$say('a file that cannot grow, as on a full disk');
$browser->get()->post(['action' => 'delete', 'ids' => ['1'], 'sure' => '1']);
$say('nor can a mail be deleted');
$browser = new Browser($host);
$browser->logIn();
rename($app, "$app.away");
$browser->get('/?view=overview');
echo "lost: $browser->status ", str_replace($directory, '%', $browser->text('.lead')), "\n";
echo 'status.json: ', str_replace($directory, '%', $browser->get('/?view=status.json')->body);
must(!file_exists($app), 'no new database');
file_put_contents($app, 'not a database, but long enough for a header of one hundred bytes, which is what SQLite reads first of all.');
$browser->get('/?view=overview');
echo "damaged: $browser->status ", str_replace($directory, '%', $browser->text('.lead')), "\n";

echo "-- the lists of logins on a full disk\n";
(new MailQueue($fresh = "$directory/fresh.sqlite"))->enqueue(mail_fields());
$lists = temp_directory();
$ours = "$lists/mailqueue-page-" . posix_geteuid();
$own = fn(string $name): string => "$ours/$name";
$tell = function (string $what, Browser $browser) use ($lists): void {
    must(!preg_match('/Stack trace|on line|#0 /', $browser->body), "no trace: $browser->body");
    echo "$what: ", preg_replace('~\S+/mailqueue-page-\d+~', '%', $browser->said()), "\n";
};
$small = serve_page($fresh, ['TMPDIR' => $lists], null, "trap '' XFSZ; ulimit -f 1; exec \"\$@\"");
$gone = (new Browser($small))->logIn();
$cookies = $gone->cookies;
$gone->post(['action' => 'log-out']);
$there = (new Browser($small))->logIn();
foreach (['ended', 'logins'] as $name) {
    $list = json_decode((string) @file_get_contents($own($name)));
    file_put_contents($own($name), json_encode([...$list, ...array_fill(0, 60, [time(), str_repeat('0', 32)])]));
}
$tell('a logout', $there->post(['action' => 'log-out']));
$tell('then', $there->get());
$gone->cookies = $cookies;
$tell('the cookie of an earlier logout', $gone->get());
$tell('a login', (new Browser($small))->logIn('wrong'));
echo implode(' ', array_map(fn(string $name): int => count(json_decode(file_get_contents($own($name))) ?? []), ['ended', 'logins'])), ' entries, files: ',
    implode(' ', array_diff(scandir($ours), ['.', '..'])), "\n";

echo "-- lists that cannot be read\n";
// Root, too, must not be able to read it.
$plain = serve_page($fresh, ['TMPDIR' => $lists], null, '[ "$(id -u)" != 0 ] || set -- setpriv --bounding-set=-dac_override,-dac_read_search "$@"; exec "$@"');
unlink($own('logins'));
$here = (new Browser($plain))->logIn();
foreach ([[$own('ended'), 0], [$ours, 0500], [$ours, 0300], [$ours, 0755]] as [$path, $mode]) {
    $before = fileperms($path) & 0777;
    chmod($path, $mode);
    $tell(basename($path) === 'ended' ? 'the file' : sprintf('the directory with %o', $mode), $here->get('/?view=mails'));
    $mode === 0500 && $tell('a login there', (new Browser($plain))->logIn());
    chmod($path, $before);
}
$tell('and then', $here->get('/?view=mails'));
echo preg_replace('~\S+/mailqueue-page-\d+~', '%', page_log($plain));

echo "-- functions that hosts disable\n";
$said = "$directory/said";
$hosted = serve_page($fresh, ['TMPDIR' => temp_directory()], null, HOSTED . " 2> >(tee $said >&2)");
$tell('in', $browser = (new Browser($hosted))->logIn());
$browser->get('/?view=mails')->post(['action' => 'hold', 'which' => 'all', 'sure' => '1'], '/?view=mails');
echo $browser->text('.done'), "\n";
$tell('a wrong id', $browser->get('/?view=mail&id=x'));
$tell('out', $browser->get()->post(['action' => 'log-out']));
echo implode(MailQueueTest\wait_for('what is logged', function () use ($said): array {
    $lines = preg_grep('/^mailqueue page/', file($said));
    return count($lines) === 3 ? $lines : [];
}));
?>
--EXPECT--
-- asked for
view=nothing: 404 There is no view "nothing". The overview leads to all views.
view[]=x: 200 Overview
view=../../etc/passwd: 404 There is no view "../../etc/passwd". The overview leads to all views.
view=page.css/../../Page.php: 404 There is no view "page.css/../../Page.php". The overview leads to all views.
view=mails&status=lost: 400 Status must be pending, sending, failed, parked or held.
view=mails&older=soon: 400 Older must be an age such as 90m, 12h or 7d, or a time such as 2026-11-21.
view=mails&status[]=parked: 400 "status" must be one line of text. Nothing was changed.
view=mails&after=-1: 200 Mails
view=mail: 400 "" is not the id of a mail. The list shows the ids.
view=mail&id=99: 404 There is no mail with the id 99 any more. Mail that was sent leaves the queue; "mailqueue log" says what became of it.
view=mail&id=0: 400 "0" is not the id of a mail. The list shows the ids.
view=mail&id=-1: 400 "-1" is not the id of a mail. The list shows the ids.
view=mail&id=1e3: 400 "1e3" is not the id of a mail. The list shows the ids.
view=mail&id=999999999999999999999: 400 "999999999999999999999" is not the id of a mail. The list shows the ids.
view=mail&id=1': 400 "1'" is not the id of a mail. The list shows the ids.
view=mail&id=../1: 400 "../1" is not the id of a mail. The list shows the ids.
view=mail&id=1%00: 400 "id" must be one line of text. Nothing was changed.
view=mail&id=%ff: 400 "id" must be one line of text. Nothing was changed.
view=preview&id=..%2f1: 400 "../1" is not the id of a mail. The list shows the ids.
view=source&id=2: 404 The mail 2 has no message here: it was sent, was deleted, or is composed when it is sent.
view=overview&part=x: 404 -
view=mails&type=%f0%28: 400 "type" must be one line of text. Nothing was changed.
a path: 200 Overview
-- told to do
{"action":"limit","limit":"0"}: 400 The limit must be a whole number from 1 to 1000000000, not "0". To send without one, remove the limit. Nothing was changed.
{"action":"limit","limit":"-1"}: 400 The limit must be a whole number from 1 to 1000000000, not "-1". To send without one, remove the limit. Nothing was changed.
{"action":"limit","limit":"1000000000000"}: 400 The limit must be a whole number from 1 to 1000000000, not "1000000000000". To send without one, remove the limit. Nothing was changed.
{"action":"limit","limit":"many"}: 400 The limit must be a whole number from 1 to 1000000000, not "many". To send without one, remove the limit. Nothing was changed.
{"action":"limit"}: 400 The limit must be a whole number from 1 to 1000000000, not "". To send without one, remove the limit. Nothing was changed.
{"action":"switch","to":"maybe"}: 400 Sending can be "on" or "off". Nothing was changed.
{"action":"redirect","to":"nobody"}: 400 mailRedirectTo cannot be "nobody"; allowed values: address | @domain
{"action":"redirect","to":""}: 400 The test mode needs an address, or @domain. Nothing was changed.
{"action":"set","key":"mailBurst","value":"0"}: 400 mailBurst cannot be "0"; allowed values: 1 … 1000000000
{"action":"set","key":"mailTokens","value":"5"}: 400 There is no setting "mailTokens" that can be changed here. Nothing was changed.
{"action":"set","key":"mailLastRun","value":"1"}: 400 There is no setting "mailLastRun" that can be changed here. Nothing was changed.
{"action":"set","key":"x","value":"1"}: 400 There is no setting "x" that can be changed here. Nothing was changed.
{"action":"set","key":"mailLiveFrom","value":"tomorrow"}: 400 mailLiveFrom cannot be "tomorrow"; allowed values: UTC seconds | ISO 8601
{"action":"drop"}: 400 There is no action "drop". Nothing was changed.
{"action":""}: 400 There is no action "". Nothing was changed.
{"action":"delete","ids":"all","sure":"1"}: 400 No mail is marked. Mark some in the list, then choose what to do with them. Nothing was changed.
{"action":"delete","ids":["99"],"sure":"1"}: 400 None of these mails can be changed so: they are gone, are being sent, belong to a campaign that is paused, or are where you want them. Nothing was changed.
{"action":"delete","which":"all","status":"lost","sure":"1"}: 400 Status must be pending, sending, failed, parked or held.
{"action":"delete","which":"all","status":["parked"],"sure":"1"}: 400 "status" must be one line of text. Nothing was changed.
{"action":"delete","which":"all","type":"\ufffd","sure":"1"}: 400 "type" must be one line of text. Nothing was changed.
{"action":"resend","id":"..\/1"}: 400 "../1" is not the id of a mail. The list shows the ids.
{"action":"delete","ids":["..\/1","1e0","1'--","01"],"sure":"4"}: 400 None of these mails can be changed so: they are gone, are being sent, belong to a campaign that is paused, or are where you want them. Nothing was changed.
{"action":"unsuppress","address":"..\/x"}: 400 The address "../x" has no "@"; write it as name@example.org
-- half of it
503 Changed 1,000 of 1,500 mails, then this happened: %/many.sqlite: not this one (SQLite code 1811)
1000 parked; hold all: 1000
mailqueue page: Changed 1,000 of 1,500 mails, then this happened: %/many.sqlite: not this one (SQLite code 1811)
-- the database
a file that cannot grow, as on a full disk: 503 %/app.sqlite cannot grow: file size limit (ulimit -f) reached: raise the limit; nothing was stored
nor can a mail be deleted: 503 %/app.sqlite cannot grow: file size limit (ulimit -f) reached: raise the limit; nothing was stored
lost: 503 There is no database %/app.sqlite, or this user cannot reach it. Check the path; mailqueue migrate creates it.
status.json: {
    "error": "There is no database %/app.sqlite, or this user cannot reach it. Check the path; mailqueue migrate creates it."
}
damaged: 503 %/app.sqlite is not an SQLite database (or an encrypted or damaged one): correct the path, or restore a backup; see also: sqlite3 %/app.sqlite .recover
-- the lists of logins on a full disk
a logout: 503 %/ended cannot be written. Is the disk full, or its directory read-only? This browser is logged out. But a copy of its cookie stays valid for up to 12 hours, or until the password is another one.
then: 403 Log in
the cookie of an earlier logout: 403 Log in
a login: 503 %/logins cannot be written. Is the disk full, or its directory read-only? Without it nobody can log in.
61 60 entries, files: ended ended.lock logins logins.lock
-- lists that cannot be read
the file: 503 %/ended cannot be read: the user of this PHP must own it, with mode 0600. Without it nobody is let in, because it says who has logged out.
the directory with 500: 200 Mails
a login there: 503 %/logins cannot be written. Is the disk full, or its directory read-only? Without it nobody can log in.
the directory with 300: 503 % must be a directory of the user of this PHP, with mode 0700. Without it nobody is let in, because it says who has logged out.
the directory with 755: 503 % must be a directory of the user of this PHP, with mode 0700. Without it nobody is let in, because it says who has logged out.
and then: 200 Mails
mailqueue page: admin@127.0.0.1: logged in
mailqueue page: %/ended cannot be read: the user of this PHP must own it, with mode 0600. Without it nobody is let in, because it says who has logged out.
mailqueue page: %/logins cannot be written. Is the disk full, or its directory read-only? Without it nobody can log in.
mailqueue page: % must be a directory of the user of this PHP, with mode 0700. Without it nobody is let in, because it says who has logged out.
mailqueue page: % must be a directory of the user of this PHP, with mode 0700. Without it nobody is let in, because it says who has logged out.
-- functions that hosts disable
in: 200 Overview
1 mail parked.
a wrong id: 400 "x" is not the id of a mail. The list shows the ids.
out: 403 Log in
mailqueue page: admin@127.0.0.1: logged in
mailqueue page: admin@127.0.0.1: hold all: 1
mailqueue page: admin@127.0.0.1: logged out
