<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** Writes standard output through a buffer's handler: echo alone would hide a full disk. */
final class Output
{
    /** The reader has gone ("| head") or never existed (">&-"): not an error. */
    private const EPIPE = 32;
    private const EBADF = 9;

    private static ?string $fault = null;
    private static bool $isOver = false;

    public static function begin(): void
    {
        ob_start(self::write(...), 1);
    }

    private static function write(string $text): string
    {
        if ($text === '' || self::$isOver) {
            return '';
        }
        stream_set_blocking(STDOUT, true); // non-blocking, it may take only a part
        error_clear_last();
        if (@fwrite(STDOUT, $text) !== strlen($text)) {
            $said = error_get_last()['message'] ?? '';
            $number = preg_match('/errno=(\d+) (.*)/', $said, $match) ? (int) $match[1] : 0;
            self::$isOver = true;
            self::$fault = in_array($number, [self::EPIPE, self::EBADF], true) ? null
                : $match[2] ?? 'only a part was taken';
        }
        return '';
    }

    /**
     * Returns $code, or another exit code if something could not be written.
     *
     * @param list<string> $argv
     */
    public static function end(int $code, array $argv): int
    {
        while (ob_get_level() > 0 && @ob_end_flush());
        if (self::$fault === null) {
            return $code;
        }
        $text = 'Standard output cannot be written: ' . self::$fault . '.';
        return Failure::show($text, $code === ExitCode::OK ? ExitCode::IOERR : $code, $argv);
    }
}
