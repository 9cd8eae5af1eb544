/** Parses query strings to objects. */

/** Repeated names become a list, which only list schemas accept. */
export function parseQuery(text: string): { [name: string]: unknown } {
  // Without a prototype, so that `__proto__` is an ordinary name.
  const query: { [name: string]: unknown } = Object.create(null);
  if (text === '') return query;
  for (const [name, value] of new URLSearchParams(text)) {
    const previous = query[name];
    if (previous === undefined) query[name] = value;
    else if (Array.isArray(previous)) previous.push(value);
    else query[name] = [previous, value];
  }
  return query;
}
