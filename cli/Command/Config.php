<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\Move\Record;
use MailQueue\Cli\Nearest;
use MailQueue\Cli\Report\SlowDomains;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** config: the settings in the database. */
final class Config extends Command
{
    /** @param list<string> $known */
    private static function unknown(string $key, array $known): Stop
    {
        $parts = explode('=', $key, 2);
        [$name, $value] = [$parts[0], $parts[1] ?? null];
        $shown = Terminal::safe($key);
        return Stop::usage($value !== null && in_array($name, $known, true)
            ? "\"$shown\" is one word; the value follows after a space: mailqueue config $name "
                . Terminal::word($value)
            : "mailqueue has no setting \"$shown\"." . Nearest::hint($name, $known)
                . ' mailqueue config lists them.');
    }

    public function run(): int
    {
        $key = $this->args->words[0] ?? null;
        $value = $this->args->words[1] ?? null;
        $unset = $this->args->has('unset');
        if ($unset && count($this->args->words) !== 1) {
            throw Stop::usage('Usage: mailqueue config --unset KEY');
        }
        $known = MailQueue::configKeys();
        // A shell's variable that is not set gives an empty value, and would remove a limit.
        $value === '' && throw Stop::usage("The value of $key is empty. To remove the setting: "
            . "mailqueue config --unset $key");
        if ($key !== null && !isset($known[$key])) {
            throw self::unknown($key, array_keys($known));
        }
        $sets = $unset || $value !== null;
        $queue = $this->settings->queue(create: $value !== null);
        if ($key !== null && $sets) {
            $value ??= Record::isKey($key)
                ? Record::without($queue, $key, $this->settings->table()) : null;
            $queue->setConfig($key, $value);
            return $this->result([$key => $queue->config($key)], static fn () => null);
        }
        if ($key !== null) {
            $value = self::hidden($known[$key]['type'], $queue->config($key));
            $text = $value === null ? '' : Terminal::safe($value);
            return $this->result($value, static fn () => print("$text\n"));
        }
        $values = [];
        foreach ($known as $name => $about) {
            $values[$name] = self::hidden($about['type'], $queue->config($name));
        }
        return $this->result($values, fn () => $this->table($known, $values, $queue));
    }

    /**
     * @param array<string, array{type: string, default: string, meaning: string,
     *        internal: bool}> $known
     * @param array<string, ?string> $values
     */
    private function table(array $known, array $values, MailQueue $queue): void
    {
        foreach (['Settings' => false, 'Kept by the queue' => true] as $head => $internal) {
            echo Terminal::paint($head, Terminal::BOLD), "\n";
            foreach ($known as $key => $about) {
                if ($about['internal'] !== $internal) {
                    continue;
                }
                $text = $internal ? self::kept($key, $about['type'], $values[$key], $queue)
                    : self::setting($values[$key], $about['default']);
                printf("  %-21s  %s\n", $key, Terminal::wrap($text, 25));
                echo $internal ? '' : '      ' . Terminal::wrap($about['meaning'], 6) . "\n";
            }
        }
    }

    /** A secret is not printed, only that there is one. */
    private static function hidden(string $type, ?string $value): ?string
    {
        return $type === 'secret' && $value !== null ? '(set)' : $value;
    }

    private static function setting(?string $value, string $default): string
    {
        return ($value ?? '') !== '' ? Terminal::safe($value)
            : ($default === '' ? 'not set' : "$default (default)");
    }

    private static function kept(
        string $key,
        string $type,
        ?string $value,
        MailQueue $queue
    ): string {
        return match (true) {
            ($value ?? '') === '' => '-',
            $key === 'mailSlowDomains' => implode('; ', SlowDomains::texts($queue)) ?: 'none now',
            $key === 'mailRelayPause' => implode('; ', Status::pauses($queue)) ?: 'none now',
            $type === 'time' && preg_match('/\A\d{1,18}\z/', (string) $value)
                => Terminal::time((int) $value),
            default => Terminal::safe($value),
        };
    }
}
