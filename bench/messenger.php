<?php

// Symfony Messenger's Doctrine transport. Included only when it is measured, because it may be
// missing.

declare(strict_types=1);

namespace Bench;

use Doctrine\DBAL\Connection as Dbal;
use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Platforms\MariaDb1027Platform;
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

/** The object in a message of Messenger's. */
final class Letter
{
    public function __construct(public readonly string $text)
    {
    }
}

/** Adds SKIP LOCKED, which newer versions use; older ones wait for locked rows. */
final class SkipLocked extends PostgreSQL100Platform
{
    public function getWriteLockSQL(): string
    {
        return 'FOR UPDATE SKIP LOCKED';
    }
}

final class MariaSkipLocked extends MariaDb1027Platform
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

    public function __construct(
        private readonly Server $server,
        private readonly ?string $dsn = null,
    ) {
    }

    private function isPostgres(): bool
    {
        return $this->server instanceof PostgresServer;
    }

    private function dbal(): Dbal
    {
        [$driver, $pairs] = explode(':', $this->dsn ?? $this->server->dsn, 2);
        parse_str(strtr($pairs, [';' => '&']), $params);
        $params['driver'] = "pdo_$driver";
        if ($this->tuned && !method_exists(QueryBuilder::class, 'forUpdate')) {
            $params['platform'] = $this->isPostgres() ? new SkipLocked() : new MariaSkipLocked();
        }
        return DriverManager::getConnection($params);
    }

    /**
     * With its own settings, or with the fastest: without NOTIFY, and without waiting for others'
     * rows.
     */
    public function tune(bool $tuned): void
    {
        $this->tuned = $tuned;
        $what = $tuned ? 'DISABLE' : 'ENABLE';
        $this->isPostgres() && $this->server->pdo()->exec(
            "ALTER TABLE messenger_messages $what TRIGGER notify_trigger"
        );
    }

    public function transport(): DoctrineTransport
    {
        return new DoctrineTransport($this->connection(), new PhpSerializer());
    }

    private function connection(bool $makesTable = false): Connection
    {
        $notifies = $this->isPostgres() && !$this->tuned;
        $class = $notifies ? PostgreSqlConnection::class : Connection::class;
        $options = $class::buildConfiguration('doctrine://default', ['auto_setup' => $makesTable]);
        return new $class($options, $this->dbal());
    }

    public function fill(int $count, string $text): void
    {
        $this->text = (new PhpSerializer())->encode(new Envelope(new Letter($text)))['body'];
        $this->connection(true)->setup();
        $this->tune(true);
        $this->add($count);
    }

    public function add(int $count): void
    {
        $pdo = $this->server->pdo();
        $then = "TIMESTAMP '" . gmdate('Y-m-d H:i:s', time() - 86400) . "'";
        $insert = $pdo->prepare('INSERT INTO messenger_messages
                (body, headers, queue_name, created_at, available_at)
            SELECT ?, \'[]\', \'default\', ' . "$then, $then"
            . ' FROM ' . $this->server->series($count));
        $insert->execute([$this->text]);
        $this->server->tidy($pdo, 'messenger_messages');
    }
}
