<?php

declare(strict_types=1);

namespace MailQueue\Cli\Work;

use MailQueue\Cli\Arguments;
use MailQueue\Cli\Terminal;
use MailQueue\Report;

/** What `work` prints of a run, or of several processes together. */
final class Summary
{
    /** Of several ends, the first one of these counts. */
    private const ENDS = ['relay', 'signal', 'time', 'messages', 'tokens', 'disabled', 'empty',
        'locked'];
    private const WORDS = [
        'sent' => 'sent',
        'tryLater' => 'to be tried later',
        'refused' => 'refused',
        'parked' => 'parked',
        'uncertain' => 'uncertain',
        'cutOff' => 'cut off after their dot (they may arrive twice)',
        'expired' => 'expired',
        'orphans' => 'orphaned',
        'suppressed' => 'to suppressed addresses',
        'released' => 'released',
    ];

    /**
     * @param array<string, mixed> $report the properties of Report, and redirectTo
     * @param string $why why it ended, for people
     * @param bool $isOld whether the run only found the pause of an earlier run
     */
    public function __construct(
        public readonly array $report,
        private readonly string $why,
        private readonly ?string $testMode = null,
        private readonly bool $isOld = false,
    ) {
    }

    /** Of a start that ran no worker. */
    public static function none(string $end, string $why): self
    {
        $none = [];
        foreach ((new \ReflectionClass(Report::class))->getProperties() as $property) {
            $type = (string) $property->getType();
            $none[$property->name] = ['int' => 0, 'float' => 0.0][$type] ?? null;
        }
        return new self(['end' => $end] + $none + ['redirectTo' => null], $why);
    }

    public function encode(): string
    {
        return Terminal::json([$this->report, $this->why, $this->testMode, $this->isOld], 0);
    }

    /** Null: the text is not a whole summary. */
    public static function decode(string $text): ?self
    {
        $parts = json_decode($text, true, 8);
        return is_array($parts) ? new self(...$parts) : null;
    }

    public function end(): string
    {
        return (string) $this->report['end'];
    }

    /** The two together: counts are added, and the end is the one that says most. */
    public function with(self $other): self
    {
        $rank = static fn (self $one): int => (int) array_search($one->end(), self::ENDS, true);
        [$first, $second] = $rank($other) < $rank($this) ? [$other, $this] : [$this, $other];
        $isSame = $first->end() === $second->end();
        $report = $first->report;
        foreach ($report as $name => $value) {
            $report[$name] = is_int($value) && $name !== 'resumeAt'
                ? $value + $second->report[$name] : $value;
        }
        $report['seconds'] = max($first->report['seconds'], $second->report['seconds']);
        $times = array_filter([$first->report['resumeAt'],
            $isSame ? $second->report['resumeAt'] : null]);
        $report['resumeAt'] = $times ? min($times) : null;
        $report['redirectTo'] ??= $second->report['redirectTo'];
        return new self(
            $report,
            $first->why,
            $first->testMode ?? $second->testMode,
            $first->isOld && (!$isSame || $second->isOld)
        );
    }

    /** Cron mails every line: --quiet prints only what a person should know. */
    public function show(Arguments $args): void
    {
        if ($args->has('json')) {
            echo Terminal::json($this->report), "\n";
            return;
        }
        $isQuiet = $args->has('quiet');
        $isTrouble = $this->end() === 'relay' && !($this->isOld && $isQuiet);
        $line = 'mailqueue: ' . $this->counts() . "; $this->why."
            . ($this->testMode === null ? '' : " $this->testMode");
        $isBad = $this->report['parked'] + $this->report['cutOff'] > 0;
        if ($isTrouble || ($isQuiet && $isBad)) {
            Terminal::error($line);
        } elseif (!$isQuiet) {
            echo "$line\n";
        }
    }

    private function counts(): string
    {
        $parts = [];
        foreach (self::WORDS as $key => $word) {
            if ($this->report[$key] > 0 || $key === 'sent') {
                $parts[] = "{$this->report[$key]} $word";
            }
        }
        return implode(', ', $parts);
    }
}
