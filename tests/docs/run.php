<?php
/*
 * Runs the commands and code blocks of the documentation as printed, in a bare Debian:
 *   php tests/docs/run.php COMMAND...        COMMAND starts a root shell in it (tools/newcomer)
 *   php tests/docs/run.php --page            prints the way from a bare Debian to the page
 *   php tests/docs/run.php --check           only: is each block in the scenario, and once, and does
 *                                            each link lead to a file and a heading, and are
 *                                            the files that are named there?
 * The scenario says who runs a block where, and what must be seen. The last line is
 * "N passed, N failed".
 */
declare(strict_types=1);

namespace MailQueueTest\Docs;

require __DIR__ . '/Shell.php';

/** @return list<string> the pages of the documentation */
function pages(string $root): array
{
    $files = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md'];
    foreach (['docs', 'integrations', 'examples'] as $directory) {
        $tree = new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator("$root/$directory",
            \FilesystemIterator::SKIP_DOTS));
        foreach ($tree as $path) {
            str_ends_with((string) $path, '.md') && $files[] = substr((string) $path, strlen($root) + 1);
        }
    }
    sort($files);
    return $files;
}

/** @return array<string, array<string, string>> file => first line => block */
function blocks(string $root): array
{
    $blocks = [];
    foreach (pages($root) as $file) {
        preg_match_all('/^```(\w*)\n(.*?)^```$/ms', file_get_contents("$root/$file"), $found,
            PREG_SET_ORDER);
        foreach ($found as [, $language, $text]) {
            $first = trim(strtok($text, "\n"));
            if ($first === '<?php') {
                $first = trim(strtok("\n"));
            }
            isset($blocks[$file][$first]) && throw new \Exception("$file: two blocks begin: $first");
            $blocks[$file][$first] = $text;
        }
    }
    return $blocks;
}

/** The block of $file that begins with $start, which must be unique. */
function block(array $blocks, string $file, string $start): string
{
    $found = array_filter($blocks[$file] ?? [],
        static fn(string $first): bool => str_starts_with($first, $start), ARRAY_FILTER_USE_KEY);
    count($found) === 1 || throw new \Exception("$file: " . count($found) . " blocks begin: $start");
    return reset($found);
}

/** @return list<string> blocks that the scenario lacks, or names without need */
function uncovered(array $blocks, array $steps, array $left): array
{
    $named = [];
    foreach (array_unique([...array_column($steps, 'block'), ...array_keys($left)]) as $name) {
        [$file, $start] = explode(': ', $name, 2);
        block($blocks, $file, $start);
        $named[$file][] = $start;
    }
    $missing = [];
    foreach ($blocks as $file => $of_file) {
        foreach (array_keys($of_file) as $first) {
            $times = count(array_filter($named[$file] ?? [],
                static fn(string $start): bool => str_starts_with($first, $start)));
            $times === 1 || $missing[] = "$file: the block \"$first\" is named $times times";
        }
    }
    return $missing;
}

/** @return list<string> the anchors of a page's headings, as code hosts make them */
function anchors(string $text): array
{
    preg_match_all('/^#+ (.+)$/m', preg_replace('/^```.*?^```$/ms', '', $text), $headings);
    return array_map(static fn(string $heading): string => str_replace(' ', '-',
        preg_replace('/[^\w\- ]/', '', strtolower($heading))), $headings[1]);
}

/** @return list<string> links that lead nowhere */
function broken_links(string $root): array
{
    $broken = [];
    foreach (pages($root) as $file) {
        $text = file_get_contents("$root/$file");
        preg_match_all('/\]\((?!https?:)([^)#\s]*)(#[^)\s]*|)\)/', $text, $links, PREG_SET_ORDER);
        foreach ($links as [$link, $path, $anchor]) {
            $target = $path === '' ? "$root/$file" : dirname("$root/$file") . "/$path";
            if (!file_exists($target) || ($anchor !== ''
                && !in_array(substr($anchor, 1), anchors(file_get_contents($target)), true))) {
                $broken[] = "$file: the link $link leads nowhere";
            }
        }
    }
    return $broken;
}

/** @return list<string> files and structs of this tree that a page names but that do not exist */
function missing_files(string $root): array
{
    $missing = [];
    $headers = implode(array_map(file_get_contents(...), glob("$root/src/{*,*/*,*/*/*}.h", GLOB_BRACE)));
    foreach (pages($root) as $file) {
        preg_match_all('~`((?:src|cli|tests|tools|stubs|bench|docs)/[^`\s…]+)`~', file_get_contents("$root/$file"),
            $names);
        foreach ($names[1] as $name) {
            glob("$root/$name", GLOB_BRACE) || $missing[] = "$file: there is no $name";
        }
        preg_match_all('/`(struct \w+)`/', file_get_contents("$root/$file"), $names);
        foreach ($names[1] as $name) {
            str_contains($headers, "$name {") || $missing[] = "$file: there is no $name";
        }
    }
    return $missing;
}

/** @return list<string> paths and functions that docs/architecture.md names but that do not exist */
function missing_names(string $root): array
{
    $paths = ['/mailqueue.c', '/php_mailqueue.h', '/CHANGELOG.md', '/CONTRIBUTING.md'];
    $code = file_get_contents("$root/mailqueue.c");
    foreach (['src', 'cli', 'web', 'stubs', 'tests', 'tools', 'docs', 'integrations'] as $directory) {
        foreach (new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator("$root/$directory",
            \FilesystemIterator::SKIP_DOTS)) as $path) {
            $paths[] = substr((string) $path, strlen($root));
            $code .= preg_match('/\.(?:[ch]|php)\z/', (string) $path) ? file_get_contents((string) $path) : '';
        }
    }
    $page = file_get_contents("$root/docs/architecture.md");
    preg_match_all('~`([\w./*-]+(?:/|\.(?:[ch*]|php|phpt|py|inc|sql|md)))`~', $page, $names);
    $lacks = static fn(string $name): bool => !array_filter($paths, static fn(string $path): bool =>
        fnmatch(str_ends_with($name, '/') ? "*/$name*" : "*/$name", $path))
        && !preg_match('~#include <(?:\w+/)?' . preg_quote($name) . '>~', $code); // a library's header
    $missing = array_filter($names[1], $lacks);
    preg_match_all('~`(?:\w+::)?(\w+)\(\)`~', $page, $names);
    foreach ($names[1] as $name) {
        preg_match("/\\b$name\\(/", $code) || $missing[] = "$name()";
    }
    return array_map(static fn(string $name): string => "docs/architecture.md: there is no $name",
        array_values(array_unique($missing)));
}

/** The shell script of a step. */
function script(array $step, array $blocks, string $root): string
{
    $text = $step['run'] ?? '';
    if (isset($step['block'])) {
        $text = block($blocks, ...explode(': ', $step['block'], 2));
    } elseif (isset($step['text'])) {
        [$file, $text] = explode(': ', $step['text'], 2);
        str_contains(file_get_contents("$root/$file"), $text)
            || throw new \Exception("$file does not say: $text");
    }
    return isset($step['through']) ? ($step['through'])($text) : $text;
}

$root = dirname(__DIR__, 2);
$blocks = blocks($root);
['steps' => $steps, 'left' => $left] = require __DIR__ . '/scenario.php';
$missing = [...uncovered($blocks, $steps, $left), ...broken_links($root), ...missing_files($root),
    ...missing_names($root)];
if ($missing || ($argv[1] ?? '') === '--check') {
    echo implode("\n", $missing), $missing ? "\n" : '';
    exit($missing ? 1 : 0);
}
if (($argv[1] ?? '') === '--page') {
    $block = block($blocks, 'docs/operations.md', 'apt-get update && apt-get install -y nginx');
    count(explode("\n", trim($block))) <= 6 || throw new \Exception('more than six commands');
    echo page_without_systemd($block, true), "\n", "apt-get install -y curl\n", page_visit(8025), "\n";
    exit;
}

$shell = new Shell(array_slice($argv, 1));
$passed = $failed = 0;
foreach ($steps as $step) {
    if (isset($step['type'])) {
        $shell->type($step['type']);
        continue;
    }
    $name = $step['block'] ?? $step['text'] ?? $step['name'];
    [$code, $output] = $shell->run(script($step, $blocks, $root), $step['user'] ?? 'me',
        $step['in'] ?? '/home/me', $step['seconds'] ?? 120);
    $wrong = [];
    $code === ($step['code'] ?? 0) || $wrong[] = "exit code $code";
    foreach ((array) ($step['shows'] ?? []) as $pattern) {
        preg_match($pattern, $output) || $wrong[] = "does not show $pattern";
    }
    if (preg_match('/\b(PHP )?(Warning|Deprecated|Notice|Fatal error): .*/', $output, $m)) {
        $wrong[] = $m[0];
    }
    if ($wrong) {
        $failed++;
        echo "FAILED  $name: ", implode('; ', $wrong), "\n", preg_replace('/^/m', '        ',
            substr($output, -4000)), "\n";
    } else {
        $passed++;
        echo "ok      $name\n";
    }
}
foreach ($left as $name => $reason) {
    echo "left    $name: $reason\n";
}
echo "$passed passed, $failed failed\n";
exit($failed ? 1 : 0);
