/** Emails: what is one, and when two are the same. */

const EMAIL = /^[^\s@<>()[\]\\,;:"\p{Cc}\p{Surrogate}]+@[^\s@<>()[\]\\,;:"\p{Cc}\p{Surrogate}]+$/u;
const EMAIL_LENGTH = 254;

/** As it is compared and stored. */
export const tidyEmail = (email: string): string => email.trim().toLowerCase();

/** Whether mail could go there: of a tidy one. */
export const isEmail = (email: string): boolean => email.length <= EMAIL_LENGTH && EMAIL.test(email);
