/** A stretch of a log line, and how the terminal would show it. */
interface Span {
  readonly text: string;
  readonly bold?: boolean;
  readonly dim?: boolean;
  /** 0 to 7: black, red, green, yellow, blue, magenta, cyan, white. */
  readonly colour?: number;
}

// eslint-disable-next-line no-control-regex
const SEQUENCE = /\u001b(?:\[([0-9;:]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** A line as a terminal leaves it: what was written over is gone, colours are told, other commands are left out. */
export function spans(line: string): Span[] {
  const text = written(line);
  const found: Span[] = [];
  let style: Omit<Span, 'text'> = {};
  let at = 0;
  const add = (until: number) => {
    if (until > at) found.push({ text: text.slice(at, until), ...style });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(match.index);
    at = match.index + match[0].length;
    if (match[2] === 'm') style = styled(style, match[1] ?? '');
  }
  add(text.length);
  return found;
}

/** The part after the last carriage return, as progress bars write it. */
function written(line: string): string {
  const text = line.replace(/[\r\n]+$/, '');
  return text.slice(text.lastIndexOf('\r') + 1);
}

function styled(style: Omit<Span, 'text'>, codes: string): Omit<Span, 'text'> {
  const numbers = codes.split(/[;:]/).map(Number);
  let { bold, dim, colour } = style;
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at]!;
    if (code === 0) bold = dim = colour = undefined;
    else if (code === 1) bold = true;
    else if (code === 2) dim = true;
    else if (code === 22) bold = dim = undefined;
    else if (code >= 30 && code <= 37) colour = code - 30;
    else if (code >= 90 && code <= 97) colour = code - 90;
    else if (code === 39) colour = undefined;
    // Colours of a palette or by their parts are not told apart here; what belongs to them is no code of its own.
    else if (code === 38 || code === 48) at += numbers[at + 1] === 5 ? 2 : 4;
  }
  return { ...(bold && { bold }), ...(dim && { dim }), ...(colour !== undefined && { colour }) };
}
