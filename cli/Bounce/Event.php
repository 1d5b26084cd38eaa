<?php

declare(strict_types=1);

namespace MailQueue\Cli\Bounce;

use MailQueue\Cli\Terminal;

/**
 * What a report, a complaint or a service says about one address. Its maker has checked that who
 * says so may say it.
 */
final class Event
{
    private const TEXT_MAX = 500; // octets

    /** In UTF-8, on one line, and not too long. */
    public readonly string $text;

    /**
     * @param string|null $address as it got the mail; null: only its hash is known
     * @param string $text the server's words
     * @param string $source who says it: "report", "complaint", "ses", "mailgun", "postmark" …
     * @param int $at UTC seconds
     * @param string $id any octets that this event has and no other: an event that is read twice
     *     counts once. Events of one report that concern several addresses can have the same
     * @param string|null $scope the list that it is about, as "list:news"; null: all mail
     * @param int|null $hash of the address, as suppressions have it (Internal::addressHash());
     *     null: the recorder makes it
     */
    public function __construct(
        public readonly ?string $address,
        public readonly Kind $kind,
        string $text,
        public readonly string $source,
        public readonly int $at,
        public readonly string $id,
        public readonly ?string $scope = null,
        public readonly ?int $hash = null,
    ) {
        $this->text = self::line($text);
    }

    private static function line(string $text): string
    {
        $line = Terminal::safe(trim((string) preg_replace('/[\x00-\x20\x7f]+/', ' ', $text)));
        $cut = '/\A(.{0,' . self::TEXT_MAX . '})(?![\x80-\xbf]).*\z/s';
        return (string) preg_replace($cut, '$1', $line);
    }
}
