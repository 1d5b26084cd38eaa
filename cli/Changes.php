<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** Changes of many mails, for the command and the page. */
final class Changes
{
    private const AT_ONCE = 500;

    /**
     * Changes some mails at a time, each time in a transaction. Between them the lock stays free
     * for as long as they took, so that others can write.
     *
     * @param list<int> $ids
     * @param callable(list<int>): int $change
     * @param int $count out: how many are changed, even if this breaks off
     */
    public static function make(array $ids, callable $change, int &$count): void
    {
        $count = 0;
        for ($i = 0; $i < count($ids); $i += self::AT_ONCE) {
            $begun = hrtime(true);
            $count += $change(array_slice($ids, $i, self::AT_ONCE));
            $i + self::AT_ONCE < count($ids) && usleep(intdiv(hrtime(true) - $begun, 1000));
        }
    }
}
