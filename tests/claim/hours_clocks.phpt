--TEST--
mailHours over a change of the clocks: the hours are the place's, in winter and in summer
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php
require __DIR__ . '/../lib/pgsql.inc';
foreach (['/usr/bin/cc', MailQueueTest\PostgreSQL::faketime()] as $file) {
    is_file($file) || die('skip a C compiler or libfaketime is missing; tools/setup installs it');
}
?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
require __DIR__ . '/../lib/pgsql.inc';

// The preloaded clock reaches an extension only where dlopen() drops a flag.
$shim = temp_directory() . '/shim.so';
exec('cc -shared -fPIC -o ' . escapeshellarg($shim) . ' ' . escapeshellarg(dirname(__DIR__) . '/tools/dlopen_shim.c'));
$code = <<<'PHP'
    $queue = new MailQueue($argv[1]);
    $queue->setConfig('mailHours', 'news: Mo-Su 08:00-09:00 Europe/Berlin');
    $id = $queue->enqueue("From: a@example.org\nTo: b@example.org\n\n", type: 'news');
    echo gmdate('Y-m-d H:i', $queue->job($id)->createdAt), ': ', gmdate('Y-m-d H:i', $queue->expectedAt($id)), ', ',
        count($queue->claim()), " claimed\n";
    PHP;
foreach (['2027-03-27 12:00:00', '2026-10-24 12:00:00', '2027-03-28 06:30:00', '2026-10-25 06:30:00', '2026-10-25 07:30:00'] as $i => $clock) {
    $environment = ['FAKETIME' => "@$clock", 'FAKETIME_DONT_FAKE_MONOTONIC' => '1', 'TZ' => 'UTC']
        + sanitizer_environment();
    $environment['LD_PRELOAD'] = trim(($environment['LD_PRELOAD'] ?? $shim) . ' ' . MailQueueTest\PostgreSQL::faketime());
    $process = proc_open([PHP_BINARY, '-n', '-d', 'extension=' . getenv('MAILQUEUE_SO'), '-r', $code, temp_directory() . "/$i.sqlite"],
        [1 => STDOUT, 2 => STDOUT], $pipes, null, $environment);
    proc_close($process);
}
?>
--EXPECT--
2027-03-27 12:00: 2027-03-28 06:00, 0 claimed
2026-10-24 12:00: 2026-10-25 07:00, 0 claimed
2027-03-28 06:30: 2027-03-28 06:30, 1 claimed
2026-10-25 06:30: 2026-10-25 07:00, 0 claimed
2026-10-25 07:30: 2026-10-25 07:30, 1 claimed
