/** Query strings as objects. */

/** A name given twice becomes a list, which only the schema of a list takes. */
export function parseQuery(text: string): { [name: string]: unknown } {
  // Without a prototype, so that `__proto__` is a name like any other.
  const query: { [name: string]: unknown } = Object.create(null);
  if (text === '') return query;
  for (const [name, value] of new URLSearchParams(text)) {
    const earlier = query[name];
    if (earlier === undefined) query[name] = value;
    else if (Array.isArray(earlier)) earlier.push(value);
    else query[name] = [earlier, value];
  }
  return query;
}
