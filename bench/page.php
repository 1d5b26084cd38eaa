<?php

// The page with many mails and a long history: how long the server takes for each view, and for
// the poll that an open page makes every five seconds. --mails=N sets how many mails there are
// (default 1,000,000; --quick: 100,000); the history has ten rows for each.

declare(strict_types=1);

namespace Bench;

use MailQueue;
use MailQueue\Web\Page;
use MailQueue\Web\Request;

require_once dirname(__DIR__) . '/web/autoload.php';

function bench_page(Results $results, bool $quick): void
{
    $given = preg_grep('/^--mails=\d+$/', $_SERVER['argv']);
    $mails = $given ? (int) substr(end($given), 8) : ($quick ? 100_000 : 1_000_000);
    $path = fresh('page');
    page_fill($path, $mails);
    foreach (
        ['overview&part=now' => 10.0, 'overview&part=charts' => 100.0, 'overview' => 100.0,
            'mails' => 100.0, 'mails&status=failed' => 100.0, 'mails&status=parked' => 100.0,
            'mails&type=news' => 100.0, 'mails&recipient=nobody' => null,
            'mail&id=' . intdiv($mails, 2) => 100.0, 'uncertain' => 100.0, 'relays' => 100.0,
            'settings' => 100.0, 'status.json' => 100.0, 'metrics' => null] as $view => $most
    ) {
        $ms = run(static fn(): float => page_median($path, $view, $most === null ? 3 : 21));
        $what = $view === 'overview&part=now' ? 'the poll' : $view;
        $name = "the page: $what, " . number_format($mails) . ' mails';
        $results->ratio($name, $ms, atMost: $most, unit: ' ms');
    }
    remove($path);
}

function page_fill(string $path, int $mails): void
{
    $queue = new MailQueue($path, journal: 'wal');
    $queue->setConfig('mailHistoryDays', 30);
    $queue->setConfig('mailMaxPerHour', 1000);
    $pdo = new \PDO("sqlite:$path");
    $pdo->exec('PRAGMA synchronous = OFF');
    $now = time();
    $numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ';
    // Of 1,000 mails 900 wait, 80 failed, 20 are parked, one of these as uncertain.
    $pdo->exec(sprintf($numbers, $mails) . "INSERT INTO mail_queue (reference, mail_type, status,
        priority, attempts, next_attempt_at, last_attempt_at, last_error, parked_for, created_at,
        message_id, recipients, subject)
        SELECT 'r' || i, CASE i % 3 WHEN 0 THEN 'news' ELSE 'registration' END,
            CASE WHEN i % 1000 < 900 THEN 'pending' WHEN i % 1000 < 980 THEN 'failed'
                ELSE 'parked' END,
            i % 3, i % 1000 >= 900, $now - 3600 + i % 7200, $now - 60,
            CASE WHEN i % 1000 >= 900 THEN '450 4.2.0 greylisted' END,
            CASE WHEN i % 1000 = 999 THEN 'uncertain' WHEN i % 1000 >= 980 THEN 'exhausted' END,
            $now - 86400 + i % 86400, i || '@example.org', '[\"m' || i || '@example.net\"]',
            'Mail ' || i FROM n");
    $pdo->exec(sprintf($numbers, $mails * 10) . "INSERT INTO mail_log (at, job_id, reference,
        mail_type, subject, relay, event, phase, attempt, recipients, uncertain, reply, ms, waited)
        SELECT $now - 30 * 86400 + CAST(i * 2592000.0 / ($mails * 10) AS INTEGER), i / 3,
            'r' || (i / 3), 'news', 'Mail ' || (i / 3),
            'smtp://mail' || (i % 3) || '.example.org:587',
            CASE i % 10 WHEN 0 THEN 'try_later' ELSE 'sent' END, 'dot', 1, 1, 0,
            '250 2.0.0 Ok: queued', 40, i % 100 FROM n");
    $hour = intdiv($now, 3600) * 3600;
    // 90 days of 5 types, 5 events and 4 parts.
    $pdo->exec(sprintf($numbers, 2160 * 100) . "INSERT INTO mail_count (hour, mail_type, event,
        part, mails, recipients) SELECT $hour - 3600 * (i / 100), 'type' || (i % 5),
        CASE i / 5 % 5 WHEN 0 THEN 'sent' WHEN 1 THEN 'try_later' WHEN 2 THEN 'parked' WHEN 3 THEN
        'refused' ELSE 'claimed' END, i / 25 % 4, 10, 10 FROM n");
    $pdo->exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Milliseconds for a response, with a queue that is opened for it as in PHP-FPM. */
function page_median(string $path, string $view, int $rounds): float
{
    parse_str("view=$view", $query);
    $request = new Request($query, [], [], ['REQUEST_METHOD' => 'GET', 'REMOTE_ADDR' => '127.0.0.1',
        'HTTP_HOST' => '127.0.0.1']);
    $times = [];
    for ($i = 0; $i < $rounds; $i++) {
        $begun = hrtime(true);
        $page = new Page(new MailQueue($path), access: fn(): string => 'admin');
        $response = $page->respond($request);
        $times[] = (hrtime(true) - $begun) / 1e6;
        $response->status === 200 || throw new \RuntimeException($response->body);
    }
    return median($times);
}
