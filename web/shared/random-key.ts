/** Random keys that identify commands. */

/** 128 random bits as hexadecimal digits; `crypto.randomUUID` exists on secure origins only. */
export const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
