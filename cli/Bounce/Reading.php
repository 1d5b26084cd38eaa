<?php

declare(strict_types=1);

namespace MailQueue\Cli\Bounce;

/** What a message is, and the events that it proves. */
final class Reading
{
    /**
     * @param string $what for people, such as "a bounce"
     * @param list<Event> $events to record; none if the message is to be left alone
     */
    public function __construct(public readonly string $what, public readonly array $events)
    {
    }
}
