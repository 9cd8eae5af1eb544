/** Parses country codes (ISO 3166-1 alpha-2). */

/** Codes that proxies and databases use for unknown countries. */
const UNKNOWN_CODES = new Set(['XX', 'ZZ']);

/** Returns two upper-case letters; undefined for other texts, such as `XX` and `T1` (Tor) of Cloudflare. */
export function parseCountry(text: string | undefined): string | undefined {
  const code = text?.trim().toUpperCase();
  return code !== undefined && /^[A-Z]{2}$/.test(code) && !UNKNOWN_CODES.has(code) ? code : undefined;
}
