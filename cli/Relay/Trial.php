<?php

declare(strict_types=1);

namespace MailQueue\Cli\Relay;

use MailQueue;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Stop;
use MailQueue\Internal;
use MailQueue\Report;

/**
 * Sends one mail at once, by a run of the worker on a queue that has nothing else: what happens to
 * it is what happens to the site's mail.
 */
final class Trial
{
    /** What decides where mail goes; this machine's own test mode is not in the database. */
    private const STEERING = ['mailRedirectTo', 'mailRedirectTypes', 'mailLiveFrom',
        'mailLiveUntil'];

    public readonly Dialogue $dialogue;
    public readonly Report $report;
    /** The relay that had the mail last, without secrets; null: there is only one. */
    public ?string $relay = null;
    /** @var list<array{event: string, reply: ?string}> what happened to the mail */
    private array $events = [];
    private readonly string $directory;
    private readonly bool $hasSeveral;

    /** @param array{from: string, to: string, subject: string, text: string} $message */
    public function __construct(Settings $settings, MailQueue $queue, array $message)
    {
        $this->directory = sys_get_temp_dir() . '/mailqueue-trial-' . bin2hex(random_bytes(8));
        $transport = $settings->transport();
        $relays = $settings->relays();
        $this->hasSeveral = Group::is($transport) || $relays !== null;
        @mkdir($this->directory, 0o700) || throw Stop::config("The directory $this->directory "
            . 'cannot be made. Set TMPDIR, or sys_temp_dir in php.ini, to one where this user may '
            . 'write.');
        $runDirectory = '';
        try {
            $own = new MailQueue("$this->directory/queue.sqlite");
            $runDirectory = (string) $own->diagnostics()['runDirectory'];
            foreach (MailQueue::configKeys() as $key => $about) {
                in_array($about['aliasOf'] ?? $key, self::STEERING, true)
                    && $own->setConfig($key, $queue->config($key));
            }
            $own->enqueue($message, maxAttempts: 2);
            Internal::trace(true);
            $this->report = $own->runWorker(
                $transport,
                connections: 1,
                messageLimit: 1,
                log: '',
                onEvent: $this->take(...),
                relays: $relays,
                dkim: $settings->dkim(),
                sign: $settings->bootstrap->sign
            );
        } finally {
            $this->dialogue = new Dialogue(Internal::trace(false), $transport);
            $runDirectory === '' || $this->remove($runDirectory);
            $this->remove($this->directory);
        }
    }

    /** @param array{event: string, reply: ?string, relay: ?string} $event */
    private function take(array $event): void
    {
        $event['event'] === 'run' || $this->events[] = $event;
        $this->relay = $this->hasSeveral ? $event['relay'] ?? $this->relay : null;
    }

    /** The relay's last words about the mail, or why it cannot be used. */
    public function reason(): string
    {
        $reason = $this->report->end === 'relay' ? $this->report->reason
            : end($this->events)['reply'] ?? null;
        return rtrim($this->dialogue->without((string) $reason), '.');
    }

    private function remove(string $directory): void
    {
        array_map(unlink(...), array_filter(glob("$directory/*") ?: [], is_file(...)));
        !is_dir($directory) || @rmdir($directory);
    }

    /** What the worker made of the mail. */
    public function outcome(): string
    {
        return match (true) {
            $this->report->sent > 0 => 'sent',
            $this->report->end === 'relay' => 'relay',
            in_array('uncertain', array_column($this->events, 'event'), true) => 'uncertain',
            default => end($this->events)['event'] ?? 'nothing',
        };
    }
}
