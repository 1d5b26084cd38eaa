--TEST--
A campaign's expected end: by mailMaxPerHour, by mailLimits, and by the rate so far
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';

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
