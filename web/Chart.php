<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** A bar chart as inline SVG, with its numbers in words for those who do not see it. */
final class Chart
{
    private const WIDTH = 480;
    private const HEIGHT = 96;

    /** @param array<int, int> $values by UTC time */
    public static function bars(
        array $values,
        string $title,
        string $format,
        Texts $texts,
        bool $isAbout = false
    ): Html {
        $number = $isAbout ? $texts->about(...) : $texts->number(...);
        $most = max(1, ...array_values($values));
        $step = self::WIDTH / max(1, count($values));
        $bars = [];
        foreach (array_values($values) as $i => $value) {
            $height = $value === 0 ? 1 : max(2, (int) round($value / $most * self::HEIGHT));
            $bars[] = Html::e('rect', ['x' => sprintf('%.1F', $i * $step + 1),
                'y' => self::HEIGHT - $height, 'width' => sprintf('%.1F', $step - 2),
                'height' => $height, 'class' => $value === 0 ? 'none' : null]);
        }
        $sum = $number(array_sum($values));
        $words = $texts->t(
            '%s: %s recipients, at most %s at a time',
            $title,
            $sum,
            $number(max([0, ...$values]))
        );
        return Html::e(
            'figure',
            [],
            Html::e('figcaption', [], Html::e('span', [], $title), Html::e('b', [], $sum)),
            Html::e('svg', ['viewBox' => '0 0 ' . self::WIDTH . ' ' . self::HEIGHT, 'role' => 'img',
                'aria-label' => $words, 'preserveAspectRatio' => 'none'], $bars),
            Html::e(
                'div',
                ['class' => 'axis', 'aria-hidden' => 'true'],
                Html::e('span', [], gmdate($format, (int) array_key_first($values))),
                Html::e('span', [], gmdate($format, (int) array_key_last($values)) . ' UTC')
            )
        );
    }
}
