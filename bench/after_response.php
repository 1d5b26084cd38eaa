<?php

// What runAfterResponse() costs the visitor: the time of a request to PHP-FPM that stores a mail,
// with and without it, in turn, through cgi-fcgi. Every request of the first kind is allowed to run
// the worker, which takes 100 ms for its mail.

declare(strict_types=1);

namespace Bench;

use MailQueue;
use MailQueueTest\Fpm;

require_once dirname(__DIR__) . '/tests/lib/fpm.inc';

function bench_after_response(Results $results, bool $quick): void
{
    putenv('MAILQUEUE_SO=' . own_library());
    $directory = directory();
    file_put_contents("$directory/slow", "#!/bin/sh\nsleep 0.1\ncat >/dev/null\n");
    chmod("$directory/slow", 0700);
    (new MailQueue($path = fresh(), journal: 'wal'))->setConfig('mailMaxPerHour', 1000000);
    $fpm = new Fpm(['mailqueue.database' => $path, 'mailqueue.log' => "$directory/log",
        'mailqueue.transport' => "sendmail://default?command=$directory/slow"], children: 2);
    $enqueue = '$queue = MailQueue::default(); $queue->enqueue(' . var_export(message(1), true)
        . ", recipients: ['a@example.org']); echo 'ok';";
    $pages = [
        'without' => $fpm->page('without', $enqueue),
        'with' => $fpm->page('with', "$enqueue \$queue->runAfterResponse();"),
    ];
    $seen = [];
    for ($i = 0; $i < ($quick ? 30 : 100); $i++) {
        foreach ($pages as $name => $page) {
            $begun = hrtime(true);
            $fpm->get($page) === 'ok' || throw new \RuntimeException($fpm->log());
            $seen[$name][] = (hrtime(true) - $begun) / 1e6;
            usleep(150000); // the run ends
            is_dir("$path.run") && touch("$path.run/after-response.lock", time() - 60);
        }
    }
    $sent = substr_count(file_get_contents("$directory/log"), '"event":"sent"');
    $sent >= $i || throw new \RuntimeException("only $sent mails were sent");
    $fpm->process->stop();
    remove($path);
    $got = array_map(median(...), $seen);
    $results->ratio('a response with runAfterResponse() / without, ms',
        $got['with'] / $got['without'], atMost: 1.1, detail: $got);
}
