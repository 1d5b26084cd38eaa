<?php

// A PostgreSQL server as one would have it.

declare(strict_types=1);

namespace Bench;

use MailQueueTest\PostgreSQL;
use PDO;

final class Server
{
    private readonly PostgreSQL $server;
    private readonly int $pid;
    public readonly string $dsn;

    public function __construct()
    {
        require_once dirname(__DIR__) . '/tests/lib/pgsql.inc';
        if ($why = PostgreSQL::missing()) {
            throw new \RuntimeException($why);
        }
        $this->server = new PostgreSQL([
            'fsync' => 'on',
            'synchronous_commit' => 'on',
            'shared_buffers' => '256MB',
            'max_wal_size' => '4GB',
        ]);
        $this->dsn = $this->server->dsn();
        $this->pid = (int) $this->pdo()
            ->query("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)")
            ->fetchColumn();
    }

    public function pdo(?string $dsn = null): PDO
    {
        $options = [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION];
        return new PDO($dsn ?? $this->dsn, null, null, $options);
    }

    /** CPU seconds of all its processes so far, those that have ended too. */
    public function cpu(): float
    {
        $ticks = 0;
        $children = trim((string) file_get_contents("/proc/$this->pid/task/$this->pid/children"));
        foreach ([$this->pid, ...array_filter(explode(' ', $children))] as $pid) {
            // What follows the name: state is field 3, utime and stime are 14 and 15.
            $stat = (string) @file_get_contents("/proc/$pid/stat");
            $fields = explode(' ', substr($stat, (int) strrpos($stat, ')') + 2));
            $ticks += (int) ($fields[11] ?? 0) + (int) ($fields[12] ?? 0);
            if ((int) $pid === $this->pid) {
                $ticks += (int) $fields[13] + (int) $fields[14];
            }
        }
        return $ticks / 100; // USER_HZ
    }

    public function stop(): void
    {
        $this->server->stop();
    }
}
