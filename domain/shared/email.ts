/** Validation and normalization of email addresses. */

const EMAIL = /^[^\s@<>()[\]\\,;:"\p{Cc}\p{Surrogate}]+@[^\s@<>()[\]\\,;:"\p{Cc}\p{Surrogate}]+$/u;
const MAX_LENGTH = 254;

/** Normalizes an address for comparison and storage. */
export const tidyEmail = (email: string): string => email.trim().toLowerCase();

/** Whether a normalized address is valid. */
export const isEmail = (email: string): boolean => email.length <= MAX_LENGTH && EMAIL.test(email);
