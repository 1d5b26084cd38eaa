<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue\Cli\MessagePart;

/** Reads what a person wants to see of a message: its headers, its text, its HTML. */
final class Message
{
    private readonly MessagePart $whole;
    private ?string $text = null;
    private ?string $html = null;

    public function __construct(string $source)
    {
        $this->whole = new MessagePart($source);
        foreach ($this->whole->leaves() as $part) {
            if ($part->isAttachment()) {
                continue;
            }
            if ($part->type === 'text/html') {
                $this->html ??= $part->text();
            } elseif (str_starts_with($part->type, 'text/')) {
                $this->text ??= $part->text();
            }
        }
    }

    /** As they are on the wire. */
    public function headers(): string
    {
        return $this->whole->head;
    }

    public function text(): ?string
    {
        return $this->text;
    }

    public function html(): ?string
    {
        return $this->html;
    }
}
