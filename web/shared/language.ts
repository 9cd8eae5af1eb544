/** The reader's language, for formats of numbers and times. */

/** `en` where the browser names an invalid one, such as `en-US@posix`. */
export const language: string = valid(typeof navigator === 'undefined' ? 'en' : navigator.language);

function valid(name: string): string {
  try {
    return Intl.getCanonicalLocales(name)[0] ?? 'en';
  } catch {
    return 'en';
  }
}
