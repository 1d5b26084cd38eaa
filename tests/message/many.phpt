--TEST--
Messages: thousands of recipients, many mails with many files, large mails in smaller transactions
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
require __DIR__ . '/mime.inc';
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->another()->queue();

    echo "recipients\n";
    $addresses = array_map(fn($i) => "user$i@example.net", range(1, 10000));
    foreach ([
        'a list' => $addresses, 'with commas' => implode(', ', $addresses), 'a map' => array_combine($addresses, array_map(fn($i) => "User $i", range(1, 10000))),
        'entries' => array_map(fn($a) => ['address' => $a], $addresses),
    ] as $what => $bcc) {
        $job = $queue->job($queue->enqueue(['to' => null, 'bcc' => $bcc] + mail_fields()));
        must(!str_contains($job->message, 'user7@'), 'Bcc is not in it');
        echo "  $what: ", count($job->recipients), ' ', $job->recipients === $addresses ? 'the same' : 'others', "\n";
    }
    $half = array_chunk($addresses, 5000);
    $job = $queue->job($queue->enqueue(['to' => $half[0], 'cc' => array_fill_keys($half[1], 'Name'), 'bcc' => $half[0]] + mail_fields()));
    echo '  to, cc and bcc: ', count($job->recipients), ', longest line ', max(array_map('strlen', explode("\r\n", $job->message))), "\n";
    echo '  one too many: ', thrown(fn() => $queue->enqueue(['to' => $half[0], 'cc' => $half[1], 'bcc' => 'one@example.com'] + mail_fields())), "\n";

    echo "files\n";
    /* 100 mails in a transaction, 20 files each, where a process may have 64 open. */
    $path = temp_directory() . '/a.txt';
    file_put_contents($path, 'content');
    $mails = function (int $count) use ($path) {
        for ($i = 0; $i < $count; $i++) {
            yield ['message' => ['attachments' => array_fill(0, 20, $path)] + mail_fields()];
        }
    };
    $limits = posix_getrlimit();
    $hard = $limits['hard openfiles'] === 'unlimited' ? -1 : $limits['hard openfiles'];
    posix_setrlimit(POSIX_RLIMIT_NOFILE, 64, $hard);
    echo '  ', $queue->enqueueMany($mails(150)), " mails\n";
    $all = $queue->jobs(limit: 1000);
    echo '  ', count(leaves($queue->job(end($all)->id)->message)) - 1, " attachments\n";
    echo '  more than can be open in one mail: ', preg_replace('/\d+/', 'N', thrown(fn() => $queue->enqueue(['attachments' => array_fill(0, 100, $path)] + mail_fields()), $path)), "\n";

    posix_setrlimit(POSIX_RLIMIT_NOFILE, $limits['soft openfiles'], $hard);

    echo "large ones\n";
    $queue = $backend->another()->queue();
    $text = str_repeat(str_repeat('x', 63) . "\n", 1 << 16); // 4 MiB
    $seen = [];
    $large = (function () use ($queue, $text, &$seen) {
        for ($i = 0; $i < 10; $i++) {
            $seen[] = count($queue->jobs());
            yield ['message' => mail_fields(text: $text)];
        }
        $seen[] = count($queue->jobs());
    })();
    echo '  ', $queue->enqueueMany($large), ' mails, stored before each: ', implode(' ', $seen), "\n";
    $queue = $backend->another()->queue();
    echo '  ', implode(':', array_slice(explode(':', thrown(fn() => $queue->enqueueMany([...array_fill(0, 5, ['message' => mail_fields(text: $text)]), ['message' => mail_fields(to: 'nobody')]]))), 0, 3)), ', ', strtok(thrown(fn() => $queue->enqueueMany([...array_fill(0, 5, ['message' => mail_fields(text: $text)]), ['priority' => 'x']])), ';'), ' / ', count($queue->jobs()), " stored\n";
});
?>
--EXPECT--
recipients
  a list: 10000 the same
  with commas: 10000 the same
  a map: 10000 the same
  entries: 10000 the same
  to, cc and bcc: 10000, longest line 76
  one too many: MailQueue\MessageException [to]: to: 10001 addresses in to, cc and bcc; give at most 10000
files
  150 mails
  20 attachments
  more than can be open in one mail: MailQueue\MessageException [attachments[N]]: attachments[N]: %: Too many open files
large ones
  10 mails, stored before each: 0 0 0 0 4 4 4 4 8 8 8
  MailQueue\MessageException [to]: message 5: to, MailQueue\MessageException [priority]: message 5: priority: must be an int, string given / 8 stored
