<?php
/*
 * Prints how many lines and branches of each module below src/ were run, from gcov's documents
 * (JSON, one a line) on standard input; writes the same for each file into the file that it is
 * given.
 */
declare(strict_types=1);

/** How often a file's lines and branches were run; an inline function occurs in several objects. */
final class Counts
{
    /** @var array<int, int> */
    public array $lines = [];
    /** @var array<string, int> */
    public array $branches = [];

    /** @param array{line_number: int, count: int, branches: list<array{count: int}>} $line */
    public function add(array $line): void
    {
        $number = $line['line_number'];
        $this->lines[$number] = ($this->lines[$number] ?? 0) + $line['count'];
        foreach ($line['branches'] as $i => $branch) {
            $this->branches["$number.$i"] = ($this->branches["$number.$i"] ?? 0)
                + $branch['count'];
        }
    }
}

/** @return array<string, Counts> path below src/ → counts */
function counted(): array
{
    $files = [];
    while (($document = fgets(STDIN)) !== false) {
        foreach (json_decode($document, true, 64, JSON_THROW_ON_ERROR)['files'] as $about) {
            if (preg_match('~(?:^|/)src/(?!.*/src/)(.*)$~', $about['file'], $match)) {
                $file = $files[$match[1]] ??= new Counts();
                array_walk($about['lines'], $file->add(...));
            }
        }
    }
    ksort($files);
    return $files;
}

/**
 * A row: what was run of how many.
 *
 * @param list<Counts> $files
 */
function row(string $name, array $files): string
{
    $row = sprintf('%-36s', $name);
    foreach (['lines', 'branches'] as $what) {
        $all = array_merge(...array_map(static fn (Counts $one): array
            => array_values($one->$what), $files));
        $run = count(array_filter($all));
        $row .= $all ? sprintf('%7.1F %% of %6d', 100 * $run / count($all), count($all))
            : str_repeat(' ', 19);
    }
    return rtrim($row) . "\n";
}

$files = counted();
if (!$files) {
    fwrite(STDERR, "gcov found nothing that was compiled below src/\n");
    exit(1);
}
$modules = [];
foreach ($files as $path => $counts) {
    $modules[dirname($path)][] = $counts;
}
ksort($modules);
$head = sprintf("%-36s%18s %18s\n", 'below src/', 'lines run', 'branches run');
echo $head;
foreach ($modules as $name => $counts) {
    echo row($name, $counts);
}
echo row('all', array_values($files));
$list = array_map(static fn (string $path, Counts $one): string => row($path, [$one]),
    array_keys($files), $files);
file_put_contents($argv[1], $head . implode($list));
