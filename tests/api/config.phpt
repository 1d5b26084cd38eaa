--TEST--
config(), setConfig() and configKeys(): known keys are checked, others are the application's
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue(configTable: 'settings');

    var_dump($queue->config('mailMaxPerHour'));
    foreach ([['mailMaxPerHour', 40], ['mailMaxPerHour', '60'], ['mailQueueEnabled', false], ['mailQueueEnabled', true],
        ['mailRateMode', 'strict'], ['color', 'red'], ['share', 0.5], ['mailRedirectTo', '@test.example'], ['empty', '']] as [$key, $value]) {
        $queue->setConfig($key, $value);
        echo "$key = ", var_export($queue->config($key), true), "\n";
    }
    $stats = $queue->stats();
    echo "$stats->limit $stats->burst $stats->rateMode ", var_export($stats->enabled, true), "\n";
    foreach (['mailMaxPerHour', 'color', 'never set'] as $key) {
        $queue->setConfig($key, null);
        var_dump($queue->config($key));
    }
    foreach ([
        ['mailMaxPerHour', -1], ['mailMaxPerHour', 'many'], ['mailMaxPerHour', 1.5], ['mailRateMode', 'fast'],
        ['mailQueueEnabled', 'perhaps'], ['mailRedirectTo', "a@b.example\r\nBcc: c@d.example"], ['mailRedirectTo', 'nobody'],
        ['mailLiveFrom', 'tomorrow'], ["a\0b", 'x'], ['color', "a\0b"], ['color', []], ['', 'x'],
    ] as [$key, $value]) {
        echo json_encode($key), ' ', json_encode($value), ': ', thrown(fn() => $queue->setConfig($key, $value)), "\n";
    }
    echo thrown(fn() => $queue->config("a\0b")), "\n";

    $keys = MailQueue::configKeys();
    foreach ($keys as $name => $key) {
        must(array_keys($key) === ['type', 'range', 'default', 'meaning', 'internal', 'aliasOf'], $name);
    }
    echo implode(' ', array_keys(array_filter($keys, fn($key) => !$key['internal']))), "\n";
    echo json_encode(array_filter(array_column(array_map(fn($name, $key) => [$name, $key['aliasOf']], array_keys($keys), $keys), 1, 0))), "\n";
    $key = $backend->name === 'mysql' ? '`key`' : 'key';
    echo $backend->pdo()->query("SELECT value FROM settings WHERE $key = 'mailRateMode'")->fetchColumn(), "\n";
});
?>
--EXPECT--
NULL
mailMaxPerHour = '40'
mailMaxPerHour = '60'
mailQueueEnabled = '0'
mailQueueEnabled = '1'
mailRateMode = 'strict'
color = 'red'
share = '0.5'
mailRedirectTo = '@test.example'
empty = ''
60 5 strict true
NULL
NULL
NULL
"mailMaxPerHour" -1: ValueError: mailMaxPerHour cannot be "-1"; allowed values: 0 … 1000000000
"mailMaxPerHour" "many": ValueError: mailMaxPerHour cannot be "many"; allowed values: 0 … 1000000000
"mailMaxPerHour" 1.5: ValueError: mailMaxPerHour cannot be "1.5"; allowed values: 0 … 1000000000
"mailRateMode" "fast": ValueError: mailRateMode cannot be "fast"; allowed values: average | strict
"mailQueueEnabled" "perhaps": ValueError: mailQueueEnabled cannot be "perhaps"; allowed values: 0 | 1
"mailRedirectTo" "a@b.example\r\nBcc: c@d.example": ValueError: mailRedirectTo cannot be "a@b.example??Bcc: c@d.example"; allowed values: address | @domain
"mailRedirectTo" "nobody": ValueError: mailRedirectTo cannot be "nobody"; allowed values: address | @domain
"mailLiveFrom" "tomorrow": ValueError: mailLiveFrom cannot be "tomorrow"; allowed values: UTC seconds | ISO 8601
"a\u0000b" "x": ValueError: MailQueue::setConfig(): Argument #1 ($key) must not contain any null bytes
"color" "a\u0000b": ValueError: MailQueue::setConfig(): Argument #2 ($value) must not contain any null bytes
"color" []: TypeError: MailQueue::setConfig(): Argument #2 ($value) must be of type string|int|float|bool|null, array given
"" "x": ValueError: a config key cannot be empty
ValueError: MailQueue::config(): Argument #1 ($key) must not contain any null bytes
mailQueueEnabled mailMaxPerHour mailBurst mailReserve mailLimits mailDomainSessions mailRateMode mailRedirectTo mailRedirectToSchumbi mailRedirectTypes mailLiveFrom mailLiveUntil mailWarmup mailHours mailSlowdown mailHistoryDays mailStaleAfter mailMaxWorkers
{"mailRedirectToSchumbi":"mailRedirectTo"}
strict
