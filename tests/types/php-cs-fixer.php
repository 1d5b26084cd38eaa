<?php

// The code style of the PHP in cli/, web/, examples/ and integrations/: PSR-12.

declare(strict_types=1);

$root = dirname(__DIR__, 2);
$finder = (new PhpCsFixer\Finder())
    ->in(["$root/cli", "$root/web", "$root/examples", "$root/integrations"])
    ->append(["$root/bin/mailqueue"]);

return (new PhpCsFixer\Config())
    ->setRiskyAllowed(false)
    ->setUnsupportedPhpVersionAllowed(true)
    ->setRules(['@PSR12' => true])
    ->setFinder($finder);
