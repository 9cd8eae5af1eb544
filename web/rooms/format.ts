/** Splits a text into plain text, bold text, links and code, for display. */

export type Piece =
  | { readonly kind: 'text' | 'strong' | 'code' | 'block'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string };

const PATTERN =
  /```(?:\w*\n)?([\s\S]+?)```\n?|`([^`\n]+)`|\*\*([^*\n]+)\*\*|(https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]])/g;

export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(PATTERN)) {
    const [whole, block, code, strong, link] = match;
    if (match.index > at) pieces.push({ kind: 'text', text: text.slice(at, match.index) });
    at = match.index + whole.length;
    if (block !== undefined) pieces.push({ kind: 'block', text: block.replace(/\n$/, '') });
    else if (code !== undefined) pieces.push({ kind: 'code', text: code });
    else if (strong !== undefined) pieces.push({ kind: 'strong', text: strong });
    else if (link !== undefined) pieces.push({ kind: 'link', text: link, href: link });
  }
  if (at < text.length) pieces.push({ kind: 'text', text: text.slice(at) });
  return pieces;
}

const UNITS = ['B', 'KB', 'MB'] as const;

/** `312 B`, `18 KB`. */
export function byteSize(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log(Math.max(1, bytes)) / Math.log(1000)));
  const value = bytes / 1000 ** unit;
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** `23 h 10 min`, `4:05`: exact in the last ten minutes. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return `${minutes}:${String(seconds % 60).padStart(2, '0')}`;
  if (minutes < 60) return `${minutes} min`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
