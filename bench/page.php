<?php

// The page with many mails and a long history: how long PHP-FPM takes for each view, and for the
// poll that an open page makes every five seconds. --mails=N sets how many mails there are (default
// 1,000,000; --quick: 100,000); the history has ten rows for each, the counters a year. --servers
// measures PostgreSQL and MariaDB too, over persistent connections. --keep=FILE keeps the SQLite
// database, or uses it again.

declare(strict_types=1);

namespace Bench;

use MailQueue;
use MailQueueTest\Fpm;

require_once dirname(__DIR__) . '/tests/lib/fpm.inc';

const PAGE_POLL = 10.0; // ms
const PAGE_VIEW = 100.0;
const PAGE_QUESTION = 2000.0; // it counts what a filter finds, which no index does
const PAGE_SUPPRESSED = 200_000;

function bench_page(Results $results, bool $quick): void
{
    putenv('MAILQUEUE_SO=' . own_library());
    $mails = (int) (option('mails') ?? ($quick ? 100_000 : 1_000_000));
    $kept = option('keep');
    $path = $kept ?? fresh('page');
    is_file($path) || page_fill_file($path, $mails);
    page_measure($results, 'SQLite', $path, new MailQueue($path));
    $kept !== null || remove($path);
    if (!in_array('--servers', $_SERVER['argv'], true)) {
        return;
    }
    foreach ([PostgresServer::class, MariaServer::class] as $class) {
        $server = new $class();
        $queue = new MailQueue($server->dsn);
        $pdo = $server->pdo();
        page_fill($queue, $pdo, $mails, $server->series(...));
        $server->tidy($pdo, 'mail_queue', 'mail_log', 'mail_count', 'people');
        page_measure($results, $server->name(), $server->dsn, $queue);
        $server->stop();
    }
}

function page_fill_file(string $path, int $mails): void
{
    $queue = new MailQueue($path, journal: 'wal');
    $pdo = new \PDO("sqlite:$path");
    $pdo->exec('PRAGMA synchronous = OFF');
    page_fill($queue, $pdo, $mails, static fn(int $count): string => '(WITH RECURSIVE n(i) AS '
        . "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $count) SELECT i FROM n)");
    $pdo->exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** @param callable(int): string $series a FROM clause of rows with i = 1 … $count */
function page_fill(MailQueue $queue, \PDO $pdo, int $mails, callable $series): void
{
    $pdo->setAttribute(\PDO::ATTR_ERRMODE, \PDO::ERRMODE_EXCEPTION);
    $pdo->getAttribute(\PDO::ATTR_DRIVER_NAME) === 'mysql'
        && $pdo->exec("SET sql_mode = 'PIPES_AS_CONCAT'");
    $queue->setConfig('mailHistoryDays', 30);
    $queue->setConfig('mailMaxPerHour', 1000);
    $now = time();
    $hour = intdiv($now, 3600) * 3600;
    // A year of 25 counters an hour, which the worker adds up as it does.
    $pdo->exec("INSERT INTO mail_count (hour, mail_type, event, part, mails, recipients)
        SELECT $hour - 3600 * (i - i % 25) / 25, 'type' || (i % 5), CASE (i - i % 5) / 5 % 5
            WHEN 0 THEN 'sent' WHEN 1 THEN 'try_later' WHEN 2 THEN 'parked' WHEN 3 THEN 'refused'
            ELSE 'claimed' END, 0, 10, 10 FROM {$series(8760 * 25)}");
    $queue->runWorker('null://null');
    // Of 1,000 mails 880 wait, 100 failed, 20 are parked. A few are under way, and of those that
    // came last a few are uncertain.
    $is = ['failed' => 'i % 1000 >= 880 AND i % 1000 < 980', 'parked' => 'i % 1000 >= 980',
        'sending' => 'i % 50000 = 1', 'uncertain' => "i % 1000 = 999 AND i > $mails * 0.9"];
    $error = "CASE i % 3 WHEN 0 THEN '450 4.2.0 greylisted' WHEN 1 THEN '550 5.1.1 user unknown' "
        . "ELSE '451 4.3.0 try again later' END";
    $pdo->exec("INSERT INTO mail_queue (reference, mail_type, status, priority, attempts,
        next_attempt_at, locked_until, locked_by, last_attempt_at, last_error, parked_for,
        uncertain_to, created_at, message_id, envelope_from, recipients, subject)
        SELECT 'r' || i, CASE i % 3 WHEN 0 THEN 'news' ELSE 'registration' END,
            CASE WHEN $is[sending] THEN 'sending' WHEN $is[failed] THEN 'failed'
                WHEN $is[parked] THEN 'parked' ELSE 'pending' END,
            i % 3, CASE WHEN i % 1000 >= 880 THEN 1 ELSE 0 END, $now - 3600 + i % 7200,
            CASE WHEN $is[sending] THEN $now + 86400 END,
            CASE WHEN $is[sending] THEN '0123456789abcdef0123456789abcdef' END, $now - 60,
            CASE WHEN i % 1000 >= 880 THEN $error END,
            CASE WHEN $is[uncertain] THEN 'uncertain' WHEN $is[parked] THEN 'exhausted' END,
            CASE WHEN $is[uncertain] THEN '[\"member' || i || '@example.net\"]' END,
            $now - 86400 + CAST(i * 86000.0 / $mails AS INTEGER), '<' || i || '@example.org>',
            'shop@example.org', '[\"member' || i || '@example.net\"]',
            'News of the week, number ' || i FROM {$series($mails)}");
    // Ten rows for each mail, over 30 days; one of ten is of the last hour.
    $pdo->exec("INSERT INTO mail_log (at, job_id, reference, mail_type, subject, relay, event,
        phase, attempt, recipients, uncertain, reply, ms, waited)
        SELECT CASE WHEN i > $mails * 9.0
                THEN $now - 3600 + CAST((i - $mails * 9.0) * 3600.0 / $mails AS INTEGER)
                ELSE $now - 2592000 + CAST(i * 2588000.0 / ($mails * 9.0) AS INTEGER) END,
            CAST(i / 3 AS INTEGER), 'r' || i, CASE i % 3 WHEN 0 THEN 'news' ELSE 'registration' END,
            'News of the week, number ' || i, 'smtp://mail' || (i % 3) || '.example.org:587',
            CASE i % 10 WHEN 0 THEN 'try_later' ELSE 'sent' END, 'dot', 1, 1, 0,
            '250 2.0.0 Ok: queued as ABCDEF' || i, 40, i % 100 FROM {$series($mails * 10)}");
    $pdo->exec('CREATE TABLE people (id INTEGER PRIMARY KEY, address VARCHAR(80))');
    $pdo->exec("INSERT INTO people SELECT i, 'member' || i || '@example.net' FROM "
        . $series($mails));
    page_fill_campaigns($pdo, $series);
    for ($i = 0; $i < PAGE_SUPPRESSED; $i += 1000) {
        MailQueue\Internal::suppressMany($queue, array_map(static fn(int $n): array
            => ["gone$n@example.net", 'hard_bounce', null, 'bench', 0], range($i, $i + 999)));
    }
    page_fill_one($queue, $pdo, $series);
}

/** A year of campaigns of a million recipients each; the last runs. All parked mail is theirs. */
function page_fill_campaigns(\PDO $pdo, callable $series): void
{
    $now = time();
    $pdo->exec("INSERT INTO mail_campaign (name, state, mail_type, priority, scope, start_at,
        created_at, started_at, finished_at, last_id, fed_to, recipients, fed, sent, suppressed,
        uncertain) SELECT 'week' || i, CASE i WHEN 52 THEN 'running' ELSE 'finished' END, 'news',
        -10, 'list:news', $now - 604800 * (53 - i), $now - 604800 * (53 - i),
        $now - 604800 * (53 - i), CASE i WHEN 52 THEN NULL ELSE $now - 604800 * (52 - i) END, 0, 0,
        1000000, 1000000, 999000, 500, 0 FROM {$series(52)}");
    $pdo->exec("UPDATE mail_queue SET campaign_id = 1 + id % 52 WHERE status = 'parked'");
}

/** The mail that is looked at: with a message, and a thousand attempts. */
function page_fill_one(MailQueue $queue, \PDO $pdo, callable $series): void
{
    $id = $queue->enqueue(['from' => 'shop@example.org', 'to' => 'last@example.net',
        'subject' => 'The last one', 'html' => '<p>Hello</p>' . str_repeat('<p>News</p>', 2000)]);
    $pdo->exec("INSERT INTO mail_log (at, job_id, mail_type, relay, event, phase, attempt,
        recipients, uncertain, reply) SELECT " . time() . " - 86400, $id, 'mail',
        'smtp://mail1.example.org:587', 'try_later', 'dot', i, 1, 0,
        '450 4.2.0 greylisted' FROM {$series(1000)}");
}

/**
 * Of uncertain mail all is parked, so the view of failed ones finds none. delete=all is the
 * question whether to delete all that the filter finds.
 *
 * @return array<string, string> what is measured → the URL's parameters; the poll comes first
 */
function page_views(int $mails): array
{
    $middle = intdiv($mails, 2);
    $views = ['the poll' => 'overview&part=now', 'charts' => 'overview&part=charts'];
    foreach (
        ['overview', 'mails', "mails&after=$middle", 'mails&after=' . ($mails - 20),
            'mails&status=pending', 'mails&status=sending', 'mails&status=failed',
            'mails&status=parked', "mails&status=failed&after=$middle", 'mails&type=news',
            'mails&type=nosuch', 'mails&status=failed&type=nosuch', "mails&reference=r$middle",
            'mails&reference=nosuch', "mails&recipient=member$middle@", 'mails&recipient=example',
            'mails&recipient=nobody', 'mails&status=pending&recipient=nobody',
            'mails&status=failed&recipient=nobody', 'mails&status=parked&recipient=nobody',
            "mails&subject=number+$middle", 'mails&subject=nothing', 'mails&error=greylisted',
            'mails&error=nothing', 'mails&status=failed&error=nothing',
            'mails&recipient=nobody&subject=nothing&error=nothing&type=nosuch', 'mails&older=1h',
            'mails&older=30d', "mail&id=$middle", 'mail&id=' . $mails + 1,
            'mail&id=' . $mails * 2, 'preview&id=' . $mails + 1, 'source&id=' . $mails + 1,
            'uncertain', 'uncertain&status=failed', 'campaigns', 'mails&campaign=week52',
            'mails&status=parked&campaign=week52', 'suppressions', 'suppressions&address=nobody',
            'mails&status=held', 'text&id=' . $mails + 1, 'relays', 'settings', 'status.json',
            'metrics', 'mails&delete=all', 'mails&delete=all&subject=number',
            'mails&delete=all&status=failed'] as $view
    ) {
        $views[$view] = $view;
    }
    return $views;
}

function page_measure(Results $results, string $name, string $database, MailQueue $queue): void
{
    $mails = (int) $queue->jobs(subject: 'The last one')[0]->id - 1;
    $fpm = new Fpm(['zend_extension' => 'opcache',
        'mailqueue.database_persistent' => '1'], children: 1);
    $web = var_export(dirname(__DIR__) . '/web/autoload.php', true);
    $database = var_export($database, true);
    $page = $fpm->page('page', <<<PHP
        \$cpu = static fn() => array_sum(array_map(fn(string \$of)
            => getrusage()["ru_{\$of}time.tv_sec"] * 1000
                + getrusage()["ru_{\$of}time.tv_usec"] / 1000, ['u', 's']));
        \$begun = \$cpu();
        require $web;
        if (isset(\$_GET['delete'])) {
            \$_SERVER['REQUEST_METHOD'] = 'POST';
            \$_COOKIE['mailqueue'] = str_repeat('0', 32);
            \$_POST = ['action' => 'delete', 'which' => \$_GET['delete'],
                'token' => hash_hmac('sha256', 'form 0', \$_COOKIE['mailqueue'])] + \$_GET;
        }
        (new MailQueue\Web\Page(new MailQueue($database, orphanCheck: 'people.id'),
            access: fn() => 'admin', bodies: true, orphanCheck: 'people.id'))->handle();
        printf("\0%.3F %.3F %.3F", (microtime(true) - \$_SERVER["REQUEST_TIME_FLOAT"]) * 1000,
            \$cpu() - \$begun, memory_get_peak_usage() / 1048576);
        PHP);
    foreach (page_views($mails) as $what => $query) {
        $most = $what === 'the poll' ? PAGE_POLL
            : (str_contains($query, 'delete=') ? PAGE_QUESTION : PAGE_VIEW);
        [$ms, $cpu, $memory] = page_medians($fpm, $page, "view=$query");
        $row = "$name: $what, " . number_format($mails) . ' mails';
        $detail = ['of it CPU of PHP, ms' => $cpu, "PHP's memory, MiB" => $memory];
        $results->ratio($row, $ms, atMost: $most, detail: $detail, unit: ' ms');
    }
    $fpm->process->stop();
}

/**
 * Milliseconds from the request's begin to the end of its response, by PHP-FPM's clock, and how
 * much of it PHP-FPM worked: on a busy machine it waits for a processor too. And its memory, MiB.
 *
 * @return array{float, float, float}
 */
function page_medians(Fpm $fpm, string $page, string $query): array
{
    $request = ['QUERY_STRING' => $query, 'REMOTE_ADDR' => '127.0.0.1', 'HTTP_HOST' => '127.0.0.1'];
    $times = $cpu = $memory = [];
    for ($i = -2; $i < 21; $i++) { // the first ones compile what this view needs
        $parts = explode("\0", $fpm->get($page, $request));
        $isWhole = count($parts) === 2 && !str_contains($parts[0], 'role="alert"');
        $isWhole || throw new \RuntimeException("$query: $parts[0] {$fpm->log()}");
        if ($i >= 0) {
            [$times[], $cpu[], $memory[]] = array_map(floatval(...), explode(' ', $parts[1]));
        }
    }
    return [median($times), median($cpu), median($memory)];
}
