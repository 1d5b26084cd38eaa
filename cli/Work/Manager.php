<?php

declare(strict_types=1);

namespace MailQueue\Cli\Work;

use MailQueue\Cli\Arguments;

/**
 * What Processes tells the service manager (sd_notify(3)), as a single worker does
 * (src/worker/service_manager.c): only the main process may.
 */
final class Manager
{
    private const EVERY = 10.0;
    private const STOP = "EXTEND_TIMEOUT_USEC=60000000\n";

    private readonly ?string $address;
    private readonly bool $isWatched;
    private readonly float $every;
    private float $nextAt = 0.0;
    private bool $isReady = false;
    private bool $isStopping = false;

    public function __construct(bool $isDaemon)
    {
        $address = Arguments::environment('NOTIFY_SOCKET');
        $this->address = $isDaemon && $address !== null && strpbrk($address[0], '/@') !== false
            ? $address : null;
        $pid = Arguments::environment('WATCHDOG_PID');
        $half = (int) Arguments::environment('WATCHDOG_USEC') / 2_000_000;
        $this->isWatched = $half > 0 && ($pid === null || (int) $pid === getmypid());
        $this->every = $this->isWatched ? min(self::EVERY, $half) : self::EVERY;
    }

    /** Tells what is new, and from time to time that this process is alive. */
    public function tell(bool $isReady, bool $stops, string $status): void
    {
        $isReady = $isReady || $this->isReady;
        $isNew = $isReady !== $this->isReady || $stops !== $this->isStopping;
        if ($this->address === null || (!$isNew && Processes::now() < $this->nextAt)) {
            return;
        }
        $this->nextAt = Processes::now() + $this->every;
        $text = ($isReady && !$this->isReady ? "READY=1\n" : '')
            . ($stops && !$this->isStopping ? "STOPPING=1\n" : '')
            . ($stops ? self::STOP : '')
            . ($this->isWatched ? "WATCHDOG=1\n" : '')
            . 'STATUS=' . ($stops ? 'Stopping: ' : '') . "$status\n";
        $to = preg_replace('/\A@/', "\0", $this->address);
        $socket = @stream_socket_client("udg://$to", $code, $why, 0);
        if ($socket !== false && stream_set_blocking($socket, false)
            && @fwrite($socket, $text) !== false) {
            $this->isReady = $isReady;
            $this->isStopping = $stops;
        }
    }
}
