<?php

declare(strict_types=1);

namespace MailQueue\Cli\Mailbox;

use MailQueue\Cli\Stop;

/** One session with a mailbox. All methods throw Stop if the connection fails. */
interface Mailbox
{
    /** A bounce is read so far; what follows is the mail that came back. */
    public const OCTETS = 262_144;

    /**
     * The messages to read, the newest first.
     *
     * @return list<string> their names in this session
     */
    public function messages(): array;

    /** A message, as far as it is needed; null: it is gone, or damaged. */
    public function read(string $name): ?string;

    /** Marks a message as read, so that the next session leaves it out. Does nothing in POP3. */
    public function mark(string $name): void;

    /** Deletes a message, or moves it to the folder that was named. */
    public function remove(string $name): void;

    /** Carries out what was marked and removed, and ends the session. */
    public function close(): void;
}
