<?php

// Laravel's database queue. Included only when it is measured, because it may be missing.

declare(strict_types=1);

namespace Bench;

use Illuminate\Container\Container;
use Illuminate\Database\Capsule\Manager;
use Illuminate\Queue\DatabaseQueue;

error_reporting(E_ALL & ~E_DEPRECATED); // Debian's is older than its PHP
foreach (['Database', 'Queue'] as $library) {
    require_once "/usr/share/php/Illuminate/$library/autoload.php";
}

final class LaravelJob
{
    public function __construct(public readonly string $text)
    {
    }
}

final class Laravel
{
    /** The table of Laravel's own migration. */
    public static function makeTable(Server $server): void
    {
        $id = $server instanceof PostgresServer ? 'BIGSERIAL' : 'BIGINT AUTO_INCREMENT';
        $pdo = $server->pdo();
        $pdo->exec("CREATE TABLE jobs (id $id PRIMARY KEY, queue VARCHAR(255) NOT NULL,
            payload TEXT NOT NULL, attempts SMALLINT NOT NULL, reserved_at INTEGER,
            available_at INTEGER NOT NULL, created_at INTEGER NOT NULL)");
        $pdo->exec('CREATE INDEX jobs_queue_index ON jobs (queue)');
    }

    public static function queue(string $dsn): DatabaseQueue
    {
        [$driver, $pairs] = explode(':', $dsn, 2);
        parse_str(strtr($pairs, [';' => '&']), $params);
        $manager = new Manager();
        $manager->addConnection([
            'driver' => $driver,
            'database' => $params['dbname'],
            'username' => $params['user'] ?? null,
            'password' => null,
            'charset' => $driver === 'pgsql' ? 'utf8' : 'utf8mb4',
        ] + $params);
        $queue = new DatabaseQueue($manager->getConnection(), 'jobs');
        $queue->setConnectionName('database');
        $queue->setContainer(new Container());
        return $queue;
    }
}
