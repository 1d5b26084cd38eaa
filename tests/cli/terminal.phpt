--TEST--
mailqueue on a terminal: colours and NO_COLOR, the width, a bar that fits; silent under cron
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php if (!is_executable('/usr/bin/script')) die('skip script (bsdutils) is missing'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
require __DIR__ . '/../lib/servers.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$queue = new MailQueue($app);
$environment = ['MAILQUEUE_DATABASE' => $app, 'MAILQUEUE_TRANSPORT' => 'null://null'];
$terminal = static fn(array $arguments, int $columns, array $more = []): string
    => cli_on_terminal($arguments, $more + $environment, $columns);
$widest = static fn(string $text): int => max(array_map(
    static fn(string $line): int => (int) preg_match_all('/./su', preg_replace('/\e\[\d+m/', '', rtrim($line))), preg_split('/[\r\n]+/', $text)));

// The widest output: a long address, reference, type and error, and a relay's long reason.
$long = $queue->enqueue(mail_fields(to: str_repeat('a', 60) . '@' . str_repeat('sub.', 20) . 'example.net'), reference: str_repeat('reference ', 15), type: str_repeat('type', 10));
$queue->fail($queue->claim()[0], str_repeat('550 5.1.1 no such user ', 10), permanent: true);
$queue->enqueue(mail_fields(), sendAt: time() + 170_000);
$queue->setConfig('mailRelayPause', json_encode(['smtp://user:***@mail.example.org:587' => time() + 900 . ' 3 451 4.3.0 ' . str_repeat('try later ', 8)
    . 'https://example.org/' . str_repeat('long/', 20)]));
$queue->setConfig('mailRedirectTo', str_repeat('x', 60) . '@' . str_repeat('example.', 7) . 'org');
foreach (['config', 'list'] as $command) {
    $text = $terminal([$command], 80);
    echo "$command: widest ", $widest($text), str_contains($text, '…') ? ', cut' : ', whole', "\n";
    $text = cli([$command], $environment)[1];
    echo '  in a pipe ', $widest($text) > 80 && !str_contains($text, '…') ? "whole\n" : $text;
}
echo 'status: ', str_contains($text = $terminal(['status'], 80), 'https://example.org/' . str_repeat('long/', 20)) ? "whole\n" : $text;
echo 'a wide one: ', str_contains($terminal(['list'], 600), str_repeat('550 5.1.1 no such user ', 10)) ? "whole\n" : "cut\n";
foreach (['mailRelayPause', 'mailRedirectTo'] as $key) {
    $queue->setConfig($key, null);
}
$queue->delete(array_column($queue->jobs(), 'id'));
foreach (['NO_COLOR' => '1', 'TERM' => 'dumb'] as $name => $value) {
    echo "$name=$value: ", substr_count($terminal(['config'], 90, [$name => $value]), "\e"), " escapes\n";
}
echo 'NO_COLOR=: ', substr_count($terminal(['config'], 90, ['NO_COLOR' => '']), "\e"), " escapes\n";
echo 'a pipe: ', substr_count($text = cli(['config'], $environment)[1], "\e"), ' escapes, ', substr_count($text, '…'), " cut\n";

echo "-- a test mode is red\n";
foreach (['MAILQUEUE_REDIRECT_TO' => 'dev@example.org', 'MAILQUEUE_ALLOW_TO' => 'dev@example.org, @example.org'] as $name => $value) {
    foreach (['status', 'doctor'] as $command) {
        echo "$command, $name: ", preg_match('/\e\[31m(?:look\e\[0m  \e\[31m)?Test mode of this machine[^\r\n]*\e\[0m/', $text = $terminal([$command], 200, [$name => $value, 'MAILQUEUE_REDIRECT_TO' => 'dev@example.org'])) ? "red\n" : $text;
    }
}

// A relay's reply must not control the terminal.
$job = $queue->enqueue(mail_fields(), reference: "r1");
$queue->fail($queue->claim()[0], "550 \e[2Jno \xff w\u{202e}ay", permanent: true);
$shown = cli(['list'], $environment)[1] . cli(['show', (string) $job], $environment)[1];
echo preg_match('/[\x00-\x09\x0b-\x1f\x7f\xff]|\xe2\x80\xae/', $shown) ? $shown : "safe\n";

echo "-- the bar\n";
echo json_encode($terminal(['work'], 80)), "\n"; // nothing to do, no bar
for ($i = 0; $i < 40; $i++) {
    $queue->enqueue(mail_fields());
}
$text = $terminal(['work', '--message-limit', '10'], 40);
echo preg_match('/\r\[#{10}\] 10 of 10\r\n/', $text) ? "fits\n" : json_encode($text);
echo strpos($terminal(['work', '--quiet', '--message-limit', '10'], 40), '[') === false ? "none with --quiet\n" : "a bar\n";
echo strpos($terminal(['work', '--json', '--message-limit', '10'], 40), '[#') === false ? "none with --json\n" : "a bar\n";

echo "-- bars of the figures\n";
echo substr_count($text = $terminal(['stats'], 120), '█'), ', widest ', $widest($terminal(['stats'], 80)), ', in a pipe ', substr_count(cli(['stats'], $environment)[1], '█'), "\n";

echo "-- quiet\n";
$quiet = static fn(string $transport): array => cli(['work', '--quiet', '--transport', $transport], $environment);
show($quiet('null://null'));
$queue->enqueue(mail_fields(), maxAttempts: 1);
$queue->enqueue(mail_fields());
file_put_contents("$dir/b.php", "<?php return ['queue' => new MailQueue('$app'), 'transport' => function () { throw new MailQueue\\RefusedException('550 no'); }];");
[$code, $out, $errors] = cli(['work', '--quiet', '--bootstrap', "$dir/b.php"]);
echo "parked: exit $code, \"$out\", $errors";
$port = MailQueueTest\closed_port();
$queue->enqueue(mail_fields());
[$code, $out, $errors] = $quiet("smtp://127.0.0.1:$port");
echo "trouble: exit $code, \"$out\", ", preg_match('/relay cannot be used until .*connect/', $errors) ? "says why\n" : $errors;
show($quiet("smtp://127.0.0.1:$port"));
?>
--EXPECT--
config: widest 80, cut
  in a pipe whole
list: widest 80, cut
  in a pipe whole
status: whole
a wide one: whole
NO_COLOR=1: 0 escapes
TERM=dumb: 0 escapes
NO_COLOR=: 4 escapes
a pipe: 0 escapes, 0 cut
-- a test mode is red
status, MAILQUEUE_REDIRECT_TO: red
doctor, MAILQUEUE_REDIRECT_TO: red
status, MAILQUEUE_ALLOW_TO: red
doctor, MAILQUEUE_ALLOW_TO: red
safe
-- the bar
"mailqueue: 0 sent; nothing more is due.\r\nexit 0"
fits
none with --quiet
none with --json
-- bars of the figures
20, widest 80, in a pipe 0
-- quiet
exit 0
parked: exit 0, "", mailqueue: 0 sent, 2 refused, 2 parked; nothing more is due.
trouble: exit 69, "", says why
exit 69
