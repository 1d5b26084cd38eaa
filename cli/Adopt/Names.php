<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue;
use MailQueue\Cli\Arguments;
use PDO;

/** The names of a queue's tables, and of the config keys that record its version and adoption. */
final class Names
{
    public const KEY = 'mailQueueAdopted';
    public const VERSION = 'mailSchemaVersion';
    /** From this index on, tables() are suppressions, campaigns, recipients and bounces. */
    public const LISTS_AT = 6;
    private const STAGED = 'mailqueue_adopting';

    public function __construct(
        public readonly string $table = 'mail_queue',
        public readonly string $config = 'config',
        public readonly string $reference = 'reference',
    ) {
    }

    public static function of(Arguments $args): self
    {
        return new self(
            $args->text('table') ?? 'mail_queue',
            $args->text('config-table') ?? 'config',
            $args->text('reference-column') ?? 'reference'
        );
    }

    /** The names under which the tables are first made on a server; no program looks for them. */
    public function staged(): self
    {
        return new self(self::STAGED, self::STAGED . '_config', $this->reference);
    }

    public function queue(PDO $pdo): MailQueue
    {
        return new MailQueue($pdo, $this->table, $this->config, $this->reference);
    }

    /** @return list<string> the tables of a queue without its config table */
    public function tables(): array
    {
        $begin = $this->isUsual() ? 'mail' : $this->table;
        $others = ['body', 'spent', 'window', 'count', 'log'];
        return [
            $this->table,
            ...array_map(static fn (string $name) => "{$begin}_$name", $others),
            substr($begin, 0, 51) . '_suppression',
            substr($begin, 0, 52) . '_campaign',
            substr($begin, 0, 52) . '_recipient',
            "{$begin}_bounce",
        ];
    }

    private function isUsual(): bool
    {
        return strcasecmp($this->table, 'mail_queue') === 0;
    }

    public function key(): string
    {
        return self::KEY . ($this->isUsual() ? '' : ":$this->table");
    }

    public function versionKey(): string
    {
        return self::VERSION . ($this->isUsual() ? '' : ":$this->table");
    }

    public static function before(string $table): string
    {
        return "{$table}_before";
    }
}
