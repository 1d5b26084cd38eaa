<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\Move;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** config: the settings in the database. */
final class Config extends Command
{
    public function run(): int
    {
        [$key, $value] = $this->args->words + [null, null];
        $unset = $this->args->has('unset');
        if ($unset && count($this->args->words) !== 1) {
            throw Stop::usage('Usage: mailqueue config --unset KEY');
        }
        $known = MailQueue::configKeys();
        if ($key !== null && !isset($known[$key])) {
            $key = Terminal::safe($key);
            throw Stop::usage("mailqueue has no setting \"$key\". mailqueue config lists them.");
        }
        $sets = $unset || $value !== null;
        $queue = $this->settings->queue(create: $value !== null);
        if ($sets) {
            $value ??= Move::withoutNote($queue, $key, $this->settings->table());
            $queue->setConfig($key, $value);
            return $this->result([$key => $queue->config($key)], static fn() => null);
        }
        if ($key !== null) {
            $value = $queue->config($key);
            $text = $value === null ? '' : Terminal::safe($value);
            return $this->result($value, static fn() => print("$text\n"));
        }
        $names = array_keys($known);
        $values = array_combine($names, array_map($queue->config(...), $names));
        return $this->result($values, static function () use ($known, $values): void {
            $rows = [['key', 'value', 'default', 'meaning']];
            foreach ($known as $name => $about) {
                $value = Terminal::safe($values[$name]);
                $rows[] = [$name, $value, $about['default'], $about['meaning']];
            }
            Terminal::table($rows);
        });
    }
}
