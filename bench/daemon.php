<?php

// A daemon that has nothing to do: its CPU, and how long a new mail waits until the relay is
// called. A daemon for each kind of database, all at once, each with a relay of its own.

declare(strict_types=1);

namespace Bench;

use MailQueue;
use MailQueueTest\MariaDB;
use MailQueueTest\PostgreSQL;

/** The least that a relay says. It takes one mail in a connection. */
function take_mail($listener): float
{
    $relay = stream_socket_accept($listener, 30) ?: throw new \RuntimeException('no mail came');
    $called = hrtime(true) / 1e6;
    fwrite($relay, "220 relay.example ESMTP\r\n");
    for ($body = false; ($line = fgets($relay)) !== false;) {
        $data = $line === "DATA\r\n";
        $dot = $line === ".\r\n";
        $body && !$dot || fwrite($relay, $data ? "354 go on\r\n" : "250 ok\r\n");
        $body = ($body || $data) && !$dot;
        if ($dot) {
            break;
        }
    }
    fclose($relay);
    return $called;
}

/** CPU of a process in seconds. */
function cpu_of_process(int $pid): float
{
    return (int) file_get_contents("/proc/$pid/schedstat") / 1e9;
}

function bench_daemon(Results $results, bool $quick): void
{
    require_once dirname(__DIR__) . '/tests/lib/pgsql.inc';
    require_once dirname(__DIR__) . '/tests/lib/mariadb.inc';
    [$pgsql, $mariadb] = [new PostgreSQL(), new MariaDB()];
    $daemons = [];
    $databases = ['SQLite' => $path = fresh(), 'SQLite (WAL)' => $wal = fresh(),
        'PostgreSQL' => $pgsql->schema(), 'MariaDB' => $mariadb->schema()];
    (new MailQueue($wal, journal: 'wal'))->migrate();
    foreach ($databases as $name => $database) {
        ($queue = new MailQueue($database))->setConfig('mailMaxPerHour', 0);
        $listener = stream_socket_server('tcp://127.0.0.1:0');
        $command = [PHP_BINARY, '-d', 'extension=' . own_library(),
            dirname(__DIR__) . '/bin/mailqueue', 'work', '--daemon', '--log', ''];
        $files = [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], STDERR];
        $process = proc_open($command, $files, $pipes, directory(), [
            'MAILQUEUE_DATABASE' => $database,
            'PATH' => getenv('PATH'),
            'XDG_STATE_HOME' => $state = directory() . '/state',
            'MAILQUEUE_TRANSPORT' => 'smtp://' . stream_socket_get_name($listener, false),
        ]);
        $daemons[$name] = [$queue, $listener, $process, proc_get_status($process)['pid']];
    }
    sleep(3);
    $before = array_map(static fn(array $daemon): float => cpu_of_process($daemon[3]), $daemons);
    $begun = hrtime(true);
    sleep($quick ? 10 : 60);
    foreach ($daemons as $name => $daemon) {
        $took = (hrtime(true) - $begun) / 1e9;
        $share = 100 * (cpu_of_process($daemon[3]) - $before[$name]) / $took;
        $results->ratio("CPU of an idle daemon on $name, % of a core", $share, atMost: 0.1);
    }
    foreach ($daemons as $name => [$queue, $listener, $process, $pid]) {
        $waits = [];
        for ($i = 0; $i < ($quick ? 5 : 20); $i++) {
            usleep(random_int(1_000_000, 2_500_000));
            $stored = hrtime(true) / 1e6;
            $queue->enqueue(message($i), recipients: ['a@example.org']);
            $waits[] = take_mail($listener) - $stored;
        }
        $results->ratio("from enqueue() to the relay on $name, ms", median($waits), detail: [
            'least' => min($waits), 'p95' => percentile($waits, 0.95), 'most' => max($waits)]);
        proc_terminate($process);
        proc_close($process);
    }
    array_map(remove(...), [$path, $wal]);
    exec('rm -rf ' . escapeshellarg($state));
}
