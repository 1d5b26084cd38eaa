--TEST--
A campaign's expected end: by mailMaxPerHour, by mailLimits, by the rate so far, and when it expires
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$app = database();
$queue = new MailQueue($app);
$campaign = $queue->campaign('spring');
$campaign->setMessage(['from' => 'news@example.org', 'subject' => 'x', 'text' => 'x']);
$campaign->add((function () {
    for ($i = 0; $i < 1000; $i++) {
        yield "person$i@example.com";
    }
})());
$look = function (array $config, string $sent = '') use ($queue, $campaign, $app): void {
    foreach ($config as $key => $value) {
        $queue->setConfig($key, $value);
    }
    $sent === '' || (new PDO("sqlite:$app"))->exec("UPDATE mail_campaign SET $sent");
    $at = $campaign->progress()['endsAt'];
    echo json_encode($config), " $sent: ", $at === null ? 'not known' : round(($at - time()) / 3600) . ' h', "\n";
};
$look(['mailMaxPerHour' => 0]);
$campaign->start();
$look([]);
$look(['mailMaxPerHour' => 10]);
$look(['mailMaxPerHour' => 0, 'mailLimits' => '100/1h, 200/1d']);
$look(['mailLimits' => '200/1d', 'mailRateMode' => 'strict']);
$look(['mailLimits' => ''], 'started_at = started_at - 3600 * 10 - 9, sent = 50');
$look(['mailLimits' => '200/1d']);
$look(['mailLimits' => '200/1d per relay'], 'sent = 0');
$campaign->pause();
$look(['mailLimits' => '200/1d']);

echo "-- it expires in 5 h, in 400 h\n";
$queue->setConfig('mailLimits', '100/1h');
foreach ([5, 400] as $hours) {
    $one = $queue->campaign("in $hours h");
    $one->setMessage(['from' => 'news@example.org', 'subject' => 'x', 'text' => 'x'], expiresAt: $expires = time() + 3600 * $hours);
    $one->add(array_map(fn(int $i): string => "one$i@example.com", range(1, 700)));
    $one->start();
    $of = $one->progress();
    must($of['expiresAt'] === $expires && $queue->campaigns()[0]['expiresAt'] === $expires, 'known');
    echo round(($of['endsAt'] - time()) / 3600), ' h: ', preg_match('/^ends +\S+ \S+ (.*)/m', cli(['campaign', 'status', $of['name'], '--database', $app])[1], $match) ? preg_replace('/\d+ h \d+ min/', 'TIME', $match[1]) : 'no end', "\n";
}
?>
--EXPECT--
{"mailMaxPerHour":0} : not known
[] : not known
{"mailMaxPerHour":10} : 100 h
{"mailMaxPerHour":0,"mailLimits":"100\/1h, 200\/1d"} : 120 h
{"mailLimits":"200\/1d","mailRateMode":"strict"} : 120 h
{"mailLimits":""} started_at = started_at - 3600 * 10 - 9, sent = 50: 200 h
{"mailLimits":"200\/1d"} : 200 h
{"mailLimits":"200\/1d per relay"} sent = 0: not known
{"mailLimits":"200\/1d"} : not known
-- it expires in 5 h, in 400 h
5 h: (in TIME, as it expires: the rest gets no mail)
7 h: (in TIME, at this rate or the limit)
