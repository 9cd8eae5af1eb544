/**
 * Reads the content of a message as blocks and marks: code, quotes, links, mentions, bold, italic and struck text. The
 * result is data; texts of strangers never become markup.
 */

export type Span =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string }
  | { readonly kind: 'mention'; readonly text: string; readonly id: string }
  | { readonly kind: 'strong' | 'emphasis' | 'struck'; readonly spans: readonly Span[] };

export type Block =
  | { readonly kind: 'paragraph'; readonly spans: readonly Span[] }
  | { readonly kind: 'quote'; readonly spans: readonly Span[] }
  | { readonly kind: 'code'; readonly text: string; readonly language: string };

/** Lower-case name to user id, `@channel` and `@here` of those that the message mentions. */
export type MentionNames = ReadonlyMap<string, string>;

const FENCE = /(?:^|\n)```([\w+#.-]*)[ \t]*\n([\s\S]*?)(?:\n```[ \t]*(?=\n|$)|$)/g;

export function parseContent(content: string, names: MentionNames = new Map()): readonly Block[] {
  const blocks: Block[] = [];
  let end = 0;
  for (const match of content.matchAll(FENCE)) {
    blocks.push(...parseText(content.slice(end, match.index), names));
    blocks.push({ kind: 'code', text: match[2] ?? '', language: match[1] ?? '' });
    end = match.index + match[0].length;
  }
  return [...blocks, ...parseText(content.slice(end), names)];
}

const QUOTE = /^> ?/;

/** Groups lines into paragraphs and quotes. */
function parseText(text: string, names: MentionNames): readonly Block[] {
  const groups: { kind: 'paragraph' | 'quote'; lines: string[] }[] = [];
  for (const line of text.replace(/^\n+|\n+$/g, '').split('\n')) {
    const kind = QUOTE.test(line) ? 'quote' : 'paragraph';
    const last = groups.at(-1);
    if (last?.kind === kind) last.lines.push(line.replace(QUOTE, ''));
    else groups.push({ kind, lines: [line.replace(QUOTE, '')] });
  }
  return groups
    .filter(({ lines }) => lines.some((line) => line.trim() !== ''))
    .map(({ kind, lines }) => ({ kind, spans: parseSpans(lines.join('\n').replace(/^\n+|\n+$/g, ''), names) }));
}

/**
 * One alternative per kind of mark; the first that matches at the earliest place wins. Lengths are bounded, so that a
 * hostile text takes no quadratic time.
 */
const MARK = new RegExp(
  [
    /(?<code>`[^`\n]+`)/,
    /(?<link>\bhttps?:\/\/[^\s<>"]{1,2000})/,
    /(?<mail>\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}\b)/,
    /(?<=^|[\s([{<*_~])(?<mention>@(?=\S))/,
    /(?<![\w*])(?<strong>\*\*(?=\S)[^\n]{1,500}?(?<=\S)\*\*)(?![\w*])/,
    /(?<![\w*])(?<star>\*(?=[^\s*])[^*\n]{1,500}?(?<=\S)\*)(?![\w*])/,
    /(?<![\w_])(?<line>_(?=[^\s_])[^_\n]{1,500}?(?<=\S)_)(?![\w_])/,
    /(?<![\w~])(?<struck>~~?(?=[^\s~])[^~\n]{1,500}?(?<=\S)~~?)(?![\w~])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** Deepest nesting of marks; text further inside stays as it is. */
const MAX_DEPTH = 3;

function parseSpans(text: string, names: MentionNames, depth = 0): readonly Span[] {
  if (depth > MAX_DEPTH) return [{ kind: 'text', text }];
  const spans: Span[] = [];
  let end = 0;
  const pattern = new RegExp(MARK);
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const found = spanOf(match, text, names, depth);
    if (!found) continue;
    if (match.index > end) spans.push({ kind: 'text', text: text.slice(end, match.index) });
    spans.push(found.span);
    end = match.index + found.length;
    pattern.lastIndex = end;
  }
  if (end < text.length) spans.push({ kind: 'text', text: text.slice(end) });
  return spans;
}

interface Found {
  readonly span: Span;
  readonly length: number;
}

function spanOf(match: RegExpExecArray, text: string, names: MentionNames, depth: number): Found | undefined {
  const { code, link, mail, mention, strong, star, line, struck } = match.groups ?? {};
  const [matched] = match;
  const { length } = matched;
  const inner = (kind: 'strong' | 'emphasis' | 'struck', marker: number): Found => ({
    span: { kind, spans: parseSpans(matched.slice(marker, -marker), names, depth + 1) },
    length,
  });
  if (code) return { span: { kind: 'code', text: code.slice(1, -1) }, length };
  if (link) return linkOf(link);
  if (mail) return { span: { kind: 'link', text: mail, href: `mailto:${mail}` }, length };
  if (mention) return mentionAt(text, match.index, names);
  if (strong) return inner('strong', 2);
  if (star || line) return inner('emphasis', 1);
  return struck ? inner('struck', struck.startsWith('~~') ? 2 : 1) : undefined;
}

const countOf = (text: string, character: string) => text.split(character).length;

/** Without a last character that belongs to the sentence: punctuation, or a bracket that was opened before the link. */
const withoutEnd = (text: string): string =>
  /[.,;:!?'*_~]$/.test(text) || (text.endsWith(')') && countOf(text, ')') > countOf(text, '('))
    ? text.slice(0, -1)
    : text;

/** A link without the punctuation of the sentence around it. */
function linkOf(found: string): Found | undefined {
  let text = found;
  for (let shorter = withoutEnd(text); shorter !== text; shorter = withoutEnd(text)) text = shorter;
  if (!URL.canParse(text)) return undefined;
  return { span: { kind: 'link', text, href: new URL(text).href }, length: text.length };
}

/** The longest name after an `@`, without regard to case. */
function mentionAt(text: string, at: number, names: MentionNames): Found | undefined {
  const rest = text.slice(at + 1, at + 130).toLowerCase();
  const matching = [...names.keys()].filter(
    (name) => rest.startsWith(name) && !/^[\p{L}\p{N}_]/u.test(rest.slice(name.length)),
  );
  const name = matching.sort((a, b) => b.length - a.length)[0];
  if (name === undefined) return undefined;
  const length = name.length + 1;
  return { span: { kind: 'mention', text: text.slice(at, at + length), id: names.get(name) ?? '' }, length };
}

const textOf = (span: Span): string => ('spans' in span ? span.spans.map(textOf).join('') : span.text);

/** Content as one line without marks, for previews and notifications. */
export const plainText = (content: string): string =>
  parseContent(content)
    .map((block) => (block.kind === 'code' ? block.text : block.spans.map(textOf).join('')))
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim();
