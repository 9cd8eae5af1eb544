/** Texts of the page, in one place for translation. */
export const texts = {
  title: 'Logs',
} as const;
