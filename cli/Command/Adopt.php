<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Adopt\Adoption;
use MailQueue\Cli\Adopt\Database;
use MailQueue\Cli\Adopt\Names;
use MailQueue\Cli\Adopt\Undo;
use MailQueue\Cli\Named;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use PDOException;

/** adopt: makes another program's table the queue's, or undoes that. */
final class Adopt extends Command
{
    private const LEFT_MAX = 20;

    public function run(): int
    {
        $dryRun = $this->args->has('dry-run');
        if ($this->args->has('undo') && ($dryRun || $this->args->has('drop-them')
            || $this->args->words)) {
            throw Stop::usage('--undo cannot be combined with --dry-run, --drop-them or a table.');
        }
        try {
            $names = Names::of($this->args);
            $database = Database::open($this->settings, $names);
            if ($this->args->has('undo')) {
                return $this->undone((new Undo($database, $names))->run());
            }
            $report = (new Adoption($database, $names))->run(
                $this->args->words[0] ?? null,
                $dryRun,
                $this->args->has('drop-them')
            );
        } catch (PDOException $e) {
            $name = (new Named($this->settings->database()))->shown;
            throw new Stop(Database::text($e, $name), Database::code($e));
        }
        return $this->result($report, fn () => $this->report($report, $dryRun, $names));
    }

    /** @param array<string, mixed> $report of Undo */
    private function undone(array $report): int
    {
        return $this->result($report, static function () use ($report): void {
            echo $report['restored'] === null
                ? "Removed what the interrupted adoption had created.\n"
                : "Table $report[restored] is as it was.\n";
            foreach ($report['failed'] as $sql) {
                echo 'Could not be created again: ', Terminal::safe($sql), "\n";
            }
        });
    }

    /** @param array<string, mixed> $report of Adoption */
    private function report(array $report, bool $dryRun, Names $names): void
    {
        $safe = Terminal::safe(...);
        $counts = array_diff_key($report['counts'], ['sent' => 0]);
        $words = array_map(
            static fn (string $word, int $count): string => "$count $word",
            array_keys($counts),
            $counts
        );
        $sum = array_sum($counts);
        echo $dryRun ? 'Would adopt ' : 'Adopted ', $sum, $sum === 1 ? ' mail of ' : ' mails of ',
        $safe($report['source']), $words ? ': ' . implode(', ', $words) : '', ".\n";
        echo $report['expired'] > 0 ? "$report[expired] of them have expired: the first run "
            . "deletes them.\n" : '';
        $sent = $report['counts']['sent'] ?? 0;
        echo $sent > 0 ? "$sent that were sent stay in the old table.\n" : '';
        foreach (['columns' => 'Your own columns go with them', 'stay' => 'Columns whose values '
            . 'only the old table keeps', 'dropped' => 'Dropped, or left '
            . 'with the old table'] as $key => $text) {
            $list = implode(', ', array_map($safe, $report[$key]));
            echo $list === '' ? '' : "$text: $list.\n";
        }
        $children = implode(', ', array_map($safe, $report['children']));
        echo $children === '' ? '' : "The worker's own connection does not enforce the foreign "
            . "keys of $children: rows there stay when a mail is deleted.\n";
        $this->others($report['othersNamed']);
        $this->left($report['left']);
        if ($dryRun) {
            echo "Nothing was changed.\n";
            return;
        }
        echo $report['backup'] === null ? '' : "Backup: {$safe($report['backup'])}\n";
        echo "The old table is {$safe($report['before'])}. ",
        "To go back, before mail is stored or sent:\n  ",
        $this->settings->command('adopt --undo'), "\n";
    }

    /** @param list<string> $rows */
    private function others(array $rows): void
    {
        $shown = array_map(Terminal::safe(...), array_slice($rows, 0, self::LEFT_MAX));
        $more = count($rows) > self::LEFT_MAX ? ' …' : '';
        echo $rows ? 'Each mail goes to the recipients in its row. The headers also name '
            . 'others in ' . (count($rows) === 1 ? 'row ' : 'the rows ')
            . implode(', ', $shown) . "$more.\n" : '';
    }

    /** @param array<string, string> $left */
    private function left(array $left): void
    {
        foreach (array_slice($left, 0, self::LEFT_MAX, true) as $row => $why) {
            echo 'Left: row ', Terminal::safe((string) $row), ': ', Terminal::safe($why), "\n";
        }
        $more = count($left) - self::LEFT_MAX;
        echo $more > 0 ? "… and $more more (--json lists all).\n" : '';
    }
}
