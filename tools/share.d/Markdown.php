<?php

declare(strict_types=1);

namespace MailQueue\Tools;

/** What the manual takes from a page of docs/. */
final class Markdown
{
    /** @return string the text of a page's section, without its heading */
    public static function section(string $page, string $heading): string
    {
        $text = file_get_contents(dirname(__DIR__, 2) . "/docs/$page.md");
        $found = preg_match('/^#+ ' . preg_quote($heading, '/') . "\n(.*?)(?=^#|\z)/ms", $text, $m);
        $found === 1 || throw new \Exception("docs/$page.md has no heading $heading");
        return $m[1];
    }

    /** @return list<string> paragraphs: neither tables nor comments */
    public static function paragraphs(string $section): array
    {
        $parts = preg_split('/\n{2,}/', trim(preg_replace('/<!--.*?-->/s', '', $section)));
        $parts = array_filter($parts, static fn (string $part): bool => $part[0] !== '|');
        return array_values(array_map(self::plain(...), $parts));
    }

    /** @return list<list<string>> the rows of the section's table, without its head */
    public static function rows(string $section): array
    {
        preg_match_all('/^\| (.*) \|$/m', $section, $lines);
        $rows = [];
        foreach (array_slice($lines[1], 2) as $line) {
            $cells = preg_split('/(?<!\\\\)\|/', $line);
            $rows[] = array_map(self::plain(...), array_map(trim(...), $cells));
        }
        return $rows;
    }

    /** Without links; `code` stays. */
    private static function plain(string $text): string
    {
        $text = preg_replace('/\[([^\]]+)\]\([^)]+\)/', '$1', strtr($text, "\n", ' '));
        return str_replace(['**', '\|'], ['', '|'], $text);
    }
}
