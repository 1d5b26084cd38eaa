<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\ExitCode;

/** retry, hold and delete. */
final class JobChanges extends Command
{
    public function retry(): int
    {
        $ids = $this->args->ids(false);
        $reset = !$this->args->has('once');
        $count = $this->settings->queue()->retryFailed($ids ?: null, $reset);
        return $this->changed($count, count($ids), 'brought back',
            'neither parked nor failed');
    }

    public function hold(): int
    {
        $ids = $this->args->ids(true);
        $count = $this->settings->queue()->hold($ids);
        return $this->changed($count, count($ids), 'parked', 'not waiting');
    }

    public function delete(): int
    {
        $ids = $this->args->ids(true);
        $count = $this->settings->queue()->delete($ids);
        return $this->changed($count, count($ids), 'deleted', 'being sent at the moment');
    }

    private function changed(int $count, int $asked, string $what, string $whyNot): int
    {
        $others = $count === 0 ? 'they' : 'the others';
        $text = $count >= $asked ? "$count $what.\n"
            : "$count of $asked $what; $others do not exist or are $whyNot.\n";
        $this->result(['changed' => $count], static fn() => print($text));
        return $count === 0 && $asked > 0 ? ExitCode::FINDINGS : ExitCode::OK;
    }
}
