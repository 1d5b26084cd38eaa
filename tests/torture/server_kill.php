<?php

// The database server is killed while mails are stored, claimed and settled, and started again:
// PostgreSQL, then MariaDB. Each mail is enqueued with its reference until an id, or null for one
// that is there already, came back.
//
// Seen to fail (tests/torture/mutants): outcomes that could not be stored are forgotten
// (outcome-forgotten).

declare(strict_types=1);

namespace Torture;

const KILLED_CLIENTS = 3;

/** Stores mails one by one, and repeats each until it is stored, whatever the server does. */
function enqueue_all(string $database, int $from, int $to): void
{
    $queue = null;
    for ($n = $from; $n < $to;) {
        try {
            $queue ??= queue($database);
            $queue->enqueue(message("t$n", $n), reference: "t$n", envelopeFrom: 'shop@example.org', recipients: recipients($n));
            $n++;
        } catch (\MailQueue\DatabaseException) {
            $queue = null;
            usleep(20_000);
        }
    }
}

function kill_server(Row $row, object $server, string $database, int $kills, int $mails): void
{
    $directory = "$row->directory/" . strstr($database, ':', true);
    mkdir($directory, 0700);
    putenv("HOME=$directory");
    prepare($database, '', intdiv($mails, 2));
    $sink = new Sink($directory, "at rcpt match=*@refused.example reply=\"550 5.1.1 no such user\"\nat dot delay-ms=0-30\n");
    $producer = start(static fn() => enqueue_all($database, intdiv($mails, 2), $mails), "$row->directory/errors");
    $work = static fn(bool $daemon) => start(static function () use ($database, $sink, $directory, $daemon): void {
        try {
            queue($database)->runWorker($sink->dsn(), connections: 3, batch: 10, lease: 900,
                maxWorkers: KILLED_CLIENTS, timeLimit: $daemon ? null : 20, daemon: $daemon, log: "$directory/log");
        } catch (\MailQueue\DatabaseException $e) { // the server was away for half a minute
            in_array($e->reason, ['busy', 'io'], true) || throw $e;
            exit(75);
        }
    }, "$row->directory/errors");
    $workers = array_map($work, array_fill(0, KILLED_CLIENTS, true));
    $ended = 0;
    for ($k = 0; $k < $kills; $k++) {
        usleep(mt_rand(200_000, 1_500_000));
        $server->kill();
        usleep(mt_rand(0, 300_000));
        $server->start();
        foreach ($workers as $i => $pid) {
            if (ended($pid, false) !== '') { // cron would start it again
                $ended++;
                $workers[$i] = $work(true);
            }
        }
    }
    $how = ended_within($producer, 60 + $mails / 20);
    $row->check($how === 'exit 0', "the producer: $how");
    wait_until('the queue to be empty', static fn(): bool => value($database, "SELECT count(*) FROM mail_queue WHERE status <> 'parked'") == 0, 60 + $mails / 50);
    foreach ($workers as $pid) {
        posix_kill($pid, SIGTERM);
        $how = ended_within($pid, 40);
        $row->check($how === 'exit 0', "a worker: $how");
    }
    $sink->stop();
    $row->count('mails', $mails);
    $row->count('kills', $kills);
    $row->count('workers-ended', $ended);
    judge($row, $database, $sink, $mails);
    check_done($row, $database);
}

function server_kill(Row $row): void
{
    $kills = $row->options->kills ?? 20;
    $mails = $row->options->mails ?? 3000;
    foreach ([postgresql(...), mariadb(...)] as $server) {
        $one = $server();
        kill_server($row, $one, $one->schema(), $kills, $mails);
        $one->stop();
    }
}
