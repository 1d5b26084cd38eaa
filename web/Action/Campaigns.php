<?php

declare(strict_types=1);

namespace MailQueue\Web\Action;

use MailQueue;
use MailQueue\Campaign;
use MailQueue\Cli\Report\Campaigns as Report;
use MailQueue\Cli\Stop;
use MailQueue\Internal;
use MailQueue\Web\Php;
use MailQueue\Web\Refusal;
use MailQueue\Web\Response;

/** Starts, pauses, resumes and cancels campaigns, and tries their failed mails again. */
final class Campaigns extends Action
{
    public function start(): Response
    {
        return $this->ask('start', 'Start "%s" (%s to send)?', static fn (Campaign $one)
            => $one->start());
    }

    public function pause(): Response
    {
        return $this->ask('pause', 'Pause "%s" (%s left)?', static fn (Campaign $one)
            => $one->pause());
    }

    public function resume(): Response
    {
        return $this->ask('resume', 'Resume "%s" (%s left)?', static fn (Campaign $one)
            => $one->resume());
    }

    public function cancel(): Response
    {
        return $this->ask(
            'cancel',
            'Cancel "%s" for good (%s will never be sent)?',
            static fn (Campaign $one) => $one->cancel()
        );
    }

    public function retry(): Response
    {
        return $this->ask(
            'retry',
            'Try the failed mails of "%s" again (%s)?',
            static fn (Campaign $one): int => $one->retryFailed()
        );
    }

    /** @param \Closure(Campaign): mixed $change which may return how many mails it changed */
    private function ask(string $what, string $question, \Closure $change): Response
    {
        $campaign = $this->campaign();
        $of = $campaign->progress();
        $count = $what === 'retry' ? $this->failed($of['id']) : Report::left($of);
        $sure = $this->context->request->field('sure');
        // More than the question said: it is asked again. A pause and another try are asked about
        // once: while recipients are added, or mails fail, there are always more.
        $isSure = $sure !== null
            && (in_array($what, ['pause', 'retry'], true) || $count <= (int) $sure);
        if (!$isSure) {
            return $this->confirm(
                "campaign-$what",
                ['name' => $of['name'], 'sure' => $count],
                $this->t($question, $of['name'], $this->context->texts->mails($count)),
                isDanger: $what === 'cancel'
            );
        }
        Php::takeTime();
        try {
            $changed = $change($campaign);
        } catch (MailQueue\DatabaseException $e) {
            throw $e;
        } catch (MailQueue\Exception $e) {
            throw new Refusal($this->t('%s. Nothing was changed.', ucfirst($e->getMessage())));
        }
        $changed = is_int($changed) ? $changed : 0;
        $this->note("campaign $what $of[name]" . ($what === 'retry' ? ": $changed" : ''));
        return $this->context->done($what, $changed);
    }

    private function campaign(): Campaign
    {
        try {
            return Report::find(
                $this->context->queue,
                $this->context->request->field('name') ?? ''
            );
        } catch (Stop $e) {
            throw new Refusal($e->getMessage());
        }
    }

    /** How many mails Campaign::retryFailed() would try again. */
    private function failed(int $id): int
    {
        return (int) Internal::select(
            $this->context->queue,
            "SELECT count(*) FROM {t} WHERE status = 'parked' AND campaign_id = ?1 AND {%}",
            [$id]
        )[0][0];
    }
}
