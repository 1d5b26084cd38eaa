<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/**
 * A message, or a part of one (RFC 2045). It never fails: what cannot be read is missing, or stays
 * as it is.
 */
final class MessagePart
{
    private const DEPTH = 10;
    private const PARTS_MAX = 200;
    private const BOUNDARY_MAX = 200; // octets; RFC 2046 allows 70

    public readonly string $head;
    public readonly string $body;
    /** In lower case, without parameters. */
    public readonly string $type;
    private readonly string $typeField;

    public function __construct(
        public readonly string $source,
        private readonly int $depth = self::DEPTH,
    ) {
        $parts = preg_split('/(?:\A|\r?\n)\r?\n/', $source, 2) ?: [$source];
        [$this->head, $this->body] = [$parts[0], $parts[1] ?? ''];
        $this->typeField = $this->header('Content-Type') ?? 'text/plain';
        $this->type = strtolower(trim(explode(';', $this->typeField, 2)[0]));
    }

    /** The first header field of this name, unfolded. */
    public function header(string $name): ?string
    {
        $pattern = "/^$name:[ \t]*((?:[^\r\n]++|\r?\n[ \t])*+)/im";
        return preg_match($pattern, $this->head, $match) === 1
            ? (string) preg_replace('/\r?\n/', '', trim($match[1])) : null;
    }

    /** A parameter of Content-Type. */
    public function parameter(string $name): ?string
    {
        $pattern = "/;\s*$name\s*=\s*(?:\"([^\"]*)\"|([^\s;]+))/i";
        return preg_match($pattern, $this->typeField, $match) === 1 ? $match[2] ?? $match[1] : null;
    }

    public function isAttachment(): bool
    {
        return stripos((string) $this->header('Content-Disposition'), 'attachment') === 0;
    }

    /**
     * What this consists of: itself, unless it is a multipart. Messages within it stay whole.
     *
     * @return list<self>
     */
    public function leaves(): array
    {
        $boundary = $this->parameter('boundary') ?? '';
        $isOne = $boundary === '' || strlen($boundary) > self::BOUNDARY_MAX;
        if (!str_starts_with($this->type, 'multipart/') || $isOne || $this->depth === 0) {
            return [$this];
        }
        $line = '/(?:\A|\r?\n)--' . preg_quote($boundary, '/') . '(?:--)?[ \t]*(?:\r?\n|\z)/';
        $leaves = [];
        $pieces = preg_split($line, $this->body, self::PARTS_MAX + 2) ?: [];
        foreach (array_slice($pieces, 1, self::PARTS_MAX + 1) as $piece) {
            array_push($leaves, ...(new self($piece, $this->depth - 1))->leaves());
            if (count($leaves) > self::PARTS_MAX) {
                break;
            }
        }
        return $leaves;
    }

    /** The body, decoded and in UTF-8. */
    public function text(): string
    {
        $bytes = match (strtolower((string) $this->header('Content-Transfer-Encoding'))) {
            'base64' => (string) base64_decode($this->body),
            'quoted-printable' => quoted_printable_decode($this->body),
            default => $this->body,
        };
        $charset = $this->parameter('charset') ?? 'UTF-8';
        if (preg_match('//u', $bytes) === 1 && !preg_match('/\A(iso-2022|utf-7)/i', $charset)) {
            return $bytes;
        }
        $converted = function_exists('iconv') ? @iconv($charset, 'UTF-8//IGNORE', $bytes) : false;
        return is_string($converted) ? $converted
            : (string) preg_replace('/[^\x09\x0a\x0d -~]/', '?', $bytes);
    }
}
