<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Terminal;
use MailQueue\Job;
use MailQueue\Status;

/** mailq: lists the queue like the program of that name. */
final class Mailq extends Command
{
    /** The form is Postfix's, because monitoring programs read it. */
    public function run(): int
    {
        $queue = $this->settings->queue();
        $jobs = [];
        for ($after = 0; $some = $queue->jobs(null, 1000, $after); $after = end($some)->id) {
            array_push($jobs, ...$some);
        }
        return $this->result($jobs, static function () use ($queue, $jobs): void {
            if (!$jobs) {
                echo "Mail queue is empty\n";
                return;
            }
            echo "-Queue ID-  --Size-- ----Arrival Time---- -Sender/Recipient-------\n";
            $bytes = 0;
            foreach ($jobs as $job) {
                $size = strlen((string) $queue->job($job->id)?->message);
                $bytes += $size;
                self::entry($job, $size);
            }
            $s = count($jobs) === 1 ? '' : 's';
            printf("-- %d Kbytes in %d Request%s.\n", ceil($bytes / 1024), count($jobs), $s);
        });
    }

    private static function entry(Job $job, int $size): void
    {
        $mark = match ($job->status) {
            Status::Sending => '*',
            Status::Parked, Status::Held => '!',
            default => ' ',
        };
        $sender = $job->envelopeFrom === '' ? 'MAILER-DAEMON' : $job->envelopeFrom;
        printf(
            "%-10s%s %8d  %s  %s\n",
            $job->id,
            $mark,
            $size,
            date('D M d H:i:s', $job->createdAt),
            Terminal::safe($sender)
        );
        if ($job->lastError !== null) {
            printf("%80s\n", '(' . Terminal::safe($job->lastError) . ')');
        }
        foreach ($job->recipients ?? ['(composed when it is sent)'] as $recipient) {
            printf("%41s%s\n", '', Terminal::safe($recipient));
        }
        echo "\n";
    }
}
