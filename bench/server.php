<?php

// Database servers as in production: they wait for the disk.

declare(strict_types=1);

namespace Bench;

use MailQueueTest\MariaDB;
use MailQueueTest\PostgreSQL;
use PDO;

abstract class Server
{
    public string $dsn;
    /** The Unix socket for its connections. */
    public string $socket;
    protected int $pid;
    protected PostgreSQL|MariaDB $server;

    abstract public function name(): string;

    /** Makes a schema of its own. @return string its DSN */
    abstract public function schema(string $name): string;

    /** @return string the DSN of the same database behind a proxy whose socket is in there */
    abstract public function behind(string $directory): string;

    /** Octets that it has written to its log of changes so far. */
    abstract public function written(): float;

    /** Restores the state of the previous round for a new one. */
    abstract public function tidy(PDO $pdo, string ...$tables): void;

    /** @return string a FROM clause of rows with i = 1 … $count */
    abstract public function series(int $count): string;

    /** @return array<string, float> octets of the table, and of its indexes */
    abstract public function sizes(PDO $pdo, string $table): array;

    public function pdo(?string $dsn = null): PDO
    {
        $options = [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION];
        return new PDO($dsn ?? $this->dsn, null, null, $options);
    }

    /** CPU seconds of all its processes so far, including those that have ended. */
    public function cpu(): float
    {
        $ticks = 0;
        $children = trim((string) file_get_contents("/proc/$this->pid/task/$this->pid/children"));
        foreach ([$this->pid, ...array_filter(explode(' ', $children))] as $pid) {
            // After the name: the state is field 3, utime and stime are 14 and 15.
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

final class PostgresServer extends Server
{
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
        $this->socket = "{$this->server->directory}/.s.PGSQL.5432";
        $this->pid = (int) $this->pdo()
            ->query("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)")
            ->fetchColumn();
    }

    public function name(): string
    {
        return 'PostgreSQL';
    }

    public function schema(string $name): string
    {
        $this->pdo()->exec("CREATE SCHEMA $name");
        return "$this->dsn;options='-csearch_path=$name'";
    }

    public function behind(string $directory): string
    {
        return str_replace($this->server->directory, $directory, $this->dsn);
    }

    public function written(): float
    {
        $position = "SELECT pg_current_wal_insert_lsn() - '0/0'";
        return (float) $this->pdo()->query($position)->fetchColumn();
    }

    public function tidy(PDO $pdo, string ...$tables): void
    {
        $pdo->exec('VACUUM ANALYZE ' . implode(', ', $tables));
        $pdo->exec('CHECKPOINT');
    }

    public function series(int $count): string
    {
        return "generate_series(1, $count) i";
    }

    public function sizes(PDO $pdo, string $table): array
    {
        $size = "SELECT pg_table_size('$table') AS \"table\", pg_indexes_size('$table') AS indexes";
        return array_map(floatval(...), $pdo->query($size)->fetch(PDO::FETCH_ASSOC));
    }
}

final class MariaServer extends Server
{
    public function __construct()
    {
        require_once dirname(__DIR__) . '/tests/lib/mariadb.inc';
        if ($why = MariaDB::missing()) {
            throw new \RuntimeException($why);
        }
        $this->server = new MariaDB([
            'innodb-flush-log-at-trx-commit' => '1',
            'innodb-flush-method' => 'O_DIRECT',
            'innodb-buffer-pool-size' => '1G',
            'innodb-log-file-size' => '1G',
        ]);
        $this->dsn = $this->server->schema();
        $this->socket = (string) $this->pdo()->query('SELECT @@socket')->fetchColumn();
        $file = (string) $this->pdo()->query('SELECT @@pid_file')->fetchColumn();
        $this->pid = (int) file_get_contents($file);
    }

    public function name(): string
    {
        return 'MariaDB';
    }

    public function schema(string $name): string
    {
        return $this->server->schema();
    }

    public function behind(string $directory): string
    {
        $socket = $directory . '/' . basename($this->socket);
        return str_replace($this->socket, $socket, $this->dsn);
    }

    public function written(): float
    {
        return (float) $this->pdo()
            ->query("SHOW GLOBAL STATUS LIKE 'Innodb_lsn_current'")
            ->fetchColumn(1);
    }

    public function tidy(PDO $pdo, string ...$tables): void
    {
        $pdo->query('ANALYZE TABLE ' . implode(', ', $tables))->fetchAll();
    }

    public function series(int $count): string
    {
        return "(SELECT seq AS i FROM seq_1_to_$count) AS series";
    }

    public function sizes(PDO $pdo, string $table): array
    {
        $size = $pdo->query("SELECT data_length AS `table`, index_length AS indexes
            FROM information_schema.tables
            WHERE table_schema = database() AND table_name = '$table'");
        return array_map(floatval(...), $size->fetch(PDO::FETCH_ASSOC));
    }
}

/** A proxy between a server's Unix socket and its clients that delays each octet by 1 ms. */
final class Distance
{
    private const DELAY_NS = 1_000_000;
    public readonly string $directory;
    private readonly int $pid;

    public function __construct(Server $server)
    {
        $this->directory = \MailQueueTest\temporary_directory('distance');
        $socket = "$this->directory/" . basename($server->socket);
        $listener = stream_socket_server("unix://$socket");
        $this->pid = pcntl_fork();
        if ($this->pid === 0) {
            self::serve($listener, $server->socket);
        }
        fclose($listener);
    }

    /** @param resource $listener */
    private static function serve($listener, string $server): never
    {
        $peers = []; // by id: the other end, and the octets received from there with their time
        for (;;) {
            $readers = [$listener, ...array_column($peers, 'from')];
            $none = null;
            stream_select($readers, $none, $none, 0, self::untilNext($peers));
            foreach ($readers as $reader) {
                if ($reader === $listener) {
                    $client = stream_socket_accept($listener);
                    $behind = stream_socket_client("unix://$server");
                    $peers[] = ['from' => $client, 'to' => $behind, 'waiting' => []];
                    $peers[] = ['from' => $behind, 'to' => $client, 'waiting' => []];
                } else {
                    $id = array_search($reader, array_column($peers, 'from'), true);
                    $octets = fread($reader, 65536);
                    $peers[$id]['waiting'][] = [hrtime(true) + self::DELAY_NS, $octets];
                }
            }
            $peers = self::deliver($peers);
        }
    }

    /** @param list<array<string, mixed>> $peers @return int µs */
    private static function untilNext(array $peers): int
    {
        $next = hrtime(true) + 1_000_000_000;
        foreach ($peers as $peer) {
            $next = min($next, $peer['waiting'][0][0] ?? $next);
        }
        return max(0, intdiv($next - hrtime(true), 1000));
    }

    /** @param list<array<string, mixed>> $peers @return list<array<string, mixed>> without ended */
    private static function deliver(array $peers): array
    {
        $ended = [];
        foreach ($peers as $id => ['waiting' => $waiting, 'to' => $to]) {
            while ($waiting && $waiting[0][0] <= hrtime(true)) {
                $octets = array_shift($waiting)[1];
                $octets === ''
                    ? array_push($ended, $to, $peers[$id]['from'])
                    : fwrite($to, $octets);
            }
            $peers[$id]['waiting'] = $waiting;
        }
        return array_values(array_filter(
            $peers,
            static fn(array $peer): bool => !in_array($peer['to'], $ended, true),
        ));
    }

    public function stop(): void
    {
        posix_kill($this->pid, SIGKILL);
        pcntl_waitpid($this->pid, $status);
    }
}
