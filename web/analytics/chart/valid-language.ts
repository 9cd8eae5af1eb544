/** Replaces an invalid browser language (such as `en-US@posix`), with which uPlot would throw. */
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en' });
}

export {};
