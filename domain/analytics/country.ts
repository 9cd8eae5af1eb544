/** Countries of visitors, by their ISO 3166-1 codes. */

/** Codes by which proxies and databases say that they do not know. */
const UNKNOWN_CODES = new Set(['XX', 'ZZ']);

/** Two capital letters; undefined where the text is no country, as are `XX` and `T1` (Tor) of Cloudflare. */
export function parseCountry(text: string | undefined): string | undefined {
  const code = text?.trim().toUpperCase();
  return code !== undefined && /^[A-Z]{2}$/.test(code) && !UNKNOWN_CODES.has(code) ? code : undefined;
}
