<?php

// Symfony Messenger's Doctrine transport. Included only where it is measured: it may be missing.

declare(strict_types=1);

namespace Bench;

use Doctrine\DBAL\Connection as Dbal;
use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Platforms\PostgreSQL100Platform;
use Doctrine\DBAL\Query\QueryBuilder;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\Connection;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\DoctrineTransport;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\PostgreSqlConnection;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

foreach (['Doctrine/DBAL', 'Symfony/Component/Messenger/Bridge/Doctrine'] as $library) {
    require_once "/usr/share/php/$library/autoload.php"; // Debian's packages
}

/** What a message of Messenger's carries. */
final class Letter
{
    public function __construct(public readonly string $text)
    {
    }
}

/** What newer versions do, and what older ones wait for. */
final class SkipLocked extends PostgreSQL100Platform
{
    public function getWriteLockSQL(): string
    {
        return 'FOR UPDATE SKIP LOCKED';
    }
}

final class Messenger
{
    private string $text = '';
    private bool $tuned = false;

    public function __construct(private readonly Server $server)
    {
    }

    private function dbal(): Dbal
    {
        preg_match('/host=([^;]*);dbname=([^;]*);user=([^;]*)/', $this->server->dsn, $part);
        $params = [
            'driver' => 'pdo_pgsql',
            'host' => $part[1],
            'dbname' => $part[2],
            'user' => $part[3],
        ];
        if ($this->tuned && !method_exists(QueryBuilder::class, 'forUpdate')) {
            $params['platform'] = new SkipLocked();
        }
        return DriverManager::getConnection($params);
    }

    /** Its own settings, or the fastest: neither NOTIFY nor waiting for rows of others. */
    public function tune(bool $tuned): void
    {
        $this->tuned = $tuned;
        $what = $tuned ? 'DISABLE' : 'ENABLE';
        $table = 'messenger_messages';
        $this->server->pdo()->exec("ALTER TABLE $table $what TRIGGER notify_trigger");
    }

    public function transport(): DoctrineTransport
    {
        $class = $this->tuned ? Connection::class : PostgreSqlConnection::class;
        $options = $class::buildConfiguration('doctrine://default', ['auto_setup' => false]);
        return new DoctrineTransport(new $class($options, $this->dbal()), new PhpSerializer());
    }

    public function fill(int $count, string $text): void
    {
        $this->text = (new PhpSerializer())->encode(new Envelope(new Letter($text)))['body'];
        $options = PostgreSqlConnection::buildConfiguration('doctrine://default');
        (new PostgreSqlConnection($options, $this->dbal()))->setup();
        $this->tune(true);
        $this->add($count);
    }

    public function add(int $count): void
    {
        $insert = $this->server->pdo()->prepare(
            'INSERT INTO messenger_messages (body, headers, queue_name, created_at, available_at)
            SELECT CAST(? AS TEXT), \'[]\', \'default\', now() - interval \'1 day\',
                now() - interval \'1 day\' FROM generate_series(1, CAST(? AS INTEGER))'
        );
        $insert->execute([$this->text, $count]);
        $this->server->pdo()->exec('VACUUM ANALYZE messenger_messages');
    }
}
