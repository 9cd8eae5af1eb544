/** Values of a form. */

/** Trimmed, without empty ones. */
export const fieldsOf = (form: HTMLFormElement): { readonly [name: string]: string | undefined } =>
  Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, String(value).trim() || undefined]));
