<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue;

/** The values that a bootstrap file returns. */
final class Bootstrap
{
    public ?MailQueue $queue = null;
    public ?\Closure $compose = null;
    public string|\Closure|null $transport = null;
    /** @var array<string, string>|\Closure|null */
    public array|\Closure|null $relays = null;
    public ?string $dkim = null;
    public ?\Closure $sign = null;
    public ?\Closure $onEvent = null;
    public ?\Closure $onFinished = null;
    private const CALLABLE = ['compose', 'sign', 'onEvent', 'onFinished'];

    public static function take(mixed $given, string $path): self
    {
        if (!is_array($given)) {
            $type = get_debug_type($given);
            throw Stop::config("Bootstrap file $path must return an array, not $type.");
        }
        $self = new self();
        foreach ($given as $key => $value) {
            $fits = match ($key) {
                'queue' => $value instanceof MailQueue,
                'compose', 'sign', 'onEvent', 'onFinished' => is_callable($value),
                'transport' => is_string($value) || $value instanceof \Closure,
                'relays' => is_array($value) || $value instanceof \Closure,
                'dkim' => is_string($value) || self::isListOfStrings($value),
                default => throw Stop::config("Bootstrap file $path returns an unknown key "
                    . "\"$key\"; known are queue, compose, transport, relays, sign, dkim, "
                    . 'onEvent and onFinished.'),
            };
            if (!$fits && $value !== null) {
                $type = get_debug_type($value);
                throw Stop::config("Bootstrap file $path: \"$key\" is of the wrong type $type.");
            }
            $callable = $value !== null && in_array($key, self::CALLABLE, true);
            $list = $key === 'dkim' && is_array($value);
            $value = $key === 'relays' && is_array($value)
                ? Relay\Map::take($value, "Bootstrap file $path: \"relays\"") : $value;
            $self->$key = $callable ? $value(...) : ($list ? implode(',', $value) : $value);
        }
        return $self;
    }

    private static function isListOfStrings(mixed $value): bool
    {
        return is_array($value) && $value === array_filter($value, is_string(...));
    }
}
