<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue;
use MailQueue\Cli\Arguments;
use PDO;

/** The names of the queue's tables, and of the key that keeps the adoption's note. */
final class Names
{
    public const KEY = 'mailQueueAdopted';

    public readonly string $table;
    public readonly string $config;
    public readonly string $reference;

    public function __construct(Arguments $args)
    {
        $this->table = $args->text('table') ?? 'mail_queue';
        $this->config = $args->text('config-table') ?? 'config';
        $this->reference = $args->text('reference-column') ?? 'reference';
    }

    public function queue(PDO $pdo): MailQueue
    {
        return new MailQueue($pdo, $this->table, $this->config, $this->reference);
    }

    /** @return list<string> the tables of a queue beside its config table */
    public function tables(): array
    {
        return strcasecmp($this->table, 'mail_queue') === 0
            ? [$this->table, 'mail_body', 'mail_spent']
            : [$this->table, "{$this->table}_body", "{$this->table}_spent"];
    }

    public function key(): string
    {
        return strcasecmp($this->table, 'mail_queue') === 0 ? self::KEY
            : self::KEY . ":$this->table";
    }

    public static function before(string $table): string
    {
        return "{$table}_before";
    }
}
