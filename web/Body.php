<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** A mail's message, or a part of it, for those who may read it. */
final class Body
{
    /**
     * No script runs, no frame opens, and no request leaves. The sandbox also keeps forms, and
     * the <meta> that would go to another page.
     */
    private const CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        . "form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox";
    /**
     * Elements that could make a browser connect before its policy counts, such as a link that is
     * clicked, or frame others.
     */
    private const RENAMED = '~<(?=/?(?:a|area|link|meta|base|script|iframe|frame|frameset|object'
        . '|embed|applet|portal|form)[\s/>])(/?)~i';

    public function __construct(private readonly Context $context)
    {
    }

    public function response(string $view): Response
    {
        if (!$this->context->mayReadBodies()) {
            throw new Refusal($this->context->whyNoBodies(), 403);
        }
        $id = $this->context->id();
        $source = $this->context->queue->job($id)->message ?? throw new Refusal($this->context->t(
            'The mail %s has no message here: it was sent, was deleted, or is composed when it is '
                . 'sent.',
            $id
        ), 404);
        Journal::note($this->context->queue, $this->context->user, "read $id");
        $message = $view === 'source' ? null : new Message($source);
        return match ($view) {
            'preview' => $this->of('text/html', $this->tame($message?->html() ?? '')),
            'text' => $this->of('text/plain', $message?->text() ?? $message?->html() ?? ''),
            default => $this->of('text/plain', $source),
        };
    }

    private function tame(string $html): string
    {
        return "<!DOCTYPE html>\n<style>x-script { display: none }</style>\n"
            . preg_replace(self::RENAMED, '<$1x-', $html);
    }

    private function of(string $type, string $body): Response
    {
        return new Response($body, 200, [
            'Content-Type' => "$type; charset=utf-8",
            'Content-Security-Policy' => self::CSP,
            'X-Frame-Options' => 'SAMEORIGIN',
            'Referrer-Policy' => 'no-referrer',
        ]);
    }
}
