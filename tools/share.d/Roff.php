<?php

declare(strict_types=1);

namespace MailQueue\Tools;

/** A manual page in the man(7) macros. */
final class Roff
{
    private string $out;

    public function __construct(string $section, string $about)
    {
        $package = file_get_contents(dirname(__DIR__, 2) . '/package.xml');
        preg_match('~<date>([\d-]+)</date>.*?<release>([^<]+)<~s', $package, $found);
        $group = ['1' => 'User Commands', '5' => 'File Formats'][$section];
        $this->out = ".\\\" tools/share writes this file.\n"
            . ".TH MAILQUEUE $section $found[1] \"mailqueue $found[2]\" \"$group\"\n"
            . ".SH NAME\nmailqueue \\- $about\n";
    }

    public function section(string $name): void
    {
        $this->out .= ".SH $name\n";
    }

    public function subsection(string $name): void
    {
        $this->out .= '.SS "' . self::escape($name, true) . "\"\n";
    }

    /** @param string $text prose, in which `code` is bold */
    public function paragraph(string $text): void
    {
        $this->out .= (preg_match('/\.S[HS] .*\n\z/', $this->out) ? '' : ".PP\n")
            . self::prose($text);
    }

    /** An entry of a list. */
    public function item(string $tag, string $text): void
    {
        $this->out .= ".TP\n" . self::prose($tag, false) . self::prose($text);
    }

    /** @param list<string> $lines printed as they are, indented */
    public function example(array $lines): void
    {
        $this->out .= ".PP\n.RS 4\n.EX\n";
        foreach ($lines as $line) {
            $this->out .= self::guard(self::escape($line, true)) . "\n";
        }
        $this->out .= ".EE\n.RE\n";
    }

    /** A text of the help, whose lists of options and examples are indented. */
    public function help(string $text): void
    {
        foreach (explode("\n\n", $text) as $part) {
            // An indented line begins a list or an example.
            preg_match('/\A((?:\S.*\n?)*)((?: .*\n?)*)((?:.*\n?)*)\z/', $part, $found);
            [, $prose, $indented, $rest] = $found;
            $prose === '' || $this->paragraph(strtr(rtrim($prose), "\n", ' '));
            if (preg_match('/\A  -/', $indented)) {
                $this->options($indented);
            } elseif ($indented !== '') {
                $this->example(explode("\n", preg_replace('/^  /m', '', rtrim($indented))));
            }
            $rest === '' || $this->help($rest);
        }
    }

    /** Lines of options in two columns. */
    private function options(string $lines): void
    {
        $lines = preg_replace('/\n {6,}/', ' ', rtrim($lines));
        foreach (explode("\n", $lines) as $line) {
            preg_match('/\A(-[^\s,]+(?:, -[^\s,]+)*(?: [A-Z]+)?) +(.*)/', trim($line), $found);
            $this->item("`$found[1]`", $found[2]);
        }
    }

    public function text(): string
    {
        return $this->out;
    }

    private static function prose(string $text, bool $wraps = true): string
    {
        $parts = preg_split('/`([^`]*)`/', trim($text), -1, PREG_SPLIT_DELIM_CAPTURE);
        $out = '';
        foreach ($parts as $index => $part) {
            $out .= $index % 2 ? '\fB' . self::escape($part, true) . '\fR'
                : self::escape($part, false);
        }
        // A sentence begins a line, so that its end is seen.
        $out = $wraps ? preg_replace('/(?<=[.?!:;]) +(?=\S)/', "\n", $out) : $out;
        $lines = array_map(self::guard(...), explode("\n", $wraps ? wordwrap($out, 78) : $out));
        return implode("\n", $lines) . "\n";
    }

    /** A dot or an apostrophe at the begin of a line would be a macro. */
    private static function guard(string $line): string
    {
        return preg_match("/\A[.']/", $line) ? "\\&$line" : $line;
    }

    private static function escape(string $text, bool $isCode): string
    {
        $text = str_replace('\\', '\e', $text);
        $text = preg_replace($isCode ? '/-/' : '/(?<![^\s(-])-|-(?=-)/', '\-', $text);
        $text = $isCode ? strtr($text, ["'" => '\(aq', '`' => '\(ga', '^' => '\(ha',
            '~' => '\(ti', '"' => '\(dq']) : $text;
        return preg_replace_callback('/[^\x00-\x7f]/u', static fn (array $found): string
            => sprintf('\[u%04X]', mb_ord($found[0])), $text);
    }
}
