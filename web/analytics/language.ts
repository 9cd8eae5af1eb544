/** A browser that was started without a language tells one that is none (`en-US@posix`); uPlot counts in the one it tells. */
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en' });
}

export {};
