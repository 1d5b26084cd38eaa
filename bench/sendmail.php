<?php

// What one mail costs a program that starts sendmail for it: `mailqueue sendmail` into the queue,
// durably, against msmtp (Debian package msmtp) to a sink on loopback, with the same mail; and what
// the start alone costs both. Ours is mostly PHP's, so that is beside it: with php.ini and its
// extensions, and without. msmtp writes line by line, and so waits 40 ms for the acknowledgement of
// the last one but one (Nagle's algorithm): its mail takes long, its start does not.

declare(strict_types=1);

namespace Bench;

use MailQueue;

/** The file of this extension, which php.ini need not name. */
function own_library(): string
{
    preg_match('~/\S*/mailqueue\.so~', file_get_contents('/proc/self/maps'), $match);
    return $match[0] ?? throw new \RuntimeException('mailqueue.so is not loaded from a file');
}

/** @param list<string> $command */
function milliseconds(array $command, string $input): float
{
    $streams = [['file', $input, 'r'], ['file', '/dev/null', 'w'], STDERR];
    $begun = hrtime(true);
    $process = proc_open($command, $streams, $pipes);
    $code = proc_close($process);
    $took = (hrtime(true) - $begun) / 1e6;
    return $code === 0 ? $took : throw new \RuntimeException("$command[0] ended with $code");
}

/** Milliseconds for each of a hundred mails in one session. */
function session(array $php, string $path): float
{
    $input = "EHLO bench\r\n";
    for ($i = 0; $i < 100; $i++) {
        $input .= "MAIL FROM:<shop@example.org>\r\nRCPT TO:<p$i@example.com>\r\nDATA\r\n"
            . message($i) . ".\r\n";
    }
    $file = directory() . '/session';
    file_put_contents($file, "{$input}QUIT\r\n");
    $program = dirname(__DIR__) . '/bin/mailqueue';
    return milliseconds([...$php, $program, 'sendmail', "--database=$path", '-bs'], $file) / 100;
}

function bench_sendmail(Results $results, bool $quick): void
{
    $sink = new Sink();
    (new MailQueue($path = fresh(), journal: 'wal'))->stats();
    $mail = directory() . '/mail';
    file_put_contents($mail, str_replace("\r\n", "\n", message(1)));
    $load = ['-d', 'extension=' . own_library()];
    $envelope = ['-i', '-f', 'shop@example.org', '--', 'person1@example.com'];
    $words = [dirname(__DIR__) . '/bin/mailqueue', 'sendmail', "--database=$path", ...$envelope];
    $cases = [
        'msmtp' => ['msmtp', '--host=127.0.0.1', "--port=$sink->port", '--tls=off', '--auth=off',
            ...$envelope],
        'mailqueue sendmail' => [PHP_BINARY, ...$load, ...$words],
        'mailqueue sendmail, php -n' => [PHP_BINARY, '-n', ...$load, ...$words],
        'msmtp --version' => ['msmtp', '--version'],
        'mailqueue sendmail that does nothing' => [PHP_BINARY, ...$load, $words[0], 'sendmail',
            '-bi'],
        'mailqueue sendmail that does nothing, php -n' => [PHP_BINARY, '-n', ...$load, $words[0],
            'sendmail', '-bi'],
        'an empty script' => [PHP_BINARY, ...$load, '/dev/null'],
        'an empty script, php -n' => [PHP_BINARY, '-n', ...$load, '/dev/null'],
    ];
    $seen = [];
    for ($i = 0; $i < ($quick ? 20 : 100); $i++) {
        foreach ($cases as $name => $command) {
            $seen["$name, ms"][] = milliseconds($command, $mail);
        }
        $seen['mailqueue sendmail -bs, ms a mail'][] = $i % 10 ? null
            : session([PHP_BINARY, ...$load], $path);
    }
    $sink->stop();
    remove($path);
    $filled = static fn(array $values): float => median(array_filter($values, is_float(...)));
    $got = array_map($filled, $seen);
    $php = ['with php.ini' => '', 'php -n' => ', php -n'];
    foreach ($php as $how => $suffix) {
        $results->ratio("a mail of 2 KB, $how: mailqueue sendmail / msmtp",
            $got["mailqueue sendmail$suffix, ms"] / $got['msmtp, ms'],
            detail: $suffix === '' ? $got : []);
        $results->ratio("    the start alone, $how",
            $got["mailqueue sendmail that does nothing$suffix, ms"] / $got['msmtp --version, ms']);
        $results->ratio('    of the mail not PHP\'s own start',
            $got["mailqueue sendmail$suffix, ms"] - $got["an empty script$suffix, ms"],
            unit: ' ms');
    }
}
