<?php
/*
 * Reads the functions out of C and PHP code, for tools/lint-size. It reads C by tokens and knows no
 * types: macros that open a block (ZEND_HASH_FOREACH_VAL (…) {, zend_try {) are control flow.
 */
declare(strict_types=1);

const BRANCH = '/^(?:if|for|while|case|\?|ZEND_HASH\w*_FOREACH\w*)\z/';
const CONTROL = ['if', 'for', 'while', 'switch'];

/** One function: where it is, and what was counted. */
final class SizedFunction
{
    public int $lines = 0;
    public int $nesting = 0;
    public int $tableLines = 0;
    public int $complexity = 1;
    public bool $isMethod = false;

    public function __construct(public string $name, public int $line, public int $parameters) {}
}

/** Reads the functions out of the tokens of one file. */
final class Reader
{
    /** @var list<array{string, int}> text and line of each token */
    private array $tokens = [];
    private int $at = 0;
    private SizedFunction $function;

    public function __construct(string $code)
    {
        // Removes comments, directives and literals; keeps their newlines, for the line numbers.
        $keep = fn(array $m): string => str_repeat("\n", substr_count($m[0], "\n"));
        $code = preg_replace_callback(
            '~/\*.*?\*/|//[^\n]*|"(?:\\\\.|[^"\\\\\n])*"|\'(?:\\\\.|[^\'\\\\\n])*\'~s',
            fn(array $m): string => $m[0][0] === '/' ? ' ' . $keep($m) : '0', $code);
        $code = preg_replace_callback('~^[ \t]*#(?:[^\\\\\n]|\\\\\n|\\\\.)*~m', $keep, $code);
        $line = 1;
        preg_match_all('~\n|[A-Za-z_]\w*|[0-9][\w.]*|\S~', $code, $matches);
        foreach ($matches[0] as $text) {
            if ($text === "\n") {
                $line++;
            } else {
                $this->tokens[] = [$text, $line];
            }
        }
    }

    /** @return list<SizedFunction> */
    public function functions(): array
    {
        $found = [];
        $start = 0;
        while ($this->at < count($this->tokens)) {
            $text = $this->text();
            if ($text === '{') {
                $function = $this->functionHeader($start, $this->at);
                if ($function !== null) {
                    $this->function = $found[] = $function;
                    $from = $this->at;
                    $this->block(0);
                    $function->complexity += $this->branches($from, $this->at);
                    $function->lines = $this->lineBefore() + 1 - $function->line
                        - $function->tableLines;
                    $start = $this->at;
                } elseif ($this->text(-1) === '0' && $this->text(-2) === 'extern') {
                    $start = ++$this->at;   // extern "C" {
                } else {
                    $this->skipPair('{', '}');
                }
                continue;
            }
            $this->at++;
            if ($text === ';' || $text === '}') {
                $start = $this->at;
            }
        }
        return $found;
    }

    private function branches(int $from, int $to): int
    {
        $count = 0;
        for ($i = $from; $i < $to; $i++) {
            $text = $this->tokens[$i][0];
            $isTwice = in_array($text, ['&', '|'], true) && $this->tokens[$i + 1][0] === $text;
            $count += $isTwice || preg_match(BRANCH, $text);
            $i += $isTwice ? 1 : 0;
        }
        return $count;
    }

    private function text(int $offset = 0): string
    {
        return $this->tokens[$this->at + $offset][0] ?? '';
    }

    private function lineBefore(): int
    {
        return $this->tokens[$this->at - 1][1];
    }

    private function skipPair(string $open, string $close): void
    {
        for ($depth = 0; $this->at < count($this->tokens); ) {
            $text = $this->text();
            $this->at++;
            $depth += ($text === $open) - ($text === $close);
            if ($depth === 0) {
                return;
            }
        }
    }

    /** The tokens from $start to before the brace at $end, if they are a function's head. */
    private function functionHeader(int $start, int $end): ?SizedFunction
    {
        while (true) {
            if ($this->tokens[$end - 1][0] !== ')') {
                return null;
            }
            for ($open = $end - 1, $depth = 0; $open > $start; $open--) {
                $text = $this->tokens[$open][0];
                $depth += ($text === ')') - ($text === '(');
                if ($depth === 0) {
                    break;
                }
            }
            [$name, $line] = $this->tokens[$open - 1] ?? ['', 0];
            if ($name !== '__attribute__') {
                break;
            }
            $end = $open - 1;
        }
        for ($i = $start; $i < $open; $i++) {
            if ($this->tokens[$i][0] === '=') {
                return null;
            }
        }
        $parameters = 0;
        if ($end - $open > 2 && !($end - $open === 3 && $this->tokens[$open + 1][0] === 'void')) {
            $parameters = 1;
            for ($i = $open, $depth = 0; $i < $end; $i++) {
                $text = $this->tokens[$i][0];
                $depth += ($text === '(') - ($text === ')');
                $parameters += $text === ',' && $depth === 1;
            }
            $parameters -= $this->tokens[$end - 2][0] === '.';   // "..."
        }
        if ($name === 'ZEND_METHOD') {
            [, , [$class], , [$method]] = array_slice($this->tokens, $open - 1, 5);
            $function = new SizedFunction("$class::$method", $line, $parameters);
            $function->isMethod = true;
            return $function;
        }
        return new SizedFunction($name, $line, $parameters);
    }

    private function block(int $depth): void
    {
        $this->at++;
        while ($this->at < count($this->tokens) && $this->text() !== '}') {
            $this->statement($depth);
        }
        $this->at++;
    }

    /** The statement that a control statement governs. */
    private function body(int $depth): void
    {
        $this->function->nesting = max($this->function->nesting, $depth);
        $this->statement($depth);
    }

    private function statement(int $depth): void
    {
        $text = $this->text();
        if ($text === '{') {
            $this->block($depth);
        } elseif (in_array($text, CONTROL, true)) {
            $this->at++;
            $this->skipPair('(', ')');
            $this->body($depth + 1);
            if ($text === 'if' && $this->text() === 'else') {
                $this->at++;
                $this->text() === 'if' ? $this->statement($depth) : $this->body($depth + 1);
            }
        } elseif ($text === 'do') {
            $this->at++;
            $this->body($depth + 1);   // its "while (…);" is read as an expression
            $this->at++;
            $this->expression();
        } elseif ($text === 'case') {
            while ($this->at < count($this->tokens) && $this->text() !== ':') {
                $this->at++;
            }
            $this->at++;
        } elseif ($this->text(1) === ':' && preg_match('/^[A-Za-z_]\w*$/', $text)) {
            $this->at += 2;
        } elseif ($this->text(1) === '{' && !in_array($text, ['struct', 'union', 'enum'], true)) {
            $this->at++;
            $this->body($depth + 1);
        } else {
            $this->expressionOrMacroBlock($depth);
        }
    }

    private function expressionOrMacroBlock(int $depth): void
    {
        if (preg_match('/^[A-Za-z_]\w*$/', $this->text()) && $this->text(1) === '(') {
            $this->at++;
            $this->skipPair('(', ')');
            if ($this->text() === '{') {
                $this->body($depth + 1);
                return;
            }
        }
        $this->expression();
    }

    /** Whether this word begins a statement although no semicolon ended the one before. */
    private function endsMacro(string $text): bool
    {
        return in_array($text, CONTROL, true) || $text === 'return' && $this->text(-1) === ')';
    }

    /** Moves past the semicolon, or to a control word (after a macro without semicolon). */
    private function expression(): void
    {
        for ($first = $this->at; $this->at < count($this->tokens); ) {
            $text = $this->text();
            if ($text === '(') {
                $this->skipPair('(', ')');
            } elseif ($text === '{') {
                $line = $this->tokens[$this->at][1];
                $this->skipPair('{', '}');
                $this->function->tableLines += $this->lineBefore() - $line;
            } elseif ($text === '}' || $this->at > $first && $this->endsMacro($text)) {
                return;
            } else {
                $this->at++;
                if ($text === ';') {
                    return;
                }
            }
        }
    }
}

/**
 * A closure counts with the function that it is in.
 *
 * @return list<SizedFunction> the functions and methods of PHP code, their lines only
 */
function php_functions(string $code): array
{
    $tokens = array_values(array_filter(PhpToken::tokenize($code),
        static fn(PhpToken $token): bool => !$token->isIgnorable()));
    $found = [];
    for ($at = 0; $at < count($tokens); $at++) {
        $name = $tokens[$at + 1] ?? null;
        if (!$tokens[$at]->is(T_FUNCTION) || !$name?->is(T_STRING)) {
            continue;
        }
        while (!$tokens[$at]->is(['{', ';'])) {
            $at++;
        }
        for ($depth = 0;; $at++) {
            $depth += $tokens[$at]->is(['{', T_CURLY_OPEN, T_DOLLAR_OPEN_CURLY_BRACES]);
            $depth -= $tokens[$at]->is('}');
            if ($depth === 0) {
                break;
            }
        }
        $found[] = $function = new SizedFunction($name->text, $name->line, 0);
        $function->lines = $tokens[$at]->line + 1 - $name->line;
    }
    return $found;
}

/** @return list<SizedFunction> */
function functions_of(string $code): array
{
    $isPhp = preg_match('/\A(?:#!.*\n)?<\?php\b/', $code) === 1;
    return $isPhp ? php_functions($code) : (new Reader($code))->functions();
}
