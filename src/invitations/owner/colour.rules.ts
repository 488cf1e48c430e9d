/** The least contrast of text, and of a control, with its background (WCAG 2.2, success criteria 1.4.3 and 1.4.11). */
const LEAST_CONTRAST = 4.5;
const STEP = 0.05;

type Rgb = readonly [number, number, number];

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];
/** The backgrounds in page.css with the least contrast: the page in light mode, and the card in dark mode. */
const LIGHT_PAGE: Rgb = [244, 245, 247];
const DARK_CARD: Rgb = [28, 34, 43];

/**
 * Returns the tenant's colour and the colour of text on it, for light and dark pages. If a colour lacks contrast, makes it darker or
 * lighter.
 */
export function accentsOf(colour: string) {
  const rgb = parse(colour);
  return { light: accentOn(LIGHT_PAGE, rgb, BLACK), dark: accentOn(DARK_CARD, rgb, WHITE) };
}

function accentOn(background: Rgb, colour: Rgb, towards: Rgb) {
  let accent = colour;
  for (let part = STEP; contrast(accent, background) < LEAST_CONTRAST && part <= 1; part += STEP)
    accent = mix(colour, towards, part);
  const text = contrast(WHITE, accent) >= contrast(BLACK, accent) ? WHITE : BLACK;
  return { accent: format(accent), text: format(text) };
}

function parse(colour: string): Rgb {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\da-f]{2}/gi) ?? []).map((part) =>
    parseInt(part, 16),
  );
  return [red, green, blue];
}

const format = (rgb: Rgb): string => `#${rgb.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

const mix = (one: Rgb, other: Rgb, part: number): Rgb => {
  const at = (index: 0 | 1 | 2) => Math.round(one[index] + (other[index] - one[index]) * Math.min(1, part));
  return [at(0), at(1), at(2)];
};

/** Returns the contrast ratio of two colours, from 1 to 21 (WCAG 2.2). */
export function contrast(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance([red, green, blue]: Rgb): number {
  const linear = (part: number): number => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}
