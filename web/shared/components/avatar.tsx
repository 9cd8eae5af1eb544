/** A person's initials on a colour that follows from the id. */
const HUES = 8;

/** First letters of the first two words of a name, at most two characters. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/u).filter(Boolean);
  return (
    words
      .slice(0, 2)
      .map((word) => [...word][0]?.toUpperCase())
      .join('') || '?'
  );
}

/** One of eight hues, the same for an id on every page. */
export function hueOf(id: string): number {
  let hash = 0;
  for (const character of id) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash % HUES;
}

export function Avatar({ id, name, small = false }: { id: string; name: string; small?: boolean }) {
  return (
    <span class={`avatar hue-${hueOf(id)}${small ? ' small' : ''}`} aria-hidden="true">
      {initialsOf(name)}
    </span>
  );
}
