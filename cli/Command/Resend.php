<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\MessageException;

/** resend: a mail sent again as a new one. */
final class Resend extends Command
{
    public function resend(): int
    {
        $id = $this->args->ids(true)[0];
        $to = $this->args->text('to');
        $instead = $this->args->text('instead');
        if ($instead !== null && $to === null) {
            throw Stop::usage('--instead needs --to, the address that replaces it.');
        }
        $queue = $this->settings->queue();
        try {
            $new = $queue->resend($id, $to, $instead);
        } catch (MessageException $e) {
            $why = str_replace('(instead)', '(--instead)', $e->getMessage());
            throw new Stop(ucfirst($why) . '.', ExitCode::FINDINGS, $e);
        }
        $for = $queue->job($new)?->recipients ?? [];
        $result = ['id' => $new, 'resentOf' => $id, 'recipients' => $for];
        return $this->result($result, static fn () => print("Mail $new takes the place of mail $id"
            . ($for === [] ? '' : ', for ' . Terminal::safe(implode(', ', $for))) . ".\n"));
    }
}
