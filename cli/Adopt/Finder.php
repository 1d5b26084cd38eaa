<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Move\Record;
use MailQueue\Cli\Stop;

/** Finds the table to adopt, and refuses one that cannot be adopted. Changes nothing. */
final class Finder
{
    public function __construct(
        private readonly Database $database,
        private readonly Names $names,
    ) {
    }

    /** @return array{string, Shape, bool} table, shape, and false: it is not yet renamed */
    public function find(?string $word): array
    {
        $found = [];
        $names = [$this->names->table => Shape::Jobs, 'email_queues' => Shape::Messages,
            'mail_outbox' => Shape::Outbox];
        $isKnown = $word === null
            || isset(array_change_key_case($names)[strtolower($word)]);
        foreach ($isKnown ? $names : [$word => Shape::Messages] as $name => $shape) {
            if ($word === null || strcasecmp($word, $name) === 0) {
                $table = $this->database->table($name);
                $found = $table === null || $this->database->isOurs($table) ? $found
                    : [...$found, [$table, $shape, false]];
            }
        }
        if (count($found) === 1) {
            $this->check($found[0][0], $found[0][1]);
            return $found[0];
        }
        throw $found ? Stop::usage('There are several tables to adopt: '
            . implode(', ', array_column($found, 0)) . '. Name one: mailqueue adopt TABLE')
            : Stop::config('There is nothing to adopt: ' . $this->missing($word));
    }

    private function missing(?string $word): string
    {
        $name = $word ?? $this->names->table;
        $other = $this->database->other($name);
        return $other === null
            ? ($word ?? "{$this->names->table}, email_queues or mail_outbox")
                . ' does not exist, or is already the queue\'s.'
            : "$name is a $other. Only a table can be adopted.";
    }

    public function check(string $source, Shape $shape): void
    {
        $before = Names::before($source);
        if (strlen($before) > $this->database->nameMax()) {
            throw Stop::config("The name $source is too long: the table would be called $before. "
                . 'Rename it. Nothing was changed.');
        }
        if ($this->database->table($before) !== null || $this->database->other($before) !== null) {
            $isAdopted = $this->database->table($source) === null
                || $this->database->isOurs($source);
            throw $isAdopted ? self::adopted($source)
                : Stop::config("Table $before already exists, and $source would get that name: "
                . 'rename or drop it. Nothing was changed.');
        }
        $all = $this->database->columns($source);
        $columns = Column::names($all);
        $lacks = $shape->lacks($columns, $this->names->reference);
        if ($lacks) {
            $isReference = $shape === Shape::Jobs && $lacks[0] === $this->names->reference;
            throw Stop::config("Table $source is not a mail queue that is known: it lacks "
                . implode(', ', $lacks) . '. ' . ($isReference ? 'Name the column of references '
                . 'with --reference-column, or give' : 'Give') . ' the queue another --table. '
                . 'Nothing was changed.');
        }
        $doubtful = $shape->doubtful($columns);
        if ($doubtful) {
            $names = array_intersect_key(
                array_column($all, 'name'),
                array_intersect($columns, $doubtful)
            );
            throw Stop::config("Table $source has the columns " . implode(' and ', $names)
                . ', and only one of them can count: rename the other. Nothing was changed.');
        }
        $this->database->refuse($source);
        $this->checkConfig();
        $this->checkQueue($source);
    }

    /** Checks that the config table can record the adoption, and that the queue was not moved. */
    private function checkConfig(): void
    {
        $config = $this->database->table($this->names->config);
        if ($config === null) {
            return;
        }
        $lacks = array_diff(['key', 'value'], Column::names($this->database->columns($config)));
        if ($lacks) {
            throw Stop::config("Table $config is another program's: it lacks "
                . implode(', ', $lacks) . '. Give the queue another --config-table. Nothing was '
                . 'changed.');
        }
        $moves = [Record::TO => 'was moved to', Record::FROM => 'is being moved here from'];
        foreach ($moves as $key => $what) {
            $text = (new AdoptionRecord($this->database, $this->names))->text($config, $key);
            $move = $text === false ? null : Record::in($text, $key, $this->names->table);
            if ($move !== null && ($key === Record::TO || !$move->isOver)) {
                throw Stop::config("The queue {$this->names->table} $what $move->other and sends "
                    . 'nothing, so what is adopted would not be sent: adopt where it is sent, or '
                    . 'finish the move (mailqueue migrate-store). Nothing was changed.');
            }
        }
    }

    /** Checks that no other process has adopted the table meanwhile. */
    public function checkThere(string $source): void
    {
        if ($this->database->table($source) === null
            || $this->database->table(Names::before($source)) !== null) {
            throw self::adopted($source);
        }
    }

    private static function adopted(string $source): Stop
    {
        return new Stop("Table $source is gone: another process has adopted it meanwhile. Nothing "
            . 'was changed.', ExitCode::TEMPFAIL);
    }

    /** Checks the queue that the mails of another table will go to. */
    private function checkQueue(string $source): void
    {
        $table = $this->database->table($this->names->table);
        $isThere = $table !== null && strcasecmp($table, $source) !== 0;
        foreach ($this->names->tables() as $name) {
            $isSource = strcasecmp($name, $source) === 0;
            $other = $this->database->other($name);
            if ($other !== null || (!$isThere && !$isSource && $this->database->table($name))) {
                $what = $other ?? 'table';
                $this->checkThere($source); // the other table can be that of another adoption
                throw Stop::config("A $what $name already exists, but the queue needs that name: "
                    . 'rename it. Nothing was changed.');
            }
        }
        if (!$isThere) {
            return;
        }
        if (!$this->database->isOurs($table)) {
            throw Stop::config("Table $table is another program's: adopt that first (mailqueue "
                . "adopt $table), or give the queue another --table. Nothing was changed.");
        }
        $this->checkEmpty($source);
    }

    public function checkEmpty(string $source): void
    {
        $this->checkConfig(); // again, now that the queue is locked
        if ($this->database->count($this->names->table) > 0) {
            throw Stop::config("The queue {$this->names->table} has mail already, whose ids would "
                . "be those of $source: let it be sent first (mailqueue work), or give the queue "
                . 'another --table. Nothing was changed.');
        }
    }
}
